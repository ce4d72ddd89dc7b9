package crash

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"time"
)

// unit is what one client does at once: a command, or several in a transaction. A crash may
// leave all of it or nothing.
type unit struct {
	commands [][]string
	acked    time.Time // zero: no reply came
	// popped is the member that SPOP, alone in its unit, took; nobody knows it before the
	// reply.
	popped string
}

// wire is what is sent.
func (u *unit) wire() [][]string {
	if len(u.commands) == 1 {
		return u.commands
	}
	all := append([][]string{{"MULTI"}}, u.commands...)
	return append(all, []string{"EXEC"})
}

// pops reports whether the unit is an SPOP.
func (u *unit) pops() bool { return u.commands[0][0] == "SPOP" }

// apply does the unit's work on a model; an SPOP takes what it took.
func (u *unit) apply(m *model) {
	if u.pops() {
		m.apply([]string{"SREM", u.commands[0][1], u.popped})
		return
	}
	for _, argv := range u.commands {
		m.apply(argv)
	}
}

// writer makes a client's units: every kind of key, changed in every way of which the
// result is known. Values stay small by being cut now and then.
type writer struct {
	rng  *rand.Rand
	name string // of the client; its keys begin with it
	id   int    // of the last stream entry
}

// key returns one of two keys of a kind.
func (w *writer) key(kind string) string { return fmt.Sprint(w.name, ":", kind, w.rng.Intn(2)) }

func (w *writer) word() string {
	switch w.rng.Intn(30) {
	case 0:
		return strings.Repeat(strconv.Itoa(w.rng.Intn(1000)), 1+w.rng.Intn(400))
	case 1:
		b := make([]byte, 1+w.rng.Intn(30))
		w.rng.Read(b)
		return string(b)
	}
	return "v" + strconv.Itoa(w.rng.Intn(300))
}

func (w *writer) number() string { return strconv.Itoa(w.rng.Intn(2000) - 1000) }

// words appends some words to a command, each behind what before makes.
func (w *writer) words(argv []string, before func() []string) []string {
	for range 1 + w.rng.Intn(6) {
		argv = append(append(argv, before()...), w.word())
	}
	return argv
}

func nothing() []string { return nil }

// unit makes the next one. An SPOP must be the last that is sent before its reply.
func (w *writer) unit() *unit {
	switch w.rng.Intn(20) {
	case 0, 1, 2, 3:
		u := &unit{}
		for range 2 + w.rng.Intn(5) {
			u.commands = append(u.commands, w.command())
		}
		return u
	case 4:
		return &unit{commands: [][]string{{"SPOP", w.key("S")}}}
	}
	return &unit{commands: [][]string{w.command()}}
}

func (w *writer) command() []string {
	switch w.rng.Intn(8) {
	case 0:
		return w.string()
	case 1:
		return w.list()
	case 2:
		return w.set()
	case 3:
		return w.hash()
	case 4:
		return w.sortedSet()
	case 5:
		return w.stream()
	case 6:
		return w.any()
	}
	return []string{"INCRBY", w.key("n"), w.number()}
}

func (w *writer) string() []string {
	key := w.key("s")
	switch w.rng.Intn(7) {
	case 0:
		return []string{"SET", key, w.word(), "KEEPTTL"}
	case 1:
		return []string{"APPEND", key, w.word()[:1]}
	case 2:
		return []string{"SETRANGE", key, strconv.Itoa(w.rng.Intn(200)), w.word()}
	case 3:
		return []string{"MSET", w.name + ":s0", w.word(), w.name + ":s1", w.word()}
	case 4:
		return []string{"INCRBYFLOAT", w.name + ":s2", "0.5"}
	case 5:
		if w.rng.Intn(20) == 0 {
			return []string{"SET", key, strings.Repeat(w.word(), 2000)}
		}
	}
	return []string{"SET", key, w.word()}
}

func (w *writer) list() []string {
	key := w.key("l")
	switch w.rng.Intn(9) {
	case 0:
		return w.words([]string{"LPUSH", key}, nothing)
	case 1:
		return []string{"LPOP", key, strconv.Itoa(1 + w.rng.Intn(4))}
	case 2:
		return []string{"RPOP", key, strconv.Itoa(1 + w.rng.Intn(4))}
	case 3:
		return []string{"LTRIM", key, "-40", "-1"}
	case 4:
		return []string{"LSET", key, "-1", w.word()}
	case 5:
		return []string{"LREM", key, "0", w.word()}
	case 6:
		return []string{"LMOVE", w.name + ":l0", w.name + ":l1", "LEFT", "RIGHT"}
	}
	return w.words([]string{"RPUSH", key}, nothing)
}

func (w *writer) set() []string {
	key := w.key("S")
	switch w.rng.Intn(6) {
	case 0:
		return w.words([]string{"SREM", key}, nothing)
	case 1:
		return []string{"SMOVE", w.name + ":S0", w.name + ":S1", w.word()}
	case 2:
		return []string{"SUNIONSTORE", w.name + ":S1", w.name + ":S0", w.name + ":S1"}
	case 3:
		return []string{"DEL", key}
	}
	return w.words([]string{"SADD", key}, nothing)
}

func (w *writer) hash() []string {
	key := w.key("h")
	switch w.rng.Intn(5) {
	case 0:
		return w.words([]string{"HDEL", key}, nothing)
	case 1:
		return []string{"HINCRBY", key, "count" + strconv.Itoa(w.rng.Intn(5)), w.number()}
	}
	return w.words([]string{"HSET", key}, func() []string { return []string{w.word()} })
}

func (w *writer) sortedSet() []string {
	key := w.key("z")
	switch w.rng.Intn(6) {
	case 0:
		return w.words([]string{"ZREM", key}, nothing)
	case 1:
		return []string{"ZINCRBY", key, w.number(), w.word()}
	case 2:
		return []string{"ZPOPMIN", key, strconv.Itoa(1 + w.rng.Intn(8))}
	}
	return w.words([]string{"ZADD", key}, func() []string { return []string{w.number()} })
}

func (w *writer) stream() []string {
	key := w.name + ":x0" // IDs grow, so streams change their names for none
	switch w.rng.Intn(6) {
	case 0:
		return []string{"XTRIM", key, "MAXLEN", "30"}
	case 1:
		return []string{"XDEL", key, fmt.Sprintf("%d-1", max(1, w.id-w.rng.Intn(20)))}
	}
	w.id++
	return []string{"XADD", key, fmt.Sprintf("%d-1", w.id), "f", w.word()}
}

func (w *writer) any() []string {
	kind := []string{"s", "l", "S", "h", "z", "n"}[w.rng.Intn(6)]
	switch w.rng.Intn(7) {
	case 0:
		return []string{"DEL", w.key(kind)}
	case 1:
		return []string{"UNLINK", w.key(kind)}
	case 2:
		return []string{"RENAME", w.key(kind), w.key(kind)}
	case 3:
		return []string{"COPY", w.name + ":" + kind + "0", w.name + ":" + kind + "1", "REPLACE"}
	case 4:
		return []string{"PERSIST", w.key(kind)}
	}
	return []string{"PEXPIREAT", w.key(kind), strconv.Itoa(4102444800000 + w.rng.Intn(1000000))}
}

// kinds are all keys of a client, and how they are read.
var kinds = []struct{ key, read string }{
	{"s0", "GET"}, {"s1", "GET"}, {"s2", "GET"}, {"n0", "GET"}, {"n1", "GET"},
	{"l0", "LRANGE"}, {"l1", "LRANGE"}, {"S0", "SMEMBERS"}, {"S1", "SMEMBERS"},
	{"h0", "HGETALL"}, {"h1", "HGETALL"}, {"z0", "ZRANGE"}, {"z1", "ZRANGE"}, {"x0", "XRANGE"},
}

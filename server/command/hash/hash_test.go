package hashes_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	str "heddle/server/command/string"
)

func families() []command.Family {
	return []command.Family{
		hashes.Family(), generic.Family(), str.Family(func() int64 { return 512 << 20 }), lists.Family(),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func env(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, families()...)
}

// TestEffects checks what reaches the oplog: the same whenever it is applied.
func TestEffects(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(want...)
	}
	f("hset h a 1 b 2", "hset h a 1 b 2")
	f("hset h a 1", "hset h a 1")
	f("hmset h a 1", "hmset h a 1")
	f("hsetnx h a 2")
	f("hsetnx h c 3", "hsetnx h c 3")
	f("hincrby h a 5", "hincrby h a 5")
	f("hincrbyfloat h a 0.5", "hset h a 6.5")
	f("hdel h x")
	f("hdel h x a", "hdel h x a")
	f("hget h b")
	f("hexpire h 10 fields 2 b x", "hpexpireat h 1700000010000 FIELDS 1 b")
	f("hpexpire h 10 nx fields 1 b")
	f("hpexpire h 10 fields 1 x")
	f("hpexpireat h 1800000000000 fields 2 b c", "hpexpireat h 1800000000000 FIELDS 2 b c")
	f("hincrbyfloat h b 0.5", "hsetex h KEEPTTL FIELDS 1 b 2.5")
	f("hincrby h c 1", "hincrby h c 1")
	f("httl h fields 1 b")
	f("hpersist h fields 2 b x", "hpersist h fields 2 b x")
	f("hpersist h fields 2 b x")
	f("hgetex h fields 1 b")
	f("hgetex h persist fields 1 b")
	f("hgetex h ex 10 fields 2 b x", "hpexpireat h 1700000010000 FIELDS 1 b")
	f("hgetex h persist fields 2 b x", "hpersist h FIELDS 1 b")
	f("hgetex h pxat 1 fields 2 b x", "hdel h b")
	f("hexpireat h 1 fields 2 c x", "hdel h c")
	f("exists h")
	f("hsetex h fields 2 a 1 b 2", "hset h a 1 b 2")
	f("hsetex h fnx fields 2 a 1 b 2")
	f("hsetex h fxx ex 10 fields 1 a 3", "hsetex h PXAT 1700000010000 FIELDS 1 a 3")
	f("hsetex h keepttl fields 1 a 4", "hsetex h KEEPTTL FIELDS 1 a 4")
	f("hsetex h exat 1 fields 1 a 4", "hdel h a")
	f("hgetdel h fields 1 x")
	f("hgetdel h fields 2 b x", "hdel h b")
	f("hsetex h ex 0 fields 1 a 4")
	f("hset h a 1", "hset h a 1")
	f("keydb.hrename h x y")
	f("keydb.hrename h a a")
	f("keydb.hrename h a b", "keydb.hrename h a b")
	f("keydb.nhset h.c.d 1 2", "keydb.nhset h.c.d 1 2")
	f("keydb.nhget h.c")
	f("hset str", []string(nil)...)
}

func TestEvents(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Events(want...)
	}
	f("hset h a 1 b 2", "new h", "hset h")
	f("hset h a 1", "hset h")
	f("hmset h a 1", "hset h")
	f("hsetnx h a 1")
	f("hsetnx h c 1", "hset h")
	f("hincrby h a 1", "hincrby h")
	f("hincrbyfloat h a 1", "hincrbyfloat h")
	f("hexpire h 10 fields 3 a b x", "hexpire h")
	f("hexpire h 10 nx fields 3 a b x")
	f("hpersist h fields 2 a x", "hpersist h")
	f("hpersist h fields 2 a x")
	f("hgetex h ex 10 fields 1 a", "hexpire h")
	f("hgetex h persist fields 1 a", "hpersist h")
	f("hgetex h px 0 fields 1 a", "hdel h")
	f("hexpireat h 1 fields 1 b", "hdel h")
	f("hgetdel h fields 2 c d", "hdel h", "del h")
	f("hsetex h fields 1 a 1", "new h", "hset h")
	f("hsetex h ex 10 fields 1 a 1", "hset h", "hexpire h")
	f("hsetex h keepttl fields 1 a 1", "hset h")
	f("hsetex h pxat 1 fields 1 a 1", "hset h", "hdel h", "del h")
	f("hset h a 1", "new h", "hset h")
	f("keydb.hrename h a b", "hset h")
	f("keydb.nhset h.c.d 1", "hset h")
	f("hdel h x")
	f("hdel h b c.d", "hdel h", "del h")
	f("hget h a", "keymiss h")
	f("hset h a 1", "new h", "hset h")
	f("hmget h a b")
}

// TestLarge sends hashes that are too large to be written at once: replies are made
// piece by piece of what was there when the command ran.
func TestLarge(t *testing.T) {
	e := env(t)
	const n = 5000
	want := map[string]string{}
	for i := range n {
		f, v := fmt.Sprint("field", i), fmt.Sprint("value", i)
		if i%1000 == 0 {
			v = strings.Repeat(v, 10_000)
		}
		e.Argv("hset", "h", f, v)
		want[f] = v
	}
	read := func(cmd string) (list []string) {
		t.Helper()
		raw := e.Do(cmd).Raw()
		head, rest, _ := strings.Cut(raw, "\r\n")
		for rest != "" {
			var size, text string
			size, rest, _ = strings.Cut(rest, "\r\n")
			if size == "*2" {
				continue // a pair
			}
			length, err := strconv.Atoi(size[1:])
			if err != nil {
				t.Fatalf("%s: %q", cmd, size)
			}
			text, rest = rest[:length], rest[length+2:]
			list = append(list, text)
		}
		if count, _ := strconv.Atoi(head[1:]); count != len(list) && (head[0] != '%' || 2*count != len(list)) && strings.Count(raw, "*2\r\n") != count {
			t.Fatalf("%s: %d elements behind %s", cmd, len(list), head)
		}
		return list
	}
	pairs := func(cmd string, count int, distinct bool) {
		t.Helper()
		list := read(cmd)
		seen := map[string]bool{}
		for i := 0; i < len(list); i += 2 {
			if v, ok := want[list[i]]; !ok || v != list[i+1] || distinct && seen[list[i]] {
				t.Fatalf("%s: %s", cmd, list[i])
			}
			seen[list[i]] = true
		}
		if len(list) != 2*count {
			t.Fatalf("%s: %d pairs", cmd, len(list)/2)
		}
	}
	fields := func(cmd string, count int, distinct bool) {
		t.Helper()
		list := read(cmd)
		seen := map[string]bool{}
		for _, f := range list {
			if _, ok := want[f]; !ok || distinct && seen[f] {
				t.Fatalf("%s: %s", cmd, f)
			}
			seen[f] = true
		}
		if len(list) != count {
			t.Fatalf("%s: %d fields", cmd, len(list))
		}
	}
	for proto := 2; proto <= 3; proto++ {
		e.SetProto(proto)
		pairs("hgetall h", n, true)
		fields("hkeys h", n, true)
		if list := read("hvals h"); len(list) != n {
			t.Errorf("%d values", len(list))
		}
		for _, count := range []int{1, 10, 999, 1001, 1700, 4999, n} {
			fields(fmt.Sprint("hrandfield h ", count), count, true)
			pairs(fmt.Sprint("hrandfield h ", count, " withvalues"), count, true)
			fields(fmt.Sprint("hrandfield h ", -count), count, false)
			pairs(fmt.Sprint("hrandfield h ", -count, " withvalues"), count, false)
		}
		fields("hrandfield h 1000000", n, true)
	}
	e.Do("hset small a 1 b 2")
	want = map[string]string{"a": "1", "b": "2"}
	fields("hrandfield small -3000", 3000, false)
	e.Do("hlen h").WantText(integer(n))
}

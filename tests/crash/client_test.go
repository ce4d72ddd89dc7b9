package crash

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/difftest"
)

// client writes keys of its own, which it has a model of, and has its part in what is
// shared. Its units are numbered: the state after a crash must be that after one of them.
type client struct {
	*difftest.Client
	run  *run
	name string
	db   int
	rng  *rand.Rand
	w    writer

	mu      sync.Mutex // guards what follows, while the client works
	base    *model     // at the begin of the cycle
	history []*unit    // since then, in order; the last ones may have no reply
	acked   int        // how many of them have one
	journal struct{ sent, acked int }
	counted struct{ sent, seen int64 } // of the shared counter
}

func newClient(r *run, i int, seed int64) *client {
	c := &client{run: r, name: fmt.Sprint("c", i), db: i % 4, rng: rand.New(rand.NewSource(seed)), base: newModel()}
	c.w = writer{rng: c.rng, name: c.name}
	return c
}

// work sends units until the connection breaks, which it does when the server is killed.
// What the server answers otherwise than expected is a fault of the test.
func (c *client) work(addr string, stop *atomic.Bool) {
	var err error
	if c.Client, err = difftest.Dial(addr); err != nil {
		return
	}
	defer c.Close()
	c.Patience = patience
	if _, err := c.Do("SELECT", strconv.Itoa(c.db)); err != nil {
		return
	}
	for !stop.Load() {
		var ok bool
		switch c.rng.Intn(12) {
		case 0:
			ok = c.transfer()
		case 1:
			ok = c.write()
		case 2:
			ok = c.count()
		case 3:
			ok = c.moveTokens()
		default:
			ok = c.units()
		}
		if !ok {
			return
		}
		if c.rng.Intn(50) == 0 {
			time.Sleep(time.Duration(c.rng.Intn(10)) * time.Millisecond)
		}
	}
}

// units sends one unit, or some in a pipeline.
func (c *client) units() bool {
	n := 1
	if c.rng.Intn(3) == 0 {
		n = 1 + c.rng.Intn(20)
	}
	var wire [][]string
	first := len(c.history)
	for range n {
		u := c.w.unit()
		wire = append(wire, u.wire()...)
		c.note(func() { c.history = append(c.history, u) })
		if u.pops() {
			break
		}
	}
	if c.Send(wire...) != nil {
		return false
	}
	for _, u := range c.history[first:] {
		for range len(u.wire()) {
			r, err := c.Receive()
			if err != nil {
				return false
			}
			c.checkReply(u, r)
			if u.pops() && !r.Null {
				u.popped = string(r.Text)
			}
		}
		c.note(func() { u.acked = time.Now(); c.acked++ })
		c.run.acked.Add(1)
	}
	return true
}

// note changes the books of the client.
func (c *client) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// checkReply refuses errors that no unit should meet.
func (c *client) checkReply(u *unit, r difftest.Reply) {
	for _, e := range append(r.Elems, r) {
		if e.Kind != '-' || string(e.Text) == "ERR no such key" {
			continue
		}
		c.run.t.Errorf("%s: %.200q: %s", c.name, u.commands, e.Text)
	}
}

// both sends commands and reads all replies; it reports whether all came.
func (c *client) both(commands ...[]string) (replies []difftest.Reply, ok bool) {
	if c.Send(commands...) != nil {
		return nil, false
	}
	for _, argv := range commands {
		r, err := c.Receive()
		if err != nil {
			return replies, false
		}
		if r.Kind == '-' {
			c.run.t.Errorf("%s: %.200q: %s", c.name, argv, r.Text)
		}
		replies = append(replies, r)
	}
	return replies, true
}

// transfer moves an amount between two accounts in database 8: their sum stays zero.
func (c *client) transfer() bool {
	from, to := "account:"+strconv.Itoa(c.rng.Intn(accounts)), "account:"+strconv.Itoa(c.rng.Intn(accounts))
	amount := strconv.Itoa(1 + c.rng.Intn(100))
	_, ok := c.both([]string{"SELECT", "8"}, []string{"MULTI"}, []string{"DECRBY", from, amount}, []string{"PING"}, []string{"INCRBY", to, amount},
		[]string{"EXEC"}, []string{"SELECT", strconv.Itoa(c.db)})
	return ok
}

// write appends a line to the journal, which all clients share.
func (c *client) write() bool {
	c.note(func() { c.journal.sent++ })
	_, ok := c.both([]string{"SELECT", "8"}, []string{"RPUSH", c.run.journal(), fmt.Sprint(c.name, " ", c.journal.sent)}, []string{"SELECT", strconv.Itoa(c.db)})
	if ok {
		c.note(func() { c.journal.acked++ })
	}
	return ok
}

// count raises the shared counter, and looks at it: whoever saw a number must find it after
// a crash, whether it was he who raised it or not.
func (c *client) count() bool {
	if _, ok := c.both([]string{"SELECT", "8"}); !ok {
		return false
	}
	c.note(func() { c.counted.sent++ })
	r, ok := c.both([]string{"INCR", "counter"}, []string{"GET", "counter"}, []string{"SELECT", strconv.Itoa(c.db)})
	if len(r) > 1 {
		seen, _ := strconv.ParseInt(string(r[1].Text), 10, 64)
		c.note(func() { c.counted.seen = seen })
	}
	return ok
}

// moveTokens moves tokens between lists and between sets, also by commands that wait, and
// by a transaction: none is lost or doubled.
func (c *client) moveTokens() bool {
	list := func() string { return "tokens:l" + strconv.Itoa(c.rng.Intn(4)) }
	set := func() string { return "tokens:S" + strconv.Itoa(c.rng.Intn(4)) }
	side := func() string { return []string{"LEFT", "RIGHT"}[c.rng.Intn(2)] }
	token := "token" + strconv.Itoa(c.rng.Intn(tokens))
	commands := [][]string{{"SELECT", "8"}}
	switch c.rng.Intn(5) {
	case 0:
		commands = append(commands, []string{"LMOVE", list(), list(), side(), side()})
	case 1:
		commands = append(commands, []string{"BLMOVE", list(), list(), side(), side(), "0.01"})
	case 2:
		commands = append(commands, []string{"SMOVE", set(), set(), token}, []string{"SMOVE", set(), set(), token})
	case 3:
		commands = append(commands, []string{"RPOPLPUSH", list(), list()})
	case 4:
		commands = append(commands, []string{"MULTI"}, []string{"LMOVE", list(), list(), side(), side()}, []string{"SMOVE", set(), set(), token}, []string{"EXEC"})
	}
	_, ok := c.both(append(commands, []string{"SELECT", strconv.Itoa(c.db)})...)
	return ok
}

// ask returns the commands that read all keys of the client.
func (c *client) ask() (commands [][]string) {
	for _, k := range kinds {
		key := c.name + ":" + k.key
		commands = append(commands, []string{"PEXPIRETIME", key})
		switch k.read {
		case "LRANGE":
			commands = append(commands, []string{k.read, key, "0", "-1"})
		case "ZRANGE":
			commands = append(commands, []string{k.read, key, "0", "-1", "WITHSCORES"})
		case "XRANGE":
			commands = append(commands, []string{k.read, key, "-", "+"})
		default:
			commands = append(commands, []string{k.read, key})
		}
	}
	return commands
}

// found makes a model of what the server holds of the client.
func (c *client) found(replies []difftest.Reply) *model {
	m := newModel()
	for i, k := range kinds {
		key := c.name + ":" + k.key
		expires, r := string(replies[2*i].Text), replies[2*i+1]
		v := m.get(key)
		if !strings.HasPrefix(expires, "-") {
			v.expires = expires
		}
		switch k.read {
		case "GET":
			if !r.Null {
				v.text = string(r.Text)
			}
		case "LRANGE":
			for _, e := range r.Elems {
				v.list = append(v.list, string(e.Text))
			}
		case "SMEMBERS":
			for _, e := range r.Elems {
				v.members[string(e.Text)] = ""
			}
		case "HGETALL", "ZRANGE":
			for j := 0; j+1 < len(r.Elems); j += 2 {
				v.members[string(r.Elems[j].Text)] = string(r.Elems[j+1].Text)
			}
		case "XRANGE":
			for _, e := range r.Elems {
				v.list = append(v.list, string(e.Elems[0].Text), string(e.Elems[1].Elems[0].Text), string(e.Elems[1].Elems[1].Text))
			}
		}
		m.settle(key)
	}
	return m
}

// matches returns the numbers of units after which the model equals what was found, and
// the models then. An SPOP without a reply may have taken anything, or nothing.
func (c *client) matches(found *model, until int) map[int]*model {
	m := c.base.copy()
	all := map[int]*model{}
	note := func(n int, m *model) {
		if m.digest == found.digest {
			all[n] = found
		}
	}
	note(0, m)
	for i, u := range c.history[:until] {
		if u.pops() && u.acked.IsZero() { // it is the last
			v := m.keys[u.commands[0][1]]
			if v == nil {
				note(i+1, m)
				break
			}
			for member := range v.clone().members {
				other := m.copy()
				u.popped = member
				u.apply(other)
				note(i+1, other)
			}
			break
		}
		u.apply(m)
		note(i+1, m)
	}
	return all
}

// copy returns a model that changes by itself.
func (m *model) copy() *model {
	n := newModel()
	for key, v := range m.keys {
		n.keys[key] = v.clone()
		n.settle(key)
	}
	return n
}

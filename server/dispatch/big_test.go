package dispatch_test

import (
	"bytes"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	str "heddle/server/command/string"
	"heddle/server/dispatch"
)

// bigFamily has commands that get a large argument: EAT key value takes it and
// lets it go, as when somebody deletes the key right behind the command; CHOKE
// key value panics; FULL key value does, for lack of memory; LINGER key value waits.
func bigFamily() command.Family {
	spec := func(name string, write func(*command.Call, db.Txn) error) *command.Spec {
		return &command.Spec{Name: name, Arity: 3, Keys: command.Key(1, command.KeyRW), Group: "test", Write: write}
	}
	linger := spec("linger", func(c *command.Call, _ db.Txn) error { return c.Wait(0) })
	linger.Flags = command.Blocking
	return command.Family{Name: "big", Specs: []*command.Spec{
		spec("eat", func(c *command.Call, _ db.Txn) error {
			c.TakeBig(2).Release()
			c.Reply.OK()
			return nil
		}),
		spec("choke", func(*command.Call, db.Txn) error { panic("too big") }),
		spec("full", func(*command.Call, db.Txn) error { panic(db.ErrOutOfMemory) }),
		linger,
	}}
}

// TestBigArgument: a large argument that stands in memory of its own is there
// until the slow log has seen it, and given back by every way that a command
// can take.
func TestBigArgument(t *testing.T) {
	e := cmdtest.NewWith(t, nil, bigFamily(), str.Family(func() int64 { return 512 << 20 }))
	slow := &e.Engine.Stats().Slowlog
	slow.SetThreshold(0)
	slow.SetMaxLen(100)
	used := e.Keyspace.Used()
	run := func(c *cmdtest.Client, name string) {
		t.Helper()
		b := e.Keyspace.NewBig(4 << 20) // freed, its memory reads as zeros
		copy(b.Bytes(), bytes.Repeat([]byte("x"), b.Len()))
		batch := []dispatch.Pending{{Client: c.Client, Argv: [][]byte{[]byte(name), []byte("k"), b.Bytes()}, Big: b, BigAt: 2}}
		e.Run(batch)
		c.Received()
		if !batch[0].Done || batch[0].Big != nil {
			t.Errorf("%s: done %v, big %v", name, batch[0].Done, batch[0].Big)
		}
	}
	for _, name := range []string{"eat", "choke", "full", "set", "get", "nosuch"} {
		run(e.Client, name)
		if last := slow.Last(1); name == "eat" && (len(last) != 1 || !strings.HasPrefix(last[0].Args[2], "xxxx")) {
			t.Errorf("%s: the slow log has %v", name, last)
		}
		e.Do("set k 1").OK()
		if log := e.Log(); len(log) > 0 != (name == "choke") {
			t.Errorf("%s: the log has %q", name, log)
		}
	}
	other := e.NewClient()
	run(other, "linger")
	if !other.Blocked() {
		t.Error("linger does not wait")
	}
	other.Close()
	e.Do("full k v").Want("-OOM command not allowed when used memory > 'maxmemory'.\r\n")
	e.Do("getdel k").Want("$1\r\n1\r\n")
	e.Events("new k", "set k", "set k", "set k", "set k", "set k", "set k", "set k", "del k")
	if now := e.Keyspace.Used(); now-used > 64<<10 {
		t.Errorf("%d bytes are not given back", now-used)
	}
}

// TestWaitForever: waits that do not fit nanoseconds do not end at once.
func TestWaitForever(t *testing.T) {
	e := newEnv(t)
	for _, ms := range []string{"9007199254740992", "9223372036855", "20000000000000"} {
		e.Do("client pause " + ms + " write").OK()
		if !e.Engine.Paused() {
			t.Errorf("a pause of %s ms is over", ms)
		}
		e.Advance(1 << 40)
		if !e.Engine.Paused() {
			t.Errorf("a pause of %s ms has ended", ms)
		}
		e.Do("client unpause").OK()
		c := e.NewClient()
		c.Do("await k " + ms).Want("")
		e.Advance(1000)
		if !c.Blocked() {
			t.Errorf("a wait of %s ms has ended", ms)
		}
		c.Close()
	}
}

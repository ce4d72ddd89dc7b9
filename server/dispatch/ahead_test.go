package dispatch_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
)

// work is what HEAVY has done ahead.
type work struct {
	w     *works
	taken bool
}

func (p *work) Release() {
	if !p.taken {
		p.w.released.Add(1)
	}
}

// works counts what became of it.
type works struct {
	t                     *testing.T
	done, taken, released atomic.Int64
	begin                 chan struct{} // what is done away waits for it, unless nil
}

// weight is how heavy a call is: one whose mode begins with "away-" is done away.
func weight(argv [][]byte) int {
	switch mode := string(argv[2]); {
	case mode == "light":
		return 0
	case strings.HasPrefix(mode, "away-"):
		return 1 << 20
	}
	return 1
}

// family has HEAVY key mode: with mode "light" nothing is done ahead, with "burst" what
// is done panics, with "choke" the handler does, with "refuse" it takes nothing.
func (w *works) family() command.Family {
	ahead := func(argv [][]byte, ks *db.Keyspace, now db.Millis) command.Prepared {
		for i := range ks.Shards() {
			if w.begin != nil {
				break // others may have it
			}
			if !ks.TryLock(i) {
				w.t.Errorf("%s: shard %d is locked", argv[2], i)
				continue
			}
			ks.Unlock(db.LockSet(0).With(i))
		}
		if now < cmdtest.Start || now > cmdtest.Start+1000 {
			w.t.Errorf("now is %d", now)
		}
		w.done.Add(1)
		if w.begin != nil {
			<-w.begin
		}
		if strings.HasSuffix(string(argv[2]), "burst") {
			panic("it bursts")
		}
		return &work{w: w}
	}
	write := func(c *command.Call, tx db.Txn) error {
		key, text := c.Args.Key(), c.Args.Bytes()
		mode := strings.TrimPrefix(string(text), "away-")
		switch p := c.Returned().(type) {
		case *work:
			switch mode {
			case "choke":
				panic("it chokes")
			case "refuse":
				return resp.ErrSyntax
			}
			p.taken = true
			w.taken.Add(1)
		case error:
			return p
		case nil:
			if mode != "light" {
				w.t.Errorf("%s: nothing was done ahead", mode)
			}
		}
		if err := tx.SetString(key, text, db.NoExpiry); err != nil {
			return err
		}
		tx.Touched(key, db.ClassString, "set")
		c.Reply.OK()
		return nil
	}
	return command.Family{Name: "ahead", Specs: []*command.Spec{{
		Name: "heavy", Arity: 3, Keys: command.Key(1, command.KeyOW|command.KeyUpdate), Group: "test", Write: write,
		Heavy: weight, Ahead: ahead,
	}}}
}

// want compares the counts since it was called last.
func (w *works) want(done, taken, released int64) {
	w.t.Helper()
	d, n, r := w.done.Swap(0), w.taken.Swap(0), w.released.Swap(0)
	if d != done || n != taken || r != released {
		w.t.Errorf("done %d, taken %d, released %d; want %d, %d, %d", d, n, r, done, taken, released)
	}
}

// env is a server with HEAVY.
func (w *works) env() *cmdtest.Env {
	return cmdtest.NewWith(w.t, []cmdtest.Option{cmdtest.WithShards(4)}, w.family(), transactions.Family(),
		str.Family(func() int64 { return 1 << 20 }), connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}))
}

// TestAhead has work done while no shard is locked, in a pipeline that keeps them and in
// transactions, and given up whenever the handler did not take it.
func TestAhead(t *testing.T) {
	w := &works{t: t}
	e := w.env()
	set := []string{"set", "k", "1"}
	e.Pipeline(set, []string{"heavy", "k", "light"}, []string{"get", "k"}).Want("+OK\r\n+OK\r\n$5\r\nlight\r\n")
	w.want(0, 0, 0)
	e.Pipeline(set, []string{"heavy", "k", "much"}, []string{"get", "k"}).Want("+OK\r\n+OK\r\n$4\r\nmuch\r\n")
	w.want(1, 1, 0)
	e.Pipeline(set, []string{"heavy", "k", "refuse"}, []string{"get", "k"}).Want("+OK\r\n-ERR syntax error\r\n$1\r\n1\r\n")
	w.want(1, 0, 1)
	e.Pipeline(set, []string{"heavy", "k", "choke"}, []string{"heavy", "k", "burst"}).Want("+OK\r\n-ERR internal error\r\n-ERR internal error\r\n")
	w.want(2, 0, 1)
	e.Pipeline([]string{"heavy", "k"}).WantError("ERR wrong number of arguments for 'heavy' command")
	w.want(0, 0, 0)

	multi := [][]string{{"multi"}, {"heavy", "a", "much"}, {"heavy", "a", "burst"}, {"heavy", "a", "refuse"}, {"heavy", "a", "light"},
		{"heavy", "b", "choke"}, {"heavy", "c", "more"}, {"mget", "a", "b", "c"}, {"exec"}}
	e.Pipeline(multi...).Want("+OK\r\n" + strings.Repeat("+QUEUED\r\n", 7) +
		"*7\r\n+OK\r\n-ERR internal error\r\n-ERR syntax error\r\n+OK\r\n-ERR internal error\r\n+OK\r\n*3\r\n$5\r\nlight\r\n$-1\r\n$4\r\nmore\r\n")
	w.want(5, 2, 2)
	if log := e.Log(); len(log) != 4 {
		t.Errorf("log: %q", log)
	}
	// A watched key has changed: nothing runs, nothing is left.
	e.Do("watch k").OK()
	e.NewClient().Do("set k 2").OK()
	e.Pipeline([]string{"multi"}, []string{"heavy", "a", "much"}, []string{"exec"}).Want("+OK\r\n+QUEUED\r\n*-1\r\n")
	w.want(1, 0, 1)
}

// TestAheadAway has much of that work done while other clients go on.
func TestAheadAway(t *testing.T) {
	w := &works{t: t}
	e := w.env()
	e.Do("heavy k away-much").OK()
	e.Do("get k").Want("$9\r\naway-much\r\n")
	w.want(1, 1, 0)
	e.Do("heavy k away-refuse").WantError("ERR syntax error")
	w.want(1, 0, 1)
	e.Do("heavy k away-burst").WantError("ERR internal error")
	e.Do("heavy k away-choke").WantError("ERR internal error")
	w.want(2, 0, 1)
	multi := [][]string{{"multi"}, {"heavy", "a", "away-much"}, {"heavy", "a", "away-burst"}, {"heavy", "a", "refuse"}, {"heavy", "a", "light"},
		{"heavy", "b", "away-choke"}, {"heavy", "c", "more"}, {"mget", "a", "b", "c"}, {"exec"}}
	e.Pipeline(multi...).Want("+OK\r\n" + strings.Repeat("+QUEUED\r\n", 7) +
		"*7\r\n+OK\r\n-ERR internal error\r\n-ERR syntax error\r\n+OK\r\n-ERR internal error\r\n+OK\r\n*3\r\n$5\r\nlight\r\n$-1\r\n$4\r\nmore\r\n")
	w.want(5, 2, 2)
	if log := e.Log(); len(log) != 4 {
		t.Errorf("log: %q", log)
	}
	// A large argument is neither copied nor kept.
	used := e.Keyspace.Used()
	b := e.Keyspace.NewBig(4 << 20)
	text := append([]byte("away-"), bytes.Repeat([]byte("x"), b.Len()-5)...)
	copy(b.Bytes(), text)
	batch := []dispatch.Pending{{Client: e.Client.Client, Argv: [][]byte{[]byte("heavy"), []byte("k"), b.Bytes()}, Big: b, BigAt: 2}}
	e.Run(batch)
	if got := e.Received(); got.Raw() != "+OK\r\n" || batch[0].Big != nil {
		t.Errorf("%q, big %v", got.Raw(), batch[0].Big)
	}
	e.Do("strlen k").Want(":4194304\r\n")
	e.Do("set k 1").OK()
	w.want(1, 1, 0)
	if now := e.Keyspace.Used(); now > used+1<<20 {
		t.Errorf("%d bytes of memory, before %d", now, used)
	}
}

// TestAheadMeanwhile has other clients do things while the work is done: nothing is left
// when nobody wants it any more.
func TestAheadMeanwhile(t *testing.T) {
	w := &works{t: t, begin: make(chan struct{})}
	e := w.env()
	exec := e.Executor()
	start := func(lines ...string) *cmdtest.Client {
		t.Helper()
		c := e.NewClient()
		for _, line := range lines {
			var argv [][]byte
			for _, word := range strings.Fields(line) {
				argv = append(argv, []byte(word))
			}
			exec.RunBatch([]dispatch.Pending{{Client: c.Client, Argv: argv}})
		}
		if !c.Blocked() {
			t.Fatal("it does not wait")
		}
		return c
	}
	run := func(line string) {
		t.Helper()
		var argv [][]byte
		for _, word := range strings.Fields(line) {
			argv = append(argv, []byte(word))
		}
		exec.RunBatch([]dispatch.Pending{{Client: e.Client.Client, Argv: argv}})
	}
	// Others write its key, and one that is watched.
	c := start("heavy k away-much")
	run("set k 1")
	w.begin <- struct{}{}
	c.Received().Want("+OK\r\n")
	e.Do("get k").Want("+OK\r\n$9\r\naway-much\r\n")
	w.want(1, 1, 0)
	c = start("watch k", "multi", "heavy a away-much", "exec")
	run("set k 1")
	w.begin <- struct{}{}
	c.Received().Want("+OK\r\n+OK\r\n+QUEUED\r\n*-1\r\n")
	w.want(1, 0, 1)
	e.Received()
	// Its client goes, before and behind the end of the work.
	for _, early := range []bool{true, false} {
		for _, lines := range [][]string{{"heavy k away-much"}, {"multi", "heavy k away-much", "heavy j away-more", "exec"}} {
			n := int64(1)
			if len(lines) > 1 {
				n = 2
			}
			c = start(lines...)
			for w.done.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			if early {
				c.Close()
			}
			for range n {
				w.begin <- struct{}{}
			}
			e.Engine.WaitAside()
			c.Close()
			e.Received()
			w.want(n, 0, n)
		}
	}
	// A pause comes in between: the work is done again behind it.
	c = start("heavy k away-much")
	run("client pause 100 write")
	w.begin <- struct{}{}
	c.Received().Want("")
	w.want(1, 0, 1)
	go func() { w.begin <- struct{}{} }()
	e.Advance(200)
	c.Received().Want("+OK\r\n")
	w.want(1, 1, 0)
	e.Received()
}

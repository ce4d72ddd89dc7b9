package dispatch_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	lists "heddle/server/command/list"
	"heddle/server/dispatch"
)

// waitFamily has blocking commands of strings: HAND from to ms moves a value to
// another key; EYE key ms answers once the key has a value, which it leaves, or an
// error once it is gone; TRIP key ms panics when it is resumed; DIFF key ms is
// parked with its last argument but one rewritten. FLUSHDB, FLUSHALL and SWAPDB are
// of databases 0 and 1.
func waitFamily() command.Family {
	access, insert := command.KeyRW|command.KeyAccess, command.KeyRW|command.KeyInsert
	spec := func(name string, arity int, write func(*command.Call, db.Txn) error) *command.Spec {
		return &command.Spec{Name: name, Arity: arity, Keys: command.Key(1, access), Flags: command.Blocking, Group: "test",
			Awaits: db.TypeString, Write: write, OnTimeout: func(w *resp.Writer) { w.NullArray() }}
	}
	hand := spec("hand", 4, hand)
	hand.Keys = append(command.Key(1, access), command.Key(2, insert)...)
	eye := spec("eye", 3, eye)
	eye.AwaitsGone = true
	whole := func(name string, change func(w db.Whole)) *command.Spec {
		return &command.Spec{Name: name, Arity: -1, Flags: command.AllShards | command.Writes, Group: "test",
			Control: func(c *command.Call, s command.Session) error {
				change(s.Keyspace())
				c.Reply.OK()
				return nil
			}}
	}
	return command.Family{Name: "waits", Specs: []*command.Spec{
		hand, eye, spec("trip", 3, trip), spec("diff", 4, diff),
		whole("flushdb", func(w db.Whole) { w.Flush(0, false) }),
		whole("flushall", func(w db.Whole) { w.Flush(-1, true) }),
		whole("swapdb", func(w db.Whole) { w.Swap(0, 1) }),
	}}
}

func hand(c *command.Call, tx db.Txn) error {
	from, to, ms := c.Args.Key(), c.Args.Key(), c.Args.Int()
	if tx.Type(from) != db.TypeString {
		return c.Wait(db.Millis(ms))
	}
	if t := tx.Type(to); t != db.TypeNone && t != db.TypeString {
		return db.ErrWrongType
	}
	s, _, _ := tx.Current(from)
	value := bytes.Clone(command.StrBytes(s, nil))
	tx.Delete(from)
	_ = tx.SetString(to, value, db.NoExpiry)
	tx.Touched(from, db.ClassGeneric, "hand_from")
	tx.Touched(to, db.ClassGeneric, "hand_to")
	c.Reply.Bulk(value)
	return nil
}

func eye(c *command.Call, tx db.Txn) error {
	key, ms := c.Args.Key(), c.Args.Int()
	s, found, err := tx.Current(key)
	switch {
	case err != nil:
		return err
	case found && c.Resumed():
		command.ReplyStr(c.Reply, &s)
		return nil
	case c.Resumed():
		return resp.Error("GONE " + string(c.Ready()))
	}
	return c.Wait(db.Millis(ms))
}

func trip(c *command.Call, _ db.Txn) error {
	c.Args.Key()
	if c.Resumed() {
		c.Reply.Array(2)
		panic("tripped")
	}
	return c.Wait(db.Millis(c.Args.Int()))
}

func diff(c *command.Call, _ db.Txn) error {
	c.Args.Key()
	word, ms := c.Args.Bytes(), c.Args.Int()
	if string(word) == "xxx" {
		c.Reply.Bulk(word)
		return nil
	}
	c.Rewrite(2, append(word, 'x'))
	return c.Wait(db.Millis(ms))
}

func newWaitEnv(t *testing.T, opts ...cmdtest.Option) *cmdtest.Env {
	t.Helper()
	return cmdtest.NewWith(t, opts, append(families(), waitFamily(), lists.Family())...)
}

// What a client does behind a write shows that those who waited were served.
func TestServedBeforeNextCommand(t *testing.T) {
	for _, shards := range []int{1, 16} {
		e := newWaitEnv(t, cmdtest.WithShards(shards))
		b, c := e.NewClient(), e.NewClient()
		b.Do("await x k y 0")
		c.Do("await k 0")
		e.Pipeline([]string{"set", "k", "1"}, []string{"get", "k"}, []string{"mset", "k", "2", "y", "3"}, []string{"mget", "k", "y"}).
			Want("+OK\r\n$-1\r\n+OK\r\n*2\r\n$-1\r\n$1\r\n3\r\n")
		b.Received().WantText("1) \"k\"\n2) \"1\"")
		c.Received().WantText("1) \"k\"\n2) \"2\"")
		e.Groups("set k 1", "del k", "set k 2; set y 3", "del k")
		e.Events("new k", "set k", "del k", "keymiss k", "new k", "set k", "new y", "set y", "del k", "keymiss k")
	}
}

// Those whom a served command wakes come behind all that were woken before.
func TestChains(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	var waiting []*cmdtest.Client
	wait := func(line string) *cmdtest.Client {
		c := e.NewClient()
		c.Do(line).Want("")
		waiting = append(waiting, c)
		return c
	}
	ab, bc, c, other := wait("hand a b 0"), wait("hand b c 0"), wait("await c 0"), wait("await z 0")
	e.Pipeline([]string{"multi"}, []string{"set", "a", "1"}, []string{"set", "z", "2"}, []string{"exec"}, []string{"mget", "a", "b", "c", "z"}).
		Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n*4\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n")
	e.Groups("set a 1; set z 2", "hand a b 0", "del z", "hand b c 0", "del c")
	ab.Received().WantText(`"1"`)
	bc.Received().WantText(`"1"`)
	c.Received().WantText("1) \"c\"\n2) \"1\"")
	other.Received().WantText("1) \"z\"\n2) \"2\"")
	// In a circle it ends where nobody waits any more.
	ab, bc = wait("hand a b 0"), wait("hand b a 0")
	e.Do("set a 3")
	ab.Received().WantText(`"3"`)
	bc.Received().WantText(`"3"`)
	e.Do("mget a b").Want("*2\r\n$1\r\n3\r\n$-1\r\n")
	if n := e.Engine.Clients().BlockingKeys(); n != 0 {
		t.Errorf("%d keys are waited for", n)
	}
}

// A client does not wait for the key that its command only writes to; a wrong type
// there is its error, and takes nothing.
func TestDestinationIsNotAwaited(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	b := e.NewClient()
	b.Do("hand a b 0")
	if n := e.Engine.Clients().BlockingKeys(); n != 1 {
		t.Errorf("%d keys are waited for", n)
	}
	e.Do("rpush b 1")
	e.Do("set a 1")
	b.Received().WantError("WRONGTYPE Operation against a key holding the wrong kind of value")
	e.Do("get a").Want("$1\r\n1\r\n")
	if n := e.Engine.Stats().Errors()["WRONGTYPE"]; n != 1 {
		t.Errorf("%d errors", n)
	}
}

// A key of another type wakes nobody; one that becomes the right type does.
func TestAwaitedType(t *testing.T) {
	e := newWaitEnv(t)
	b := e.NewClient()
	b.Do("hand a b 0")
	e.Do("rpush a 1")
	b.Received().Want("")
	e.Pipeline([]string{"multi"}, []string{"del", "a"}, []string{"set", "a", "x"}, []string{"exec"})
	b.Received().WantText(`"x"`)
}

// Who wants to know is told when a key is gone, whatever takes it away.
func TestAwaitsGone(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(4))
	f := func(want string, lines ...string) {
		t.Helper()
		e.Do("set k v px 100")
		e.Do("set other v")
		b, c := e.NewClient(), e.NewClient()
		b.Do("eye k 0").Want("")
		c.Do("eye k 0").Want("")
		if r := e.Engine.Clients(); r.BlockingGone() != 1 || r.BlockingKeys() != 1 {
			t.Errorf("%d of %d keys", r.BlockingGone(), r.BlockingKeys())
		}
		for _, l := range lines {
			e.Do(l)
		}
		b.Received().WantText(want)
		c.Received().WantText(want)
		b.Close()
		c.Close()
		e.Do("flushall")
		if r := e.Engine.Clients(); r.BlockingGone() != 0 || r.BlockingKeys() != 0 || r.Blocked() != 0 {
			t.Errorf("%d of %d keys, %d clients", r.BlockingGone(), r.BlockingKeys(), r.Blocked())
		}
	}
	const gone = "(error) GONE k"
	f(gone, "del k")
	f(gone, "unlink k")
	f(gone, "rename k l")
	f(gone, "getdel k")
	f(gone, "flushdb")
	f(gone, "flushall")
	f(gone, "swapdb")
	f(gone, "multi", "del k", "del other", "exec")
	f("(error) WRONGTYPE Operation against a key holding the wrong kind of value", "multi", "del k", "rpush k 1", "exec")
	f(`"w"`, "set k w")
	f(`"v"`, "rename other k")
	f(`"v"`, "copy other k replace")
	e.Do("set k v px 100")
	b := e.NewClient()
	b.Do("eye k 0")
	e.Advance(200)
	e.Keyspace.ExpireCycle(e.Now(), 100)
	b.Received().WantText(gone)
	e.Do("set k v px 100")
	b.Do("eye k 0")
	e.Advance(200)
	e.Do("get k").Want("$-1\r\n")
	b.Received().WantText(gone)
}

// SWAPDB, MOVE and the like make keys ready.
func TestReadyByOtherMeans(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	f := func(lines ...string) {
		t.Helper()
		e.Do("flushall")
		b := e.NewClient()
		b.Do("await x k 0").Want("")
		for _, l := range lines {
			b.Received().Want("")
			e.Do(l)
		}
		b.Received().WantText("1) \"k\"\n2) \"v\"")
		e.Do("select 0")
		e.Do("exists k").Want(":0\r\n")
	}
	f("set l v", "rename l k")
	f("set l v", "renamenx l k")
	f("set l v", "copy l k")
	f("select 1", "set k v", "move k 0")
	f("select 1", "set k v", "swapdb")
	f("select 1", "set l v", "copy l k db 0")
	f("multi", "set k v", "append l x", "exec")
}

// Who waits for several keys is served from that which was written first.
func TestReadyKeyFirst(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	b := e.NewClient()
	b.Do("await x y z 0")
	for _, l := range []string{"multi", "set z 1", "set y 2", "set x 3", "exec"} {
		e.Do(l)
	}
	b.Received().WantText("1) \"z\"\n2) \"1\"")
}

// A killed client is served no more, though it is still there; one that was served
// before gets what it can.
func TestKilledIsNotServed(t *testing.T) {
	e := newWaitEnv(t)
	b, c := e.NewClient(), e.NewClient()
	b.Do("await k 0")
	c.Do("await k 0")
	e.Do("client kill id 2").Want(":1\r\n")
	if !b.Killed() {
		t.Error("not killed")
	}
	e.Do("set k 1")
	b.Received().Want("")
	c.Received().WantText("1) \"k\"\n2) \"1\"")
	b.Close()
	if r := e.Engine.Clients(); r.BlockingKeys() != 0 || r.Blocked() != 0 {
		t.Errorf("%d keys, %d clients", r.BlockingKeys(), r.Blocked())
	}
}

// Once a client was served nothing else ends its wait.
func TestServedIsServed(t *testing.T) {
	e := newWaitEnv(t)
	b := e.NewClient()
	b.Do("await k 100")
	list := func() string { return e.Do("client list id 2").Text() }
	if l := list(); !strings.Contains(l, " flags=b ") || !strings.Contains(l, " argv-mem=9 ") {
		t.Errorf("blocked: %s", l)
	}
	e.Do("set k 1")
	e.Do("client unblock 2").Want(":0\r\n")
	if l := list(); !strings.Contains(l, " flags=N ") || !strings.Contains(l, " argv-mem=0 ") {
		t.Errorf("served: %s", l)
	}
	b.Received().WantText("1) \"k\"\n2) \"1\"")
	e.Advance(1000)
	b.Received().Want("")
	// A reply that borrows memory, and one whose connection goes before it arrives.
	big := strings.Repeat("x", 200_000)
	b.Do("await k 0")
	e.Argv("set", "k", big)
	b.Received().Want("*2\r\n$1\r\nk\r\n$200000\r\n" + big + "\r\n")
	b.Do("await k 100")
	e.Executor().RunBatch([]dispatch.Pending{{Client: e.Client.Client, Argv: [][]byte{[]byte("set"), []byte("k"), []byte(big)}}})
	b.Close()
	e.Advance(100)
	b.Received().Want("")
	if r := e.Engine.Clients(); r.BlockingKeys() != 0 || r.Blocked() != 0 || r.Timed() != 0 {
		t.Errorf("%d keys, %d clients, %d timeouts", r.BlockingKeys(), r.Blocked(), r.Timed())
	}
}

func TestServedPanic(t *testing.T) {
	e := newWaitEnv(t)
	b, c := e.NewClient(), e.NewClient()
	b.Do("trip k 0")
	c.Do("await k 0")
	e.Do("set k 1").OK()
	b.Received().WantError("ERR internal error")
	c.Received().WantText("1) \"k\"\n2) \"1\"")
	if log := e.Log(); len(log) != 1 || !strings.Contains(log[0], "tripped") {
		t.Errorf("log: %q", log)
	}
}

func TestRewrite(t *testing.T) {
	e := newWaitEnv(t)
	b := e.NewClient()
	b.Do("diff k x 0").Want("")
	e.Do("set k 1")
	b.Received().Want("")
	e.Do("set k 1")
	b.Received().WantText(`"xxx"`)
}

// MONITOR shows a command when it comes; it counts as one call, its time when it is
// answered; the wait is not slow.
func TestServedStatistics(t *testing.T) {
	e := newWaitEnv(t)
	m, b := e.NewClient(), e.NewClient()
	m.Do("monitor").OK()
	b.Do("await k 0")
	if got := m.Received().Text(); !strings.Contains(got, `"await" "k" "0"`) {
		t.Errorf("monitor: %s", got)
	}
	stat := func() (calls, failed int64) {
		s := e.Engine.Stats().Commands()[e.Engine.Table().Lookup([]byte("await")).ID()]
		return s.Calls, s.Failed
	}
	if calls, _ := stat(); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	e.Engine.Stats().Slowlog.SetThreshold(1_000_000)
	e.Advance(5000)
	e.Do("set k 1")
	b.Received()
	if got := m.Received().Text(); strings.Contains(got, "await") || !strings.Contains(got, `"set"`) {
		t.Errorf("monitor: %s", got)
	}
	b.Do("await k 10")
	e.Advance(10)
	b.Do("await k 0")
	e.Do("client unblock 3 error")
	if calls, failed := stat(); calls != 3 || failed != 1 {
		t.Errorf("%d calls, %d failed", calls, failed)
	}
	if n := len(e.Engine.Stats().Slowlog.Last(-1)); n != 0 {
		t.Errorf("%d slow commands", n)
	}
	if h := e.Engine.Stats().Histogram(e.Engine.Table().Lookup([]byte("await")).ID()); h.Count() != 3 {
		t.Errorf("%d times", h.Count())
	}
}

func TestServedReplyModes(t *testing.T) {
	e := newWaitEnv(t)
	b := e.NewClient()
	b.Do("client reply off")
	b.Do("await k 0")
	e.Do("set k 1")
	b.Received().Want("")
	b.Do("client reply on").OK()
	b.Do("client reply skip")
	b.Do("await k 0")
	e.Do("set k 1")
	b.Received().Want("")
	b.Do("ping").Want("+PONG\r\n")
	b.Do("await k 10")
	b.RESP3()
	e.Advance(10)
	b.Received().Want("_\r\n")
}

func TestPausedServes(t *testing.T) {
	e := newWaitEnv(t)
	b, c := e.NewClient(), e.NewClient()
	b.Do("await k 0")
	c.Do("await l 50")
	e.Pipeline([]string{"multi"}, []string{"set", "k", "1"}, []string{"client", "pause", "100", "all"}, []string{"exec"})
	b.Received().WantText("1) \"k\"\n2) \"1\"")
	e.Advance(50)
	c.Received().Want("*-1\r\n")
}

// Every wait ends at its time, whatever the others do.
func TestManyTimeouts(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	rnd := rand.New(rand.NewPCG(1, 2))
	type wait struct {
		c   *cmdtest.Client
		end db.Millis
	}
	var waits []*wait
	for range 200 {
		waits = append(waits, &wait{c: e.NewClient()})
	}
	for range 2000 {
		w := waits[rnd.IntN(len(waits))]
		if w.end != 0 {
			switch rnd.IntN(4) {
			case 0:
				e.Do(fmt.Sprintf("client unblock %d", w.c.ID())).Want(":1\r\n")
				w.c.Received().Want("*-1\r\n")
				w.end = 0
			case 1:
				e.Do(fmt.Sprintf("set key%d v", w.c.ID()))
				w.c.Received()
				w.end = 0
			}
		} else {
			ms := 1 + rnd.Int64N(100)
			w.end = e.Now() + db.Millis(ms)
			w.c.Do(fmt.Sprintf("await key%d other %d", w.c.ID(), ms)).Want("")
		}
		if rnd.IntN(3) == 0 {
			e.Advance(db.Millis(rnd.IntN(4)))
		}
		for _, w := range waits {
			if w.end != 0 && w.end <= e.Now() {
				w.c.Received().Want("*-1\r\n")
				w.end = 0
			}
			if w.c.Blocked() != (w.end != 0) {
				t.Fatalf("blocked %v until %d, it is %d", w.c.Blocked(), w.end, e.Now())
			}
		}
	}
}

// TestLineOrder compares lines with a plain model: clients that wait for random
// keys, writes and transactions of random keys.
func TestLineOrder(t *testing.T) {
	type waiter struct {
		c    *cmdtest.Client
		keys []string
	}
	for seed := range uint64(20) {
		e := newWaitEnv(t, cmdtest.WithShards(1<<(seed%5)))
		rnd := rand.New(rand.NewPCG(seed, 7))
		key := func() string { return "k" + strconv.Itoa(rnd.IntN(4)) }
		var line []*waiter
		idle := []*cmdtest.Client{}
		for range 12 {
			idle = append(idle, e.NewClient())
		}
		for range 300 {
			if n := len(idle); n > 0 && rnd.IntN(2) == 0 {
				w := &waiter{c: idle[n-1], keys: []string{key(), key(), key()}[:1+rnd.IntN(3)]}
				idle = idle[:n-1]
				w.c.Do("await " + strings.Join(w.keys, " ") + " 0").Want("")
				line = append(line, w)
				continue
			}
			batch := [][]string{{"multi"}}
			written := []string{}
			for range 1 + rnd.IntN(3) {
				if k := key(); !slices.Contains(written, k) {
					written = append(written, k)
					batch = append(batch, []string{"set", k, "v"})
				}
			}
			e.Pipeline(append(batch, []string{"exec"})...)
			for _, k := range written {
				at := slices.IndexFunc(line, func(w *waiter) bool { return slices.Contains(w.keys, k) })
				if at < 0 {
					e.Do("del " + k).Want(":1\r\n")
					continue
				}
				w := line[at]
				line = slices.Delete(line, at, at+1)
				w.c.Received().WantText("1) \"" + k + "\"\n2) \"v\"")
				idle = append(idle, w.c)
			}
			for _, w := range line {
				w.c.Received().Want("")
			}
		}
	}
}

// postConn is a connection whose mail waits to be fetched.
type postConn struct {
	nullConn
	mail []func()
}

func (c *postConn) Post(fn func()) { c.mail = append(c.mail, fn) }

// BenchmarkServe is an element that goes to a client that waits, which then waits
// again: without timeout, with one, and for three keys.
func BenchmarkServe(b *testing.B) {
	f := func(name string, line string) {
		b.Run(name, func(b *testing.B) { benchServe(b, line) })
	}
	f("one", "await key:000000001 0")
	f("timed", "await key:000000001 100000")
	f("three", "await other key:000000001 more 0")
}

func benchServe(b *testing.B, line string) {
	table, err := command.NewTable(testFamily(), setOnly())
	if err != nil {
		b.Fatal(err)
	}
	ks, err := db.Open(db.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(ks.Close)
	x := dispatch.New(dispatch.Options{Table: table, Keyspace: ks}).NewExecutor()
	conns := [2]*postConn{{}, {}}
	var batches [2][]dispatch.Pending
	for i, words := range []string{line, "put key:000000001 0123456789abcdef"} {
		batches[i] = []dispatch.Pending{{Client: x.NewClient(conns[i])}}
		for _, w := range strings.Fields(words) {
			batches[i][0].Argv = append(batches[i][0].Argv, []byte(w))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, batch := range batches {
			x.RunBatch(batch)
			conns[i].w.Reset(conns[i].w.Bytes())
		}
		for _, fn := range conns[0].mail {
			fn()
		}
		conns[0].mail = conns[0].mail[:0]
		if conns[0].w.Len() == 0 {
			b.Fatal("the client was not served")
		}
		conns[0].w.Reset(conns[0].w.Bytes())
	}
}

// setOnly is a SET without options.
func setOnly() command.Family {
	return command.Family{Name: "put", Specs: []*command.Spec{{
		Name: "put", Arity: 3, Keys: command.Key(1, command.KeyRW), Flags: command.Fast, Group: "test",
		Write: func(c *command.Call, tx db.Txn) error {
			key := c.Args.Key()
			_ = tx.SetString(key, c.Args.Bytes(), db.NoExpiry)
			tx.Touched(key, db.ClassString, "put")
			c.Reply.OK()
			return nil
		},
	}}}
}

// What is done for those who waited for a key that expired counts as no change.
func TestGoneCountsNothing(t *testing.T) {
	e := newWaitEnv(t, cmdtest.WithShards(16))
	b := e.NewClient()
	e.Do("set k v px 10").OK()
	b.Do("eye k 0").Want("")
	e.Do("set z 1").OK()
	before := e.Keyspace.Stats().Dirty
	e.Advance(2000)
	e.Expire()
	b.Received().WantError("GONE k")
	if n := e.Keyspace.Stats().Dirty - before; n != 0 {
		t.Errorf("%d changes", n)
	}
}

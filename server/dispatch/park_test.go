package dispatch_test

import (
	"errors"
	"strings"
	"testing"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
)

// testFamily has commands that only tests need: AWAIT key [key ...] ms takes
// the first string that is there, or waits for one; FAULT panics; ODD fails
// with an error that has no reply; SAY replies and then fails;
// ASIDE counts the keys in a goroutine of its own.
func testFamily() command.Family {
	return command.Family{Name: "test", Specs: []*command.Spec{
		{
			Name: "await", Arity: -3, Keys: command.Range(1, -2, 1, command.KeyRW|command.KeyAccess), Flags: command.Blocking,
			Group: "test", Awaits: db.TypeString, Write: await, OnTimeout: func(w *resp.Writer) { w.NullArray() },
		},
		{Name: "fault", Arity: 2, Keys: command.Key(1, command.KeyRW), Group: "test", Write: func(c *command.Call, tx db.Txn) error {
			c.Reply.Array(3)
			_ = tx.SetString(c.Args.Key(), []byte("x"), db.NoExpiry)
			panic("at fault")
		}},
		{Name: "aside", Arity: 2, Group: "test", Control: func(c *command.Call, s command.Session) error {
			word, ks, db := string(c.Args.Bytes()), s.Keyspace(), s.DB()
			return c.Aside(func(w *resp.Writer) {
				w.Map(1)
				w.BulkString(word)
				if word == "fault" {
					panic("at fault")
				}
				w.Int(ks.Len(db))
			})
		}},
		{Name: "odd", Arity: 1, Group: "test", Control: func(*command.Call, command.Session) error { return errors.New("odd") }},
		{Name: "say", Arity: 1, Group: "test", Control: func(c *command.Call, _ command.Session) error {
			c.Reply.Array(2)
			c.Reply.OK()
			return resp.ErrSyntax
		}},
		{Name: "grow", Arity: 2, Keys: command.Key(1, command.KeyRW), Flags: command.DenyOOM, Group: "test", Write: func(c *command.Call, tx db.Txn) error {
			c.Reply.OK()
			return tx.SetString(c.Args.Key(), make([]byte, 100), db.NoExpiry)
		}},
	}}
}

func await(c *command.Call, tx db.Txn) error {
	keys := c.Args.Rest()
	timeout, _ := command.ParseInt(keys[len(keys)-1])
	keys = keys[:len(keys)-1]
	if first := c.Ready(); first != nil {
		keys = append([][]byte{first}, keys...)
	}
	for _, key := range keys {
		s, found, err := tx.Current(key)
		if err != nil {
			return err
		}
		if found {
			c.Reply.Array(2)
			c.Reply.Bulk(key)
			command.ReplyStr(c.Reply, &s)
			tx.Delete(key)
			tx.Touched(key, db.ClassGeneric, "del")
			c.ReplicateAs([]byte("DEL"), key)
			return nil
		}
	}
	return c.Wait(db.Millis(timeout))
}

func families() []command.Family {
	return []command.Family{
		testFamily(), transactions.Family(), generic.Family(),
		connection.Family(connection.Deps{Version: "7.2.6", Databases: 16}),
		str.Family(func() int64 { return 512 << 20 }),
	}
}

func newEnv(t *testing.T, opts ...cmdtest.Option) *cmdtest.Env {
	t.Helper()
	return cmdtest.NewWith(t, opts, families()...)
}

func TestParkAndWake(t *testing.T) {
	e := newEnv(t, cmdtest.WithShards(8))
	b := e.NewClient()
	b.Do("await x y 0").Want("")
	if !b.Blocked() || e.Engine.Clients().Blocked() != 1 {
		t.Fatal("the client is not blocked")
	}
	e.Do("set z 1").OK()
	b.Received().Want("")
	e.Propagated("set z 1")
	e.Do("set y 5").OK()
	b.Received().WantText("1) \"y\"\n2) \"5\"")
	e.Propagated("set y 5", "del y")
	if b.Blocked() || e.Engine.Clients().Blocked() != 0 {
		t.Error("still blocked")
	}
	b.Do("ping").Want("+PONG\r\n")
	e.Events("new z", "set z", "new y", "set y", "del y")
	e.Do("exists y").Want(":0\r\n")
}

// Commands behind one that is parked wait, in the same batch and in later ones.
func TestParkHoldsPipeline(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	b.Pipeline([]string{"ping"}, []string{"await", "k", "0"}, []string{"set", "never", "1"}).Want("+PONG\r\n")
	b.Do("set never 1").Want("")
	e.Do("exists never").Want(":0\r\n")
}

func TestParkTimeout(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	b.Do("await k l 1500").Want("")
	if r := e.Engine.Clients(); r.BlockingKeys() != 2 || r.Timed() != 1 {
		t.Errorf("%d keys, %d timeouts", r.BlockingKeys(), r.Timed())
	}
	e.Advance(1499)
	b.Received().Want("")
	e.Advance(1)
	b.Received().Want("*-1\r\n")
	b.RESP3().Do("await k 10").Want("")
	e.Advance(10)
	b.Received().Want("_\r\n")
	// Served in time, the timeout does nothing any more.
	b.Do("await k 10").Want("")
	e.Do("set k 1")
	b.Received().WantText("1) \"k\"\n2) \"1\"")
	e.Advance(100)
	b.Received().Want("")
	if r := e.Engine.Clients(); r.BlockingKeys() != 0 || r.Timed() != 0 {
		t.Errorf("%d keys, %d timeouts", r.BlockingKeys(), r.Timed())
	}
}

// Those who wait for a key are served in the order in which they came.
func TestParkOrder(t *testing.T) {
	e := newEnv(t)
	var waiting []*cmdtest.Client
	for range 4 {
		c := e.NewClient()
		c.Do("await k other 0").Want("")
		waiting = append(waiting, c)
	}
	for i, c := range waiting {
		e.Do("set k " + string(rune('a'+i)))
		c.Received().WantText("1) \"k\"\n2) \"" + string(rune('a'+i)) + "\"")
	}
	e.Do("exists k").Want(":0\r\n")
}

// A transaction that sets two keys serves two clients; one that takes its key
// back serves none, and the clients keep their places.
func TestParkAndExec(t *testing.T) {
	e := newEnv(t)
	b, c := e.NewClient(), e.NewClient()
	b.Do("await k 0").Want("")
	c.Do("await k l 0").Want("")
	e.Pipeline([]string{"multi"}, []string{"set", "k", "1"}, []string{"del", "k"}, []string{"exec"})
	b.Received().Want("")
	c.Received().Want("")
	e.Pipeline([]string{"multi"}, []string{"set", "k", "1"}, []string{"set", "l", "2"}, []string{"exec"})
	b.Received().WantText("1) \"k\"\n2) \"1\"")
	c.Received().WantText("1) \"l\"\n2) \"2\"")
	// Inside EXEC nothing waits.
	e.Pipeline([]string{"multi"}, []string{"await", "k", "0"}, []string{"ping"}, []string{"exec"}).
		Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*-1\r\n+PONG\r\n")
}

func TestParkErrorsAndDatabases(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	b.Do("select 2")
	b.Do("await k 0").Want("")
	e.Do("set k 1")
	b.Received().Want("")
	e.Do("select 2")
	e.Do("set k 2")
	b.Received().WantText("1) \"k\"\n2) \"2\"")
}

func TestUnblock(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	e.Do("client unblock 2").Want(":0\r\n")
	b.Do("await k 0").Want("")
	e.Do("client unblock 2").Want(":1\r\n")
	b.Received().Want("*-1\r\n")
	b.Do("await k 0").Want("")
	e.Do("client unblock 2 error").Want(":1\r\n")
	b.Received().WantError("UNBLOCKED client unblocked via CLIENT UNBLOCK")
	e.Do("client unblock 2 error").Want(":0\r\n")
}

func TestParkedClientGoes(t *testing.T) {
	e := newEnv(t)
	b, c := e.NewClient(), e.NewClient()
	b.Do("await k 100").Want("")
	c.Do("await k 0").Want("")
	b.Close()
	e.Do("set k 1")
	c.Received().WantText("1) \"k\"\n2) \"1\"")
	e.Advance(1000)
	b.Received().Want("")
	if n := e.Engine.Clients().Blocked(); n != 0 {
		t.Errorf("%d clients blocked", n)
	}
}

func TestPause(t *testing.T) {
	e := newEnv(t)
	b, c := e.NewClient(), e.NewClient()
	e.Do("client pause 1000 write").OK()
	b.Do("get k").Want("$-1\r\n")
	b.Do("set k 1").Want("")
	if !b.Blocked() || !e.Engine.Paused() {
		t.Error("the write was not held back")
	}
	e.Do("client unblock 2").Want(":0\r\n")
	c.Do("multi").OK()
	c.Do("get k").Want("+QUEUED\r\n")
	c.Do("exec").Want("*1\r\n$-1\r\n")
	e.Do("client unpause").OK()
	b.Received().OK()
	e.Do("get k").Want("$1\r\n1\r\n")

	// A later pause neither shortens one that is under way nor lets more through.
	e.Do("client pause 1000 all").OK()
	b.Do("get k").Want("")
	e.Engine.Pause(10, true)
	e.Advance(500)
	b.Received().Want("")
	c.Do("ping").Want("")
	e.Advance(500)
	b.Received().Want("$1\r\n1\r\n")
	c.Received().Want("+PONG\r\n")
	if e.Engine.Paused() {
		t.Error("the pause does not end")
	}
}

// EXEC is held back by a pause of writes when something that writes is queued.
func TestPauseExec(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	b.Do("multi")
	b.Do("incr k")
	e.Do("client pause 1000 write")
	b.Do("exec").Want("")
	e.Do("get k").Want("$-1\r\n")
	e.Advance(1000)
	b.Received().Want("*1\r\n:1\r\n")
}

// Keys that expire during a pause are not seen, but stay until its end.
func TestPauseKeepsExpired(t *testing.T) {
	e := newEnv(t)
	e.Pipeline([]string{"multi"}, []string{"set", "k", "v", "px", "10"}, []string{"client", "pause", "1000", "write"}, []string{"exec"})
	e.Events("new k", "set k", "expire k")
	e.Advance(20)
	e.Do("get k").Want("$-1\r\n")
	e.Keyspace.ExpireCycle(e.Now(), 100)
	e.Events("keymiss k")
	if n := e.Keyspace.Stats().Expired; n != 0 {
		t.Errorf("%d keys expired", n)
	}
	e.Do("client unpause").OK()
	e.Do("get k").Want("$-1\r\n")
	e.Events("expired k", "keymiss k")
}

// A paused client that goes, and one that is paused again when it wakes.
func TestPauseTwice(t *testing.T) {
	e := newEnv(t)
	b, c := e.NewClient(), e.NewClient()
	e.Engine.Pause(100, false)
	b.Do("set k 1").Want("")
	c.Do("set k 2").Want("")
	c.Close()
	e.Engine.Unpause()
	e.Engine.Pause(100, false)
	b.Received().Want("")
	e.Advance(100)
	b.Received().OK()
	e.Do("get k").Want("$1\r\n1\r\n")
}

func TestPanic(t *testing.T) {
	e := newEnv(t)
	e.Pipeline([]string{"ping"}, []string{"fault", "k"}, []string{"ping"}).
		Want("+PONG\r\n-ERR internal error\r\n+PONG\r\n")
	if log := e.Log(); len(log) != 1 || !strings.Contains(log[0], "at fault") || !strings.Contains(log[0], "park_test.go") {
		t.Errorf("log: %q", log)
	}
	// The locks are back, and a transaction goes on behind it. What the command at fault
	// did is what its key has become.
	e.Do("set k 1").OK()
	e.Forget()
	e.Pipeline([]string{"multi"}, []string{"set", "a", "1"}, []string{"fault", "k"}, []string{"set", "b", "2"}, []string{"exec"}, []string{"ping"}).
		Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n-ERR internal error\r\n+OK\r\n+PONG\r\n")
	groups := strings.Join(e.TakeGroups(), "|")
	if !strings.HasPrefix(groups, "set a 1; restore k 0 ") || !strings.HasSuffix(groups, " REPLACE ABSTTL; set b 2") {
		t.Errorf("propagated %q", groups)
	}
	e.Do("exec").WantError("ERR EXEC without MULTI")
	e.Log()
	st := e.Engine.Stats().Commands()[e.Engine.Table().Lookup([]byte("fault")).ID()]
	if st.Failed != 2 {
		t.Errorf("FAULT failed %d times", st.Failed)
	}
}

func TestErrorsWithoutReply(t *testing.T) {
	e := newEnv(t)
	e.Do("odd").WantError("ERR internal error")
	if log := e.Log(); len(log) == 0 || !strings.Contains(log[0], "odd") {
		t.Errorf("log: %q", log)
	}
	e.Do("say").WantError("ERR syntax error")
}

func TestGroups(t *testing.T) {
	e := newEnv(t, cmdtest.WithShards(16))
	e.Pipeline([]string{"multi"}, []string{"set", "a", "1"}, []string{"get", "a"}, []string{"select", "1"}, []string{"incr", "b"}, []string{"setnx", "b", "2"}, []string{"exec"})
	e.Groups("set a 1; select 1; incr b")
	e.Do("get b")
	e.Do("del nokey")
	e.Groups()
	e.Do("mset x 1 y 2")
	e.Groups("set x 1; set y 2")
}

func TestMemoryGate(t *testing.T) {
	e := newEnv(t)
	set := func(limit int64, policy db.Policy) {
		s := e.Keyspace.Settings()
		s.MaxMemory, s.Policy = limit, policy
		e.Keyspace.SetSettings(s)
	}
	e.Do("set k v").OK()
	set(1, db.NoEviction)
	const oom = "OOM command not allowed when used memory > 'maxmemory'."
	e.Do("set k v").WantError(oom)
	e.Do("get k").Want("$1\r\nv\r\n")
	e.Do("del nokey").Want(":0\r\n")
	e.Do("multi").OK()
	e.Do("get k").WantError(oom)
	e.Do("exec").WantError("EXECABORT Transaction discarded because of previous errors.")
	set(0, db.NoEviction)
	e.Do("multi").OK()
	e.Do("set k w").Want("+QUEUED\r\n")
	set(1, db.NoEviction)
	e.Do("exec").WantError("EXECABORT Transaction discarded because of: " + oom)
	set(1, db.AllKeysLRU)
	e.Do("get k").Want("$-1\r\n")
	set(0, db.NoEviction)
}

func TestLoadingGate(t *testing.T) {
	e := newEnv(t)
	e.Engine.SetLoading(true)
	e.Do("get k").WantError("LOADING Redis is loading the dataset in memory")
	e.Do("echo x").Want("$1\r\nx\r\n")
	e.Engine.SetLoading(false)
	e.Do("get k").Want("$-1\r\n")
}

func TestReplicasGate(t *testing.T) {
	e := newEnv(t)
	want := func(n int64) {
		e.Engine.Configure(func(s *dispatch.Settings) { s.MinReplicas = n })
	}
	e.Do("set a 1").OK()
	e.Do("multi").OK()
	e.Do("incr a")
	want(1)
	e.Do("exec").WantError("EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write.")
	e.Do("set a 2").WantError("NOREPLICAS Not enough good replicas to write.")
	e.Do("get a").WantText(`"1"`)
	want(0)
	e.Do("set a 2").OK()
}

func TestStatistics(t *testing.T) {
	e := newEnv(t)
	call := func(name string) (calls, failed, rejected int64) {
		s := e.Engine.Stats().Commands()[e.Engine.Table().Lookup([]byte(name)).ID()]
		return s.Calls, s.Failed, s.Rejected
	}
	check := func(name string, calls, failed, rejected int64) {
		t.Helper()
		if c, f, r := call(name); c != calls || f != failed || r != rejected {
			t.Errorf("%s: %d calls, %d failed, %d rejected; want %d, %d, %d", name, c, f, r, calls, failed, rejected)
		}
	}
	e.Pipeline([]string{"set", "s", "text"}, []string{"get", "s"}, []string{"get", "s"}, []string{"incr", "s"}, []string{"get"}, []string{"set", "a"})
	check("set", 1, 0, 1)
	check("get", 2, 0, 1)
	check("incr", 1, 1, 0)
	e.Pipeline([]string{"multi"}, []string{"incr", "s"}, []string{"get", "s"}, []string{"exec"})
	check("incr", 2, 2, 0)
	check("get", 3, 0, 1)
	check("exec", 1, 0, 0)
	e.Do("exec")
	check("exec", 2, 1, 0)
	if n := e.Engine.Stats().Errors()["ERR"]; n != 5 {
		t.Errorf("%d errors", n)
	}
}

func TestNoTouch(t *testing.T) {
	e := newEnv(t)
	idle := func(want string) {
		t.Helper()
		e.Do("object idletime k").Want(":" + want + "\r\n")
	}
	e.Do("set k v")
	e.Advance(10_000)
	e.Do("client no-touch on").OK()
	e.Do("get k").Want("$1\r\nv\r\n")
	idle("10")
	e.Pipeline([]string{"multi"}, []string{"get", "k"}, []string{"exec"})
	idle("10")
	e.Do("touch k").Want(":1\r\n")
	idle("0")
	e.Advance(5000)
	e.Do("client no-touch off").OK()
	idle("5")
	e.Do("get k")
	idle("0")
}

func TestUnwatchInExec(t *testing.T) {
	e := newEnv(t)
	e.Do("watch k")
	e.Pipeline([]string{"multi"}, []string{"unwatch"}, []string{"incr", "k"}, []string{"exec"}).
		Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:1\r\n")
	e.Pipeline([]string{"multi"}, []string{"incr", "k"}, []string{"exec"}).Want("+OK\r\n+QUEUED\r\n*1\r\n:2\r\n")
}

// A watched key that expires makes EXEC fail; one that was expired when it was
// watched does not.
func TestWatchExpired(t *testing.T) {
	e := newEnv(t)
	e.Do("set k v px 10")
	e.Do("watch k")
	e.Advance(20)
	e.Pipeline([]string{"multi"}, []string{"ping"}, []string{"exec"}).Want("+OK\r\n+QUEUED\r\n*-1\r\n")
	e.Do("set k v px 10")
	e.Advance(20)
	e.Do("watch k")
	e.Pipeline([]string{"multi"}, []string{"ping"}, []string{"exec"}).Want("+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n")
}

// A key that expires is deleted for those who read the oplog, before the
// command that found out.
func TestExpiredEffect(t *testing.T) {
	e := newEnv(t)
	e.Do("set k v px 10")
	e.Propagated("set k v PXAT 1700000000010")
	e.Advance(20)
	e.Do("incr k").Want(":1\r\n")
	e.Propagated("del k", "incr k")
}

// Slow commands are logged; those of EXEC one by one, AUTH without its secret.
func TestSlowlog(t *testing.T) {
	e := newEnv(t)
	st := e.Engine.Stats()
	st.Slowlog.SetThreshold(0)
	e.Do("client setname me")
	e.Do("hello 2 auth default secret")
	e.Pipeline([]string{"multi"}, []string{"incr", "k"}, []string{"exec"})
	e.Do("get k")
	var got []string
	for _, c := range st.Slowlog.Last(-1) {
		got = append(got, strings.Join(c.Args, " "))
		if c.Addr != "127.0.0.1:50001" {
			t.Errorf("address %q", c.Addr)
		}
	}
	want := "get k|incr k|multi|hello 2 auth (redacted) (redacted)|client setname me"
	if strings.Join(got, "|") != want {
		t.Errorf("slow log %q, want %q", got, want)
	}
}

package pubsub

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
	hub "heddle/server/pubsub"
)

func families() []command.Family {
	limit := func() int64 { return 512 << 20 }
	return []command.Family{Family(), connection.Family(connection.Deps{Version: "7.2.4", Databases: 16}), transactions.Family(), str.Family(limit)}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

// As in Redis 7.2, and other than in 7.0: what a client publishes to itself comes
// behind the reply of the command, and of EXEC.
func TestOwnMessages(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.RESP3()
	e.Do("subscribe a b")
	const message = ">3\r\n$7\r\nmessage\r\n$1\r\n"
	e.Pipeline([]string{"publish", "a", "1"}, []string{"get", "x"}, []string{"publish", "b", "2"}).
		Want(":1\r\n" + message + "a\r\n$1\r\n1\r\n_\r\n:1\r\n" + message + "b\r\n$1\r\n2\r\n")
	e.Do("multi")
	for _, line := range []string{"publish a 1", "subscribe c", "publish c 3", "get x", "unsubscribe a", "publish a 5"} {
		e.Do(line).Want("+QUEUED\r\n")
	}
	e.Do("exec").Want("*6\r\n:1\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:3\r\n:1\r\n_\r\n>3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:2\r\n:0\r\n" +
		message + "a\r\n$1\r\n1\r\n" + message + "c\r\n$1\r\n3\r\n")

	e.Do("reset")
	e.Do("multi")
	for _, line := range []string{"subscribe a", "publish a 1", "unsubscribe"} {
		e.Do(line).Want("+QUEUED\r\n")
	}
	e.Do("exec").Want("*3\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n:1\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n" +
		"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n1\r\n")
}

// CLIENT REPLY holds back replies, but neither messages nor what confirms
// subscriptions.
func TestReplyOff(t *testing.T) {
	e := cmdtest.New(t, families()...)
	other := e.NewClient()
	const confirmed, message = "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"
	e.Do("client reply off").Want("")
	e.Do("subscribe a").Want(confirmed)
	other.Do("publish a hi").Want(":1\r\n")
	e.Received().Want(message)
	e.Do("ping").Want("")
	e.Do("get x").Want("")
	e.Do("unsubscribe a").Want("*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n")
	e.Do("client reply on").Want("+OK\r\n")
	e.Do("client reply skip").Want("")
	e.Do("subscribe a").Want(confirmed)
	e.Do("ping").Want("*2\r\n$4\r\npong\r\n$0\r\n\r\n")
	e.RESP3().Do("client reply off").Want("")
	e.Do("publish a hi").Want(">" + message[1:])
}

func TestClientList(t *testing.T) {
	e := cmdtest.New(t, families()...)
	s := e.NewClient()
	s.Do("subscribe a b c")
	s.Do("psubscribe p q")
	s.Do("ssubscribe s")
	check := func(line string, has bool) {
		t.Helper()
		if got := strings.Contains(e.Do(line).Text(), "flags=P db=0 sub=3 psub=2 ssub=1 multi=-1"); got != has {
			t.Errorf("%s shows the subscriber: %t, want %t", line, got, has)
		}
	}
	check("client list", true)
	check("client list type pubsub", true)
	check("client list type normal", false)
	e.Do("client kill type pubsub").Want(":1\r\n")
	if !s.Killed() {
		t.Error("the subscriber was not killed")
	}
	s.Do("reset")
	check("client list", false)
	e.Do("client list type pubsub").WantText(`""`)
}

// A subscriber that is gone is forgotten.
func TestDisconnect(t *testing.T) {
	e := cmdtest.New(t, families()...)
	s := e.NewClient()
	before := e.Keyspace.Overhead()
	s.Do("subscribe a b c")
	s.Do("psubscribe p q")
	if s.Memory() == 0 || e.Keyspace.Overhead() == before {
		t.Error("subscriptions cost nothing")
	}
	s.Close()
	e.Do("publish a x").Want(":0\r\n")
	e.Do("pubsub numpat").Want(":0\r\n")
	if left := e.Keyspace.Overhead() - before; left != 0 {
		t.Errorf("%d bytes are left", left)
	}
}

// Messages are no effects: no file has them.
func TestPropagation(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("publish a b")
	e.Do("spublish c d")
	e.Do("subscribe x")
	e.Do("reset")
	e.Do("multi")
	e.Do("set k v")
	e.Do("publish a e")
	e.Do("exec").Want("*2\r\n+OK\r\n:0\r\n")
	e.Groups("set k v")
}

func TestKeyspaceEvents(t *testing.T) {
	notify := func(o *dispatch.Options, _ *db.Options) {
		o.Settings.Notify = hub.Keyspace | hub.Keyevent | uint32(db.ClassString|db.ClassNew)
	}
	e := cmdtest.NewWith(t, []cmdtest.Option{notify}, families()...)
	s := e.NewClient()
	s.Do("psubscribe *")
	e.Do("select 2")
	e.Do("set k v")
	s.Received().WantText(`1) "pmessage"
2) "*"
3) "__keyspace@2__:k"
4) "new"
1) "pmessage"
2) "*"
3) "__keyevent@2__:new"
4) "k"
1) "pmessage"
2) "*"
3) "__keyspace@2__:k"
4) "set"
1) "pmessage"
2) "*"
3) "__keyevent@2__:set"
4) "k"`)
	e.Do("get none")
	s.Received().Want("")
}

// A client to which EXEC sends more than anybody should keep is closed.
func TestTooMuchInExec(t *testing.T) {
	e := cmdtest.New(t, families()...)
	c := e.NewClient()
	c.RESP3().Do("subscribe b")
	for i := range 20 {
		c.Do("psubscribe a" + strings.Repeat("*", i+1))
	}
	run := func(times, size int) int {
		c.Do("multi")
		for range times {
			c.Argv("publish", "a", strings.Repeat("x", size))
		}
		c.Do("unsubscribe b")
		return len(c.Do("exec").Raw())
	}
	if n := run(2, 10<<10); n < 400<<10 || c.Killed() {
		t.Errorf("%d bytes, killed: %t", n, c.Killed())
	}
	c.Do("subscribe b")
	if n := run(4, 900<<10); n > 65<<20 || !c.Killed() {
		t.Errorf("%d bytes, killed: %t", n, c.Killed())
	}
}

package lists_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	lists "heddle/server/command/list"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

const maxBulk = 512 << 20

func families() []command.Family {
	return []command.Family{str.Family(func() int64 { return maxBulk }), generic.Family(), transactions.Family(), lists.Family()}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func env(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, families()...)
}

// TestEffects checks what reaches the oplog.
func TestEffects(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(want...)
	}
	f("rpush a 1 2 3 4 5 6 7 8 9", "rpush a 1 2 3 4 5 6 7 8 9")
	f("lmpop 2 none a left count 2", "lpop a 2")
	f("lmpop 1 a right count 1", "rpop a 1")
	f("lpop a", "lpop a")
	f("lpop a 1", "lpop a 1")
	f("lpop a 0")
	f("lpop none")
	f("blpop a 0", "lpop a")
	f("brpop none a 0", "rpop a")
	f("blmpop 0 1 a right", "rpop a 1")
	f("rpush a 1 2 3", "rpush a 1 2 3")
	f("lmove a b left right", "lmove a b left right")
	f("blmove a b left right 0", "lmove a b left right")
	f("brpoplpush a b 0", "rpoplpush a b")
	f("rpoplpush b b", "rpoplpush b b")
	f("lmove none b left left")
	f("ltrim b 0 -1")
	f("ltrim b 1 -1", "ltrim b 1 -1")
	f("lrem b 0 none")
	f("lset b 0 x", "lset b 0 x")
	f("lrem b 0 x", "lrem b 0 x")
	f("linsert b before none x")
	f("lpushx none x")
	f("lpushx b x", "lpushx b x")
	f("lset b 5 x")
	f("lrange b 0 -1")
	f("ltrim b 1 0", "ltrim b 1 0")
}

func TestEvents(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Events(want...)
	}
	f("lpush a 1 2 3", "new a", "lpush a")
	f("rpush a 4", "rpush a")
	f("lpushx a 0", "lpush a")
	f("rpushx b 1")
	f("lset a 0 9", "lset a")
	f("lset a 9 9")
	f("linsert a before 9 8", "linsert a")
	f("linsert a before 77 8")
	f("lrem a 1 9", "lrem a")
	f("lrem a 1 9")
	f("ltrim a 0 2", "ltrim a")
	f("ltrim a 0 2", "ltrim a")
	f("ltrim a 5 9", "ltrim a", "del a")
	f("ltrim a 5 9")
	f("rpush a 1", "new a", "rpush a")
	f("lmove a b left right", "new b", "rpush b", "lpop a", "del a")
	f("lmove b b left right", "rpush b", "lpop b")
	f("lmove b b right right", "rpush b", "rpop b")
	f("rpush b 2 3", "rpush b")
	f("rpoplpush b b", "lpush b", "rpop b")
	f("lpop b 0")
	f("lpop b 2", "lpop b")
	f("lmpop 2 a b right count 2", "rpop b", "del b")
	f("rpush a x", "new a", "rpush a")
	f("blpop a 1", "lpop a", "del a")
	f("rpush a x y", "new a", "rpush a")
	f("blmove a b left right 1", "new b", "rpush b", "lpop a")
	f("blmpop 1 1 a right", "rpop a", "del a")
	f("brpoplpush b b 1", "lpush b", "rpop b")
	f("brpop b 1", "rpop b", "del b")
	f("lrem b 0 x")
}

// TestNames: what OBJECT ENCODING says as a list grows and shrinks.
func TestNames(t *testing.T) {
	e := env(t)
	e.Do("rpush l a")
	e.Do("object encoding l").WantText(`"listpack"`)
	e.Argv("rpush", "l", strings.Repeat("x", 9000))
	e.Do("object encoding l").WantText(`"quicklist"`)
	e.Do("rpop l")
	e.Do("object encoding l").WantText(`"listpack"`)
	e.Argv("lset", "l", "0", strings.Repeat("x", 9000))
	e.Do("object encoding l").WantText(`"quicklist"`)
	e.Do("copy l m").WantText("(integer) 1")
	e.Do("object encoding m").WantText(`"quicklist"`)
	e.Do("lset m 0 a").OK()
	e.Do("object encoding m").WantText(`"listpack"`)
	e.Do("object encoding l").WantText(`"quicklist"`)
}

// TestBlocking: who waits is served in order, by pushes of all kinds.
func TestBlocking(t *testing.T) {
	e := env(t)
	a, b, w := e.NewClient(), e.NewClient(), e.NewClient()
	a.Do("blpop l m 0").Want("")
	b.Do("brpop l 0").Want("")
	w.Do("rpush l 1 2 3").Want(":3\r\n")
	a.Received().WantText("1) \"l\"\n2) \"1\"")
	b.Received().WantText("1) \"l\"\n2) \"3\"")
	w.Do("lrange l 0 -1").WantText(`1) "2"`)
	w.Do("del l")

	// A value of another type is no reason to end the wait.
	a.Do("blmpop 0 2 l m left count 5").Want("")
	w.Do("set l x").OK()
	w.Do("del l")
	w.Do("lmove none l left left")
	w.Do("rpush m a b").Want(":2\r\n")
	a.Received().WantText("1) \"m\"\n2) 1) \"a\"\n   2) \"b\"")

	// A chain: what one passes on another takes.
	a.Do("blmove l m left right 0").Want("")
	b.Do("blpop m 0").Want("")
	w.Do("rpush l x").Want(":1\r\n")
	a.Received().WantText(`"x"`)
	b.Received().WantText("1) \"m\"\n2) \"x\"")
	w.Do("exists l m").WantText("(integer) 0")

	// The destination is of the wrong type: an error, and the element stays.
	w.Do("set m x").OK()
	a.Do("brpoplpush l m 0").Want("")
	w.Do("rpush l x").Want(":1\r\n")
	a.Received().WantError("WRONGTYPE Operation against a key holding the wrong kind of value")
	w.Do("lrange l 0 -1").WantText(`1) "x"`)
	w.Do("del l m")

	// Timeouts.
	a.Do("blpop l 0.1").Want("")
	b.Do("blmove l m left left 0.05").Want("")
	e.Advance(60)
	b.Received().Want("*-1\r\n")
	a.Received().Want("")
	e.Advance(60)
	a.Received().Want("*-1\r\n")
}

// TestTransaction: an element that a transaction gives and takes back is none.
func TestTransaction(t *testing.T) {
	e := env(t)
	a, w := e.NewClient(), e.NewClient()
	a.Do("blpop l 0").Want("")
	for _, cmd := range []string{"multi", "rpush l a", "lpop l", "rpush l b c", "exec"} {
		w.Do(cmd)
	}
	a.Received().WantText("1) \"l\"\n2) \"b\"")
	w.Do("lrange l 0 -1").WantText(`1) "c"`)
}

// TestLong: replies of more elements than are written at once, and of long ones.
func TestLong(t *testing.T) {
	e := env(t)
	var want []string
	for i := range 5000 {
		s := "element:" + strconv.Itoa(i)
		if i%500 == 7 {
			s = strings.Repeat(s+"\xff", 1500)
		}
		want = append(want, s)
	}
	e.Argv(append([]string{"rpush", "l"}, want...)...).Want(":5000\r\n")
	e.Do("lrange l 0 -1").Want(bulks(want))
	e.Do("lrange l 100 4000").Want(bulks(want[100:4001]))
	e.Do("lindex l 7").Want(bulks(want[7:8])[len("*1\r\n"):])
	e.Do("lpop l 2000").Want(bulks(want[:2000]))
	want = want[2000:]
	back := slices.Clone(want[500:])
	slices.Reverse(back)
	e.Do("rpop l 2500").Want(bulks(back))
	e.Do("lrange l 0 -1").Want(bulks(want[:500]))
	e.Do("lpos l element:2400 rank -1").WantText("(integer) 400")
	e.Do("lrange l -1000 -1").Want(bulks(want[:500]))
	e.Do("lpop l 8").Want(bulks(want[:8]))
}

func bulks(list []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(list))
	for _, s := range list {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(s), s)
	}
	return b.String()
}

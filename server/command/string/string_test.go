package str_test

import (
	"strconv"
	"strings"
	"testing"

	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	lists "heddle/server/command/list"
	str "heddle/server/command/string"
)

const maxBulk = 512 << 20

func families() []command.Family {
	return []command.Family{str.Family(func() int64 { return maxBulk }), generic.Family(), lists.Family()}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func env(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, families()...)
}

// TestEffects checks what reaches the oplog: free of conditions, one key each,
// times to live as instants.
func TestEffects(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(want...)
	}
	f("set k v", "set k v")
	f("set k v nx")
	f("set k v xx", "set k v")
	f("set k v get", "set k v")
	f("set k v ex 10", "set k v PXAT 1700000010000")
	f("set k v keepttl", "set k v KEEPTTL")
	f("set k v px 10 get", "set k v PXAT 1700000000010")
	f("set k v exat 1800000000", "set k v PXAT 1800000000000")
	f("set k v ex 0")
	f("setex k 10 v", "set k v PXAT 1700000010000")
	f("psetex k 10 v", "set k v PXAT 1700000000010")
	f("setnx k v")
	f("setnx n 1", "set n 1")
	f("getset n 2", "set n 2")
	f("get n")
	f("getex n")
	f("getex n persist")
	f("getex n ex 10", "pexpireat n 1700000010000")
	f("getex n persist", "persist n")
	f("getex n pxat 1", "del n")
	f("getdel nokey")
	f("getdel k", "del k")
	f("mset a 1 b 2", "set a 1", "set b 2")
	f("msetnx a 1 c 2")
	f("msetnx c 1 d 2", "set c 1", "set d 2")
	f("incr a", "incr a")
	f("decrby a 7", "decrby a 7")
	f("incrbyfloat a 0.5", "set a -4.5 KEEPTTL")
	f("append a x", "append a x")
	f("setrange a 1 y", "setrange a 1 y")
	f("setrange a 1 ''")
	f("incr a")
}

func TestEvents(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Events(want...)
	}
	f("set k v", "new k", "set k")
	f("set k v ex 10", "set k", "expire k")
	f("setex k 10 v", "set k", "expire k")
	f("getset k v", "set k")
	f("getex k ex 10", "expire k")
	f("getex k persist", "persist k")
	f("getex k persist")
	f("getex k exat 1", "del k")
	f("mset a 1 b 2", "new a", "set a", "new b", "set b")
	f("msetnx c 1", "new c", "set c")
	f("setnx c 1")
	f("incr a", "incrby a")
	f("decr n", "new n", "incrby n")
	f("incrbyfloat a 1", "incrbyfloat a")
	f("append a 1", "append a")
	f("append z 1", "new z", "append z")
	f("setrange a 0 1", "setrange a")
	f("setrange a 0 ''")
	f("getdel a", "del a")
	f("getdel a", "keymiss a")
}

// big is long enough to be kept in memory of its own.
func big(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return string(b)
}

func TestLargeValues(t *testing.T) {
	e := env(t)
	v := big(100_000)
	bulk := func(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }
	e.Argv("set", "k", v).Want("+OK\r\n")
	e.Do("get k").Want(bulk(v))
	e.Do("mget k nokey k").Want("*3\r\n" + bulk(v) + "$-1\r\n" + bulk(v))
	e.Do("getrange k 10 80000").Want(bulk(v[10:80001]))
	e.Do("getrange k 10 20").Want(bulk(v[10:21]))
	e.Argv("getset", "k", "small").Want(bulk(v))
	e.Argv("set", "k", v, "get").Want(bulk("small"))
	e.Do("append k x").Want(":100001\r\n")
	e.Do("setrange k 0 X").Want(":100001\r\n")
	e.Do("getdel k").Want(bulk("X" + v[1:] + "x"))
	e.Argv("mset", "a", v, "b", "2", "c", v).Want("+OK\r\n")
	e.Do("strlen c").Want(":100000\r\n")
}

// TestReplyOutlivesValue holds the reply of a large value back while the value
// changes: the bytes on their way must stay.
func TestReplyOutlivesValue(t *testing.T) {
	for _, change := range []string{"set k other", "setrange k 0 ZZZ", "append k ZZZ", "del k", "getset k v", "setbit k 0 1"} {
		e := cmdtest.New(t, append(families(), bitmap.Family(func() int64 { return maxBulk }))...)
		v := big(50_000)
		e.Argv("set", "k", v)
		words := strings.Fields(change)
		got := e.Pipeline([]string{"get", "k"}, words).Raw()
		if want := "$50000\r\n" + v + "\r\n"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the reply of GET changed", change)
		}
	}
}

// TestLimit lowers proto-max-bulk-len.
func TestLimit(t *testing.T) {
	e := cmdtest.New(t, str.Family(func() int64 { return 100 }))
	e.Do("setrange k 90 0123456789").Want(":100\r\n")
	const tooLong = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"
	e.Do("setrange k 91 0123456789").Want(tooLong)
	e.Do("append k x").Want(tooLong)
	e.Do("append k ''").Want(":100\r\n")
	e.Do("set a aaaa")
	e.Do("set b bbbbb")
	e.Do("lcs a b len").Want("-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len\r\n")
	e.Do("set b bb")
	e.Do("lcs a b len").Want(":0\r\n")
}

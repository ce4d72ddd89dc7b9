package streams_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	streams "heddle/server/command/stream"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	return []command.Family{streams.Family(), generic.Family(), transactions.Family(), str.Family(func() int64 { return 512 << 20 })}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

// TestEffects checks what reaches the oplog: IDs as they were given out, exact trims,
// deliveries as claims.
func TestEffects(t *testing.T) {
	e := cmdtest.New(t, families()...)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(want...)
	}
	f("xadd s * f v", "xadd s 1700000000000-0 f v")
	f("xadd s 1700000000000-* f v", "xadd s 1700000000000-1 f v")
	f("xadd s 1800000000000-0 f v", "xadd s 1800000000000-0 f v")
	f("xadd s maxlen ~ 1 1800000000001-0 f v", "xadd s MAXLEN = 4 1800000000001-0 f v")
	f("xadd s minid ~ 1 limit 5 1800000000002-0 f v", "xadd s MINID = 1700000000000-0 1800000000002-0 f v")
	f("xadd s maxlen 3 1800000000003-0 f v", "xadd s maxlen 3 1800000000003-0 f v")
	f("xtrim s maxlen ~ 1")
	f("xtrim s maxlen 2", "xtrim s maxlen 2")
	f("xtrim s minid ~ 1900000000000", "xtrim s MINID = 18446744073709551615-18446744073709551615")
	f("xdel s 1")
	f("xadd s 1900000000000-1 f v", "xadd s 1900000000000-1 f v")
	f("xgroup create s g 0", "xgroup create s g 0")
	f("xreadgroup group g c streams s >",
		"xclaim s g c 0 1900000000000-1 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 1900000000000-1",
		"xgroup SETID s g 1900000000000-1 ENTRIESREAD 7")
	f("xreadgroup group g c streams s >")
	f("xreadgroup group g d streams s >", "xgroup CREATECONSUMER s g d")
	f("xclaim s g d 0 1900000000000-1 justid",
		"xclaim s g d 0 1900000000000-1 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 1900000000000-1")
	f("xdel s 1900000000000-1", "xdel s 1900000000000-1")
	f("xautoclaim s g d 0 0", "xack s g 1900000000000-1")
	f("xack s g 1900000000000-1")
	f("xsetid s 1900000000000-9", "xsetid s 1900000000000-9")
}

// TestBlocking lets readers wait, and be served or told that there is nothing to wait for.
func TestBlocking(t *testing.T) {
	e := cmdtest.New(t, families()...)
	a, b := e.NewClient(), e.NewClient()
	e.Do("xgroup create s g $ mkstream").OK()
	a.Do("xread block 0 streams s $")
	b.Do("xreadgroup group g c block 0 streams s >")
	e.Do("xadd s 5-5 f v")
	const entry = "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n5-5\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"
	a.Received().Want(entry)
	b.Received().Want(entry)
	a.Do("xread block 10 streams s $")
	e.Advance(10)
	a.Received().Want("*-1\r\n")
	for cmd, want := range map[string]string{
		"xgroup destroy s g": "NOGROUP the consumer group this client was blocked on no longer exists",
		"del s":              "UNBLOCKED the stream key no longer exists",
		"set s v":            "UNBLOCKED the stream key no longer exists",
	} {
		e.Do("del s")
		e.Do("xgroup create s g $ mkstream").OK()
		b.Do("xreadgroup group g c block 0 streams s >")
		e.Do(cmd)
		b.Received().WantError(want)
	}
}

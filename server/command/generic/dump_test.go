package generic_test

import (
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
)

// hello is the payload of a string in version 10.
const hello = `"\x00\x05hello\x0a\x00cr\xdfve4 \x0a"`

// TestRestoreEffects holds that times to live reach the oplog as instants.
func TestRestoreEffects(t *testing.T) {
	shown := strings.ReplaceAll(hello, `\x0a`, `\n`) // as the harness writes it
	f := func(setup, cmd, effect string, events ...string) {
		t.Helper()
		e := cmdtest.New(t, families()...)
		if setup != "" {
			e.Do(setup).OK()
		}
		e.Forget()
		e.Do(cmd).OK()
		if effect == "" {
			e.Propagated()
		} else {
			e.Propagated(effect)
		}
		e.Events(events...)
	}
	f("", "restore k 0 "+hello, "restore k 0 "+shown, "new k", "restore k")
	f("", "restore k 100 "+hello+" freq 7", "restore k 1700000000100 "+shown+" freq 7 ABSTTL", "new k", "restore k")
	f("", "restore k 1800000000000 "+hello+" absttl", "restore k 1800000000000 "+shown+" absttl", "new k", "restore k")
	f("set k 1", "restore k 5 "+hello+" replace", "restore k 1700000000005 "+shown+" replace ABSTTL", "new k", "restore k")
	f("set k 1", "restore k 5 "+hello+" replace absttl", "del k", "del k")
	f("", "restore k 5 "+hello+" absttl", "")
	f("set k 1", "keydb.mvccrestore k 18446744073709551615 -1 "+hello, "keydb.mvccrestore k 18446744073709551615 -1 "+shown, "new k", "restore k")
	f("set k 1", "keydb.mvccrestore k 7 1800000000000 "+hello, "keydb.mvccrestore k 7 1800000000000 "+shown, "new k", "restore k")
	f("set k 1", "keydb.mvccrestore k 7 1800 "+hello, "del k", "del k")
}

// TestMVCCRestoreErrors looks at its mistakes.
func TestMVCCRestoreErrors(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("keydb.mvccrestore k -1 0 " + hello).WantError("ERR Invalid MVCC timestamp")
	e.Do("keydb.mvccrestore k 1 x " + hello).WantError("ERR Invalid expire time")
	e.Do("keydb.mvccrestore k 1 1 bad").WantError("ERR DUMP payload version or checksum are wrong")
}

// TestDumpRestores restores what DUMP gave, byte for byte.
func TestDumpRestores(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("mset a hello b 12345 c ''").OK()
	for _, k := range []string{"a", "b", "c"} {
		raw := e.Do("dump " + k).Raw()
		payload := raw[strings.Index(raw, "\r\n")+2 : len(raw)-2]
		e.Argv("restore", k+"2", "0", payload).OK()
		e.Do("get " + k + "2").Want(e.Do("get " + k).Raw())
		e.Do("dump " + k + "2").Want(raw)
	}
}

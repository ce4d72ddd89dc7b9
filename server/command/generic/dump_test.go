package generic_test

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
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

// TestRestoreTells holds that the log says what is wrong with a payload, which the reply does not.
func TestRestoreTells(t *testing.T) {
	var lines []string
	e := cmdtest.New(t, generic.FamilyWith(generic.Deps{Verbose: func(line string) { lines = append(lines, line) }}))
	e.Do(`restore k 0 "\x0a\x01x\x09\x00\x54\x4b\xb4\x3e\x35\x26\xc5\x61"`).WantError("ERR DUMP payload version or checksum are wrong")
	if len(lines) != 0 {
		t.Errorf("logged %q", lines)
	}
	e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.SkipChecksum = true })
	for _, c := range []struct{ payload, want string }{
		{`\x0a\x01x`, "RESTORE: Bad data format: offset 1: List ziplist integrity check failed: expected "},
		{`\x10\x17\x17\x00\x00\x00\x04\x00\x82\x61\x00\x03\x82\x62\x00\x03\x82\x61\x00\x03\x82\x64\x00\x03\xff`, `"a\x00" twice: a hash listpack with dup elements`},
		{`\x09\x02\x00\xff`, "Zipmap integrity check failed"},
		{`\x02\x00`, "expected a collection with elements, found none"},
		{`\x77\x00`, "119"},
	} {
		lines = nil
		e.Do(`restore k 0 "` + c.payload + `\x09\x0012345678"`).WantError("ERR Bad data format")
		if len(lines) != 1 || !strings.Contains(lines[0], c.want) {
			t.Errorf("%s: logged %q, want one line with %q", c.payload, lines, c.want)
		}
	}
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

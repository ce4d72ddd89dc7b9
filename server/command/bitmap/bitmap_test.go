package bitmap_test

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
	most := func() int64 { return maxBulk }
	return []command.Family{bitmap.Family(most), str.Family(most), generic.Family(), lists.Family()}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func TestEffectsAndEvents(t *testing.T) {
	e := cmdtest.New(t, families()...)
	f := func(cmd, effect string, events ...string) {
		t.Helper()
		e.Do(cmd)
		if effect == "" {
			e.Propagated()
		} else {
			e.Propagated(effect)
		}
		e.Events(events...)
	}
	f("setbit k 7 1", "setbit k 7 1", "new k", "setbit k")
	f("setbit k 7 1", "")
	f("setbit k 15 0", "setbit k 15 0", "setbit k")
	f("bitfield k get u8 0", "")
	f("bitfield k set u8 0 1", "")
	f("bitfield k set u8 0 2 incrby u8 0 1", "bitfield k set u8 0 2 incrby u8 0 1", "setbit k")
	f("bitfield k overflow fail incrby u8 0 300", "")
	f("bitfield new overflow fail incrby u8 0 300", "bitfield new overflow fail incrby u8 0 300", "new new")
	f("bitfield k incrby u8 32 0", "bitfield k incrby u8 32 0", "setbit k")
	f("bitfield k set u8 32 0 incrby u8 24 0", "")
	f("bitfield k overflow fail incrby u8 0 300 incrby u8 40 0", "bitfield k overflow fail incrby u8 0 300 incrby u8 40 0", "setbit k")
	f("set k \"\\x03\\x00\"", "set k \"\\x03\\x00\"", "set k")
	f("bitop or x k", `set x "\x03\x00"`, "new x", "set x")
	f("bitop not x k", `set x "\xfc\xff"`, "set x")
	f("bitop and x nokey", "del x", "keymiss nokey", "del x")
	f("bitop and x nokey", "", "keymiss nokey")
	f("bitop rshift x k 1", `set x "\x01\x00"`, "new x", "set x")
}

// TestBitopDestinations runs BITOP with a destination longer than, as long as,
// shorter than the result, absent, another type, or a source, and compares.
func TestBitopDestinations(t *testing.T) {
	for _, size := range []int{1, 100, 5000, 40_000} {
		a, b := strings.Repeat("\x5a\x01", size), strings.Repeat("\x33", size)
		xor := make([]byte, len(a))
		for i := range xor {
			xor[i] = a[i]
			if i < len(b) {
				xor[i] ^= b[i]
			}
		}
		want := "$" + strconv.Itoa(len(xor)) + "\r\n" + string(xor) + "\r\n"
		for _, dest := range []string{"absent", "longer", "same", "shorter", "list", "a", "b"} {
			e := cmdtest.New(t, families()...)
			e.Argv("set", "a", a)
			e.Argv("set", "b", b)
			e.Argv("set", "longer", a+"more", "ex", "100")
			e.Argv("set", "same", a, "ex", "100")
			e.Argv("set", "shorter", "x", "ex", "100")
			e.Do("rpush list x")
			e.Argv("bitop", "xor", dest, "b", "a").Want(":" + strconv.Itoa(len(xor)) + "\r\n")
			if e.Argv("get", dest).Raw() != want {
				t.Errorf("to %s, %d bytes: wrong result", dest, len(xor))
			}
			e.Argv("ttl", dest).Want(":-1\r\n")
			e.Argv("object", "encoding", dest).Want("$3\r\nraw\r\n")
		}
	}
}

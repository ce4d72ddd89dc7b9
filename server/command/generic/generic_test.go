package generic_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	limit := func() int64 { return 512 << 20 }
	return []command.Family{
		generic.Family(), str.Family(limit), bitmap.Family(limit), transactions.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

// TestEffects holds what reaches the oplog, which events are told, and how many
// changes are counted, for each command that writes.
func TestEffects(t *testing.T) {
	f := func(setup, cmd string, dirty int64, effects, events []string) {
		t.Helper()
		e := cmdtest.New(t, families()...)
		if setup != "" {
			e.Do(setup).OK()
		}
		e.Propagated(flat(setup)...)
		e.Events(told(setup)...)
		before := e.Keyspace.Stats().Dirty
		e.Do(cmd)
		e.Propagated(effects...)
		e.Events(events...)
		if got := e.Keyspace.Stats().Dirty - before; got != dirty {
			t.Errorf("%s: %d changes, want %d", cmd, got, dirty)
		}
	}
	none := []string(nil)
	f("mset a 1 b 2", "del a nokey b", 2, []string{"del a", "del b"}, []string{"del a", "del b"})
	f("mset a 1 b 2", "unlink a", 1, []string{"unlink a"}, []string{"del a"})
	f("", "del nokey", 0, none, none)
	f("set a 1", "expire a 10", 1, []string{"pexpireat a 1700000010000"}, []string{"expire a"})
	f("set a 1", "pexpire a 10", 1, []string{"pexpireat a 1700000000010"}, []string{"expire a"})
	f("set a 1", "expireat a 1700000010", 1, []string{"pexpireat a 1700000010000"}, []string{"expire a"})
	f("set a 1", "expire a -1", 1, []string{"del a"}, []string{"del a"})
	f("set a 1", "expire a 10 xx", 0, none, none)
	f("set a 1", "expire a x", 0, none, none)
	f("set a 1 ex 5", "persist a", 1, []string{"persist a"}, []string{"persist a"})
	f("set a 1", "persist a", 0, none, none)
	f("set a 1", "rename a b", 1, []string{"rename a b"}, []string{"new b", "rename_from a", "rename_to b"})
	f("set a 1", "rename a a", 0, none, none)
	f("mset a 1 b 2", "renamenx a b", 0, none, none)
	f("set a 1", "copy a b", 1, []string{"copy a b"}, []string{"new b", "copy_to b"})
	f("mset a 1 b 2", "copy a b", 0, none, none)
	f("set a 1", "move a 3", 1, []string{"move a 3"}, []string{"new a", "move_from a", "move_to a"})
	f("set a 1", "touch a", 0, none, none)
}

// flat are the effects of a setup command: a key each, times in full.
func flat(setup string) []string {
	switch setup {
	case "":
		return nil
	case "mset a 1 b 2":
		return []string{"set a 1", "set b 2"}
	case "set a 1 ex 5":
		return []string{"set a 1 PXAT 1700000005000"}
	}
	return []string{setup}
}

// told are the events of a setup command.
func told(setup string) []string {
	switch setup {
	case "":
		return nil
	case "mset a 1 b 2":
		return []string{"new a", "set a", "new b", "set b"}
	case "set a 1 ex 5":
		return []string{"new a", "set a", "expire a"}
	}
	return []string{"new a", "set a"}
}

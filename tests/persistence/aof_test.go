package persistence

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"heddle/tests/testserver"
)

// TestAOF carries a keyspace there and back by the folder of AOF files, with commands
// before and behind a rewrite on both sides.
func TestAOF(t *testing.T) {
	for round := range *rounds {
		for _, preamble := range []string{"yes", "no"} {
			base := *seed + int64(round)*1000 + 500
			t.Run(fmt.Sprintf("preamble %s seed %d", preamble, base), func(t *testing.T) {
				args := []string{"--appendonly", "yes", "--aof-use-rdb-preamble", preamble, "--auto-aof-rewrite-percentage", "0"}
				first := oracle(t, t.TempDir(), args...)
				populate(t, first, base, true)
				dial(t, first).rewrite()
				populate(t, first, base+100, false)
				written := look(t, first)
				end(t, first)
				want := reread(t, first.Dir(), "appendonlydir", args)

				here := t.TempDir()
				move(t, first.Dir(), here, "appendonlydir")
				us := ours(t, here, args...)
				got := look(t, us)
				same(t, "loaded", want.asWritten(got), got, true)
				if got.digest != written.digest {
					t.Errorf("the digest was %s, is %s", written.digest, got.digest)
				}
				populate(t, us, base+200, false)
				dial(t, us).rewrite()
				populate(t, us, base+300, false)
				mine := look(t, us)
				end(t, us)

				again := ours(t, here, args...)
				got = look(t, again)
				if preamble == "no" || testserver.IsRedis(*server) {
					mine = mine.withGroups(got)
				}
				same(t, "loaded again", mine.asWritten(got), got, true)
				dial(t, again).Do("DEBUG", "LOADAOF")
				same(t, "after DEBUG LOADAOF", got, look(t, again), true)
				end(t, again)

				there := t.TempDir()
				move(t, here, there, "appendonlydir")
				if preamble == "yes" {
					check(t, "redis-check-rdb", newest(t, there, "base"))
				}
				back := look(t, oracle(t, there, args...))
				same(t, "back at redis-server", mine.asWritten(back), back, true)
			})
		}
	}
}

// reread returns what redis-server makes of its own files: it forgets consumers that got
// nothing, and some more of consumer groups.
func reread(t *testing.T, dir, files string, args []string) state {
	t.Helper()
	copied := t.TempDir()
	move(t, dir, copied, files)
	s := oracle(t, copied, args...)
	defer end(t, s)
	return look(t, s)
}

// withGroups takes from another state the consumer groups: a base file of commands cannot
// tell of entries that are pending and deleted.
func (st state) withGroups(other state) state {
	for n, e := range st.entries {
		e.groups = other.entries[n].groups
		st.entries[n] = e
	}
	return st
}

// asWritten returns the state with the encodings of another: a collection that is built
// anew from commands, or from a base file, may have another form than one with a longer
// history. TestRDB compares encodings.
func (st state) asWritten(other state) state {
	for n, e := range st.entries {
		e.encoding = other.entries[n].encoding
		st.entries[n] = e
	}
	return st
}

// newest returns the only file of a kind in a folder of AOF files.
func newest(t *testing.T, dir, kind string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*."+kind+".*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%s files: %q, %v", kind, list, err)
	}
	return list[0]
}

// TestOldAOF loads what servers before Redis 7 wrote: one file, all commands or a preamble
// with commands behind it. It is upgraded, and redis-server reads what comes of it.
func TestOldAOF(t *testing.T) {
	for _, preamble := range []string{"yes", "no"} {
		t.Run("preamble "+preamble, func(t *testing.T) {
			args := []string{"--appendonly", "yes", "--aof-use-rdb-preamble", preamble, "--auto-aof-rewrite-percentage", "0"}
			first := oracle(t, t.TempDir(), args...)
			populate(t, first, *seed+600, true)
			dial(t, first).rewrite()
			populate(t, first, *seed+700, false)
			end(t, first)
			want := reread(t, first.Dir(), "appendonlydir", args)

			here := t.TempDir()
			var whole bytes.Buffer
			for _, kind := range []string{"base", "incr"} {
				part, err := os.ReadFile(newest(t, first.Dir(), kind))
				if err != nil {
					t.Fatal(err)
				}
				whole.Write(part)
			}
			old := filepath.Join(here, "appendonly.aof")
			if err := os.WriteFile(old, whole.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			us := ours(t, here, args...)
			got := look(t, us)
			same(t, "loaded", want.asWritten(got), got, true)
			if _, err := os.Stat(old); err == nil {
				t.Error("the old file is still where it was")
			}
			dial(t, us).Do("SET", "behind the upgrade", "yes")
			got = look(t, us)
			end(t, us)
			there := t.TempDir()
			move(t, here, there, "appendonlydir")
			s := oracle(t, there, args...)
			back := look(t, s)
			same(t, "at redis-server", got.asWritten(back), back, true)
			dial(t, s).rewrite()
		})
	}
}

// TestSwitchOn turns the AOF on in a running server, and off.
func TestSwitchOn(t *testing.T) {
	here := t.TempDir()
	us := ours(t, here)
	c := dial(t, us)
	c.All(shapes(*seed+800, false))
	c.Do("CONFIG", "SET", "appendonly", "yes")
	c.Do("SET", "while it is written", "yes")
	c.settle()
	c.Do("SET", "behind", "yes")
	c.Do("CONFIG", "SET", "appendonly", "no")
	c.Do("SET", "not in it", "no")
	c.Do("CONFIG", "SET", "appendonly", "yes")
	c.settle()
	c.Do("SET", "last", "yes")
	want := look(t, us)
	end(t, us)
	there := t.TempDir()
	move(t, here, there, "appendonlydir")
	got := look(t, oracle(t, there, "--appendonly", "yes"))
	same(t, "at redis-server", want.asWritten(got), got, true)
}

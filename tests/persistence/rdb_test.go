package persistence

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testserver"
)

// TestRDB carries a keyspace there and back by RDB files. What the file says is compared
// with what redis-server makes of the same file: it, too, changes the form of some values
// when it loads them.
func TestRDB(t *testing.T) {
	for round := range *rounds {
		base := *seed + int64(round)*1000
		t.Run(fmt.Sprint("seed ", base), func(t *testing.T) {
			first := oracle(t, t.TempDir())
			populate(t, first, base, true)
			thereAndBack(t, first)
		})
	}
}

// thereAndBack saves a redis-server's keyspace, has it loaded and saved by ours, and
// loaded by redis-server again.
func thereAndBack(t *testing.T, first *testserver.Server) {
	t.Helper()
	before := look(t, first)
	dial(t, first).Do("SAVE")
	again, here := t.TempDir(), t.TempDir()
	move(t, first.Dir(), again, "dump.rdb")
	move(t, first.Dir(), here, "dump.rdb")
	end(t, first)
	reloaded := oracle(t, again)
	want := look(t, reloaded)
	end(t, reloaded)
	same(t, "redis-server after loading its own file", before.asWritten(want), want, true)
	if t.Failed() {
		t.FailNow()
	}

	us := ours(t, here)
	got := look(t, us)
	same(t, "loaded", want, got, false)
	c := dial(t, us)
	for _, argv := range [][]string{{"SAVE"}, {"BGSAVE"}} {
		if err := os.Remove(filepath.Join(here, "dump.rdb")); err != nil {
			t.Fatal(err)
		}
		c.Do(argv...)
		c.settle()
		there := t.TempDir()
		move(t, here, there, "dump.rdb")
		check(t, "redis-check-rdb", filepath.Join(there, "dump.rdb"))
		back := oracle(t, there)
		same(t, "back at redis-server after "+argv[0], want, look(t, back), true)
		end(t, back)
	}
	c.Do("DEBUG", "RELOAD")
	same(t, "after DEBUG RELOAD", got, look(t, us), false) // short quicklists may become listpacks
	end(t, us)
}

// TestOptions holds that a file is whole with compression and checksums off, too, and when
// nothing or only one key is in it.
func TestOptions(t *testing.T) {
	for _, options := range []string{"--rdbcompression no", "--rdbchecksum no", "--rdb-save-incremental-fsync no"} {
		t.Run(options, func(t *testing.T) {
			args := strings.Fields(options)
			first := oracle(t, t.TempDir(), args...)
			dial(t, first).All(shapes(*seed, false))
			dial(t, first).Do("DEBUG", "RELOAD")
			want := look(t, first)
			dial(t, first).Do("SAVE")
			here, there := t.TempDir(), t.TempDir()
			move(t, first.Dir(), here, "dump.rdb")
			us := ours(t, here, args...)
			same(t, "loaded", want, look(t, us), false)
			dial(t, us).Do("SAVE")
			move(t, here, there, "dump.rdb")
			same(t, "back", want, look(t, oracle(t, there, args...)), false)
		})
	}
	t.Run("empty", func(t *testing.T) {
		here, there := t.TempDir(), t.TempDir()
		us := ours(t, here)
		dial(t, us).Do("SAVE")
		move(t, here, there, "dump.rdb")
		check(t, "redis-check-rdb", filepath.Join(there, "dump.rdb"))
		if r := dial(t, oracle(t, there)).Do("DBSIZE"); string(r.Text) != "0" {
			t.Errorf("an empty keyspace came back with %s keys", r.Text)
		}
	})
}

// TestDeadKeys holds that what is dead at the time of loading does not come back, and what
// lives keeps its deadline to the millisecond.
func TestDeadKeys(t *testing.T) {
	here := t.TempDir()
	first := oracle(t, t.TempDir())
	c := dial(t, first)
	c.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
	var list [][]string
	for i := range 200 {
		list = append(list, []string{"SET", fmt.Sprint("soon:", i), "v", "PX", "500"}, []string{"SET", fmt.Sprint("later:", i), "v", "PXAT", strconv.Itoa(farAway + i*7)})
	}
	c.All(list)
	c.Do("SAVE")
	move(t, first.Dir(), here, "dump.rdb")
	time.Sleep(600 * time.Millisecond)
	got := look(t, ours(t, here)).entries
	if len(got) != 200 {
		t.Errorf("%d keys of the 200 that live", len(got))
	}
	for i := range 200 {
		if e := got[name(0, fmt.Sprint("later:", i))]; e.expires != strconv.Itoa(farAway+i*7) {
			t.Errorf("later:%d ends at %q", i, e.expires)
		}
	}
}

// TestClocks holds that the clocks of eviction come along: how often keys were used, or how
// long not.
func TestClocks(t *testing.T) {
	f := func(policy, field string, prepare func(c client), differ int) {
		t.Run(policy, func(t *testing.T) {
			args := []string{"--maxmemory-policy", policy, "--lfu-decay-time", "0"}
			first := oracle(t, t.TempDir(), args...)
			c := dial(t, first)
			for i := range 20 {
				c.Do("SET", fmt.Sprint("key:", i), strings.Repeat("v", i+1)) // no shared integers
			}
			prepare(c)
			read := func(s *testserver.Server) (list []int) {
				c := dial(t, s)
				for i := range 20 {
					n, err := strconv.Atoi(string(c.Do("OBJECT", field, fmt.Sprint("key:", i)).Text))
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, n)
				}
				return list
			}
			want := read(first)
			c.Do("SAVE")
			here, there := t.TempDir(), t.TempDir()
			move(t, first.Dir(), here, "dump.rdb")
			us := ours(t, here, args...)
			got := read(us)
			dial(t, us).Do("SAVE")
			move(t, here, there, "dump.rdb")
			back := read(oracle(t, there, args...))
			for i, w := range want {
				if got[i]-w > differ || w-got[i] > differ || back[i]-w > 2*differ || w-back[i] > 2*differ {
					t.Errorf("key:%d: %s was %d, is %d, then %d", i, field, w, got[i], back[i])
				}
			}
		})
	}
	f("allkeys-lfu", "FREQ", func(c client) {
		for i := range 20 {
			for range i * i * 10 {
				c.Do("GET", fmt.Sprint("key:", i))
			}
		}
	}, 0)
	f("allkeys-lru", "IDLETIME", func(c client) {
		for i := range 20 {
			c.Do("DEL", fmt.Sprint("key:", i))
			c.Do("SET", "source", strings.Repeat("v", i+1))
			c.Do("RESTORE", fmt.Sprint("key:", i), "0", string(c.Do("DUMP", "source").Text), "IDLETIME", strconv.Itoa(1+i*1000))
		}
	}, 3)
}

// TestFunctions holds that libraries of functions are kept, even by a server that cannot
// run them.
func TestFunctions(t *testing.T) {
	const code = "#!lua name=kept\nredis.register_function('answer', function(keys, args) return 42 end)"
	first := oracle(t, t.TempDir())
	c := dial(t, first)
	c.Do("FUNCTION", "LOAD", code)
	c.Do("SET", "key", "value")
	c.Do("SAVE")
	here, there := t.TempDir(), t.TempDir()
	move(t, first.Dir(), here, "dump.rdb")
	us := ours(t, here)
	if got := string(dial(t, us).Do("GET", "key").Text); got != "value" {
		t.Errorf("beside a function: %q", got)
	}
	dial(t, us).Do("SAVE")
	move(t, here, there, "dump.rdb")
	if got := string(dial(t, oracle(t, there)).Do("FCALL", "answer", "0").Text); got != "42" {
		t.Errorf("the function answers %q", got)
	}
}

// TestDump moves every value by DUMP and RESTORE, both ways.
func TestDump(t *testing.T) {
	first, us, back := oracle(t, t.TempDir()), ours(t, t.TempDir()), oracle(t, t.TempDir())
	populate(t, first, *seed+7, true)
	dial(t, first).Do("DEBUG", "RELOAD") // which gives some values another form, as RESTORE does
	want := look(t, first)
	for _, way := range []struct{ from, to *testserver.Server }{{first, us}, {us, back}} {
		from, to := dial(t, way.from), dial(t, way.to)
		for db := range databases {
			from.Do("SELECT", fmt.Sprint(db))
			to.Do("SELECT", fmt.Sprint(db))
			for _, k := range from.Do("KEYS", "*").Elems {
				key := string(k.Text)
				expires := max(0, number(t, from.Do("PEXPIRETIME", key)))
				to.Do("RESTORE", key, strconv.Itoa(expires), string(from.Do("DUMP", key).Text), "ABSTTL")
			}
		}
	}
	same(t, "restored", want, look(t, us), false)
	same(t, "restored at redis-server", want, look(t, back), true)
}

func number(t *testing.T, r difftest.Reply) int {
	t.Helper()
	n, err := strconv.Atoi(string(r.Text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package admin_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command/cmdtest"
)

// TestDebugObject holds what DEBUG OBJECT says of a key against what redis-server 7.0
// said, rdbcompression being off there, and encodings of 7.2.
func TestDebugObject(t *testing.T) {
	e := cmdtest.New(t, newWorld().families...)
	counted := func(from, to int) string {
		var words []string
		for i := from; i <= to; i++ {
			words = append(words, strconv.Itoa(i))
		}
		return strings.Join(words, " ")
	}
	f := func(cmd, want string) {
		t.Helper()
		e.Do("del k")
		if cmd != "" {
			e.Do(cmd)
		}
		got := e.Do("debug object k").Text()
		got = regexp.MustCompile(`^Value at:0x[0-9a-f]+ | lru:\d+ lru_seconds_idle:\d+`).ReplaceAllString(got, "")
		if got != want {
			t.Errorf("%.40s: %s, want %s", cmd, got, want)
		}
	}
	long := strings.Repeat("x", 100)
	f("set k 7", "refcount:2147483647 encoding:int serializedlength:2")
	f("set k 12345", "refcount:1 encoding:int serializedlength:3")
	f("set k abc", "refcount:1 encoding:embstr serializedlength:4")
	f("rpush k a b c", "refcount:1 encoding:listpack serializedlength:19")
	f("rpush k "+counted(1, 5000), "refcount:1 encoding:quicklist serializedlength:15799 "+
		"ql_nodes:2 ql_avg_node:2500.00 ql_listpack_max:-2 ql_compressed:0 ql_uncompressed_size:15792")
	f("sadd k 1 2 3", "refcount:1 encoding:intset serializedlength:15")
	f("sadd k "+counted(1, 600), "refcount:1 encoding:hashtable serializedlength:1675")
	f("hset k a b", "refcount:1 encoding:listpack serializedlength:14")
	f("hset k f "+long, "refcount:1 encoding:hashtable serializedlength:105")
	f("zadd k 1 a", "refcount:1 encoding:listpack serializedlength:13")
	f("zadd k 1 "+long, "refcount:1 encoding:skiplist serializedlength:111")
	e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.ListSize, s.Limits.ListDepth = 3, 1 })
	f("rpush k "+counted(1, 10), "refcount:1 encoding:quicklist serializedlength:57 "+
		"ql_nodes:4 ql_avg_node:2.50 ql_listpack_max:3 ql_compressed:1 ql_uncompressed_size:48")
	e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.QuicklistPackedThreshold = 5 })
	f("rpush k 1 2 abcdef 3 abcdef abcdef 4 5 6 7", "refcount:1 encoding:quicklist serializedlength:75 "+
		"ql_nodes:7 ql_avg_node:1.43 ql_listpack_max:3 ql_compressed:1 ql_uncompressed_size:60")
}

// TestDebugForms: what the subcommands answer that look at one form of collection.
func TestDebugForms(t *testing.T) {
	w := newWorld()
	e := cmdtest.New(t, w.families...)
	e.Do("rpush l a b c")
	e.Do("rpush q " + strings.Repeat("word ", 5000))
	e.Do("hset h f " + strings.Repeat("x", 100))
	e.Do("zadd z 1 a 2 b")
	for _, key := range []string{"l", "z"} {
		e.Do("debug listpack " + key).WantText("Listpack structure printed on stdout")
		e.Do("debug quicklist " + key).WantError("ERR Not a quicklist encoded object.")
		e.Do("debug htstats-key " + key).WantError("ERR The value stored at the specified key is not represented using an hash table")
	}
	e.Do("debug quicklist q 1").WantText("Quicklist structure printed on stdout")
	e.Do("debug listpack q").WantError("ERR Not a listpack encoded object.")
	e.Do("debug listpack nokey").WantError("ERR no such key")
	if text := e.Do("debug htstats-key h").Text(); !strings.Contains(text, "table size: 4") || !strings.Contains(text, "number of elements: 1") {
		t.Errorf("HTSTATS-KEY: %s", text)
	}
	e.Do("debug quicklist-packed-threshold 1kb").OK()
	if calls := strings.Join(w.fake.calls, ","); !strings.Contains(calls, "packed 1024") {
		t.Errorf("calls %s", calls)
	}
	if log := strings.Join(w.fake.log, "\n"); !strings.Contains(log, `"a"`) || !strings.Contains(log, "node 2:") {
		t.Errorf("logged %s", log)
	}
}

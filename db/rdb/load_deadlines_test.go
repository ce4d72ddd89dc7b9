package rdb

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/db"
)

// TestLoadMemberDeadlines loads members with deadlines as Redis 7.4 and KeyDB write them.
func TestLoadMemberDeadlines(t *testing.T) {
	dir := samples(t, "")
	for file, want := range map[string]map[string]db.Millis{
		"redis-7.4.1": {"hash:3": 4102444800000, "hash:600": 4102444800000},
		"keydb-6.3.4": {"hash:3": 4102444800000, "zset:3": 4102444800000, "set:3": 4102444800000},
	} {
		got := map[string]db.Millis{}
		ks := openKeyspace(t)
		f, err := os.Open(filepath.Join(dir, file+".rdb"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(f, file, ks, LoadOptions{Now: sampleNow}); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		ks.Whole(sampleNow).Items(func(_ int, it *db.Item) bool {
			if timed, ok := it.Coll.Object.(db.Timed); ok && timed.NextDeadline() != 0 {
				got[string(it.Key)] = timed.NextDeadline()
			}
			return true
		})
		for key, at := range want {
			if got[key] != at {
				t.Errorf("%s: %q has its first deadline at %d, want %d (all: %v)", file, key, got[key], at, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: deadlines %v, want %v", file, got, want)
		}
		// When their time has come, they are not loaded.
		late := openKeyspace(t)
		f, _ = os.Open(filepath.Join(dir, file+".rdb"))
		if _, err := Load(f, file, late, LoadOptions{Now: 4102444800001}); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		late.Whole(4102444800001).Items(func(_ int, it *db.Item) bool {
			if n, ok := map[string]int{"hash:3": 2, "zset:3": 2, "set:3": 2, "hash:600": 598}[string(it.Key)]; ok && want[string(it.Key)] != 0 && it.Coll.Len() != n {
				t.Errorf("%s: %q has %d members, want %d", file, it.Key, it.Coll.Len(), n)
			}
			return true
		})
	}
}

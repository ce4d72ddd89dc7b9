package db

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// counting is a Pacer that counts.
type counting struct{ began, breaths, ended atomic.Int64 }

func (c *counting) Begin() Breather { c.began.Add(1); return c }
func (c *counting) Breathe()        { c.breaths.Add(1) }
func (c *counting) End()            { c.ended.Add(1) }

// TestCloseGivesBack rewrites all that a snapshot sees, large values too, and closes it,
// at once, or shard by shard, or with all shards locked: nothing is kept any longer, and the reader and the end gave way to others.
func TestCloseGivesBack(t *testing.T) {
	ks, err := Open(Options{Shards: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer ks.Close()
	var pacer counting
	ks.Pace(&pacer)
	tx := ks.NewTx()
	const keys = 3 * paceFrom
	large := make([]byte, 100<<10)
	fill := func() {
		for i := range keys {
			with(ks, tx, i&1, 1, func(tx *Tx) {
				key, value := fmt.Appendf(nil, "key:%d", i), []byte("value")
				if i%1000 == 0 {
					value = large
				}
				tx.SetString(key, value, NoExpiry)
			})
		}
	}
	fill()
	before := ks.Used()
	for round := range 3 {
		sn := ks.Snapshot(nil)
		fill()
		n := 0
		sn.Items(func(int, *Item) bool { n++; return true })
		if n != keys {
			t.Fatalf("%d keys of %d", n, keys)
		}
		if ks.kept.Load() == 0 {
			t.Error("nothing is kept")
		}
		switch round {
		case 0:
			sn.Close()
		case 1:
			releaseAll(t, ks, sn)
		default:
			ks.Lock(ks.AllShards())
			sn.close(true)
			ks.Unlock(ks.AllShards())
		}
		if kept, used := ks.kept.Load(), ks.Used(); kept != 0 || used != before {
			t.Errorf("round %d: %d bytes are kept; %d are used, %d before", round, kept, used, before)
		}
		if b, e := pacer.began.Load(), pacer.ended.Load(); b != e || b == 0 || pacer.breaths.Load() == 0 {
			t.Errorf("%d readers began, %d ended, %d breaths", b, e, pacer.breaths.Load())
		}
	}
}

// releaseAll releases a snapshot's shards and closes it: each has less kept, and another
// snapshot of the same instant loses nothing.
func releaseAll(t *testing.T, ks *Keyspace, sn *Snapshot) {
	t.Helper()
	r := sn.Reader()
	for shard := range sn.Shards() {
		before := ks.kept.Load()
		r.Release(shard)
		if kept := ks.kept.Load(); kept >= before {
			t.Errorf("shard %d: %d bytes are kept, %d before", shard, kept, before)
		}
	}
	r.End()
	if kept := ks.kept.Load(); kept != 0 {
		t.Errorf("%d bytes are kept of a snapshot whose shards were all released", kept)
	}
	sn.Close()
}

// TestReleaseBesideOthers: what one snapshot releases stays for those that are open.
func TestReleaseBesideOthers(t *testing.T) {
	ks := open(t, Options{Shards: 4})
	tx := ks.NewTx()
	const keys = 10_000
	fill := func(value string) {
		for i := range keys {
			with(ks, tx, i&1, 1, func(tx *Tx) { tx.SetString(fmt.Appendf(nil, "key:%d", i), []byte(value), NoExpiry) })
		}
	}
	fill("old")
	a, b := ks.Snapshot(nil), ks.Snapshot(nil)
	fill("new")
	for shard, r := 0, a.Reader(); shard < a.Shards(); shard++ {
		r.Release(shard)
	}
	fill("newer")
	n := 0
	b.Items(func(_ int, it *Item) bool {
		if n++; string(it.Str.B) != "old" {
			t.Fatalf("%s is %s", it.Key, it.Str.B)
		}
		return true
	})
	if n != keys {
		t.Errorf("%d keys of %d", n, keys)
	}
	b.Close()
	a.Close()
	if kept := ks.kept.Load(); kept != 0 {
		t.Errorf("%d bytes are kept", kept)
	}
}

// TestCloseTwice: a snapshot that is closed is over; to close it again does nothing, with
// memory still being made ready for another.
func TestCloseTwice(t *testing.T) {
	ks := open(t, Options{Shards: 2})
	a, b := ks.Snapshot(nil), ks.Snapshot(nil)
	a.Close()
	a.Close()
	if n := ks.heap.Expected(); n != 1 {
		t.Errorf("memory is expected for %d snapshots, of which one is open", n)
	}
	b.Close()
}

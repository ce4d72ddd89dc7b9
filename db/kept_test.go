package db

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestKeptForSnapshots: what only snapshots need is not held against maxmemory,
// and all else is, a large value that a live key shares with a snapshot too.
func TestKeptForSnapshots(t *testing.T) {
	const size = 1 << 20
	ks := open(t, Options{Shards: 2})
	tx := ks.NewTx()
	key := func(i int) []byte { return strconv.AppendInt(nil, int64(i), 10) }
	all := func(fn func(k []byte)) {
		with(ks, tx, 0, 1, func(tx *Tx) {
			for i := range 10 {
				fn(key(i))
			}
		})
	}
	check := func(what string, want int64) {
		t.Helper()
		if got := ks.evictable(); got < want*size || got > want*size+size/2 {
			t.Errorf("%s: %d bytes, want %d", what, got, want*size)
		}
	}
	all(func(k []byte) { tx.SetRaw(k, make([]byte, size), NoExpiry) })
	check("stored", 10)
	sn := ks.Snapshot(nil)
	all(func(k []byte) { tx.SetExpire(k, 1000) })
	check("with deadlines", 10)
	all(func(k []byte) { tx.Rename(k, append(k, 'x')) })
	check("renamed", 10)
	all(func(k []byte) { tx.Edit(append(k, 'x'), size) })
	check("changed", 10)
	all(func(k []byte) { tx.Delete(append(k, 'x')) })
	check("deleted", 0)
	sn.Close()
	check("without the snapshot", 0)
	if n := ks.kept.Load(); n != 0 {
		t.Errorf("%d bytes are kept for no snapshot", n)
	}
}

// TestKeptComesBack: whatever changes while snapshots are open, in the end nothing
// is counted as theirs.
func TestKeptComesBack(t *testing.T) {
	ks := open(t, Options{Shards: 2})
	tx := ks.NewTx()
	r := rand.New(rand.NewPCG(3, 4))
	var open []*Snapshot
	for range 4000 {
		k, to := strconv.AppendInt(nil, r.Int64N(50), 10), strconv.AppendInt(nil, r.Int64N(50), 10)
		with(ks, tx, 0, 1, func(tx *Tx) {
			switch r.IntN(8) {
			case 0:
				tx.SetRaw(k, make([]byte, r.IntN(3)*BigMin), [...]Expiry{NoExpiry, 1000}[r.IntN(2)])
			case 1:
				tx.SetExpire(k, Expiry(1000+r.IntN(100)))
			case 2:
				tx.Rename(k, to)
			case 3:
				tx.Copy(k, 0, to)
			case 4:
				tx.Edit(k, r.IntN(2*BigMin))
			case 5:
				tx.PutObject(k, TypeSet, &toy{items: []string{string(k), "item"}}, NoExpiry)
			case 6:
				tx.EditCollection(k, TypeSet)
			case 7:
				tx.Delete(k)
			}
		})
		if r.IntN(20) == 0 && len(open) < 4 {
			open = append(open, ks.Snapshot(nil))
		} else if i := r.IntN(20); i < len(open) {
			open[i].Close()
			open = append(open[:i], open[i+1:]...)
		}
		if ks.kept.Load() < 0 || ks.evictable() < 0 {
			t.Fatalf("kept: %d of %d", ks.kept.Load(), ks.Used())
		}
	}
	for _, sn := range open {
		sn.Close()
	}
	if n := ks.kept.Load(); n != 0 {
		t.Errorf("%d bytes are kept for no snapshot", n)
	}
}

// TestEmptyBig: of a large value that comes bit by bit what came counts, and all of
// it is given back.
func TestEmptyBig(t *testing.T) {
	ks := open(t, Options{})
	tx := ks.NewTx()
	empty := ks.Used()
	for _, size := range []int{BigMin, warmBig, warmBig + 1, 20 << 20} {
		for _, filled := range []int{0, 5000, size / 2, size} {
			b := ks.NewEmptyBig(size)
			if b.Len() != size {
				t.Fatalf("%d bytes, want %d", b.Len(), size)
			}
			b.Fill(filled)
			for i := range b.Bytes()[:filled] {
				b.Bytes()[i] = byte(i)
			}
			used, most := ks.Used()-empty, int64(filled+8<<10)
			if size <= warmBig {
				most = int64(size + 8<<10)
			}
			if used < int64(filled) || used > most {
				t.Errorf("%d of %d bytes: %d used", filled, size, used)
			}
			if filled < size {
				b.Release()
			} else {
				with(ks, tx, 0, 1, func(tx *Tx) {
					if err := tx.AdoptBig([]byte("k"), b, NoExpiry); err != nil {
						t.Error(err)
					}
					tx.Delete([]byte("k"))
				})
			}
		}
	}
	with(ks, tx, 0, 1, func(tx *Tx) {})
	if used := ks.Used() - empty; used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
	if b := open(t, Options{}).NewEmptyBig(1 << 40); b != nil {
		t.Error("there is a value of a terabyte")
	}
}

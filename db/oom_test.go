package db

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/db/arena"
)

// TestOutOfMemory changes keys at random in a heap that is full, with snapshots
// open that make even a delete take memory. Commands fail, but what they leave
// is sound, and what a snapshot shows does not change.
func TestOutOfMemory(t *testing.T) {
	const keys = 60_000
	ks, err := Open(Options{Databases: 2, Shards: 4, Arena: arena.Options{Reserve: 12 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	tx := ks.NewTx()
	r := rand.New(rand.NewPCG(1, 2))
	now := Millis(1_700_000_000_000)
	failed := 0
	// do runs fn as dispatch does, and counts what fails for lack of memory.
	do := func(fn func() error) {
		ks.Lock(ks.AllShards())
		tx.Begin(0, now, ks.AllShards(), true)
		defer func() {
			if p := recover(); p == ErrOutOfMemory {
				failed++
			} else if p != nil {
				panic(p)
			}
			tx.End()
			ks.Unlock(ks.AllShards())
		}()
		if err := fn(); errors.Is(err, ErrOutOfMemory) {
			failed++
		} else if err != nil && err != ErrWrongType {
			t.Error(err)
		}
	}
	change := func() {
		k, other := fmt.Appendf(nil, "key:%d", r.IntN(keys)), fmt.Appendf(nil, "key:%d", r.IntN(keys))
		val := make([]byte, r.IntN(150))
		at := [...]Expiry{NoExpiry, KeepExpiry, now + Millis(r.IntN(2000))}[r.IntN(3)]
		do(func() (err error) {
			switch r.IntN(10) {
			case 8, 9:
				return spliceRandomly(tx, r, k)
			case 0:
				tx.Delete(k)
			case 1:
				tx.SetExpire(k, at)
			case 2:
				_, err = tx.Rename(k, other)
			case 3:
				_, err = tx.Append(k, val)
			case 4:
				_, err = tx.Copy(k, r.IntN(2), other)
			case 5:
				tx.Whole().RandomKey(0, nil)
			default:
				err = tx.SetText(k, val, at)
			}
			return err
		})
	}
	for i := 0; failed == 0; i++ {
		do(func() error {
			return tx.SetText(fmt.Appendf(nil, "key:%d", i%keys), make([]byte, 90), now+Millis(r.IntN(3000)))
		})
		if i == 20*keys {
			t.Fatal("the heap is not full")
		}
	}
	for round := range 4 {
		sn := ks.Snapshot(nil)
		before := digest(sn)
		failed = 0
		for range 20_000 {
			change()
		}
		now += 500
		ks.ExpireCycle(now, 1000)
		ks.Age()
		ks.Compact(1000, 10)
		ks.Shrink()
		if failed == 0 {
			t.Errorf("round %d: nothing failed", round)
		}
		if digest(sn) != before {
			t.Errorf("round %d: the snapshot has changed", round)
		}
		sn.Close()
		if err := ks.Check(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	ks.Whole(now).Flush(-1, false)
	if err := ks.Check(); err != nil {
		t.Fatal(err)
	}
}

// spliceRandomly makes or changes a packed collection, or replaces what is no packed one.
func spliceRandomly(tx *Tx, r *rand.Rand, k []byte) error {
	c, found, err := tx.EditCollection(k, TypeHash)
	if err != nil || found && r.IntN(8) == 0 {
		val := make([]byte, 3+r.IntN(200))
		val[0] = 1
		return tx.PutPacked(k, TypeHash, Listpack, val, KeepExpiry)
	}
	at, del, ins := 0, 0, 3+r.IntN(200)
	if found {
		at = 2 + r.IntN(len(c.Packed)-1)
		if del = r.IntN(len(c.Packed) - at + 1); len(c.Packed) > 2000 {
			at, del = 2, len(c.Packed)-2
		}
	}
	before := append([]byte(nil), c.Packed...)
	b, err := tx.Splice(k, TypeHash, Listpack, at, del, ins)
	if err == nil {
		clear(b[at : at+ins])
		b[0], b[1] = 1, 0
		tx.Touched(k, ClassHash, "hset")
		return nil
	}
	if del >= ins && found && tx.cur.d.table.Fresh(tx.cur.slot) {
		return errors.New("to take bytes away has failed")
	}
	if c, found, _ = tx.CurrentCollection(k, TypeHash); found != (before != nil) || string(c.Packed) != string(before) {
		return errors.New("a splice that failed has changed something")
	}
	return err
}

// digest sums up what a snapshot shows, in whatever order.
func digest(sn *Snapshot) (sum uint64) {
	for db := range 2 {
		sn.Each(db, func(it *Item) bool {
			sum += sn.ks.Hash(fmt.Appendf(nil, "%d %q %d %q %d %q", db, it.Key, it.Expire, it.Str.B, it.Str.N, it.Coll.Packed))
			return true
		})
	}
	return sum
}

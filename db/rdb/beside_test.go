package rdb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"heddle/db"
	"heddle/db/rdb"
	"heddle/db/zset"
)

// change has keys of two databases go, change and come, and databases be emptied and
// exchanged.
func (w *world) change(rng *rand.Rand) {
	key := func() []byte { return fmt.Appendf(nil, "key:%d:%d", 7*rng.IntN(2), rng.IntN(250)) }
	w.edit([]int{0, 7}[rng.IntN(2)], func(tx *db.Tx) {
		switch rng.IntN(8) {
		case 0, 1:
			tx.Delete(key())
		case 2:
			w.must(tx.SetRaw(key(), make([]byte, rng.IntN(40_000)), db.NoExpiry))
		case 3:
			_, err := tx.Rename(key(), key())
			w.must(err)
		case 4:
			_, err := tx.Copy(key(), 7*rng.IntN(2), key())
			w.must(err)
		case 5:
			tx.SetExpire(key(), later+db.Expiry(rng.IntN(1000)))
		case 6:
			k := key()
			if z, err := zset.Write(tx, k); err == nil && z.Len() > 0 {
				w.must(z.DropRange(1, z.Len()-1))
				tx.Touched(k, db.ClassZSet, "")
			}
		default:
			switch rng.IntN(60) {
			case 0:
				tx.Whole().Flush(7, true)
			case 1:
				tx.Whole().Swap(0, 7)
			}
		}
	})
}

// TestSaveBesideWriters saves, and gives up in the middle at times, while everything changes:
// the file has what there was in the beginning, and what was kept for it is given back.
func TestSaveBesideWriters(t *testing.T) {
	errStop := errors.New("stop")
	for seed := range uint64(6) {
		w := newWorld(t, seed, db.Options{Shards: 8})
		w.fill(0, 200)
		w.fill(7, 100)
		w.edit(0, func(tx *db.Tx) {
			z, err := zset.Write(tx, []byte("key:0:1000"))
			w.must(err)
			for i := range 5000 {
				z.Find(fmt.Appendf(nil, "member:%d", i))
				w.must(z.Put(float64(i)))
			}
			w.must(z.DropRange(1000, 3000))
			tx.Touched([]byte("key:0:1000"), db.ClassZSet, "")
		})
		want, sn := w.digest(), w.ks.Snapshot(nil)
		var writers sync.WaitGroup
		end := make(chan bool)
		for i := range uint64(2) {
			rng := rand.New(rand.NewPCG(seed, i))
			writers.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						w.change(rng)
						w.ks.Tidy(now, 100)
					}
				}
			})
		}
		o, asked := options(), 0
		o.Threads = 3
		if seed%3 == 2 {
			var mu sync.Mutex
			o.EachKey = func() {}
			o.Stop = func() error {
				mu.Lock()
				defer mu.Unlock()
				if asked++; asked > 250 {
					return errStop
				}
				return nil
			}
		}
		var m memory
		_, err := rdb.Save(&m, sn, o)
		close(end)
		writers.Wait()
		sn.Close()
		if o.Stop != nil {
			if err != errStop {
				t.Fatal(err)
			}
		} else {
			w.must(err)
			if got, _ := load(t, m.Bytes(), now); got.digest() != want {
				t.Errorf("seed %d: another digest than in the beginning", seed)
			}
		}
		if err := w.ks.Check(); err != nil {
			t.Error(err)
		}
		if kept := w.ks.Kept(); kept != 0 {
			t.Errorf("seed %d: %d bytes are kept for no snapshot", seed, kept)
		}
	}
}

package db

import (
	"fmt"
	"testing"
)

// TestWhole runs what is about the whole keyspace, locking for itself and under
// locks that are held.
func TestWhole(t *testing.T) {
	f := func(held bool) {
		ks := open(t, Options{})
		tx := ks.NewTx()
		use := func(fn func(w Whole)) {
			if held {
				with(ks, tx, 0, 1000, func(tx *Tx) { fn(tx.Whole()) })
			} else {
				fn(ks.Whole(1000))
			}
		}
		with(ks, tx, 0, 1000, func(tx *Tx) {
			for i := range 100 {
				tx.SetInt(fmt.Append(nil, i), int64(i), NoExpiry)
			}
			tx.In(1).SetInt([]byte("one"), 1, 5000)
			tx.In(2).SetInt([]byte("expired"), 1, 500)
		})
		use(func(w Whole) {
			checkWhole(t, w)
			w.Swap(0, 1)
			if w.Len(0) != 1 || w.Len(1) != 100 || w.Expires(0) != 1 || w.AvgTTL(0) != 4000 {
				t.Error("after SWAPDB:", w.Len(0), w.Len(1), w.Expires(0), w.AvgTTL(0))
			}
			if n := w.Flush(1, held); n != 100 || w.Len(1) != 0 || w.Len(0) != 1 {
				t.Error("after FLUSHDB:", n, w.Len(1), w.Len(0))
			}
			n, freed := w.FlushLater(-1)
			if n != 1 || w.Len(0) != 0 {
				t.Error("after FLUSHALL:", n, w.Len(0))
			}
			if !held {
				<-freed
				if used := ks.heap.Used(); used != 0 {
					t.Errorf("%d bytes are left when all should be free", used)
				}
			}
		})
		ks.lazy.wait()
		// A swap, 101 keys flushed; the expired key was found and not flushed.
		if st := ks.Stats(); st.Dirty != 102 || st.LazyPending != 0 || st.LazyFreed == 0 || ks.heap.Used() != 0 {
			t.Errorf("%+v, %d bytes", st, ks.heap.Used())
		}
	}
	f(false)
	f(true)
}

func checkWhole(t *testing.T, w Whole) {
	t.Helper()
	n := 0
	w.Each(0, func(key []byte, typ Type) bool {
		n++
		return n < 50
	})
	if n != 50 || w.Len(0) != 100 || w.Databases() != 16 {
		t.Error(n, w.Len(0), w.Databases())
	}
	seen := map[string]int{}
	for range 2000 {
		k, ok := w.RandomKey(0, []byte("x"))
		if !ok || k[0] != 'x' {
			t.Fatal("no random key")
		}
		seen[string(k)]++
	}
	if len(seen) < 95 {
		t.Error("random keys:", len(seen))
	}
	if _, ok := w.RandomKey(2, nil); ok {
		t.Error("a random key that expired")
	}
	if _, ok := w.RandomKey(3, nil); ok {
		t.Error("a random key of an empty database")
	}
}

package db

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// heapOf returns a collection of n elements of 100 bytes, which clones in constant time.
func heapOf(n int) *untidyToy { return &untidyToy{n: n} }

// pinKey clones the collection at key for a reader, as a reply does.
func pinKey(tx *Tx, key string) Pin {
	c, _, _ := tx.CurrentCollection([]byte(key), TypeSet)
	return PinOf(c.Object.Clone())
}

// sumHeld adds up what pins hold.
func sumHeld(pins ...*Pin) (n int64) {
	for _, p := range pins {
		n += p.Held()
	}
	return n
}

// TestHeld: a reader answers for what nobody has any more but its clone, wherever a key goes.
func TestHeld(t *testing.T) {
	const size = 1000 * 100
	ks := open(t, Options{Shards: 4, Databases: 3})
	tx := ks.NewTx()
	do := func(fn func(tx *Tx)) { t.Helper(); with(ks, tx, 0, 1, fn) }
	put := func(key string) {
		do(func(tx *Tx) { tx.PutObject([]byte(key), TypeSet, heapOf(1000), NoExpiry) })
	}
	pin := func(key string) (p Pin) {
		do(func(tx *Tx) { p = pinKey(tx, key) })
		return p
	}
	resize := func(key string, n int) {
		do(func(tx *Tx) {
			c, _, _ := tx.EditCollection([]byte(key), TypeSet)
			c.Object.(*untidyToy).n = n
			tx.Touched([]byte(key), ClassSet, "")
		})
	}
	want := func(what string, got, want int64) {
		t.Helper()
		if got < want-1 || got > want {
			t.Errorf("%s: %d bytes held, want %d", what, got, want)
		}
	}
	del := func(key string) { do(func(tx *Tx) { tx.Delete([]byte(key)) }) }

	for _, gone := range []struct {
		how string
		fn  func(tx *Tx)
	}{
		{"deleted", func(tx *Tx) { tx.Delete([]byte("k")) }},
		{"overwritten", func(tx *Tx) { tx.SetString([]byte("k"), []byte("v"), NoExpiry) }},
		{"replaced", func(tx *Tx) { tx.PutObject([]byte("k"), TypeSet, heapOf(1000), NoExpiry) }},
		{"renamed over", func(tx *Tx) {
			tx.SetString([]byte("other"), nil, NoExpiry)
			tx.Rename([]byte("other"), []byte("k"))
		}},
		{"flushed", func(tx *Tx) { tx.Whole().Flush(0, false) }},
	} {
		put("k")
		a := pin("k")
		want("stored", a.Held(), 0)
		do(gone.fn)
		want(gone.how, a.Held(), size)
		b := a // as if there had been another
		b.lease.pinned.Add(size)
		want(gone.how+", two readers", sumHeld(&a, &b), size)
		b.Release()
		b.Release()
		want("released", b.Held(), 0)
		want("the last reader", a.Held(), size)
		a.Release()
		del("k")
	}

	put("k")
	a := pin("k")
	for i := range 20 { // through shards
		do(func(tx *Tx) { tx.Rename([]byte("k"), strconv.AppendInt([]byte("k"), int64(i), 10)) })
		want("renamed", a.Held(), 0)
		do(func(tx *Tx) { tx.Rename(strconv.AppendInt([]byte("k"), int64(i), 10), []byte("k")) })
	}
	do(func(tx *Tx) { tx.Copy([]byte("k"), 2, []byte("copy")) })
	del("k")
	want("copied", a.Held(), 0)
	do(func(tx *Tx) { tx.Whole().Swap(0, 2) })
	want("in another database", a.Held(), 0)
	ks.Whole(1).Flush(-1, true)
	ks.lazy.wait()
	want("flushed by and by", a.Held(), size)
	a.Release()

	put("k")
	sn := ks.Snapshot(nil)
	a = pin("k")
	del("k")
	want("in a snapshot", a.Held(), 0)
	sn.Close()
	want("without the snapshot", a.Held(), size)
	a.Release()
	put("k")
	sn = ks.Snapshot(nil)
	a = pin("k")
	resize("k", 1200)
	want("changed under a snapshot", a.Held(), 0)
	del("k")
	want("in a snapshot that does not count it", a.Held(), size)
	sn.Close()
	want("without the snapshot", a.Held(), size)
	a.Release()

	put("k")
	a = pin("k")
	resize("k", 10)
	want("most removed", a.Held(), size-1000)
	small := make([]Pin, 100)
	for i := range small {
		small[i] = pin("k")
	}
	want("most removed, small readers", a.Held(), int64((size-1000)*float64(size)/(size+100*1000)))
	want("small readers", small[0].Held(), 0)
	resize("k", 2000)
	want("added again", a.Held(), 0)
	a.Release()
	del("k")
	sum := int64(0)
	for i := range small {
		sum += small[i].Held()
		defer small[i].Release()
	}
	want("small readers alone", sum, 1000)

	own := PinOf(heapOf(10))
	want("never stored", own.Held(), 1000)
	own.Release()
	want("never stored, released", own.Held(), 0)
}

// leases checks what all leases have counted against the handles and some pins.
func leases(t *testing.T, ks *Keyspace, pins []Pin) {
	t.Helper()
	stored, pinned := map[*lease]int64{}, map[*lease]int64{}
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	for i := range ks.shards {
		for _, h := range ks.shards[i].handles.list {
			if h.obj != nil {
				stored[h.lease] += h.size
			}
		}
	}
	for i := range pins {
		pinned[pins[i].lease] += pins[i].size
	}
	for i := range pins {
		p := &pins[i]
		if n := p.lease.pinned.Load(); n != pinned[p.lease] {
			t.Fatalf("%d bytes are pinned, counted %d", pinned[p.lease], n)
		}
		if p.Held() > max(p.size-stored[p.lease], 0) {
			t.Fatalf("a pin of %d bytes, %d stored, holds %d", p.size, stored[p.lease], p.Held())
		}
		if n := p.lease.stored.Load(); n != stored[p.lease] {
			t.Fatalf("%d bytes are stored, counted %d", stored[p.lease], n)
		}
	}
	for l, n := range stored {
		if l == nil || l.stored.Load() != n {
			t.Fatalf("%d bytes are stored, counted otherwise", n)
		}
	}
}

// TestLeases does everything with keys, while snapshots and readers come and go: the counts
// are right all the time.
func TestLeases(t *testing.T) {
	ks := open(t, Options{Shards: 4, Databases: 3})
	tx, r := ks.NewTx(), rand.New(rand.NewPCG(rand.Uint64(), 1))
	key := func() []byte { return []byte("k" + strconv.Itoa(r.IntN(20))) }
	var snaps []*Snapshot
	var pins []Pin
	for i := range 10_000 {
		with(ks, tx, r.IntN(3), Millis(i), func(tx *Tx) {
			k := key()
			switch r.IntN(13) {
			case 0:
				tx.Delete(k)
			case 1:
				tx.Rename(k, key())
			case 2:
				tx.Copy(k, r.IntN(3), key())
			case 3:
				tx.SetExpire(k, Expiry(i+r.IntN(50)))
			case 4, 5:
				tx.PutObject(k, TypeSet, heapOf(1+r.IntN(1000)), NoExpiry)
			case 6:
				tx.SetString(k, []byte("v"), NoExpiry)
			case 7, 8, 9:
				if c, found, _ := tx.EditCollection(k, TypeSet); found {
					c.Object.(*untidyToy).n = r.IntN(1000)
					tx.Touched(k, ClassSet, "")
				}
			case 10, 11:
				if c, found, _ := tx.Collection(k, TypeSet); found {
					pins = append(pins, PinOf(c.Object.Clone()))
				}
			case 12:
				if r.IntN(20) == 0 {
					tx.Whole().Swap(r.IntN(3), r.IntN(3))
				} else if r.IntN(20) == 0 {
					tx.Whole().Flush(r.IntN(3), false)
				}
			}
		})
		if n := r.IntN(200); n < len(snaps) {
			snaps[n].Close()
			snaps = append(snaps[:n], snaps[n+1:]...)
		} else if n > 195 && len(snaps) < 4 {
			snaps = append(snaps, ks.Snapshot(nil))
		}
		if len(pins) > 0 && r.IntN(8) == 0 {
			n := r.IntN(len(pins))
			pins[n].Release()
			pins = append(pins[:n], pins[n+1:]...)
		}
		if i%50 == 0 {
			leases(t, ks, pins)
		}
	}
	for _, sn := range snaps {
		sn.Close()
	}
	ks.Whole(1).Flush(-1, true)
	ks.lazy.wait()
	leases(t, ks, pins)
	for i := range pins {
		if p := &pins[i]; p.lease.stored.Load() != 0 || p.Held() == 0 {
			t.Fatalf("all is gone, but a pin of %d bytes holds %d", p.size, p.Held())
		}
		pins[i].Release()
	}
}

// TestLeaseRace has readers ask what they hold while others change the collections.
func TestLeaseRace(t *testing.T) {
	ks := open(t, Options{Shards: 4})
	var stop atomic.Bool
	var readers, writers sync.WaitGroup
	given := make(chan Pin, 100)
	for w := range 2 {
		writers.Go(func() {
			tx, r := ks.NewTx(), rand.New(rand.NewPCG(1, uint64(w)))
			for range 5000 {
				with(ks, tx, 0, 1, func(tx *Tx) {
					k := "k" + strconv.Itoa(r.IntN(4))
					if r.IntN(10) == 0 {
						tx.Delete([]byte(k))
					} else if c, found, _ := tx.EditCollection([]byte(k), TypeSet); found {
						c.Object.(*untidyToy).n = 1 + r.IntN(1000)
						tx.Touched([]byte(k), ClassSet, "")
						select {
						case given <- PinOf(c.Object.Clone()):
						default:
						}
					} else {
						tx.PutObject([]byte(k), TypeSet, heapOf(1000), NoExpiry)
					}
				})
			}
		})
		readers.Go(func() {
			for !stop.Load() || len(given) > 0 {
				select {
				case p := <-given:
					for range 10 {
						if n := p.Held(); n < 0 || n > p.size {
							t.Errorf("a pin of %d bytes holds %d", p.size, n)
						}
					}
					p.Release()
				default:
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	leases(t, ks, nil)
}

package db

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// untidyToy is a collection of n elements beside some that are gone and take a byte each.
type untidyToy struct {
	n, gone int
	Shared
}

func (o *untidyToy) Len() int         { return o.n }
func (o *untidyToy) Clone() Object    { c := *o; return &c }
func (o *untidyToy) MemSize() int64   { return int64(100*o.n + o.gone) }
func (o *untidyToy) Encoding() string { return "toy" }
func (o *untidyToy) Backlog() int     { return o.gone }
func (o *untidyToy) Tidy(limit int)   { o.gone -= min(limit, o.gone) }

// TestTidy has collections leave work behind wherever keys and databases go: all of it is
// done in the end, also while snapshots are open, and they see nothing of it.
func TestTidy(t *testing.T) {
	ks := open(t, Options{Shards: 4, Databases: 3})
	tx, rnd := ks.NewTx(), rand.New(rand.NewPCG(rand.Uint64(), 7))
	key := func() []byte { return []byte("k" + strconv.Itoa(rnd.IntN(20))) }
	var snaps []*Snapshot
	var sizes []int64 // of what each snapshot sees
	for range 20_000 {
		if rnd.IntN(10) == 0 {
			ks.Tidy(1, rnd.IntN(1000))
		}
		with(ks, tx, rnd.IntN(3), 1, func(tx *Tx) {
			k := key()
			switch rnd.IntN(12) {
			case 0:
				tx.Delete(k)
			case 1:
				tx.Rename(k, key())
			case 2:
				tx.Copy(k, rnd.IntN(3), key())
			case 3:
				tx.SetExpire(k, []Expiry{NoExpiry, 1 << 40}[rnd.IntN(2)])
			case 4:
				if rnd.IntN(40) == 0 {
					tx.Whole().Swap(rnd.IntN(3), rnd.IntN(3))
				} else if rnd.IntN(100) == 0 {
					tx.Whole().Flush(rnd.IntN(3), rnd.IntN(2) == 0)
				}
			default:
				c, found, err := tx.EditCollection(k, TypeSet)
				if err != nil {
					t.Fatal(err)
				}
				o, _ := c.Object.(*untidyToy)
				if !found {
					o = &untidyToy{n: 5}
					if err := tx.PutObject(k, TypeSet, o, NoExpiry); err != nil {
						t.Fatal(err)
					}
				}
				o.gone += rnd.IntN(3) * rnd.IntN(1000)
				tx.Touched(k, ClassSet, "")
			}
		})
		if rnd.IntN(200) == 0 {
			if len(snaps) < 3 {
				snaps = append(snaps, ks.Snapshot(nil))
				sizes = append(sizes, seen(snaps[len(snaps)-1]))
			} else {
				if n := seen(snaps[0]); n != sizes[0] {
					t.Fatalf("a snapshot saw %d bytes, and now %d", sizes[0], n)
				}
				snaps[0].Close()
				snaps, sizes = snaps[1:], sizes[1:]
			}
		}
		if rnd.IntN(500) == 0 {
			if err := ks.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, sn := range snaps {
		sn.Close()
	}
	ks.lazy.wait()
	for ks.Tidy(1, 1000) {
	}
	sn := ks.Snapshot(nil)
	defer sn.Close()
	sn.Items(func(_ int, it *Item) bool {
		if o := it.Coll.Object.(*untidyToy); o.gone > 0 {
			t.Errorf("%s has %d elements to do", it.Key, o.gone)
		}
		return true
	})
	if ks.untidy.Load() != 0 {
		t.Errorf("%d keys are to be looked at", ks.untidy.Load())
	}
}

// seen adds up the sizes of what a snapshot sees.
func seen(sn *Snapshot) (n int64) {
	sn.Items(func(_ int, it *Item) bool {
		n += it.Coll.MemSize()
		return true
	})
	return n
}

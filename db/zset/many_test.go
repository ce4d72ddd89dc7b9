package zset

import (
	"fmt"
	"sync"
	"testing"

	"heddle/db"
)

// TestDropMost: what is left when most members go at once is as it was, its deadlines
// too, and those who scan find it.
func TestDropMost(t *testing.T) {
	const n = 5000
	for _, keep := range [][2]int{{0, n}, {100, n - 100}, {0, n - 1}, {n / 2, n}} {
		r := newRig(t, 1, 0)
		r.do(true, func(z *ZSet) {
			for i := range n {
				z.Find(fmt.Appendf(nil, "member:%d", i))
				r.must(z.Put(float64(i)))
				if i%50 == 0 {
					r.must(z.SetDeadline(fmt.Appendf(nil, "member:%d", i), now+1+db.Millis(i)))
				}
			}
		})
		seen := map[string]bool{}
		note := func(m []byte, _ float64) { seen[string(m)] = true }
		cursor := uint64(0)
		r.do(false, func(z *ZSet) { cursor = z.Scan(0, n/2, note) })
		r.do(true, func(z *ZSet) {
			old, _ := z.Keep()
			r.must(z.DropRange(keep[0], keep[1]))
			if z.Len() != n-(keep[1]-keep[0]) || old.Len() != n {
				t.Fatal(z.Len(), old.Len())
			}
			r.must(z.o.Check())
			r.must(old.o.Check())
			for i := range n {
				m := fmt.Appendf(nil, "member:%d", i)
				score, found := z.Find(m)
				at, timed := z.Deadline(m)
				left := i < keep[0] || i >= keep[1]
				if found != left || found && score != float64(i) || timed != (left && i%50 == 0) || timed && at != now+1+db.Millis(i) {
					t.Fatalf("%s: %v %v, expires %v %v", m, score, found, at, timed)
				}
			}
			for cursor != 0 {
				cursor = z.Scan(cursor, 100, note)
			}
			z.Each(0, z.Len(), false, func(m []byte, _ float64) bool {
				if !seen[string(m)] {
					t.Errorf("%v: %s was not visited", keep, m)
				}
				return true
			})
		})
	}
}

// failing has no memory for an Object.
type failing struct{ db.Txn }

func (failing) PutObject([]byte, db.Type, db.Object, db.Expiry) error { return db.ErrOutOfMemory }

// TestBatchFails: a batch that comes to its end without memory has changed nothing.
func TestBatchFails(t *testing.T) {
	r := newRig(t, 1, 0)
	r.do(true, func(z *ZSet) {
		z.Find([]byte("first"))
		r.must(z.Put(1))
	})
	r.do(true, func(z *ZSet) {
		z.tx = failing{r.tx}
		z.Batch(make([]byte, 0, db.PackedMax))
		var err error
		for i := 0; err == nil; i++ {
			z.Find(fmt.Append(nil, i))
			err = z.Put(2)
		}
		if err != db.ErrOutOfMemory || !z.Gathers() {
			t.Error(err)
		}
	})
	r.do(false, func(z *ZSet) {
		if z.Len() != 1 {
			t.Error(z.Len())
		}
	})
}

// TestCloneTogether lets several clone a set, which nobody changes, at the same time: a
// snapshot's readers do, and the writer that is to change the set.
func TestCloneTogether(t *testing.T) {
	o := NewObject()
	for i := range 1000 {
		o.Set(fmt.Append(nil, i), float64(i))
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				c := o.clone()
				c.Set(fmt.Append(nil, i), float64(g))
				c.Delete(fmt.Append(nil, g))
			}
		})
	}
	wg.Wait()
	if err := o.Check(); err != nil || o.Len() != 1000 {
		t.Error(err, o.Len())
	}
}

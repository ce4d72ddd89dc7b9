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

// TestCloseGivesBack rewrites all that a snapshot sees, large values too, and closes it:
// nothing is kept any longer, and the reader and the end gave way to others.
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
	for round := range 2 {
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
		if round == 0 {
			sn.Close()
		} else {
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

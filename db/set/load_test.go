package set

import (
	"testing"

	"heddle/db"
)

// TestBuilder fills sets as files do, with members that come twice, and compares what is
// stored with the model.
func TestBuilder(t *testing.T) {
	var b Builder
	for style := range styles {
		r := newRig(t, 7, style)
		for round := range 60 {
			n := r.rng.IntN(300)
			b.Reset(&r.limits, uint64(n), []db.Packing{db.NotPacked, db.Listpack}[round%2])
			clear(r.m)
			for i := range n {
				m := r.member()
				if b.Add([]byte(m)) == r.m[m] {
					t.Fatalf("style %d, round %d: the %dth, %.40q, is there: %v", style, round, i, m, !r.m[m])
				}
				r.m[m] = true
			}
			if b.Len() != len(r.m) {
				t.Fatalf("%d members, want %d", b.Len(), len(r.m))
			}
			if n == 0 {
				continue
			}
			r.do(true, func(*Set) {
				c := b.Coll()
				if c.Object != nil {
					r.must(r.tx.PutObject(key, db.TypeSet, c.Object, db.NoExpiry))
				} else {
					r.must(r.tx.PutPacked(key, db.TypeSet, c.Packing, c.Packed, db.NoExpiry))
				}
			})
			r.do(false, func(s *Set) { r.compare(s) })
		}
	}
}

package zset

import (
	"fmt"
	"slices"
	"testing"

	"heddle/db"
)

// TestBuilder fills sorted sets as files do, in order and in none, with members that come
// twice, and compares what is stored with the model.
func TestBuilder(t *testing.T) {
	var b Builder
	for style := range 8 {
		r := newRig(t, 7, style)
		for round := range 60 {
			list := make([]element, r.rng.IntN(300))
			for i := range list {
				list[i] = element{string(r.member()), r.score()}
			}
			switch round % 3 {
			case 0:
				slices.SortFunc(list, element.compare)
			case 1:
				slices.SortFunc(list, func(a, b element) int { return b.compare(a) })
			}
			b.Reset(&r.limits, uint64(len(list)), round%2 == 0)
			clear(r.m)
			for i, e := range list {
				_, there := r.m[e.member]
				if there && b.o != nil {
					continue // such a Builder is of no more use afterwards
				}
				if b.Add([]byte(e.member), e.score) == there {
					t.Fatalf("style %d, round %d: the %dth, %v, is there: %v", style, round, i, e, !there)
				}
				if !there {
					r.m[e.member] = e.score
				}
			}
			if b.Len() != len(r.m) {
				t.Fatalf("%d members, want %d", b.Len(), len(r.m))
			}
			if len(r.m) == 0 {
				continue
			}
			r.do(true, func(*ZSet) {
				c := b.Coll()
				if c.Object != nil {
					r.must(r.tx.PutObject(key, db.TypeZSet, c.Object, db.NoExpiry))
				} else {
					r.must(r.tx.PutPacked(key, db.TypeZSet, c.Packing, c.Packed, db.NoExpiry))
				}
			})
			r.compare()
			if last := list[len(list)-1]; b.Add([]byte(last.member), last.score) {
				t.Fatal(fmt.Sprint(last, " is added twice"))
			}
		}
	}
}

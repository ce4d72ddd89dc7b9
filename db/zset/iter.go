package zset

import (
	"heddle/db/listpack"
	"heddle/db/zset/tree"
)

// Iter goes through members in order, or in the opposite one:
//
//	var it zset.Iter
//	for it.Start(&z, from, to, rev); it.Next(); {
//		w.Bulk(it.Member())
//	}
//
// It is valid until the set is changed, and meant for the stack: callbacks would move
// what they are given to the heap.
type Iter struct {
	p    []byte // packed
	x    pair   // the present one
	next int    // where the next one stands, forwards
	c    tree.Cursor
	rev  bool
	from int // ranks that are left: from the first to before to
	to   int
	buf  listpack.Scratch

	// backwards: where the pairs of rank first and behind stand
	first int
	at    [backChunk]uint16
}

// backChunk is how many pairs are looked for in one go when walking backwards.
const backChunk = 64

// Start makes it go through the members of z of rank from to before to, from the last
// if rev is set.
func (it *Iter) Start(z *ZSet, from, to int, rev bool) {
	it.from, it.to, it.rev = max(from, 0), min(to, z.Len()), rev
	if it.p = z.p; it.from >= it.to {
		return
	}
	switch {
	case it.p == nil && rev:
		it.c = z.o.tree.Seek(it.to - 1)
	case it.p == nil:
		it.c = z.o.tree.Seek(it.from)
	case rev:
		it.first = it.to
	default:
		it.next = offsetOf(it.p, it.from)
	}
	it.x.at = -1
}

// Next moves to the next member, the first at first, and reports whether there is one.
func (it *Iter) Next() bool {
	if it.from >= it.to {
		return false
	}
	switch {
	case it.p == nil && it.x.at < 0:
		it.x.at = 0 // the cursor stands at the first
	case it.p == nil && it.rev:
		it.c.Prev()
	case it.p == nil:
		it.c.Next()
	case it.rev:
		it.back()
	default:
		it.x = pairAt(it.p, it.next)
		it.next = it.x.next()
	}
	if it.rev {
		it.to--
	} else {
		it.from++
	}
	return true
}

// back moves to the pair of rank it.to-1.
func (it *Iter) back() {
	if it.to == it.first {
		it.first = max(it.from, it.to-backChunk)
		at := offsetOf(it.p, it.first)
		for i := range it.to - it.first {
			it.at[i] = uint16(at)
			at = listpack.Skip(it.p, at, 2)
		}
	}
	it.x = pairAt(it.p, int(it.at[it.to-1-it.first]))
}

// Member returns the member: to be read until the next call of Next.
func (it *Iter) Member() []byte {
	if it.p == nil {
		return it.c.Member()
	}
	return it.x.member.Bytes(&it.buf)
}

// Kept returns a member of a large set that is longer than tree.MaxInline: those are never
// changed, so it may be kept.
func (it *Iter) Kept() []byte { return it.c.Member() }

// Score returns the score.
func (it *Iter) Score() float64 {
	if it.p == nil {
		return it.c.Score()
	}
	return readScore(it.x.score)
}

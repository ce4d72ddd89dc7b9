package members

import (
	"math/bits"
	"slices"
)

// eachPage visits the pages in the order of hashes.
func (t *Table) eachPage(fn func(p *page) bool) bool {
	for i := 0; i < len(t.root); {
		p := t.root[i].page
		if !fn(p) {
			return false
		}
		i += 1 << (t.rootBits - p.prefix)
	}
	return true
}

// Each visits every member with its value until fn returns false, and reports
// whether it came to the end. fn must not change the table.
func (t *Table) Each(fn func(member, value []byte) bool) bool {
	for it := t.Iter(); it.Next(); {
		if !fn(it.Member(), it.Value()) {
			return false
		}
	}
	return true
}

// Iter is a walk over a table that does not change meanwhile.
type Iter struct {
	t     *Table
	b     []byte
	s     int
	block uint64 // the first hash of the next block
	end   bool   // there is no next block
}

// Iter begins a walk.
func (t *Table) Iter() Iter { return Iter{t: t} }

// Next moves to the next member; false when there is none.
func (it *Iter) Next() bool {
	it.s++
	for it.s >= len(it.b) || it.s >= count(it.b) {
		if it.end {
			return false
		}
		it.b, it.s = it.t.block(it.block), 0
		it.block = after(it.b, it.block)
		it.end = it.block == 0
	}
	return true
}

// after returns the first hash behind those of a block that h falls in; 0 at the
// end.
func after(b []byte, h uint64) uint64 {
	span := uint64(1) << (64 - depth(b)) // 0 for depth 0
	return h&^(span-1) + span
}

// Member returns the member that Next moved to.
func (it *Iter) Member() []byte { return it.t.member(it.b, offset(it.b, it.s)) }

// Value returns its value: nil, 8 bytes to be read by Uint64, or bytes.
func (it *Iter) Value() []byte { return it.t.value(it.b, offset(it.b, it.s)) }

// cursorShift is how many bits of a hash a cursor leaves out: cursors stay below
// 1<<48, which every client's numbers hold.
const cursorShift = 64 - maxDepth

// Scan visits members from cursor on, in the order of their hashes, and returns
// the cursor to go on with (0 at the end; the first is 0, too). It visits at least
// max(count, 1) members unless the end comes first, and more only if their hashes
// agree. A member that is there from the first call to the last is visited;
// blocks that split or merge meanwhile do not change the order, so it is visited
// once. Any cursor is valid. fn must not change the table.
func (t *Table) Scan(cursor uint64, count int, fn func(member, value []byte)) (next uint64) {
	h := cursor << cursorShift
	for {
		b := t.block(h)
		var n int
		if n, next = t.scanBlock(b, h, count, fn); next != 0 {
			return next
		}
		if h = after(b, h); h == 0 {
			return 0
		}
		if count -= n; count <= 0 {
			return h >> cursorShift
		}
	}
}

// scanBlock visits up to limit members (and those with the last one's hash) of a
// block whose hashes are at least from. It returns how many it visited, and where
// to go on if that is within the block.
func (t *Table) scanBlock(b []byte, from uint64, limit int, fn func(member, value []byte)) (n int, next uint64) {
	var room [256]uint64
	keys := room[:0] // hash and slot
	for s := range count(b) {
		if h := t.entryHash(b, s); h >= from {
			keys = append(keys, h>>cursorShift<<cursorShift|uint64(s))
		}
	}
	if limit = max(limit, 1); limit < len(keys) {
		slices.Sort(keys)
		for limit < len(keys) && keys[limit]>>cursorShift == keys[limit-1]>>cursorShift {
			limit++
		}
		if limit < len(keys) {
			next = keys[limit] >> cursorShift
			keys = keys[:limit]
		}
	}
	for _, k := range keys {
		off := offset(b, int(k&(1<<cursorShift-1)))
		fn(t.member(b, off), t.value(b, off))
	}
	return len(keys), next
}

// Random returns a member with its value, each with the same probability; a nil
// member if there is none.
//
// A random hash leads to a page, and one to a block within it, which is taken with
// a probability in proportion to its density, members to share of the hashes: else
// members of sparse blocks would be chosen more often. The densest block sets the
// measure. Densities differ little, so one or two tries are enough. An upper
// bound of the density is kept when members come, and computed anew when half of
// them have gone.
func (t *Table) Random(r Source) (member, value []byte) {
	if t.count == 0 {
		return nil, nil
	}
	p := t.root[0].page
	for t.rootBits > 0 {
		p = t.page(r.Rand())
		if Below(r.Rand(), t.peak) < p.densityInTable() {
			break
		}
	}
	b := p.blocks[0]
	for p.bits > 0 {
		b = p.blocks[r.Rand()>>(64-p.bits)]
		if Below(r.Rand(), p.peak) < p.density(b) {
			break
		}
	}
	off := offset(b, int(Below(r.Rand(), uint64(count(b)))))
	return t.member(b, off), t.value(b, off)
}

// Below makes a number below n of a random one. The error is less than n/2^64.
func Below(random, n uint64) uint64 {
	hi, _ := bits.Mul64(random, n)
	return hi
}

// raisePeaks keeps the bounds of densities right after members came to a block.
func (t *Table) raisePeaks(p *page, b []byte) {
	p.peak = max(p.peak, p.density(b))
	p.peakCount = max(p.peakCount, p.count)
	t.peak = max(t.peak, p.densityInTable())
	t.peakCount = max(t.peakCount, t.count)
}

// lowerPeaks computes the bounds anew when half of the members have gone.
func (t *Table) lowerPeaks(p *page) {
	if 2*p.count < p.peakCount {
		p.recount()
	}
	if 2*t.count < t.peakCount {
		t.peak, t.peakCount = 0, t.count
		t.eachPage(func(p *page) bool {
			t.peak = max(t.peak, p.densityInTable())
			return true
		})
	}
}

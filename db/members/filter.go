package members

// Filter removes the members for which gone returns true. It is asked for each member once,
// in the order of Iter, and must not change the table. That takes some tens of nanoseconds a
// member: each block is rewritten once, whatever the number of its members that go, and
// joined with a buddy in front of it that became small, too.
func (t *Table) Filter(gone func(member, value []byte) bool) {
	for h := uint64(0); ; {
		b := t.block(h)
		next := after(b, h)
		t.filterBlock(h, b, gone)
		if next == 0 {
			return
		}
		h = next
	}
}

// filterBlock is Filter of the block of a hash.
func (t *Table) filterBlock(h uint64, b []byte, gone func(member, value []byte) bool) {
	var left [maxBlock/slotMin/64 + 1]uint64 // a bit a slot: which stay
	n, stay, size := count(b), 0, 0
	for s := range n {
		off := offset(b, s)
		if !gone(t.member(b, off), t.value(b, off)) {
			left[s/64] |= 1 << (s % 64)
			size += entryLen(b, t.kind, off)
			stay++
		}
	}
	if stay == n {
		return
	}
	p := t.ownPage(h)
	c := newBlock(blockSize(min(withSlack(front(stay)+size), len(b))), t.owner) // no room is made by members that go
	setDepth(c, depth(b))
	for s := range n {
		if left[s/64]>>(s%64)&1 != 0 {
			copyEntry(c, b, t.kind, s)
		} else if off := offset(b, s); b[off] == sideMark {
			t.mem -= t.side.free(t.owner, sideIndex(b, off))
		}
	}
	p.put(h, c)
	p.count -= n - stay
	t.count -= n - stay
	t.mem += int64(len(c) - len(b))
	t.lowerPeaks(p)
	t.mergeBack(h)
}

// mergeBack joins the block of a hash with its buddy where that is in front of it.
func (t *Table) mergeBack(h uint64) {
	for {
		p := t.page(h)
		b := p.blocks[p.slot(h)]
		d := depth(b)
		if d <= int(p.prefix) || used(b) > fullBlock/4 || h>>(64-d)&1 == 0 || !t.mergeBuddies(p, h, b) {
			return
		}
		t.shrinkPage(h)
	}
}

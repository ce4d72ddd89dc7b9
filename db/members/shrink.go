package members

// shrink makes the block of a hash smaller after an entry left it: as a block
// of a smaller size, or as one with its buddy, the block that it was split from.
// Limits are far enough from those of growing that a table whose size swings does
// not go to and fro.
func (t *Table) shrink(h uint64) {
	for {
		p := t.page(h)
		b := p.blocks[p.slot(h)]
		if d := depth(b); d > int(p.prefix) && used(b) <= fullBlock/4 {
			if t.mergeBuddies(p, h, b) {
				t.shrinkPage(h)
				continue
			}
		}
		if size := blockSize(used(b) + used(b)/4); size <= len(b)*3/4 {
			t.resize(p, h, b, size)
		}
		return
	}
}

// mergeBuddies makes one block of that of h and its buddy if it fits well.
func (t *Table) mergeBuddies(p *page, h uint64, b []byte) bool {
	d := depth(b)
	buddy := p.blocks[p.slot(h^1<<(64-d))]
	if depth(buddy) != d {
		return false
	}
	size := used(b) + used(buddy) // more than needed by a header at least
	if size > fullBlock*5/8 {
		return false
	}
	c := newBlock(blockSize(withSlack(size)), t.owner)
	setDepth(c, d-1)
	for _, from := range [...][]byte{b, buddy} {
		for s := range count(from) {
			copyEntry(c, from, t.kind, s)
		}
	}
	t.mem += int64(len(c) - len(b) - len(buddy))
	p.put(h, c)
	return true
}

// shrinkPage halves the page of a hash while none of its blocks needs all its
// bits, joins it with its buddy if both are small, and halves the root likewise.
func (t *Table) shrinkPage(h uint64) {
	p := t.page(h)
	for p.bits > 0 && !p.deep() {
		list := make([][]byte, len(p.blocks)/2)
		for i := range list {
			list[i] = p.blocks[2*i]
		}
		t.mem -= p.size()
		p.blocks, p.bits = list, p.bits-1
		t.mem += p.size()
		t.putPage(h, p)
	}
	for t.mergePages(h) {
	}
}

// deep reports whether a block needs all bits of the page.
func (p *page) deep() bool {
	for i := 0; i < len(p.blocks); {
		more := int(p.bits) - (depth(p.blocks[i]) - int(p.prefix))
		if more == 0 {
			return true
		}
		i += 1 << more
	}
	return false
}

// mergePages makes one page of that of h and its buddy if they are small.
func (t *Table) mergePages(h uint64) bool {
	p := t.page(h)
	if p.prefix == 0 || p.bits > maxPageBits-2 {
		return false
	}
	bit := uint64(1) << (64 - p.prefix)
	buddy := t.page(h ^ bit)
	if buddy.prefix != p.prefix || buddy.bits > maxPageBits-2 {
		return false
	}
	if h&bit != 0 {
		p, buddy = buddy, p
	}
	t.mem -= p.size() + buddy.size()
	c := &page{owner: t.owner, directory: directory{prefix: p.prefix - 1, bits: max(p.bits, buddy.bits) + 1}}
	c.blocks = make([][]byte, 0, 1<<c.bits)
	for _, from := range [...]*page{p, buddy} {
		times := 1 << (c.bits - 1 - from.bits)
		for _, b := range from.blocks {
			for range times {
				c.blocks = append(c.blocks, b)
			}
		}
	}
	c.recount()
	t.mem += c.size()
	t.putPage(h, c)
	t.halveRoot()
	return true
}

// halveRoot halves the root while no page needs all its bits.
func (t *Table) halveRoot() {
	for t.rootBits > 0 {
		for i := 0; i < len(t.root); {
			more := t.rootBits - t.root[i].prefix
			if more == 0 {
				return
			}
			i += 1 << more
		}
		list := make([]rootSlot, len(t.root)/2)
		for i := range list {
			list[i] = t.root[2*i]
		}
		t.mem -= int64(len(list)) * rootSlotSize
		t.root, t.rootOwner = list, t.owner
		t.rootBits--
	}
}

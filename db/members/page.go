package members

// page is a directory of blocks: the lower level of a table's.
type page struct {
	directory
	owner     uint64
	count     int
	peak      uint64 // at least the density of each block, see Random
	peakCount int    // count when peak was computed, or more
}

type directory struct {
	prefix uint8 // how many bits the hashes of its members share
	bits   uint8 // it tells blocks apart by so many bits more
	blocks [][]byte
}

// rootSlot leads to a page. It has a copy of its directory, so that a lookup does
// not wait for the memory of the page.
type rootSlot struct {
	directory
	page *page
}

const (
	maxPageBits  = 8
	maxDepth     = 48
	slotSize     = 24 // of a block in a page
	rootSlotSize = 40
)

// slot returns where the block of a hash stands.
func (d *directory) slot(h uint64) int { return int(h << d.prefix >> (64 - d.bits)) }

// run returns the slots in which the block of a hash stands, if it has depth d.
func (p *page) run(h uint64, d int) [][]byte {
	n := 1 << (int(p.bits) - (d - int(p.prefix)))
	at := p.slot(h) &^ (n - 1)
	return p.blocks[at : at+n]
}

func (p *page) put(h uint64, b []byte) {
	run := p.run(h, depth(b))
	for i := range run {
		run[i] = b
	}
}

// size returns the bytes of memory of the page itself.
func (p *page) size() int64 { return 64 + int64(len(p.blocks))*slotSize }

// each visits the blocks.
func (p *page) each(fn func(b []byte)) {
	for i := 0; i < len(p.blocks); {
		b := p.blocks[i]
		fn(b)
		i += 1 << (int(p.bits) - (depth(b) - int(p.prefix)))
	}
}

// recount computes count and peak anew.
func (p *page) recount() {
	p.count, p.peak = 0, 0
	p.each(func(b []byte) {
		p.count += count(b)
		p.peak = max(p.peak, p.density(b))
	})
	p.peakCount = p.count
}

// density is what the page would hold if all of it were as full as the block.
func (p *page) density(b []byte) uint64 { return uint64(count(b)) << (depth(b) - int(p.prefix)) }

// density is what a table would hold if all of it were as full as the page.
func (p *page) densityInTable() uint64 { return uint64(p.count) << p.prefix }

// ownRoot makes the root one that t may change.
func (t *Table) ownRoot() {
	if t.rootOwner != t.owner {
		t.root = append([]rootSlot(nil), t.root...)
		t.rootOwner = t.owner
	}
}

// putPage puts a page into the root, for the hashes like h. It is called again
// when the directory of the page was replaced.
func (t *Table) putPage(h uint64, p *page) {
	t.ownRoot()
	n := 1 << (t.rootBits - p.prefix)
	at := int(h>>(64-t.rootBits)) &^ (n - 1)
	for i := at; i < at+n; i++ {
		t.root[i] = rootSlot{p.directory, p}
	}
}

// ownPage returns the page of a hash as one that t may change.
func (t *Table) ownPage(h uint64) *page {
	p := t.page(h)
	if p.owner == t.owner {
		return p
	}
	c := *p
	c.owner = t.owner
	c.blocks = append([][]byte(nil), p.blocks...)
	t.putPage(h, &c)
	return &c
}

// ownBlock returns the page and the block of a hash as ones that t may change.
func (t *Table) ownBlock(h uint64) (*page, []byte) {
	p := t.ownPage(h)
	b := p.blocks[p.slot(h)]
	if owner(b) == t.owner {
		return p, b
	}
	c := append([]byte(nil), b...)[:len(b):len(b)]
	setOwner(c, t.owner)
	p.put(h, c)
	return p, c
}

// resize replaces the block of a hash by one of another size.
func (t *Table) resize(p *page, h uint64, b []byte, size int) []byte {
	c := newBlock(size, t.owner)
	repack(c, b, t.kind)
	t.mem += int64(size - len(b))
	p.put(h, c)
	return c
}

// makeRoom returns the page and the block of a hash, with room for a further
// entry of size bytes, as ones that t may change.
func (t *Table) makeRoom(h uint64, size int) (*page, []byte) {
	for {
		p := t.ownPage(h)
		b := p.blocks[p.slot(h)]
		need := size + front(count(b)+1) - front(count(b))
		if gap(b) >= need {
			return t.ownBlock(h)
		}
		need += used(b)
		target := withSlack(need)
		switch {
		case target <= len(b):
			return p, t.compact(p, h, b)
		case len(b) < fullBlock && need <= fullBlock:
			return p, t.resize(p, h, b, blockSize(min(target, fullBlock)))
		case t.split(h):
		case need <= maxBlock:
			return p, t.resize(p, h, b, blockSize(min(target, maxBlock)))
		default:
			panic("members: the hash does not tell members apart")
		}
	}
}

// compact gathers the room within a block.
func (t *Table) compact(p *page, h uint64, b []byte) []byte {
	if owner(b) != t.owner || len(b) > fullBlock {
		return t.resize(p, h, b, len(b))
	}
	var buf [fullBlock]byte
	copy(buf[:], b)
	repack(b, buf[:len(b)], t.kind)
	return b
}

// entryHash returns the hash of the member in a slot.
func (t *Table) entryHash(b []byte, s int) uint64 {
	off := offset(b, s)
	if b[off] == sideMark {
		return t.side.get(sideIndex(b, off)).hash()
	}
	return t.hash(t.member(b, off))
}

// split cuts the block of a hash in two by the next bit of its members' hashes;
// false if that does not tell them apart.
func (t *Table) split(h uint64) bool {
	p := t.page(h)
	b := p.blocks[p.slot(h)]
	d, n := depth(b), count(b)
	if d == maxDepth {
		return false
	}
	var upper [maxBlock/slotMin/64 + 1]uint64 // a bit a slot: which go up
	var counts, sizes [2]int
	for s := range n {
		i := int(t.entryHash(b, s) >> (63 - d) & 1)
		upper[s/64] |= uint64(i) << (s % 64)
		counts[i]++
		sizes[i] += entryLen(b, t.kind, offset(b, s))
	}
	if counts[0] == 0 || counts[1] == 0 {
		return false
	}
	for p = t.ownPage(h); d-int(p.prefix) == int(p.bits); p = t.page(h) {
		t.deepen(h, p)
	}
	var parts [2][]byte
	for i := range parts {
		size := blockSize(withSlack(front(counts[i]) + sizes[i]))
		parts[i] = newBlock(size, t.owner)
		setDepth(parts[i], d+1)
		t.mem += int64(size)
	}
	for s := range n {
		copyEntry(parts[upper[s/64]>>(s%64)&1], b, t.kind, s)
	}
	t.mem -= int64(len(b))
	for i, part := range parts {
		p.put(h&^(1<<(63-d))|uint64(i)<<(63-d), part)
		t.raisePeaks(p, part)
	}
	return true
}

// deepen makes an owned page tell blocks apart by one bit more, or splits it.
func (t *Table) deepen(h uint64, p *page) {
	if p.bits == maxPageBits {
		t.splitPage(h, p)
		return
	}
	t.mem -= p.size()
	p.spread(int(p.bits) + 1)
	t.mem += p.size()
	t.putPage(h, p)
}

// spread repeats the slots of a page so that they tell more bits apart.
func (p *page) spread(bits int) {
	times := 1 << (bits - int(p.bits))
	list := make([][]byte, 0, len(p.blocks)*times)
	for _, b := range p.blocks {
		for range times {
			list = append(list, b)
		}
	}
	p.blocks, p.bits = list, uint8(bits)
}

// splitPage cuts a page in two.
func (t *Table) splitPage(h uint64, p *page) {
	if p.prefix == t.rootBits {
		t.doubleRoot()
	}
	t.mem -= p.size()
	half := len(p.blocks) / 2
	bit := uint64(1) << (63 - p.prefix)
	for i := range 2 {
		c := &page{owner: t.owner, directory: directory{prefix: p.prefix + 1, bits: p.bits - 1}}
		c.blocks = append([][]byte(nil), p.blocks[i*half:(i+1)*half]...)
		c.recount()
		t.mem += c.size()
		h &^= bit
		if i == 1 {
			h |= bit
		}
		t.putPage(h, c)
		t.peak = max(t.peak, c.densityInTable())
	}
}

func (t *Table) doubleRoot() {
	list := make([]rootSlot, 0, 2*len(t.root))
	for _, p := range t.root {
		list = append(list, p, p)
	}
	t.mem += int64(len(t.root)) * rootSlotSize
	t.root, t.rootOwner = list, t.owner
	t.rootBits++
}

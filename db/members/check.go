package members

import "fmt"

// Check verifies the structure of the whole table, for tests and checked builds.
func (t *Table) Check() error {
	if len(t.root) != 1<<t.rootBits {
		return fmt.Errorf("the root has %d slots for %d bits", len(t.root), t.rootBits)
	}
	n, mem := 0, tableSize+int64(len(t.root))*rootSlotSize+t.side.size()
	large := 0
	for i := 0; i < len(t.root); {
		p := t.root[i].page
		if p.prefix > t.rootBits {
			return fmt.Errorf("page %d has a prefix of %d bits, the root %d", i, p.prefix, t.rootBits)
		}
		run := 1 << (t.rootBits - p.prefix)
		if i%run != 0 {
			return fmt.Errorf("page %d, prefix %d, of %d bits is not aligned", i, p.prefix, t.rootBits)
		}
		for j := range run {
			d := t.root[i+j].directory
			if t.root[i+j].page != p || d.bits != p.bits || d.prefix != p.prefix || &d.blocks[0] != &p.blocks[0] {
				return fmt.Errorf("root slot %d differs from %d", i+j, i)
			}
		}
		l, m, err := t.checkPage(p, uint64(i)<<1<<(63-t.rootBits))
		if err != nil {
			return err
		}
		if p.densityInTable() > t.peak {
			return fmt.Errorf("page %d is denser than %d", i, t.peak)
		}
		large += l
		n, mem, i = n+p.count, mem+m, i+run
	}
	switch {
	case n != t.count:
		return fmt.Errorf("count %d, found %d", t.count, n)
	case mem != t.mem:
		return fmt.Errorf("memory %d, found %d", t.mem, mem)
	case large != t.side.n:
		return fmt.Errorf("%d large entries, found %d", t.side.n, large)
	}
	return nil
}

func (t *Table) checkPage(p *page, from uint64) (large int, mem int64, err error) {
	if len(p.blocks) != 1<<p.bits || p.bits > maxPageBits {
		return 0, 0, fmt.Errorf("page of %d slots for %d bits", len(p.blocks), p.bits)
	}
	n := 0
	mem = p.size()
	for i := 0; i < len(p.blocks); {
		b := p.blocks[i]
		more := int(p.bits) - (depth(b) - int(p.prefix))
		if more < 0 || more > int(p.bits) {
			return 0, 0, fmt.Errorf("block of depth %d in a page of %d+%d bits", depth(b), p.prefix, p.bits)
		}
		for j := range 1 << more {
			if at := i&^(1<<more-1) + j; &p.blocks[at][0] != &b[0] {
				return 0, 0, fmt.Errorf("page slot %d differs from %d", at, i)
			}
		}
		if p.density(b) > p.peak {
			return 0, 0, fmt.Errorf("block %d is denser than %d", i, p.peak)
		}
		l, err := t.checkBlock(b, from|uint64(i)<<1<<(63-p.bits)>>p.prefix)
		if err != nil {
			return 0, 0, err
		}
		large += l
		n, mem, i = n+count(b), mem+int64(len(b)), i+1<<more
	}
	if n != p.count {
		return 0, 0, fmt.Errorf("page count %d, found %d", p.count, n)
	}
	return large, mem, nil
}

func (t *Table) checkBlock(b []byte, from uint64) (large int, err error) {
	size := 0
	for s := range count(b) {
		off := offset(b, s)
		if off < low(b) || off >= len(b) {
			return 0, fmt.Errorf("entry at %d of a block of %d, lowest %d", off, len(b), low(b))
		}
		size += entryLen(b, t.kind, off)
		if b[off] == sideMark {
			large++
		}
		h := t.entryHash(b, s)
		if m := t.member(b, off); t.hash(m) != h {
			return 0, fmt.Errorf("member %q kept with another hash", m)
		}
		if print8(b, s) != byte(h) {
			return 0, fmt.Errorf("fingerprint %x of hash %x", print8(b, s), h)
		}
		if (h^from)>>1>>(63-depth(b)) != 0 {
			return 0, fmt.Errorf("hash %x in block %x of depth %d", h, from, depth(b))
		}
	}
	if size+dead(b) != len(b)-low(b) || gap(b) < 0 {
		return 0, fmt.Errorf("%d bytes alive, %d dead, %d taken, gap %d", size, dead(b), len(b)-low(b), gap(b))
	}
	return large, nil
}

// size returns the bytes of memory that all takes.
func (s *side) size() int64 {
	n := int64(len(s.pages)) * sidePageMem
	for _, p := range s.pages {
		for _, e := range p.data {
			n += int64(len(e))
		}
	}
	return n
}

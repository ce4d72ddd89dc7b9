package stream

// Trim says which entries TrimTo removes: from the front, while more than MaxLen are
// there or, ByID, while their ID is before MinID.
type Trim struct {
	ByID   bool
	MaxLen int64
	MinID  ID
	// Approximate removes whole nodes only, and of those no more than have Limit
	// entries together (0: no limit).
	Approximate bool
	Limit       int64
}

// TrimTo removes entries from the front and returns how many.
func (s *Stream) TrimTo(t Trim) int64 {
	was, tail := s.length, s.tail()
	cut, gone := place{}, 0 // what goes as whole nodes
	inNode := false         // more has to go, from the node at cut
	for s.blocks.has(cut) && (t.ByID || int64(s.length-gone) > t.MaxLen) {
		end, live, last := s.nodeEnd(cut)
		if t.Limit > 0 && t.Approximate && int64(gone+live) > t.Limit {
			break
		}
		if !t.whole(int64(s.length-gone-live), last) {
			inNode = !t.Approximate
			break
		}
		cut, gone = end, gone+live
	}
	s.dropBefore(cut)
	s.length -= gone
	if inNode {
		s.trimNode(&t)
	}
	if s.length == 0 || tail != s.tail() {
		s.reopen()
	}
	if s.length < was {
		s.refresh()
	}
	return int64(was - s.length)
}

// whole reports whether a node goes as a whole whose last entry, deleted or not, has that
// ID, and without which that many entries would be left.
func (t *Trim) whole(left int64, last ID) bool {
	if t.ByID {
		return last.Before(t.MinID)
	}
	return left >= t.MaxLen
}

// nodeEnd returns the place behind the node that begins at p, how many entries the node
// has, and the ID of the last one that it ever had.
func (s *Stream) nodeEnd(p place) (end place, live int, last ID) {
	b := &s.blocks.at(p).val
	live, last = int(b.live), b.last
	for p = s.blocks.next(p); s.blocks.has(p); {
		if k := s.blocks.list[p.c].chunk; p.i == 0 && k.heads == 0 {
			live += k.sum
			last = k.leaves[len(k.leaves)-1].val.last
			p = place{p.c + 1, 0}
			continue
		}
		if b = &s.blocks.at(p).val; !b.part {
			break
		}
		live += int(b.live)
		last = b.last
		p = s.blocks.next(p)
	}
	return p, live, last
}

// dropBefore removes the blocks before the place cut.
func (s *Stream) dropBefore(cut place) {
	s.radix = nil
	for ; cut.c > 0; cut.c-- {
		for i := range s.blocks.list[0].chunk.leaves {
			s.bytes -= int64(cap(s.blocks.list[0].chunk.leaves[i].val.data))
		}
		s.blocks.dropChunk(s.own, 0)
	}
	if cut.i == 0 {
		return
	}
	k := s.blocks.ownChunk(s.own, 0)
	for i := range k.leaves[:cut.i] {
		b := &k.leaves[i].val
		s.bytes -= int64(cap(b.data))
		k.sum -= int(b.live)
		if !b.part {
			k.heads--
		}
	}
	s.blocks.dropFront(s.own, cut.i)
}

// trimNode removes entries from the first node, which does not go as a whole. By ID it may
// lose all its entries and stay nevertheless, when the last one had been deleted before.
// Blocks of a larger node that become empty are joined.
func (s *Stream) trimNode(t *Trim) {
	front, p := place{}, place{}
	for {
		s.trimBlock(t, p)
		if s.blocks.at(p).val.live > 0 {
			return
		}
		if p != front {
			s.join(front, p)
		}
		p = s.blocks.next(front)
		if !s.blocks.has(p) || !s.blocks.at(p).val.part {
			return
		}
	}
}

// trimBlock removes entries from the front of the block at p.
func (s *Stream) trimBlock(t *Trim, p place) {
	l := s.blocks.at(p)
	names, _ := l.val.names()
	id, n, at := before(l.key), 0, int(l.val.start)
	for at < len(l.val.data) {
		next, own, fields := readHead(l.val.data, at, id)
		if t.ByID && !next.Before(t.MinID) || !t.ByID && int64(s.length-n) <= t.MaxLen {
			break
		}
		id, at = next, l.val.skip(fields, own, names)
		n++
	}
	if n == 0 {
		return
	}
	l = s.owned(p, 0)
	l.val.cut(before(l.key), id, int(l.val.start), at)
	s.lose(p, n)
	s.shrink(p)
}

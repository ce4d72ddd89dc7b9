package stream

// Delete removes an entry and reports whether it was there.
func (s *Stream) Delete(id ID) bool {
	if s.blocks.n == 0 {
		return false
	}
	p := findID(&s.blocks, id)
	l := s.blocks.at(p)
	if id.Before(l.key) || l.val.last.Before(id) {
		return false
	}
	at, found := l.val.find(l.key, id)
	if !found {
		return false
	}
	tail := s.tail()
	l = s.owned(p, 0)
	l.val.cut(at.prev, at.id, at.from, at.to)
	s.lose(p, 1)
	if s.maxDeleted.Before(id) {
		s.maxDeleted = id
	}
	if l.val.live == 0 {
		s.emptied(p)
	} else {
		s.shrink(p)
	}
	if id == s.node.end || tail != s.tail() {
		s.reopen()
	}
	if id == s.first {
		s.refresh()
	}
	return true
}

// tail returns the key of the last block, to see whether it is still the same.
func (s *Stream) tail() ID {
	if p := s.blocks.last(); s.blocks.has(p) {
		return s.blocks.at(p).key
	}
	return MaxID
}

// lose counts n entries of the block at p, which is s's own, as deleted.
func (s *Stream) lose(p place, n int) {
	l := s.blocks.at(p)
	l.val.live -= uint32(n)
	l.val.dead += uint32(n)
	s.length -= n
	s.blocks.add(p, -n, 0)
	if !l.key.Before(s.node.key) {
		s.node.live -= int64(n)
		s.node.dead += int64(n)
	}
}

// shrink gives memory back when the block at p, which is s's own, is much smaller than
// its buffer; the last one will grow again.
func (s *Stream) shrink(p place) {
	b := &s.blocks.at(p).val
	if n := len(b.data); cap(b.data) > 2*n+64 && p != s.blocks.last() {
		exact := append([]byte(nil), b.data...)
		s.bytes += int64(cap(exact) - cap(b.data))
		b.data = exact
	}
}

// emptied looks after the block at p, which has lost its last entry: it goes if its
// node has none left. Otherwise its account stays, joined with that of empty neighbours,
// so that there are never two of those in a row.
func (s *Stream) emptied(p place) {
	next := s.blocks.next(p)
	if s.emptyPart(next) {
		s.join(p, next)
	}
	if s.blocks.at(p).val.part {
		if prev := s.blocks.prev(p); s.blocks.at(prev).val.live == 0 {
			s.join(prev, p)
			p = prev
		}
	}
	next = s.blocks.next(p)
	alone := !s.blocks.has(next) || !s.blocks.at(next).val.part
	if b := &s.blocks.at(p).val; !b.part && alone {
		s.drop(p)
		return
	}
	s.owned(p, 0)
	s.shrink(p)
}

// emptyPart reports whether at p is an empty block that goes on with a node.
func (s *Stream) emptyPart(p place) bool {
	if !s.blocks.has(p) {
		return false
	}
	b := &s.blocks.at(p).val
	return b.part && b.live == 0
}

// join adds the account of the empty block at next to that of the empty one at p, just
// in front of it, and removes it.
func (s *Stream) join(p, next place) {
	gone := s.blocks.at(next).val
	b := &s.blocks.edit(s.own, p).val
	b.dead += gone.dead
	b.size += gone.size
	b.last = gone.last
	s.drop(next)
}

// drop removes the block at p and returns the place of the one behind it.
func (s *Stream) drop(p place) place {
	b := &s.blocks.at(p).val
	s.radix = nil
	s.bytes -= int64(cap(b.data))
	s.blocks.ownChunk(s.own, p.c)
	heads := 1
	if b.part {
		heads = 0
	}
	s.blocks.add(p, -int(b.live), -heads)
	return s.blocks.remove(s.own, p)
}

// reopen brings the account of the last node up to date after the last block, or the
// last entry, was removed.
func (s *Stream) reopen() {
	p := s.blocks.last()
	if !s.blocks.has(p) {
		s.node = node{}
		return
	}
	l := s.blocks.at(p)
	s.node.end = l.val.end(l.key)
	if head := findID(&s.blocks, s.node.key); s.blocks.at(head).key == s.node.key {
		return
	}
	s.node = node{end: s.node.end}
	for ; ; p = s.blocks.prev(p) {
		l := s.blocks.at(p)
		s.node.live += int64(l.val.live)
		s.node.dead += int64(l.val.dead)
		s.node.size += int64(l.val.size)
		if !l.val.part {
			s.node.key = l.key
			return
		}
	}
}

// refresh finds the first entry anew.
func (s *Stream) refresh() {
	s.first = ID{}
	for p := (place{}); s.length > 0 && s.blocks.has(p); p = s.blocks.next(p) {
		if l := s.blocks.at(p); l.val.live > 0 {
			s.first, _, _ = readHead(l.val.data, int(l.val.start), before(l.key))
			return
		}
	}
}

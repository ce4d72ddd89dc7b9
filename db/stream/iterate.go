package stream

import (
	"encoding/binary"

	"heddle/db/listpack"
)

// Entry is an entry of a stream, whose fields are read in turn. It is valid until the
// stream changes.
type Entry struct {
	ID    ID
	data  []byte
	names int // where the next field name stands; with fields of its own, in front of its value
	at    int // where the next value stands
	left  int
	own   bool
}

// Len returns how many pairs of name and value are left to be read.
func (e *Entry) Len() int { return e.left }

// Pair reads the next pair of name and value. There must be one.
func (e *Entry) Pair() (name, value listpack.Entry) {
	e.left--
	if e.own {
		name = listpack.At(e.data, e.at)
		e.at += len(name)
	} else {
		name = listpack.At(e.data, e.names)
		e.names += len(name)
	}
	value = listpack.At(e.data, e.at)
	e.at += len(value)
	return name, value
}

// entry returns the entry whose fields stand at offset at.
func (b *block) entry(id ID, own bool, at int) Entry {
	n, names := binary.Uvarint(b.data)
	if own {
		u, size := binary.Uvarint(b.data[at:])
		n, at = u, at+size
	}
	return Entry{ID: id, data: b.data, names: names, at: at, left: int(n), own: own}
}

// Iter goes through the entries of a range in order. It is valid until the stream
// changes.
type Iter struct {
	s     *Stream
	p     place
	b     *block
	names int
	at    int // the next entry in b
	id    ID  // the entry before it
	to    ID
}

// Range returns the entries from..to, both included.
func (s *Stream) Range(from, to ID) Iter {
	it := Iter{s: s, to: to}
	if s.length == 0 || to.Before(from) {
		it.p = s.blocks.end()
		return it
	}
	it.p = findID(&s.blocks, from)
	if s.blocks.at(it.p).val.last.Before(from) {
		it.p = s.blocks.next(it.p)
	}
	if !s.blocks.has(it.p) {
		return it
	}
	it.open()
	for it.at < len(it.b.data) {
		id, own, fields := readHead(it.b.data, it.at, it.id)
		if !id.Before(from) {
			break
		}
		it.id, it.at = id, it.b.skip(fields, own, it.names)
	}
	return it
}

// open begins the block at it.p.
func (it *Iter) open() {
	l := it.s.blocks.at(it.p)
	it.b, it.at, it.id = &l.val, int(l.val.start), before(l.key)
	it.names, _ = it.b.names()
}

// Next returns the next entry; false when there is none.
func (it *Iter) Next() (e Entry, ok bool) {
	if !it.s.blocks.has(it.p) {
		return e, false
	}
	for it.at == len(it.b.data) {
		it.p = it.s.blocks.next(it.p)
		if !it.s.blocks.has(it.p) {
			return e, false
		}
		it.open()
	}
	id, own, fields := readHead(it.b.data, it.at, it.id)
	if it.to.Before(id) {
		it.p = it.s.blocks.end()
		return e, false
	}
	it.id, it.at = id, it.b.skip(fields, own, it.names)
	return it.b.entry(id, own, fields), true
}

// window is how many entries of a block a Reverse notes at a time.
const window = 128

// Reverse goes through the entries of a range backwards. It is valid until the stream
// changes.
type Reverse struct {
	s     *Stream
	p     place
	b     *block
	from  ID
	to    ID // the entries that are left in b are up to here
	left  int
	marks [window]mark // of the last entries of b up to to, a ring: marks[n%window]
	n     int          // behind the newest mark that was not yet returned
}

// mark is an entry that was passed on the way forward.
type mark struct {
	id  ID
	at  int32 // its fields
	own bool
}

// RangeReverse returns the entries to..from, both included, the last first.
func (s *Stream) RangeReverse(from, to ID) Reverse {
	r := Reverse{s: s, from: from, to: to, p: place{-1, 0}}
	if s.length > 0 && !to.Before(from) {
		r.p = findID(&s.blocks, to)
		r.scan()
	}
	return r
}

// scan notes the last entries of the block at r.p that are not after r.to.
func (r *Reverse) scan() {
	l := r.s.blocks.at(r.p)
	r.b, r.n = &l.val, 0
	names, _ := r.b.names()
	id := before(l.key)
	for at := int(r.b.start); at < len(r.b.data); {
		var own bool
		id, own, at = readHead(r.b.data, at, id)
		if r.to.Before(id) {
			break
		}
		r.marks[r.n%window] = mark{id, int32(at), own}
		r.n++
		at = r.b.skip(at, own, names)
	}
	r.left = min(r.n, window)
}

// Next returns the next entry; false when there is none.
func (r *Reverse) Next() (e Entry, ok bool) {
	for r.left == 0 {
		if !r.s.blocks.has(r.p) {
			return e, false
		}
		if r.n == 0 { // the block is done
			r.p = r.s.blocks.prev(r.p)
			if !r.s.blocks.has(r.p) {
				return e, false
			}
		}
		r.scan()
	}
	r.n--
	r.left--
	m := &r.marks[r.n%window]
	if m.id.Before(r.from) {
		r.p, r.left, r.n = place{-1, 0}, 0, 0
		return e, false
	}
	r.to, _ = m.id.Prev()
	return r.b.entry(m.id, m.own, int(m.at)), true
}

// Get returns an entry.
func (s *Stream) Get(id ID) (e Entry, ok bool) {
	if s.blocks.n == 0 {
		return e, false
	}
	l := s.blocks.at(findID(&s.blocks, id))
	if l.val.last.Before(id) {
		return e, false
	}
	at, found := l.val.find(l.key, id)
	if !found {
		return e, false
	}
	_, own, fields := readHead(l.val.data, at.from, at.prev)
	return l.val.entry(id, own, fields), true
}

// Has reports whether there is an entry with that ID.
func (s *Stream) Has(id ID) bool {
	if s.blocks.n == 0 {
		return false
	}
	l := s.blocks.at(findID(&s.blocks, id))
	if l.val.last.Before(id) {
		return false
	}
	_, found := l.val.find(l.key, id)
	return found
}

// Count returns how many entries the range from..to has. It takes time for each chunk of
// blocks between its ends and the nearer end of the stream, not for each entry.
func (s *Stream) Count(from, to ID) int {
	if s.length == 0 || to.Before(from) {
		return 0
	}
	return s.upTo(to) - s.below(from)
}

// below counts the entries before id.
func (s *Stream) below(id ID) int {
	if id.IsZero() {
		return 0
	}
	id, _ = id.Prev()
	return s.upTo(id)
}

// upTo counts the entries up to id.
func (s *Stream) upTo(id ID) int {
	if !id.Before(s.last) {
		return s.length
	}
	p := findID(&s.blocks, id)
	n := 0
	if list := s.blocks.list; p.c < len(list)/2 {
		for i := range list[:p.c] {
			n += list[i].chunk.sum
		}
	} else {
		n = s.length
		for i := range list[p.c:] {
			n -= list[p.c+i].chunk.sum
		}
	}
	k := s.blocks.list[p.c].chunk
	for i := range k.leaves[:p.i] {
		n += int(k.leaves[i].val.live)
	}
	l := &k.leaves[p.i]
	if !id.Before(l.val.last) {
		return n + int(l.val.live)
	}
	names, _ := l.val.names()
	prev := before(l.key)
	for at := int(l.val.start); at < len(l.val.data); n++ {
		var own bool
		prev, own, at = readHead(l.val.data, at, prev)
		if id.Before(prev) {
			break
		}
		at = l.val.skip(at, own, names)
	}
	return n
}

// Nodes returns how many nodes Redis would keep the stream in.
func (s *Stream) Nodes() int {
	n := 0
	for i := range s.blocks.list {
		n += s.blocks.list[i].chunk.heads
	}
	return n
}

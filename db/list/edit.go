package list

import "heddle/db/listpack"

// spot is where an element stands in a large list, made ready for change: the
// block is owned, and so is the way to it.
type spot struct {
	b    *block
	k    int // index in b
	side side
	p    path // on the inside
	tree int  // index in the tree of b's first element
}

// side says which part of the list a block is.
type side uint8

const (
	atHead side = iota
	inside
	atTail
)

// reach makes element i ready for change.
func (o *Object) reach(i int, s *spot) {
	n := int(o.head.n)
	switch {
	case i < n:
		s.side, s.b, s.k = atHead, o.ownHead(), i
	case i < n+o.tree.n:
		var b *block
		s.side = inside
		b, s.k = o.tree.reach(o.owner, i-n, &s.p)
		s.b = b.own(o.owner)
		last := s.p.depth - 1
		s.p.nodes[last].blocks[s.p.at[last]] = s.b
		s.tree = i - n - s.k
	default:
		s.side, s.b, s.k = atTail, o.ownTail(), i-n-o.tree.n
	}
	if s.b.mark == 0 {
		s.b.note()
	}
	if s.b == o.last() {
		o.ends.n = 0
	}
}

// settle tells the list that the block at s was changed: that it had n elements
// and took mem bytes before.
func (o *Object) settle(s *spot, n int, mem int64) {
	o.mem += s.b.mem() - mem
	if s.side == inside {
		o.tree.put(&s.p, s.b, int(s.b.n)-n)
	}
}

// insert puts a value in front of element i, or behind the last.
func (o *Object) insert(i int, v *listpack.Value) {
	if i == 0 || i == o.n {
		o.push(i == 0, v)
		return
	}
	var s spot
	o.reach(i, &s)
	b, n, mem := s.b, int(s.b.n), s.b.mem()
	o.added(v)
	if b.takes(v.Size()) {
		b.put(b.offset(s.k), 0, 1, v)
		o.settle(&s, n, mem)
		return
	}
	o.replace(&s, b.divide(o.owner, s.k, v))
}

// set replaces element i.
func (o *Object) set(i int, v *listpack.Value) {
	var s spot
	o.reach(i, &s)
	b, n, mem := s.b, int(s.b.n), s.b.mem()
	at := b.offset(s.k)
	old := listpack.At(b.buf[:b.end], at)
	o.removed(old, 1)
	o.added(v)
	switch {
	case len(b.buf) > blockBytes:
		b = newBlock(o.owner, v.Size())
		b.pushBack(v)
		o.place(&s, b)
		o.settle(&s, n, mem)
		return
	case n == 1 || b.size()-len(old)+v.Size() <= blockBytes:
		b.put(at, len(old), 0, v)
		o.settle(&s, n, mem)
		return
	}
	o.replace(&s, b.pieces(o.owner, s.k, s.k+1, v))
}

// place puts another block where s is.
func (o *Object) place(s *spot, b *block) {
	switch {
	case s.side == atHead:
		o.head = b
	case s.side == atTail:
		o.tail = b
	}
	s.b = b
}

// replace puts up to three blocks in the place of the one at s.
func (o *Object) replace(s *spot, pieces [3]*block) {
	o.mem -= s.b.mem()
	list := pieces[:0]
	for _, b := range pieces {
		if b != nil {
			o.mem += b.mem()
			list = append(list, b)
		}
	}
	last := len(list) - 1
	switch {
	case s.side == atTail, s.side == atHead && o.tail == nil:
		if s.side == atHead && last > 0 {
			o.head, list = list[0], list[1:]
			last--
		}
		for _, b := range list[:last] {
			o.tree.pushRight(o.owner, b)
		}
		if s.side == atHead && o.head == s.b {
			o.head = list[last]
		} else {
			o.tail = list[last]
		}
	case s.side == atHead:
		for ; last > 0; last-- {
			o.tree.pushLeft(o.owner, list[last])
		}
		o.head = list[0]
	default:
		o.tree.put(&s.p, list[0], int(list[0].n)-int(s.b.n))
		for i := last; i > 0; i-- {
			o.tree.insertBehind(o.owner, s.tree, list[i])
		}
	}
}

// delete removes n elements from i on.
func (o *Object) delete(i, n int) {
	if n == 1 && i == 0 {
		o.popFront()
		return
	}
	if n == 1 && i == o.n-1 {
		o.popBack()
		return
	}
	for n > 0 {
		n -= o.deleteSome(i, n)
	}
}

// deleteSome removes elements from i on as far as they are in one block, at most
// n, and returns how many.
func (o *Object) deleteSome(i, n int) int {
	b, k := o.locate(i)
	n = min(n, int(b.n)-k)
	if n == int(b.n) {
		o.removed(b.entries(), n)
		o.drop(i)
		return n
	}
	var s spot
	o.reach(i, &s)
	b = s.b
	count, mem := int(b.n), b.mem()
	from := b.offset(k)
	to := int(b.end)
	if k+n < count {
		to = listpack.Skip(b.buf, from, n)
	}
	o.removed(b.buf[from:to], n)
	b.cut(from, to, n)
	o.settle(&s, count, mem)
	o.tidy(&s)
	return n
}

// drop gives up the block that begins with element i.
func (o *Object) drop(i int) {
	head := int(o.head.n)
	switch {
	case i < head:
		o.dropHead()
	case i >= head+o.tree.n:
		o.dropTail()
	default:
		var p path
		b, _ := o.tree.reach(o.owner, i-head, &p)
		o.tree.remove(o.owner, &p)
		o.discard(b)
	}
}

// tidy joins an inner block that has become small with a neighbour, if that is
// not far and leaves room.
func (o *Object) tidy(s *spot) {
	if s.side != inside || s.b.size() >= blockBytes/4 {
		return
	}
	last := s.p.depth - 1
	n, i := s.p.nodes[last], int(s.p.at[last])
	if i+1 == len(n.blocks) {
		i--
	}
	if i < 0 {
		return
	}
	left, right := n.blocks[i], n.blocks[i+1]
	if left.size()+right.size() > blockBytes*3/4 || left.n+right.n > blockCount*3/4 {
		return
	}
	b := copyBlock(o.owner, left.entries(), int(left.n), right.size())
	b.end += uint32(copy(b.buf[b.end:], right.entries()))
	b.n += right.n
	o.mem += b.mem() - left.mem() - right.mem()
	n.blocks[i] = b
	n.counts[i] = int(b.n)
	n.counts[i+1] = 0
	s.p.at[last] = uint8(i + 1)
	o.tree.remove(o.owner, &s.p)
}

// remove removes the first, or the last, elements that are v, at most so many,
// and returns how many.
func (o *Object) remove(v *listpack.Value, most int, last bool) (n int) {
	var buf offsets
	i := 0 // elements before i, or from it on if last, are done
	if last {
		i = o.n
	}
	for n < most && (last && i > 0 || !last && i < o.n) {
		at := i
		if last {
			at--
		}
		b, k := o.locate(at)
		from, to := b.offset(k), int(b.end)
		if last {
			from, to = int(b.start), b.offset(k+1)
		}
		found := matches(buf[:0], b.buf[:to], from, v)
		if more := len(found) - (most - n); more > 0 && last {
			found = found[more:]
		} else if more > 0 {
			found = found[:most-n]
		}
		rest := int(b.n) - k // elements from i on in the block, as it was
		if len(found) > 0 {
			o.removeFrom(at-k, b, found, v)
		}
		if last {
			i -= k + 1
		} else {
			i += rest - len(found)
		}
		n += len(found)
	}
	return n
}

// removeFrom removes the entries at some offsets of block b, which begins with
// element i; they are v.
func (o *Object) removeFrom(i int, b *block, at []uint16, v *listpack.Value) {
	if len(at) == int(b.n) {
		o.removed(b.entries(), len(at))
		o.drop(i)
		return
	}
	var s spot
	o.reach(i, &s)
	b = s.b
	n, mem := int(b.n), b.mem()
	b.end = uint32(squeeze(b.buf[:b.end], at, v.Size()))
	b.n -= uint32(len(at))
	b.note()
	o.n -= len(at)
	o.bytes -= len(at) * v.Size()
	if !o.quick {
		o.redis -= len(at) * v.RedisSize()
	}
	o.settle(&s, n, mem)
	o.tidy(&s)
}

package list

import "heddle/db/listpack"

// Iter walks forwards over the elements of a list that does not change
// meanwhile.
type Iter struct {
	e    listpack.Entry
	rest []byte // the entries of the block at hand that are still to come
	way  way
}

// way is how to come from one block of a large list to the next.
type way struct {
	o    *Object // nil if there is no other block
	side side
	p    path
}

// Iter returns an iterator that stands before element i.
func (l *List) Iter(i int) Iter {
	if l.o != nil {
		return l.o.iter(i)
	}
	if i >= l.Len() {
		return Iter{}
	}
	return Iter{rest: l.p[listpack.Skip(l.p, listpack.Header, i):]}
}

// Iter returns an iterator that stands before element i.
func (o *Object) Iter(i int) Iter { return o.iter(i) }

func (o *Object) iter(i int) (it Iter) {
	if i < o.n {
		b, k := it.way.begin(o, i)
		it.rest = b.buf[b.offset(k):b.end]
	}
	return it
}

// Next goes on to the next element and reports whether there is one.
func (it *Iter) Next() bool {
	for len(it.rest) == 0 {
		b := it.way.next()
		if b == nil {
			return false
		}
		it.rest = b.entries()
	}
	it.e = listpack.At(it.rest, 0)
	it.rest = it.rest[len(it.e):]
	return true
}

// Entry returns the element at hand, which is valid as long as the list.
func (it *Iter) Entry() listpack.Entry { return it.e }

// Find returns the index of the first element that is s, -1 if there is none.
func (l *List) Find(s []byte) int {
	var v listpack.Value
	v.Set(s)
	if l.o == nil {
		if l.p == nil {
			return -1
		}
		return indexOf(l.p, listpack.Header, &v)
	}
	if l.o.n == 0 {
		return -1
	}
	var w way
	before := 0
	for b, _ := w.begin(l.o, 0); b != nil; b = w.next() {
		if i := indexOf(b.buf[:b.end], int(b.start), &v); i >= 0 {
			return before + i
		}
		before += int(b.n)
	}
	return -1
}

// indexOf returns how many entries stand between offset at of p and the first
// that is v, -1 if there is none.
func indexOf(p []byte, at int, v *listpack.Value) (n int) {
	found := listpack.Find(p, at, v, 0)
	if found < 0 {
		return -1
	}
	for ; at < found; n++ {
		at = listpack.Next(p, at)
	}
	return n
}

// Reverse walks backwards over the elements of a list that does not change
// meanwhile. It is large: it lives where it is declared, and From sets it.
type Reverse struct {
	e    listpack.Entry
	data []byte
	n    int // entries of the block at hand that are still to come
	at   offsets
	way  way
}

// From makes the iterator stand behind element i of l.
func (it *Reverse) From(l *List, i int) {
	if l.o != nil || i < 0 {
		it.FromObject(l.o, i)
		return
	}
	it.way.o = nil
	it.load(l.p, listpack.Header)
	it.n = i + 1
}

// FromObject makes the iterator stand behind element i of o.
func (it *Reverse) FromObject(o *Object, i int) {
	it.way.o, it.n = nil, 0
	if i >= 0 {
		b, k := it.way.begin(o, i)
		it.load(b.buf[:b.end], int(b.start))
		it.n = k + 1
	}
}

func (it *Reverse) load(data []byte, at int) {
	it.data = data
	it.n = len(listpack.Offsets(it.at[:0], data, at))
}

// Next goes on to the element before and reports whether there is one.
func (it *Reverse) Next() bool {
	for it.n == 0 {
		b := it.way.previous()
		if b == nil {
			return false
		}
		it.load(b.buf[:b.end], int(b.start))
	}
	it.n--
	it.e = listpack.At(it.data, int(it.at[it.n]))
	return true
}

// Entry returns the element at hand, which is valid as long as the list.
func (it *Reverse) Entry() listpack.Entry { return it.e }

// begin returns the block of element i and its index there.
func (w *way) begin(o *Object, i int) (*block, int) {
	w.o = o
	n := int(o.head.n)
	switch {
	case i < n:
		w.side = atHead
		return o.head, i
	case i < n+o.tree.n:
		w.side = inside
		return o.tree.walk(i-n, &w.p)
	}
	w.side = atTail
	return o.tail, i - n - o.tree.n
}

// next returns the block behind, nil behind the last.
func (w *way) next() *block {
	if w.o == nil {
		return nil
	}
	switch w.side {
	case atHead:
		if w.o.tree.n > 0 {
			w.side = inside
			b, _ := w.o.tree.walk(0, &w.p)
			return b
		}
	case inside:
		if b := w.p.step(1); b != nil {
			return b
		}
	case atTail:
		w.o = nil
		return nil
	}
	w.side = atTail
	return w.o.tail
}

// previous returns the block before, nil before the first.
func (w *way) previous() *block {
	if w.o == nil {
		return nil
	}
	switch w.side {
	case atTail:
		if n := w.o.tree.n; n > 0 {
			w.side = inside
			b, _ := w.o.tree.walk(n-1, &w.p)
			return b
		}
	case inside:
		if b := w.p.step(-1); b != nil {
			return b
		}
	case atHead:
		w.o = nil
		return nil
	}
	w.side = atHead
	return w.o.head
}

// step leads the path to the next block, or by -1 to the one before; nil if
// there is none.
func (p *path) step(by int) *block {
	d := p.depth - 1
	for ; d >= 0; d-- {
		if i := int(p.at[d]) + by; i >= 0 && i < len(p.nodes[d].counts) {
			p.at[d] = uint8(i)
			break
		}
	}
	if d < 0 {
		return nil
	}
	for ; d < p.depth-1; d++ {
		n := p.nodes[d].kids[p.at[d]]
		p.nodes[d+1], p.at[d+1] = n, 0
		if by < 0 {
			p.at[d+1] = uint8(len(n.counts) - 1)
		}
	}
	return p.nodes[d].blocks[p.at[d]]
}

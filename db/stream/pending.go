package stream

import "slices"

// Pending entries. A group's list has all of them by ID, with the time and the number of
// deliveries and the consumer's number; a consumer's list has only IDs, so that its share
// is found without looking at the others'. Both are directories of pages of what is
// stored, one behind the other, and cost some 60 bytes an entry together.
//
// A page is full when entries are appended to it, which is how they nearly always come. In
// the middle a page splits in halves. One that has become small joins the next.
// Acknowledged from the front, a page gives its entries up by moving its start. The only
// page stays when it is empty, for the next entries.
//
// Rejected: pages packed like blocks, in a third of the memory. XCLAIM and reading the
// history change the count and time of entries in the middle, and XACK takes them out at
// random; each would rewrite half a page.

// Pending is an entry that was given out and not acknowledged.
type Pending struct {
	ID       ID
	Time     int64 // of the last delivery, Unix time in ms
	Count    int64 // of deliveries
	consumer uint64
}

// Holder returns the number of the consumer that holds the entry.
func (p *Pending) Holder() uint64 { return p.consumer }

// key returns the ID, as heldID does.
func (p Pending) key() ID { return p.ID }

// heldID is an entry of a consumer's list.
type heldID ID

func (h heldID) key() ID { return ID(h) }

// pageMax is how many entries a page has at most.
const pageMax = 64

// pages is an ordered list of what has an ID.
type pages[T interface{ key() ID }] struct {
	dir directory[ID, []T]
	n   int
}

type (
	pending = pages[Pending]
	held    = pages[heldID]
)

// seek returns the place of the first entry that is not before id: its page and its
// index there, which may be behind the end of the page.
func (l *pages[T]) seek(id ID) (p place, i int) {
	if l.dir.n == 0 {
		return place{}, 0
	}
	p = findID(&l.dir, id)
	page := l.dir.at(p).val
	i, _ = slices.BinarySearchFunc(page, id, func(e T, id ID) int { return e.key().Compare(id) })
	return p, i
}

// find is seek that tells whether the entry is there.
func (l *pages[T]) find(id ID) (p place, i int, found bool) {
	p, i = l.seek(id)
	if l.dir.n == 0 {
		return p, i, false
	}
	page := l.dir.at(p).val
	return p, i, i < len(page) && page[i].key() == id
}

// page returns the page at p, to be changed by o, with room for one more entry if it is
// not full.
func (l *pages[T]) page(o *owner, p place) *[]T {
	f := l.dir.edit(o, p)
	if f.own != o {
		f.val = append(make([]T, 0, min(len(f.val)+8, pageMax)), f.val...)
		f.own = o
	}
	return &f.val
}

// put inserts an entry, or replaces the one with its ID.
func (l *pages[T]) put(o *owner, e T) {
	if last := l.dir.last(); l.dir.has(last) {
		if page := l.dir.at(last).val; len(page) == 0 || page[len(page)-1].key().Before(e.key()) {
			l.append(o, last, e)
			return
		}
	}
	p, i, found := l.find(e.key())
	switch {
	case found:
		(*l.page(o, p))[i] = e
		return
	case l.dir.n == 0:
		l.dir.push(o, e.key(), append(make([]T, 0, 4), e))
	default:
		page := l.page(o, p)
		if len(*page) >= pageMax {
			rest := append(make([]T, 0, pageMax), (*page)[pageMax/2:]...)
			*page = (*page)[:pageMax/2]
			l.dir.insert(o, l.dir.next(p), rest[0].key(), rest)
			p, i, _ = l.find(e.key())
			page = l.page(o, p)
		}
		*page = slices.Insert(*page, i, e)
	}
	l.n++
}

// append is put behind all others; the last page stands at p.
func (l *pages[T]) append(o *owner, p place, e T) {
	l.n++
	if len(l.dir.at(p).val) >= pageMax {
		l.dir.push(o, e.key(), append(make([]T, 0, pageMax), e))
		return
	}
	page := l.page(o, p)
	*page = append(*page, e)
}

// remove takes out the entry at index i of the page at p.
func (l *pages[T]) remove(o *owner, p place, i int) {
	l.n--
	page := l.page(o, p)
	n := len(*page) - 1
	switch {
	case n == 0 && l.dir.n > 1:
		l.dir.remove(o, p)
		return
	case i == 0 && n >= pageMax/4:
		*page = (*page)[1:]
	default:
		*page = slices.Delete(*page, i, i+1)
	}
	if next := l.dir.next(p); n < pageMax/4 && next.c == p.c && l.dir.has(next) {
		if more := l.dir.at(next).val; n+len(more) <= pageMax*3/4 {
			*page = append(append(make([]T, 0, n+len(more)), *page...), more...)
			l.dir.remove(o, next)
		}
	}
}

// cursor goes through a list in order. It is valid until the list changes.
type cursor[T interface{ key() ID }] struct {
	l    *pages[T]
	p    place
	i    int
	to   ID
	page []T
}

// from returns a cursor of the entries from..to.
func (l *pages[T]) from(from, to ID) cursor[T] {
	c := cursor[T]{l: l, to: to}
	c.p, c.i = l.seek(from)
	if l.dir.has(c.p) {
		c.page = l.dir.at(c.p).val
	}
	return c
}

// next returns the next entry, to be read; nil when there is none.
func (c *cursor[T]) next() *T {
	for c.i >= len(c.page) {
		if !c.l.dir.has(c.p) {
			return nil
		}
		c.p, c.i, c.page = c.l.dir.next(c.p), 0, nil
		if !c.l.dir.has(c.p) {
			return nil
		}
		c.page = c.l.dir.at(c.p).val
	}
	e := &c.page[c.i]
	if c.to.Before((*e).key()) {
		return nil
	}
	c.i++
	return e
}

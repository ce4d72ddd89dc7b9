package rdb

// Where a member of a large collection belongs is known by its hash, and is nowhere near
// where the last one went: memory takes longer to answer than all else that is done for the
// member. So some are read before the first of them is added, and the memory of all is asked
// for at once. A set, a hash and a sorted set of half a million loaded in 6, 13 and 8 % less
// time (medians of four, in turn).

const (
	// aheadBy is how many elements are read ahead.
	aheadBy = 16
	// aheadFrom is how many elements a collection has whose memory is worth asking for.
	aheadFrom = 1024
	// aheadMax is the size of the largest element that is copied to wait.
	aheadMax = 4 << 10
)

// part is an element of a collection.
type part struct {
	name, value []byte // a member, or a field and its value
	score       float64
	at          int64 // in the file
}

// builder makes a collection.
type builder interface {
	// Prefetch asks for the memory where a member, or field, will be added.
	Prefetch(name []byte)
}

// parts decodes n elements: read reads one, which is valid until the next, and add adds it to
// the collection that b makes.
func (d *decoder) parts(n uint64, b builder, read, add func(p *part)) {
	d.waiting = d.waiting[:0]
	p := &d.part // an own one would be a piece of Go's heap for each element
	for i := uint64(0); i < n && d.ok(); i++ {
		*p = part{at: d.offset()}
		read(p)
		switch {
		case !d.ok():
		case n < aheadFrom || len(p.name)+len(p.value) > aheadMax:
			d.addWaiting(add)
			add(p)
		default:
			b.Prefetch(p.name)
			if d.wait(p); len(d.waiting) == aheadBy {
				d.addWaiting(add)
			}
		}
	}
	d.addWaiting(add)
	*p = part{} // what it was read from may be large
}

// wait keeps a copy of an element, in room that is used again.
func (d *decoder) wait(p *part) {
	n := len(d.waiting)
	if n == cap(d.waiting) {
		d.waiting = make([]part, 0, aheadBy)
	}
	d.waiting = d.waiting[:n+1]
	w := &d.waiting[n]
	w.name, w.value = append(w.name[:0], p.name...), append(w.value[:0], p.value...)
	w.score, w.at = p.score, p.at
}

// addWaiting adds the elements that wait, up to a mistake.
func (d *decoder) addWaiting(add func(p *part)) {
	for i := range d.waiting {
		if d.ok() {
			add(&d.waiting[i])
		}
	}
	d.waiting = d.waiting[:0]
}

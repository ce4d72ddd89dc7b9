package table

// expand makes room for a hash whose segment is e: by a bigger segment, or by
// splitting it. It returns false when there is no memory or when it would not help.
func (t *Table) expand(hash uint64, e entry) bool {
	if e.k() < segmentBits {
		return t.resize(hash, e.k()+1)
	}
	d := t.directory()
	e = d.at(hash)
	if e.depth() == d.depth() {
		if !t.mayDouble(d) {
			return false
		}
		d = d.resized(d.depth() + 1)
		t.dir.Store(d)
	}
	return t.split(d, hash, e)
}

// mayDouble reports whether a directory of twice the size is worth it: hashes that agree
// in their top bits must not make it grow for nothing.
func (t *Table) mayDouble(d *directory) bool {
	return d.depth() < maxDepth && len(d.entries)*2 <= 64*t.segments+1024
}

// split replaces the segment of a hash by two that are one deeper.
func (t *Table) split(d *directory, hash uint64, e entry) bool {
	depth := e.depth() + 1
	low, ok := t.newSegment(segmentBits, depth)
	if !ok {
		return false
	}
	high, ok := t.newSegment(segmentBits, depth)
	if !ok {
		t.dropSegment(low)
		return false
	}
	bit := uint64(1) << (64 - depth)
	t.pour(e, func(h uint64) entry {
		if h&bit != 0 {
			return high
		}
		return low
	})
	d.set(hash&^bit, low)
	d.set(hash|bit, high)
	t.dropSegment(e)
	return true
}

// resize replaces the segment of a hash by one of 2^k buckets.
func (t *Table) resize(hash, k uint64) bool {
	d := t.directory()
	e := d.at(hash)
	n, ok := t.newSegment(k, e.depth())
	if !ok {
		return false
	}
	t.pour(e, func(uint64) entry { return n })
	d.set(hash, n)
	t.dropSegment(e)
	return true
}

// pour puts the records of segment e into those that `to` says for their hashes,
// which have room. Records that a snapshot sees are not fresh there. The
// directory has been made writable.
func (t *Table) pour(e entry, to func(hash uint64) entry) {
	keep := ^uint64(0)
	if t.protected() && !e.owned() {
		keep = ^uint64(freshBit)
	}
	for from := uint64(0); from <= e.mask(); from += groupBuckets {
		var words [groupBuckets * bucketSlots]uint64
		n := t.gather(e, from, &words)
		for _, w := range words[:n] {
			hash := t.keys.Hash(refOf(w))
			s := to(hash)
			at, _ := t.room(s, hash, segmentBuckets)
			t.place(s, hash, at, w&keep)
		}
	}
}

// gather collects the slots of some buckets and loads their records, so that the
// misses overlap.
func (t *Table) gather(e entry, from uint64, words *[groupBuckets * bucketSlots]uint64) int {
	n, sum := 0, uint64(0)
	for at := from; at < min(from+groupBuckets, e.mask()+1); at++ {
		b := t.bucket(e, at)
		for m := occupied(b[0]); m != 0; m &= m - 1 {
			words[n] = b[(1+slotOf(m))&7]
			sum += t.heap.Touch(refOf(words[n]))
			n++
		}
	}
	touched(sum)
	return n
}

const (
	// Two neighbours merge when they fill at most half a segment together: splits
	// happen above four fifths, so the two do not take turns.
	mergeSlots = segmentSlots / 2
	// mergeEvery is how many deletes pass between two looks.
	mergeEvery = 64
)

// sparse reports whether segments are so empty on average that merging pays.
func (t *Table) sparse() bool { return t.len < t.segments*(segmentSlots*5/16) }

// shrinkAfter does after a delete what makes the table smaller, now and then: e is the
// segment that lost a record.
func (t *Table) shrinkAfter(hash uint64, e entry) {
	switch {
	case t.len == 0:
		t.Drop()
	case e.depth() == 0 && e.k() > 0:
		if t.len*4 <= bucketSlots<<e.k() {
			t.resize(hash, e.k()-1)
		}
	case t.deletes%mergeEvery == 0 && t.sparse():
		t.merge(hash)
	}
}

// merge joins the segment of a hash with its neighbour if they are of one depth and
// empty enough; it reports whether it did.
func (t *Table) merge(hash uint64) bool {
	d := t.dir.Load()
	e := d.at(hash)
	if e.depth() == 0 {
		return false
	}
	bit := uint64(1) << (64 - e.depth())
	low, high := d.at(hash&^bit), d.at(hash|bit)
	if low.depth() != high.depth() || t.count(low)+t.count(high) > mergeSlots {
		return false
	}
	d = t.directory()
	low, high = d.at(hash&^bit), d.at(hash|bit)
	n, ok := t.newSegment(segmentBits, e.depth()-1)
	if !ok {
		return false
	}
	t.pour(low, func(uint64) entry { return n })
	t.pour(high, func(uint64) entry { return n })
	d.set(hash, n)
	t.dropSegment(low)
	t.dropSegment(high)
	t.halve(d)
	return true
}

// halve makes the directory smaller while no segment is as deep as it. It leaves it
// once bigger than it must be, so that it does not go back and forth.
func (t *Table) halve(d *directory) {
	depth := d.depth()
	for depth > 0 && t.depths[depth] == 0 && (depth == 1 || t.depths[depth-1] == 0) {
		depth--
	}
	if depth < d.depth() {
		t.dir.Store(d.resized(depth))
	}
}

// count returns the number of records in a segment.
func (t *Table) count(e entry) int {
	n := 0
	for at := range e.mask() + 1 {
		n += onesCount(occupied(t.bucket(e, at)[0]))
	}
	return n
}

// Shrink merges neighbours that are empty enough, looking at up to limit segments from
// a cursor on (0 to begin). It returns the cursor to go on with, 0 at the end.
func (t *Table) Shrink(cursor uint64, limit int) uint64 {
	for range limit {
		d := t.dir.Load()
		if d == nil || !t.sparse() {
			return 0
		}
		if t.merge(cursor) {
			continue // perhaps it merges on
		}
		e := d.at(cursor)
		cursor = cursor&^(1<<(64-e.depth())-1) + 1<<(64-e.depth())
		if e.depth() == 0 || cursor == 0 {
			return 0
		}
	}
	return cursor
}

// Relocate moves segments out of slabs that are being evacuated, looking at up to
// limit segments from a cursor on (0 to begin). It returns the cursor to go on with,
// 0 at the end.
func (t *Table) Relocate(cursor uint64, limit int) uint64 {
	for range limit {
		d := t.dir.Load()
		if d == nil {
			return 0
		}
		e := d.at(cursor)
		if t.arena.Evacuating(e.ref()) {
			t.moveSegment(cursor)
		}
		cursor = cursor&^(1<<(64-e.depth())-1) + 1<<(64-e.depth())
		if e.depth() == 0 || cursor == 0 {
			return 0
		}
	}
	return cursor
}

// moveSegment puts the segment of a hash elsewhere. One that a snapshot sees stays: it
// would not leave its slab.
func (t *Table) moveSegment(hash uint64) {
	if t.protected() && (t.shared || !t.dir.Load().at(hash).owned()) {
		return
	}
	d := t.dir.Load()
	e := d.at(hash)
	if n, ok := t.copySegment(e, ^uint64(0)); ok {
		d.set(hash, n)
		t.dropSegment(e)
	}
}

// Drop empties the table. The records are the caller's.
func (t *Table) Drop() {
	d := t.dir.Load()
	if d == nil {
		return
	}
	t.dir.Store(nil)
	for i := 0; i < len(d.entries); {
		e := entry(d.entries[i].Load())
		i += d.step(e)
		t.dropSegment(e)
	}
	t.len, t.shared = 0, false
}

// Reserve makes an empty table ready for n records, with segments that they fill to three
// quarters at most. It does nothing to a table that has records, or when there is no memory.
func (t *Table) Reserve(n int) {
	if t.dir.Load() != nil || n <= segmentSlots/2 {
		return
	}
	depth := uint64(0)
	for depth < maxDepth && segmentSlots*3/4<<depth < n {
		depth++
	}
	d := newDirectory(depth)
	for i := range d.entries {
		e, ok := t.newSegment(segmentBits, depth)
		if !ok {
			for j := range i {
				t.dropSegment(entry(d.entries[j].Load()))
			}
			return
		}
		d.entries[i].Store(uint64(e))
	}
	t.shared = false
	t.dir.Store(d)
}

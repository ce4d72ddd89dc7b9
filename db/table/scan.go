package table

import "math/bits"

func onesCount(m uint64) int { return bits.OnesCount64(m) }

// A cursor of Scan is a place in the order of segments and homes: bits 0-6 are the home
// (of 128) to go on with, above it is the segment: its depth's top bits of the hash, below
// a 1 that says how many they are. Everything before the place was visited.
//
// A split leaves a cursor right: the first half goes on at the same home, the other
// begins anew. After a merge or a directory without the depth, the segment that covers the
// place begins anew, because the part behind the place was not visited up to
// that home. Both show records twice, at worst.

// Scan calls fn with the records of one home, from the place of the cursor on (0 to
// begin), and returns the cursor to go on with: 0 at the end. Records that are in the table
// from the first call to the last are visited. fn must not change the table, clocks aside.
func (t *Table) Scan(cursor uint64, fn func(Slot)) uint64 {
	d := t.dir.Load()
	if d == nil {
		return 0
	}
	hash, home := t.placeOf(d, cursor)
	e := d.at(hash)
	t.visitHome(e, hash, home>>(segmentBits-e.k()), fn)
	width := uint64(segmentBuckets) >> e.k()
	home = home&^(width-1) + width
	prefix := uint64(1)<<e.depth() | hash>>1>>(63-e.depth())
	if home == segmentBuckets {
		home = 0
		if prefix++; prefix>>e.depth() != 1 {
			return 0
		}
	}
	return prefix<<segmentBits | home
}

// placeOf returns a hash that leads to the cursor's segment, and the home to go on with.
// Any number is a cursor: a client may make one up.
func (t *Table) placeOf(d *directory, cursor uint64) (hash, home uint64) {
	prefix := cursor >> segmentBits
	if prefix == 0 || bits.Len64(prefix)-1 > maxDepth {
		return 0, 0
	}
	depth := uint64(bits.Len64(prefix) - 1)
	hash = prefix << (63 - depth) << 1
	if d.at(hash).depth() < depth {
		return hash, 0
	}
	return hash, cursor & (segmentBuckets - 1)
}

// visitHome calls fn with the records whose home is a bucket.
func (t *Table) visitHome(e entry, prefix, home uint64, fn func(Slot)) {
	mask := e.mask()
	at := home
	for step := uint64(1); step <= mask+1; step++ {
		b := t.bucket(e, at)
		for m := occupied(b[0]); m != 0; m &= m - 1 {
			i := slotOf(m)
			if hash := t.keys.Hash(refOf(b[(1+i)&7])); e.home(hash) == home {
				fn(newSlot(b, hash, at, i, wholeHash))
			}
		}
		if b[0]>>overflowShift == 0 {
			return
		}
		at = (at + step) & mask
	}
}

// sampleBuckets is how many buckets Sample looks into at most.
const sampleBuckets = 4 * segmentBuckets

// Sample calls fn with up to n records that lie together at a random place. It returns
// how many: fewer than n only if the table is nearly empty. fn must not change the table,
// clocks aside.
func (t *Table) Sample(rnd uint64, n int, fn func(Slot)) int {
	d := t.dir.Load()
	if d == nil {
		return 0
	}
	n = min(n, t.len)
	i := int(d.index(rnd))
	at := rnd & (segmentBuckets - 1)
	skip := rnd >> segmentBits % bucketSlots
	seen := 0
	for looked := 0; looked < sampleBuckets && seen < n; {
		e := entry(d.entries[i].Load())
		for at &= e.mask(); at <= e.mask() && looked < sampleBuckets && seen < n; at++ {
			seen += t.sampleBucket(d.hash(i), e, at, skip, n-seen, fn)
			looked++
			skip = 0
		}
		at = 0
		i = (i&^(d.step(e)-1) + d.step(e)) & (len(d.entries) - 1)
	}
	return seen
}

// sampleBucket calls fn with up to n records of a bucket, from a slot on.
func (t *Table) sampleBucket(hash uint64, e entry, at, skip uint64, n int, fn func(Slot)) int {
	b := t.bucket(e, at)
	seen := 0
	for m := occupied(b[0]) >> (8 * skip) << (8 * skip); m != 0 && seen < n; m &= m - 1 {
		fn(newSlot(b, hash, at, slotOf(m), 0))
		seen++
	}
	return seen
}

// Random returns a random record, each as likely as any other; false if there is none.
func (t *Table) Random(rand func() uint64) (Slot, bool) {
	d := t.dir.Load()
	if d == nil || t.len == 0 {
		return Slot{}, false
	}
	// Draw a segment, a bucket, a slot until the slot is taken. Of the indices that
	// lead to a segment only the first counts: all segments are as likely.
	for range 1000 {
		r := rand()
		i := int(d.index(r))
		e := entry(d.entries[i].Load())
		at, slot := r>>segmentBits&e.mask(), r&7
		b := t.bucket(e, at)
		if i&(d.step(e)-1) == 0 && slot < bucketSlots && b[0]>>(8*slot)&0xff != 0 {
			return newSlot(b, d.hash(i), at, int(slot), 0), true
		}
	}
	var out Slot
	found := false
	t.Walk(func(s Slot) {
		if !found || rand()%4 == 0 {
			out, found = s, true
		}
	})
	return out, found
}

// Walk calls fn with all records. fn must not change the table, clocks and SetRef aside.
func (t *Table) Walk(fn func(Slot)) {
	for cursor := t.WalkFrom(0, 1, fn); cursor != 0; {
		cursor = t.WalkFrom(cursor, 1, fn)
	}
}

// WalkFrom calls fn with the records of up to limit segments from a cursor on (0
// to begin), and returns the cursor to go on with, 0 at the end. It is cheaper than Scan: a
// record is not read. If the table changes between calls, records may be missed. fn must
// not change the table, clocks and SetRef aside.
func (t *Table) WalkFrom(cursor uint64, limit int, fn func(Slot)) uint64 {
	for range limit {
		d := t.dir.Load()
		if d == nil {
			return 0
		}
		e := d.at(cursor)
		for at := range e.mask() + 1 {
			t.walkBucket(cursor, at, fn)
		}
		cursor = cursor&^(1<<(64-e.depth())-1) + 1<<(64-e.depth())
		if e.depth() == 0 || cursor == 0 {
			return 0
		}
	}
	return cursor
}

// walkBucket calls fn with the records of a bucket. The segment is looked up again for
// each: fn may have moved it.
func (t *Table) walkBucket(hash, at uint64, fn func(Slot)) {
	d := t.dir.Load()
	for m := occupied(t.bucket(d.at(hash), at)[0]); m != 0; m &= m - 1 {
		fn(newSlot(t.bucket(t.dir.Load().at(hash), at), hash, at, slotOf(m), 0))
	}
}

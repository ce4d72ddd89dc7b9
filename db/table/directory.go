package table

import (
	"sync/atomic"

	"heddle/db/arena"
)

// directory leads from the top bits of a hash to a segment. Its entries change in place
// while no snapshot has it; to grow, it is replaced. Readers without a lock see one or
// the other.
type directory struct {
	down    uint8 // 63 - depth
	entries []atomic.Uint64
	few     [fewEntries]atomic.Uint64 // the entries if there are no more: on the same cache line
}

const fewEntries = 4

// maxDepth bounds the directory to 2^30 entries.
const maxDepth = 30

// entry is where a segment is and what it is like: bits 0-39 ref, 40-42 the logarithm of
// its buckets, 43 owned (made since the last snapshot began), 44-49 depth.
type entry uint64

const (
	entryBits  = 40
	entryOwned = 43
	entryDepth = 44
)

func newEntry(ref arena.Ref, k, depth uint64) entry {
	return entry(uint64(ref) | k<<entryBits | 1<<entryOwned | depth<<entryDepth)
}

func (e entry) ref() arena.Ref { return arena.Ref(e & (1<<entryBits - 1)) }
func (e entry) k() uint64      { return uint64(e) >> entryBits & 7 }
func (e entry) owned() bool    { return e>>entryOwned&1 != 0 }
func (e entry) depth() uint64  { return uint64(e) >> entryDepth }

// mask returns the number of the last bucket.
func (e entry) mask() uint64 { return 1<<e.k() - 1 }

// home returns the bucket where a hash belongs.
func (e entry) home(hash uint64) uint64 {
	return hash >> homeShift & (segmentBuckets - 1) >> (segmentBits - e.k())
}

// newDirectory returns a directory of 2^depth empty entries.
func newDirectory(depth uint64) *directory {
	d := &directory{down: uint8(63 - depth)}
	if 1<<depth <= fewEntries {
		d.entries = d.few[:1<<depth]
	} else {
		d.entries = make([]atomic.Uint64, 1<<depth)
	}
	return d
}

func (d *directory) depth() uint64 { return uint64(63 - d.down) }

// index returns the index of a hash's entry.
func (d *directory) index(hash uint64) uint64 { return hash >> 1 >> (d.down & 63) }

// at returns the entry for a hash.
func (d *directory) at(hash uint64) entry { return entry(d.entries[d.index(hash)].Load()) }

// step returns how many indices lead to the segment of e.
func (d *directory) step(e entry) int { return 1 << (d.depth() - e.depth()) }

// hash returns a hash that leads to index i.
func (d *directory) hash(i int) uint64 { return uint64(i) << (d.down & 63) << 1 }

// set enters e everywhere it belongs: hash is one that leads there.
func (d *directory) set(hash uint64, e entry) {
	n := d.step(e)
	first := int(d.index(hash)) &^ (n - 1)
	for i := first; i < first+n; i++ {
		d.entries[i].Store(uint64(e))
	}
}

// resized returns a copy with 2^depth entries. To be smaller, no segment may be as deep as d.
func (d *directory) resized(depth uint64) *directory {
	n := newDirectory(depth)
	for i := range n.entries {
		from := uint64(i) << d.depth() >> depth
		n.entries[i].Store(d.entries[from].Load())
	}
	return n
}

// disowned returns a copy in which no segment is owned.
func (d *directory) disowned() *directory {
	n := d.resized(d.depth())
	for i := range n.entries {
		n.entries[i].And(^uint64(1 << entryOwned))
	}
	return n
}

// begin makes the first segment: one bucket.
func (t *Table) begin() bool {
	e, ok := t.newSegment(0, 0)
	if !ok {
		return false
	}
	d := newDirectory(0)
	d.entries[0].Store(uint64(e))
	t.dir.Store(d)
	t.shared = false
	return true
}

// newSegment returns an empty segment of 2^k buckets.
func (t *Table) newSegment(k, depth uint64) (entry, bool) {
	e, ok := t.rawSegment(k, depth)
	if ok {
		clear(t.heap.Words(e.ref(), bucketWords<<k))
	}
	return e, ok
}

// rawSegment is newSegment without its being empty: its words are whatever they are.
func (t *Table) rawSegment(k, depth uint64) (entry, bool) {
	size := bucketSize << k
	ref := t.arena.Alloc(size)
	if ref == 0 {
		return 0, false
	}
	t.segments++
	t.depths[depth]++
	t.bytes += size
	return newEntry(ref, k, depth), true
}

// dropSegment gives back a segment that the directory leads to no more, or retires it
// if a snapshot may see it.
func (t *Table) dropSegment(e entry) {
	t.segments--
	t.depths[e.depth()]--
	t.bytes -= bucketSize << e.k()
	if t.protected() && (t.shared || !e.owned()) {
		t.epochs.retire(t.arena, e.ref())
		return
	}
	t.arena.Free(e.ref())
}

// directory returns the directory for change: a copy if a snapshot has it.
func (t *Table) directory() *directory {
	d := t.dir.Load()
	if t.shared && t.protected() {
		d = d.disowned()
		t.dir.Store(d)
		t.shared = false
	}
	return d
}

package table

import (
	"math"
	"slices"
	"sync/atomic"

	"heddle/db/arena"
)

// Epochs numbers the snapshots of one shard and keeps the segments that only
// snapshots see. It is used under the shard's lock.
type Epochs struct {
	current uint64
	oldest  uint64   // of open; MaxUint64 when there is none
	open    []uint64 // ascending
	retired []retired
	kept    *atomic.Int64 // bytes of retired, of all who share it
}

// retired is a segment to be freed when no snapshot up to epoch is open.
type retired struct {
	epoch uint64
	arena *arena.Arena
	ref   arena.Ref
}

// NewEpochs returns epochs without snapshots. They add to kept the bytes of segments
// that only snapshots see.
func NewEpochs(kept *atomic.Int64) *Epochs { return &Epochs{oldest: math.MaxUint64, kept: kept} }

// Current returns the epoch of the latest snapshot: what is retired now may be seen
// by snapshots up to it.
func (e *Epochs) Current() uint64 { return e.current }

// Oldest returns the oldest open snapshot's epoch, MaxUint64 if none is open. What was
// retired before it may be freed.
func (e *Epochs) Oldest() uint64 { return e.oldest }

// Active reports whether a snapshot is open.
func (e *Epochs) Active() bool { return len(e.open) != 0 }

// Open returns how many snapshots are open.
func (e *Epochs) Open() int { return len(e.open) }

// Begin opens a snapshot and returns its epoch. Freeze follows for each table.
func (e *Epochs) Begin() uint64 {
	e.current++
	e.open = append(e.open, e.current)
	e.oldest = e.open[0]
	return e.current
}

// End closes a snapshot: its views must not be used any more. Free then frees what no
// other sees.
func (e *Epochs) End(epoch uint64) {
	if i := slices.Index(e.open, epoch); i >= 0 {
		e.open = slices.Delete(e.open, i, i+1)
	}
	e.oldest = math.MaxUint64
	if len(e.open) > 0 {
		e.oldest = e.open[0]
	}
}

// Next appends the segments that Free would free.
func (e *Epochs) Next(refs []arena.Ref, limit int) []arena.Ref {
	for n := 0; n < min(len(e.retired), limit) && e.retired[n].epoch < e.oldest; n++ {
		refs = append(refs, e.retired[n].ref)
	}
	return refs
}

// Free frees up to limit segments that no open snapshot sees, and reports whether there
// are more.
func (e *Epochs) Free(limit int) bool {
	n := 0
	for ; n < len(e.retired) && e.retired[n].epoch < e.oldest; n++ {
		if n == limit {
			e.retired = e.retired[n:]
			return true
		}
		r := &e.retired[n]
		e.kept.Add(-int64(r.arena.Heap().Cap(r.ref)))
		r.arena.Free(r.ref)
	}
	if e.retired = e.retired[n:]; len(e.retired) == 0 {
		e.retired = nil
	}
	return false
}

// retire keeps a segment until no snapshot up to now is open.
func (e *Epochs) retire(a *arena.Arena, ref arena.Ref) {
	e.kept.Add(int64(a.Heap().Cap(ref)))
	e.retired = append(e.retired, retired{e.current, a, ref})
}

// protected reports whether a snapshot of this table is open.
func (t *Table) protected() bool { return t.guard >= t.epochs.oldest }

// Fresh reports whether no snapshot sees the record at a slot, so that it may be
// changed in place, and freed when it leaves the table.
func (t *Table) Fresh(s Slot) bool {
	if t.guard < t.epochs.oldest {
		return true
	}
	return !t.shared && t.dir.Load().at(s.hash).owned() && *s.word()&freshBit != 0
}

// writable makes the segment of a hash one that no snapshot sees and returns its entry;
// false when there is no memory.
func (t *Table) writable(hash uint64) (entry, bool) {
	d := t.directory()
	e := d.at(hash)
	if e.owned() {
		return e, true
	}
	n, ok := t.copySegment(e, ^uint64(freshBit))
	if !ok {
		return e, false
	}
	t.dropSegment(e)
	d.set(hash, n)
	return n, true
}

// copySegment returns a copy of a segment, with those bits of its slots that are in keep.
func (t *Table) copySegment(e entry, keep uint64) (entry, bool) {
	n, ok := t.rawSegment(e.k(), e.depth())
	if ok {
		for at := range n.mask() + 1 {
			from, to := t.bucket(e, at), t.bucket(n, at)
			to[0] = from[0]
			for i := 1; i < bucketWords; i++ {
				to[i] = from[i] & keep
			}
		}
	}
	return n, ok
}

// View is a table as it was when it was frozen. It may be read without a lock until
// its epoch ends.
type View struct {
	heap *arena.Heap
	dir  *directory
	len  int
}

// Freeze returns a view of the table as it is now. It belongs to the snapshot that
// Begin opened last.
func (t *Table) Freeze() View {
	d := t.dir.Load()
	if d != nil {
		t.guard, t.shared = t.epochs.current, true
	}
	return View{t.heap, d, t.len}
}

// Len returns the number of records.
func (v View) Len() int { return v.len }

// Each calls fn with every record and its access clock, which is that of now, until fn
// returns false; it reports whether it never did.
func (v View) Each(fn func(ref arena.Ref, clock uint32) bool) bool {
	if v.dir == nil {
		return true
	}
	for i := 0; i < len(v.dir.entries); {
		e := entry(v.dir.entries[i].Load())
		for from := uint64(0); from <= e.mask(); from += groupBuckets {
			if !v.group(e, from, fn) {
				return false
			}
		}
		i += v.dir.step(e)
	}
	return true
}

// groupBuckets is how many buckets' records are loaded ahead of their use, so that
// their cache misses overlap.
const groupBuckets = 8

// group calls fn with the records of some buckets.
func (v View) group(e entry, from uint64, fn func(arena.Ref, uint32) bool) bool {
	var words [groupBuckets * bucketSlots]uint64
	n, sum := 0, uint64(0)
	for at := from; at < min(from+groupBuckets, e.mask()+1); at++ {
		b := arena.At[bucket](v.heap, e.ref()+arena.Ref(at*bucketWords))
		for m := occupied(b[0]); m != 0; m &= m - 1 {
			// The clock in the word may change meanwhile.
			words[n] = atomic.LoadUint64(&b[(1+slotOf(m))&7])
			sum += v.heap.Touch(refOf(words[n]))
			n++
		}
	}
	touched(sum)
	for _, w := range words[:n] {
		if !fn(refOf(w), uint32(w>>clockShift)) {
			return false
		}
	}
	return true
}

// touched takes the sum of what was loaded ahead, so that the loads are not dropped.
//
//go:noinline
func touched(uint64) {}

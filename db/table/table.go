// Package table is the hash index of one shard's share of one database: an
// extendible hash whose segments lie outside of Go's heap.
//
// Terms
//
//	record     what is indexed; the table knows only its ref and asks Keys for the rest
//	slot       8 bytes: a record's ref, a bit `fresh`, an access clock
//	bucket     64 bytes, one cache line: 7 slots, their fingerprints, an overflow count
//	segment    2^k buckets, 128 (8 KB) in all but small tables
//	home       the bucket in its segment where a record belongs by its hash
//	directory  segments by the top bits of the hash; a segment of depth d is
//	           entered under all indices that share its first d bits
//	snapshot   a directory that was kept, and what it leads to
//
// Use of the 64 bits of a hash: 0-5 are the shard's, 6-12 say the home, 13-20 the
// fingerprint, and the directory takes bits from the top.
//
// The way chosen. A lookup reads a directory entry, which says where the segment
// is and how many buckets it has, and one bucket: no header is read. A record whose
// home is full lies in the first that has room of the buckets 1, 3, 6, 10... behind it
// (which go around through all, and cluster less than the next ones: a miss in a segment
// that is 7/8 full looks at 2.4 buckets instead of 4.2). Each full bucket that it passes
// counts it, so that a search ends at a bucket that nobody passed: almost always the
// first. When a record would have to go too far, its segment splits
// in two (or, as long as it is small, doubles); nothing else moves, so no operation
// has to pay for more than some 900 records. Neighbours that became empty merge.
//
// Order. Segments in the order of the directory and homes in the order of a segment
// give an order of records that splits and merges keep. Scan's cursor is a place in it.
//
// Snapshots. Freeze keeps the directory, and the first change after it copies the
// directory and marks every segment as not owned. A change in a segment that is not
// owned copies the segment first, and forgets there which records are fresh,
// that is, came after the snapshot. What snapshots may still see is retired, not freed:
// segments by the table, records by their owner (Fresh tells). With no snapshot open all
// this is one comparison.
//
// Rejected: a segment header with a count and an epoch (a second cache miss for each new
// key); open addressing over the whole table (a pause to rehash, twice the memory
// meanwhile); chains (a miss a link).
//
// Readers without a lock. The Touch functions may run while the table is changed: the
// directory is read through atomics, segments through arena.Touch.
//
// Limits: refs below 2^39; 2^30 directory entries; a directory has no more than 64
// entries a segment, so that keys with equal hashes fail (Insert returns false)
// instead of eating the memory. That takes some 900 keys whose hashes agree in all that
// counts, which a seeded hash does not give.
package table

import (
	"sync/atomic"

	"heddle/db/arena"
	"heddle/db/invariants"
)

// Keys reads records for a table.
type Keys interface {
	// Equal reports whether the record at ref has this key.
	Equal(ref arena.Ref, key []byte) bool
	// Hash returns the hash of the record's key.
	Hash(ref arena.Ref) uint64
}

// Table is the index. It is used under its shard's lock, Touch functions aside.
type Table struct {
	dir      atomic.Pointer[directory] // nil while there are no segments
	heap     *arena.Heap
	arena    *arena.Arena
	keys     Keys
	epochs   *Epochs
	guard    uint64 // epoch of the last Freeze
	shared   bool   // a snapshot kept the directory, and it was not copied yet
	len      int
	segments int // different ones
	bytes    int // of segments
	deletes  uint32
	depths   [maxDepth + 1]uint32 // how many segments have a depth
}

// Slot is a place where Find and the like found a record. It is good until the table
// is next changed, its own SetRef and SetClock aside.
type Slot struct {
	b     *bucket
	hash  uint64 // the record's, or only as much of it as leads to the segment
	place uint32 // see newSlot; in one word, so that a Slot is kept in registers
}

// wholeHash marks a Slot whose hash is all the record's.
const wholeHash = 1 << 31

// newSlot returns slot i of b, which is bucket at of its segment.
func newSlot(b *bucket, hash, at uint64, i int, flags uint32) Slot {
	return Slot{b, hash, uint32(at)<<3 | uint32(i)&7 | flags}
}

// word is the slot itself.
func (s Slot) word() *uint64 { return &s.b[1+s.place&7] }

// i is the slot's number in its bucket, at the bucket's in its segment.
func (s Slot) i() uint32  { return s.place & 7 }
func (s Slot) at() uint64 { return uint64(s.place &^ wholeHash >> 3) }

// New returns an empty table; it allocates nothing before the first Insert. Segments
// are blocks of a.
func New(h *arena.Heap, a *arena.Arena, keys Keys, epochs *Epochs) *Table {
	t := &Table{}
	t.Init(h, a, keys, epochs)
	return t
}

// Init is New for a Table that is part of something else.
func (t *Table) Init(h *arena.Heap, a *arena.Arena, keys Keys, epochs *Epochs) {
	t.heap, t.arena, t.keys, t.epochs = h, a, keys, epochs
}

// Len returns the number of records.
func (t *Table) Len() int { return t.len }

// MemSize returns the bytes of the segments, which are the arena's (its Used has
// them), and of the directory, which are not.
func (t *Table) MemSize() int64 { return int64(t.bytes) + t.DirSize() }

// DirSize returns the bytes of the directory.
func (t *Table) DirSize() int64 {
	if d := t.dir.Load(); d != nil {
		return int64(len(d.entries)) * 8
	}
	return 0
}

// Ref returns the record at a slot.
func (t *Table) Ref(s Slot) arena.Ref { return refOf(*s.word()) }

// Clock returns the access clock at a slot.
func (t *Table) Clock(s Slot) uint32 { return uint32(*s.word() >> clockShift) }

// SetClock sets the access clock, of which 24 bits are kept. It does so even in a
// segment that a snapshot sees: the clock is not part of what it promises.
func (t *Table) SetClock(s Slot, clock uint32) {
	p := s.word()
	*p = *p&(1<<clockShift-1) | uint64(clock)<<clockShift
}

// bucket returns bucket at of the segment that e leads to.
func (t *Table) bucket(e entry, at uint64) *bucket {
	return arena.At[bucket](t.heap, e.ref()+arena.Ref(at*bucketWords))
}

// Find returns the slot of the record that has this key and hash.
func (t *Table) Find(hash uint64, key []byte) (Slot, bool) {
	d := t.dir.Load()
	if d == nil {
		return Slot{}, false
	}
	e := d.at(hash)
	at, mask, pattern := e.home(hash), e.mask(), pattern(hash)
	for step := uint64(1); step <= mask+1; step++ {
		b := t.bucket(e, at)
		for m := match(b[0], pattern); m != 0; m &= m - 1 {
			i := slotOf(m)
			if t.keys.Equal(refOf(b[(1+i)&7]), key) {
				return newSlot(b, hash, at, i, wholeHash), true
			}
		}
		if b[0]>>overflowShift == 0 {
			break
		}
		at = (at + step) & mask
	}
	return Slot{}, false
}

// FindHash calls fn with every slot whose record may have this hash, until fn
// returns false. fn may change the slot's clock, and the table if it returns false then.
func (t *Table) FindHash(hash uint64, fn func(Slot) bool) {
	d := t.dir.Load()
	if d == nil {
		return
	}
	e := d.at(hash)
	at, mask, pattern := e.home(hash), e.mask(), pattern(hash)
	for step := uint64(1); step <= mask+1; step++ {
		b := t.bucket(e, at)
		for m := match(b[0], pattern); m != 0; m &= m - 1 {
			if !fn(newSlot(b, hash, at, slotOf(m), wholeHash)) {
				return
			}
		}
		if b[0]>>overflowShift == 0 {
			return
		}
		at = (at + step) & mask
	}
}

// Insert adds a record whose key is not in the table. It returns false when there is no
// memory, or no place: see the limits above.
func (t *Table) Insert(hash uint64, ref arena.Ref, clock uint32) (Slot, bool) {
	if invariants.Enabled {
		invariants.Assert(ref != 0 && ref < maxRef, "insert of ref %x", ref)
	}
	if t.dir.Load() == nil && !t.begin() {
		return Slot{}, false
	}
	limit := uint64(maxProbe)
	if invariants.Enabled && invariants.Sometimes(50) {
		limit = 1
	}
	for {
		e := t.dir.Load().at(hash)
		at, ok := t.room(e, hash, limit)
		if ok {
			return t.put(e, hash, at, ref, clock)
		}
		switch {
		case limit > maxProbe:
			return Slot{}, false
		case !t.expand(hash, e):
			limit = segmentBuckets // no memory, or no use: go as far as it takes
		default:
			limit = maxProbe
		}
	}
}

// room returns the first bucket with a free slot for a hash, at most limit buckets
// from its home.
func (t *Table) room(e entry, hash, limit uint64) (uint64, bool) {
	at, mask := e.home(hash), e.mask()
	for step := uint64(1); step <= min(limit, mask+1); step++ {
		if vacant(t.bucket(e, at)[0]) != 0 {
			return at, true
		}
		at = (at + step) & mask
	}
	return 0, false
}

// put writes a record into bucket at, which has room; false when there is no memory.
func (t *Table) put(e entry, hash, at uint64, ref arena.Ref, clock uint32) (Slot, bool) {
	if t.guard >= t.epochs.oldest {
		var ok bool
		if e, ok = t.writable(hash); !ok {
			return Slot{}, false
		}
	}
	t.len++
	word := uint64(ref) | freshBit | uint64(clock)<<clockShift
	b, i := t.place(e, hash, at, word)
	return newSlot(b, hash, at, i, wholeHash), true
}

// place writes a slot's word into bucket at, which has room, and counts the record
// in the buckets that it passes.
func (t *Table) place(e entry, hash, at, word uint64) (*bucket, int) {
	for p, step := e.home(hash), uint64(1); p != at; p, step = (p+step)&e.mask(), step+1 {
		if b := t.bucket(e, p); b[0]>>overflowShift != overflowMax {
			b[0] += 1 << overflowShift
		}
	}
	b := t.bucket(e, at)
	i := slotOf(vacant(b[0]))
	b[0] |= fingerprint(hash) << (8 * i)
	b[(1+i)&7] = word
	return b, i
}

// Prepare makes sure that SetRef and Delete at a slot need no memory, as they may while
// a snapshot is open, and returns the slot where it is now; false when there is no memory.
func (t *Table) Prepare(s Slot) (Slot, bool) {
	if t.guard < t.epochs.oldest {
		return s, true
	}
	e, ok := t.writable(s.hash)
	if ok {
		s.b = t.bucket(e, s.at())
	}
	return s, ok
}

// prepared is Prepare for those who may not fail.
func (t *Table) prepared(s Slot) Slot {
	s, ok := t.Prepare(s)
	if !ok {
		panic("table: no memory to copy a segment that a snapshot sees")
	}
	return s
}

// SetRef replaces the record at a slot by another with the same key, and returns the
// slot where it is now. It panics when it needs memory that is not there: see Prepare.
// The record before is the caller's: to free, or to retire if it was not Fresh.
func (t *Table) SetRef(s Slot, ref arena.Ref) Slot {
	if t.guard >= t.epochs.oldest {
		s = t.prepared(s)
	}
	p := s.word()
	*p = *p&^(1<<clockShift-1) | uint64(ref) | freshBit
	return s
}

// Delete removes the record at a slot from the table. It is the caller's then, as with
// SetRef, and memory is needed as there.
func (t *Table) Delete(s Slot) {
	if s.place&wholeHash == 0 {
		s.hash = t.keys.Hash(t.Ref(s))
	}
	if t.guard >= t.epochs.oldest {
		s = t.prepared(s)
	}
	e := t.dir.Load().at(s.hash)
	s.b[0] &^= 0xff << (8 * s.i())
	*s.word() = 0
	for p, step := e.home(s.hash), uint64(1); p != s.at(); p, step = (p+step)&e.mask(), step+1 {
		if b := t.bucket(e, p); b[0]>>overflowShift != overflowMax {
			b[0] -= 1 << overflowShift
		}
	}
	t.len--
	t.deletes++
	t.shrinkAfter(s.hash, e)
}

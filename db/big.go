package db

import (
	"sync/atomic"

	"heddle/db/arena"
)

// BigMin is the size from which on a string is stored as a Big.
const BigMin = 16 << 10

// bigState is a Big's inside: a block of large-block memory and the number of
// its holders (the record, and replies under way).
type bigState struct {
	heap *arena.Heap
	ref  arena.Ref
	len  int
	refs atomic.Int32

	records atomic.Int64 // that hold it: live ones, and 1<<32 for each retired one
}

// NewBig returns a Big of size bytes, not zeroed, with one reference, nil when
// memory is out. It needs no lock: a connection may fill it from the network
// and hand it to Tx.AdoptBig.
func (ks *Keyspace) NewBig(size int) *Big { return newBig(ks.heap, size, size) }

// NewEmptyBig is NewBig for a value that comes bit by bit: of a large one only what
// Fill was told of counts as memory, and takes any.
func (ks *Keyspace) NewEmptyBig(size int) *Big {
	if size <= warmBig {
		return ks.NewBig(size)
	}
	return makeBig(ks.heap, ks.heap.AllocLargeRoom(1, size), size)
}

// warmBig is the size up to which the memory of a Big may have been used before.
const warmBig = 2 << 20

// Fill says that the first n bytes of a NewEmptyBig are about to be written. The
// whole must be filled before it is adopted.
func (b *Big) Fill(n int) { b.heap.Extend(b.ref, n) }

// newBig makes a Big of n bytes that can grow to room bytes without a copy.
func newBig(h *arena.Heap, n, room int) *Big {
	ref := h.AllocLargeRoom(n, room)
	if ref == 0 && room > n {
		ref = h.AllocLarge(n)
	}
	return makeBig(h, ref, n)
}

// makeBig makes a Big of a block, nil if that is 0.
func makeBig(h *arena.Heap, ref arena.Ref, n int) *Big {
	if ref == 0 {
		return nil
	}
	b := &Big{bigState{heap: h, ref: ref, len: n}}
	b.refs.Store(1)
	return b
}

// Bytes returns the value. It is valid as long as a reference is held, and
// must not be changed once the value was handed to the keyspace.
func (b *Big) Bytes() []byte { return b.heap.Bytes(b.ref, b.len) }

// Len returns the number of bytes.
func (b *Big) Len() int { return b.len }

// Retain takes a further reference.
func (b *Big) Retain() { b.refs.Add(1) }

// Release gives a reference back; the last one frees the memory.
func (b *Big) Release() {
	if b.refs.Add(-1) == 0 {
		b.heap.Release(b.ref)
	}
}

// shared reports whether somebody else than the caller holds a reference.
// Nobody can take a new one while the shard of the only holder is locked.
func (b *Big) shared() bool { return b.refs.Load() > 1 }

// hold notes that so many more live and retired records hold b, and returns how many
// bytes more only snapshots need.
func (b *Big) hold(live, retired int64) int64 {
	change := live + retired<<32
	now := b.records.Add(change)
	return b.keptAt(now) - b.keptAt(now-change)
}

// keptAt is how many bytes only snapshots need when these records hold b.
func (b *Big) keptAt(records int64) int64 {
	if live, retired := records&(1<<32-1), records>>32; live == 0 && retired > 0 {
		return b.memSize()
	}
	return 0
}

// grow makes the value n bytes long; false when the block has no room. Bytes
// that are new are zero.
func (b *Big) grow(n int) bool {
	if !b.heap.Extend(b.ref, n) {
		return false
	}
	if from := b.len; n > from {
		b.len = n
		b.zero(from)
	}
	return true
}

// zero makes the bytes from one on zero, which nobody has written to since b was made. Of
// a large block the system has them so, and none of them takes memory until it is written.
func (b *Big) zero(from int) {
	if !b.heap.Untouched(b.ref) {
		clear(b.Bytes()[from:])
	}
}

// bigOverhead is what a Big costs beside its block.
const bigOverhead = 64

func (b *Big) memSize() int64 { return int64(b.heap.Cap(b.ref)) + bigOverhead }

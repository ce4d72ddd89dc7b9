// Package arena keeps the keyspace's memory outside of Go's heap, so that the
// collector never sees it and a key costs little more than its bytes.
//
// Terms
//
//	heap      one reservation of address space, shared by all shards
//	ref       where a block is: bytes from the heap's base, divided by 8
//	slab      64 KB of the heap: blocks of one size, or a part of a large block
//	arena     a shard's slabs; used only under the shard's lock
//	page heap hands out slabs and runs of slabs; one for slabs of small blocks,
//	          one for large blocks, each under the heap's mutex
//	span      neighbouring slabs that nobody uses and that hold no memory
//	warm      a slab that nobody uses, but whose memory is still there
//
// The way chosen. The whole address space is reserved at once, without rights
// and without memory. It is made accessible from the front as it is needed and
// stays so until Close. A slab that is no longer used gives its memory back
// (MADV_DONTNEED) and keeps its place. So a ref is an offset that fits 37 bits,
// turning it into a pointer is one addition, and a reader that holds no lock
// and a ref that is long stale reads rubbish at worst: it cannot fault. The
// touch pass of the event loop is such a reader; it goes through Touch.
//
// What describes a slab (its class, its free list) is in a table beside the
// slabs: 32 bytes each, so that freeing touches the block and a table that fits
// the cache, and so that a slab holds blocks to its last byte.
//
// Rejected: one mapping per chunk, which needs a table from chunk to address on
// each access and makes unmapping a danger to stale readers; and Go's own heap,
// where each key costs marking time and a pointer-free giant slice cannot give
// memory back.
//
// Limits. 1 TB of address space (less where the system refuses: 4 GB at least),
// 1023 arenas. Blocks of up to MaxSmall bytes share slabs; larger ones get slabs
// of their own, of which only the pages in use take memory.
package arena

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ref is the place of a block: its byte offset from the heap's base, divided
// by 8. It is less than 1<<37. 0 is nil.
type Ref uint64

const (
	// SlabSize is the size of a slab in bytes.
	SlabSize = 64 << 10

	slabShift  = 16            // byte offset to slab
	refShift   = slabShift - 3 // ref to slab
	slabUnits  = SlabSize / 8
	pageSize   = 4 << 10
	chunkSlabs = 32 // what page heaps get from the heap is a multiple of 2 MB
	chunkSize  = chunkSlabs * SlabSize

	maxReserve = 1 << 40
	minReserve = 1 << 32
	growMax    = 64 << 20 // bytes made accessible at once, at most
	touchSlack = 64       // Touch may read so far behind a ref
	maxArenas  = SlabSize/counterSize - 1
)

// Options says how a Heap behaves. The zero value is fine.
type Options struct {
	// Reserve is how much address space to ask for; 0 for 1 TB.
	Reserve uint64
	// HugePages asks the system for huge pages for what small blocks need
	// beyond so many bytes; 0 for never. They spare the processor walks through
	// page tables: a lookup among 10 million keys took a fifth less time. What was
	// taken before stays on small pages, so that slabs which are hardly used take
	// little memory.
	HugePages int64
	// KeepWarm is how many unused slabs keep their memory in ReleasePages.
	KeepWarm int
}

// slab describes 64 KB. While an arena owns the slab, the arena's lock guards
// it, else the heap's mutex does. A neighbour may look at bin meanwhile: it is a
// byte, and no value that an owner sets is binFree.
type slab struct {
	class      uint8
	bin        uint8  // where it is listed: see the constants
	owner      uint16 // arena, or page heap when free
	used       uint16 // live blocks
	free       uint16 // first free block: units from the slab's start + 1; 0: none
	bump       uint16 // units up to here were handed out before
	limit      uint16 // units that hold blocks
	prev, next uint32 // neighbours in the list
	refs       int32  // large: holders, atomic
	pages      uint32 // large: pages accounted; last of a span: its first slab
	span       uint32 // large, free: how many slabs
}

// Values of slab.bin. The first four are an arena's lists, by fullness.
const (
	binUnused     = iota // never handed out, or inside of a run
	binQuarter           // up to a quarter full; then a half, three quarters, not full
	binFull       = binQuarter + quarters
	binCurrent    = binFull + 1 // being filled
	binEvacuating = binCurrent + 1
	binLarge      = binEvacuating + 1
	binFree       = binLarge + 1 // first or last of a span
	binWarm       = binFree + 1
	binSystem     = binWarm + 1
	binLeaving    = binSystem + 1 // large, its memory is being given back

	quarters = 4
	slabMeta = int(unsafe.Sizeof(slab{}))
)

// counters of one arena, in memory of the heap: written by the arena's owner
// with plain stores, read by anybody.
type counters struct {
	used int64
	_    [counterSize - 8]byte
}

const counterSize = 64

// Heap is a reservation of address space with its page heaps. Its methods may
// be used by many goroutines at once.
type Heap struct {
	base      unsafe.Pointer
	first     uint64        // bytes from base to the first slab handed out
	committed atomic.Uint64 // bytes from base that may be accessed
	mapping   []byte
	reserved  uint64
	system    uint32 // the slab of counters
	opts      Options
	filler    *filler  // nil without huge pages
	stocker   *stocker // likewise

	near      atomic.Int64 // bytes in live small blocks, late by what arenas keep to themselves
	largeUsed atomic.Int64
	lastArena atomic.Int32 // the highest id that there ever was
	mapped    atomic.Int64 // bytes of slabs for small blocks, in use or warm; of warm runs of large ones

	mu struct {
		sync.Mutex
		metaCommitted uint64
		next          uint32   // first slab never given to a page heap
		expects       int      // see Expect
		leaving       []uint32 // large blocks whose memory is to be given back, the first is being so
		small, large  pageHeap
		arenas        [maxArenas + 1]*Arena
	}
	left *sync.Cond // under mu: a block has left
}

// errNoSpace: the system gives no address space.
var errNoSpace = errors.New("arena: cannot reserve address space")

// NewHeap reserves address space.
func NewHeap(opts Options) (*Heap, error) {
	if opts.Reserve == 0 || opts.Reserve > maxReserve {
		opts.Reserve = maxReserve
	}
	h := &Heap{opts: opts}
	h.left = sync.NewCond(&h.mu)
	if err := h.reserve(); err != nil {
		return nil, err
	}
	h.mu.small = pageHeap{h: h, id: smallHeap}
	h.mu.large = pageHeap{h: h, id: largeHeap}
	meta := h.reserved / SlabSize * uint64(slabMeta)
	h.first = (meta + chunkSize - 1) &^ (chunkSize - 1)
	h.mu.next = uint32(h.first / SlabSize)
	h.committed.Store(h.first)
	h.mu.Lock()
	h.system, _ = h.mu.small.take(1)
	h.mu.Unlock()
	if h.system == 0 {
		_ = h.Close()
		return nil, fmt.Errorf("%w: the first chunk is refused", errNoSpace)
	}
	h.slab(h.system).bin = binSystem
	if opts.HugePages != 0 {
		h.filler = newFiller()
		go h.filler.run(h)
		h.stocker = newStocker()
		go h.stocker.run(h)
	}
	return h, nil
}

// reserve maps address space without rights, less of it if it must be.
func (h *Heap) reserve() error {
	var err error
	for size := h.opts.Reserve; size >= min(minReserve, h.opts.Reserve); size /= 2 {
		flags := unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
		h.mapping, err = unix.Mmap(-1, 0, int(size+chunkSize), unix.PROT_NONE, flags)
		if err == nil {
			start := unsafe.Pointer(unsafe.SliceData(h.mapping))
			h.base = unsafe.Add(start, -uintptr(start)&(chunkSize-1))
			h.reserved = size &^ (chunkSize - 1)
			return nil
		}
	}
	return fmt.Errorf("%w: %w", errNoSpace, err)
}

// Close gives everything back. Nothing may use the heap any more, not even
// stale readers.
func (h *Heap) Close() error {
	if h.filler != nil {
		h.filler.stop()
		h.filler = nil
		h.stocker.stop()
		h.stocker = nil
	}
	h.mu.Lock()
	h.awaitLeaving()
	h.mu.Unlock()
	m := h.mapping
	h.mapping, h.base = nil, nil
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}

// slab returns the description of slab i.
func (h *Heap) slab(i uint32) *slab {
	return (*slab)(unsafe.Add(h.base, uintptr(i)*uintptr(slabMeta)))
}

// slabOf returns the description of the slab that holds r.
func (h *Heap) slabOf(r Ref) *slab { return h.slab(uint32(r >> refShift)) }

// refOf returns the ref of the start of slab i.
func refOf(i uint32) Ref { return Ref(i) << refShift }

// commit makes n slabs more accessible and returns the first; 0 if it cannot.
// The caller holds mu.
func (h *Heap) commit(n uint32) uint32 {
	first := h.mu.next
	end := uint64(first+n) * SlabSize
	if end+touchSlack > h.reserved || !h.commitMeta(uint64(first+n)*uint64(slabMeta)) {
		return 0
	}
	if unix.Mprotect(h.raw(uint64(first)*SlabSize, end), unix.PROT_READ|unix.PROT_WRITE) != nil {
		return 0
	}
	h.mu.next = first + n
	h.committed.Store(end)
	return first
}

// commitMeta makes descriptions up to end bytes accessible.
func (h *Heap) commitMeta(end uint64) bool {
	from := h.mu.metaCommitted
	if end <= from {
		return true
	}
	end = (end + 64*pageSize - 1) &^ (64*pageSize - 1)
	if unix.Mprotect(h.raw(from, end), unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	h.mu.metaCommitted = end
	return true
}

// raw returns the bytes between two offsets.
func (h *Heap) raw(from, end uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(h.base, from)), end-from)
}

// slabs returns the bytes of slabs.
func (h *Heap) slabs(first, end uint32) []byte {
	return h.raw(uint64(first)*SlabSize, uint64(end)*SlabSize)
}

// discard gives the memory of bytes back to the system; they read as zeros then.
func (h *Heap) discard(from, end uint64) {
	// It fails only for arguments that are wrong, or for locked memory.
	if b := h.raw(from, end); unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b)
	}
}

// Used returns the bytes in live blocks, as their capacities count.
func (h *Heap) Used() int64 {
	n := h.largeUsed.Load()
	for id := range h.lastArena.Load() {
		n += atomic.LoadInt64(&h.counter(uint16(id + 1)).used)
	}
	return n
}

// UsedNear is Used, late by up to 4 KB an arena, at the price of two loads.
func (h *Heap) UsedNear() int64 { return h.near.Load() + h.largeUsed.Load() }

// Mapped returns the bytes of all slabs that may hold memory: an upper bound of
// what the heap needs of the system, its tables aside.
func (h *Heap) Mapped() int64 { return h.mapped.Load() + h.largeUsed.Load() }

// Committed returns the bytes of address space made accessible so far.
func (h *Heap) Committed() int64 { return int64(h.committed.Load() - h.first) }

// counter returns the counters of the arena with an id.
func (h *Heap) counter(id uint16) *counters {
	return (*counters)(unsafe.Add(h.base, uintptr(h.system)*SlabSize+uintptr(id)*counterSize))
}

package arena

import (
	"sync/atomic"

	"heddle/db/invariants"
)

// keepWarmLarge is how many bytes freed large blocks keep for the next ones of their
// size until ReleasePages comes by: a page that the system gives anew costs a microsecond.
const keepWarmLarge = 16 << 20

// lateFree is from how many bytes on the memory of a block is given back by a goroutine: the
// system takes 40 us for a megabyte, in which whoever drops the last reference would keep a
// shard locked. There is one for all blocks: each is in a thread as long as it is in the
// system, and 150 blocks of 9 MB had 22.
const lateFree = 8 << 20

// AllocLarge returns a block of at least n bytes with slabs of its own, held once:
// see Retain. 0 when there is no memory. Its bytes are whatever they are.
func (h *Heap) AllocLarge(n int) Ref { return h.AllocLargeRoom(n, n) }

// AllocLargeRoom is AllocLarge with slabs for room bytes, to which Extend can make the
// block grow. What it does not use of them costs address space only.
func (h *Heap) AllocLargeRoom(n, room int) Ref {
	n = max(n, 1)
	room = max(n, room)
	if uint64(room) > h.reserved {
		return 0
	}
	slabs := uint32((room + SlabSize - 1) / SlabSize)
	pages := uint32((n + pageSize - 1) / pageSize)
	i, warm := h.takeLarge(slabs, pages)
	if i == 0 {
		return 0
	}
	from := uint64(i) * SlabSize
	if warm > pages {
		h.discard(from+uint64(pages)*pageSize, from+uint64(warm)*pageSize)
	}
	h.largeUsed.Add(int64(pages) * pageSize)
	return refOf(i)
}

// takeLarge gets slabs from the page heap and describes them as a large block.
func (h *Heap) takeLarge(slabs, pages uint32) (i, warm uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, warm = h.mu.large.take(slabs)
	if i == 0 && len(h.mu.leaving) > 0 { // there may be room in a moment
		h.awaitLeaving()
		i, warm = h.mu.large.take(slabs)
	}
	if i != 0 {
		*h.slab(i + slabs - 1) = slab{class: classLarge, bin: binLarge}
		*h.slab(i) = slab{class: classLarge, bin: binLarge, span: slabs, pages: pages, refs: 1}
	}
	return i, warm
}

// IsLarge reports whether r is a block of AllocLarge.
func (h *Heap) IsLarge(r Ref) bool { return h.slabOf(r).class == classLarge }

// Retain adds a holder to large block r.
func (h *Heap) Retain(r Ref) {
	n := atomic.AddInt32(&h.slabOf(r).refs, 1)
	if invariants.Enabled {
		invariants.Assert(n > 1, "retain of a block that nobody holds: %x", r)
	}
}

// Shared reports whether large block r has more than one holder.
func (h *Heap) Shared(r Ref) bool { return atomic.LoadInt32(&h.slabOf(r).refs) > 1 }

// Release takes a holder from large block r; the last one frees it.
func (h *Heap) Release(r Ref) {
	s := h.slabOf(r)
	n := atomic.AddInt32(&s.refs, -1)
	if invariants.Enabled {
		invariants.Assert(n >= 0 && s.class == classLarge, "release of a block that nobody holds: %x", r)
	}
	if n == 0 {
		h.freeLarge(uint32(r>>refShift), s)
	}
}

// freeLarge takes back the slabs of a large block.
func (h *Heap) freeLarge(i uint32, s *slab) {
	slabs, pages := s.span, s.pages
	bytes := uint64(pages) * pageSize
	h.largeUsed.Add(-int64(bytes))
	if h.keepLarge(i, slabs, pages) {
		return
	}
	if bytes < lateFree {
		h.giveBack(i, slabs, bytes)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	*s = slab{bin: binLeaving, span: slabs, pages: pages}
	h.mu.leaving = append(h.mu.leaving, i)
	if len(h.mu.leaving) == 1 {
		go h.giveBackLate()
	}
}

// giveBackLate gives back what is leaving, one block after the other, until there is none.
func (h *Heap) giveBackLate() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.mu.leaving) > 0 {
		i := h.mu.leaving[0]
		h.mu.Unlock()
		s := h.slab(i)
		h.giveBack(i, s.span, uint64(s.pages)*pageSize)
		h.mu.Lock()
		h.mu.leaving = h.mu.leaving[1:]
		h.left.Broadcast()
	}
	h.mu.leaving = nil
}

// giveBack gives the memory of a run back to the system, and the run to the page heap.
func (h *Heap) giveBack(i, slabs uint32, bytes uint64) {
	from := uint64(i) * SlabSize
	h.discard(from, from+bytes)
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.slab(i) = slab{}
	*h.slab(i + slabs - 1) = slab{}
	h.mu.large.put(i, slabs)
}

// awaitLeaving waits until no block is being given back. The mutex is held.
func (h *Heap) awaitLeaving() {
	for len(h.mu.leaving) > 0 {
		h.left.Wait()
	}
}

// Untouched reports whether the bytes of large block r that nobody has written to since it
// was allocated are zero: blocks of more than 2 MB are never made of what was in use.
func (h *Heap) Untouched(r Ref) bool { return h.slabOf(r).span > maxWarm }

// keepLarge keeps a run warm, unless it is big or there are enough.
func (h *Heap) keepLarge(i, slabs, pages uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.mu.large
	if slabs > maxWarm || p.bytes+int64(pages)*pageSize > keepWarmLarge {
		return false
	}
	p.putWarm(i, slabs, pages)
	return true
}

// Extend makes large block r hold n bytes without moving it, if its slabs have
// the room. The caller is the only one that changes r's size.
func (h *Heap) Extend(r Ref, n int) bool {
	s := h.slabOf(r)
	pages := uint32((n + pageSize - 1) / pageSize)
	if n < 0 || uint64(n) > uint64(s.span)*SlabSize {
		return false
	}
	if pages > s.pages {
		h.largeUsed.Add(int64(pages-s.pages) * pageSize)
		s.pages = pages
	}
	return true
}

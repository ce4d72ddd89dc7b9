package arena

import (
	"sync/atomic"

	"heddle/db/invariants"
)

// keepWarmLarge is how many single slabs of freed large blocks keep their memory
// for the next ones until ReleasePages comes by.
const keepWarmLarge = 64

// AllocLarge returns a block of at least n bytes with slabs of its own, held once:
// see Retain. 0 when there is no memory. Its bytes are whatever they are.
func (h *Heap) AllocLarge(n int) Ref {
	n = max(n, 1)
	if uint64(n) > h.reserved {
		return 0
	}
	slabs := uint32((n + SlabSize - 1) / SlabSize)
	pages := uint32((n + pageSize - 1) / pageSize)
	h.mu.Lock()
	i := h.mu.large.take(slabs)
	if i != 0 {
		*h.slab(i + slabs - 1) = slab{class: classLarge, bin: binLarge}
		s := h.slab(i)
		*s = slab{class: classLarge, bin: binLarge, span: slabs, pages: pages, refs: 1}
	}
	h.mu.Unlock()
	if i == 0 {
		return 0
	}
	h.accountLarge(slabs, int64(pages)*pageSize)
	return refOf(i)
}

// accountLarge notes that a block of so many slabs grew by so many bytes. What
// single slabs hold counts as mapped from when they are taken until they are cold.
func (h *Heap) accountLarge(slabs uint32, bytes int64) {
	h.largeUsed.Add(bytes)
	if slabs == 1 {
		h.mapped.Add(-bytes)
	}
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
	slabs, bytes := s.span, uint64(s.pages)*pageSize
	h.accountLarge(slabs, -int64(bytes))
	if slabs == 1 && h.keepLarge(i) {
		return
	}
	from := uint64(i) * SlabSize
	h.discard(from, from+bytes)
	if slabs == 1 {
		h.mapped.Add(-SlabSize)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.slab(i) = slab{}
	*h.slab(i + slabs - 1) = slab{}
	h.mu.large.put(i, slabs)
}

// keepLarge keeps a single slab warm, unless there are enough of them.
func (h *Heap) keepLarge(i uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.mu.large.warm) >= keepWarmLarge {
		return false
	}
	h.mu.large.putWarm(i)
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
		h.accountLarge(s.span, int64(pages-s.pages)*pageSize)
		s.pages = pages
	}
	return true
}

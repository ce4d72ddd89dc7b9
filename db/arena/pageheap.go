package arena

import (
	"math/bits"
	"slices"

	"golang.org/x/sys/unix"
)

// pageHeap hands out runs of slabs, under the heap's mutex. It takes warm slabs
// first, the one returned last before others, then the smallest span that fits,
// and then grows. Spans are listed by size and joined with their neighbours as
// they come back.
type pageHeap struct {
	h     *Heap
	id    uint16
	warm  []uint32
	spans [spanBins]uint32 // lists of spans by size, linked through prev and next
}

const (
	smallHeap = iota
	largeHeap

	spanExact = 64 // sizes up to here have a list each, then each power of two
	spanBins  = spanExact + 26
)

// spanBin returns the list for spans of n slabs.
func spanBin(n uint32) int {
	if n < spanExact {
		return int(n)
	}
	return spanExact + bits.Len32(n/spanExact) - 1
}

// take returns the first of n slabs that belong together; 0 if there is no room.
func (p *pageHeap) take(n uint32) uint32 {
	if n == 1 && len(p.warm) > 0 {
		i := p.warm[len(p.warm)-1]
		p.warm = p.warm[:len(p.warm)-1]
		return i
	}
	first := p.find(n)
	if first == 0 {
		if !p.grow(n) {
			return 0
		}
		first = p.find(n)
	}
	p.cut(first, n)
	if n == 1 {
		p.h.mapped.Add(SlabSize) // single slabs may come back warm
	}
	return first
}

// find returns the first slab of a span of at least n slabs.
func (p *pageHeap) find(n uint32) uint32 {
	for b := spanBin(n); b < spanBins; b++ {
		for i := p.spans[b]; i != 0; i = p.h.slab(i).next {
			if p.h.slab(i).span >= n {
				return i
			}
		}
	}
	return 0
}

// grow adds a span of at least n slabs from fresh address space, more than
// needed at once if the system allows.
func (p *pageHeap) grow(n uint32) bool {
	n = (n + chunkSlabs - 1) &^ (chunkSlabs - 1)
	ahead := uint32(min(growMax, p.h.Committed()/8)/SlabSize) &^ (chunkSlabs - 1)
	for _, n := range [...]uint32{max(n, ahead), n} {
		if first := p.h.commit(n); first != 0 {
			p.put(first, n)
			p.adviseHuge(first, n)
			return true
		}
	}
	return false
}

// adviseHuge asks for huge pages when small blocks need much memory.
func (p *pageHeap) adviseHuge(first, n uint32) {
	if p.id != smallHeap || p.h.opts.HugePages == 0 || p.h.mapped.Load() < p.h.opts.HugePages {
		return
	}
	_ = unix.Madvise(p.h.raw(uint64(first)*SlabSize, uint64(first+n)*SlabSize), unix.MADV_HUGEPAGE)
}

// put adds a span that holds no memory, joining it with its neighbours.
func (p *pageHeap) put(first, n uint32) {
	if i := first + n; i < p.h.mu.next {
		if s := p.h.slab(i); s.bin == binFree && s.owner == p.id {
			n += s.span
			p.unlist(i)
		}
	}
	if s := p.h.slab(first - 1); s.bin == binFree && s.owner == p.id {
		n += first - s.pages
		first = s.pages
		p.unlist(first)
	}
	p.list(first, n)
}

// cut takes n slabs off the front of a listed span.
func (p *pageHeap) cut(first, n uint32) {
	all := p.h.slab(first).span
	p.unlist(first)
	if all > n {
		p.list(first+n, all-n)
	}
}

// list marks a span as free and lists it.
func (p *pageHeap) list(first, n uint32) {
	head := &p.spans[spanBin(n)]
	last := p.h.slab(first + n - 1)
	*last = slab{bin: binFree, owner: p.id}
	s := p.h.slab(first)
	*s = slab{bin: binFree, owner: p.id, span: n, next: *head}
	last.pages = first
	if *head != 0 {
		p.h.slab(*head).prev = first
	}
	*head = first
}

// unlist removes a span from its list and marks it as free no more.
func (p *pageHeap) unlist(first uint32) {
	s := p.h.slab(first)
	if s.next != 0 {
		p.h.slab(s.next).prev = s.prev
	}
	if s.prev != 0 {
		p.h.slab(s.prev).next = s.next
	} else {
		p.spans[spanBin(s.span)] = s.next
	}
	last := p.h.slab(first + s.span - 1)
	*last = slab{}
	*s = slab{}
}

// putWarm takes a slab back whose memory stays.
func (p *pageHeap) putWarm(i uint32) {
	*p.h.slab(i) = slab{bin: binWarm, owner: p.id}
	p.warm = append(p.warm, i)
}

// ReleasePages gives the memory of up to limit unused slabs back to the system, the
// ones unused longest, except the few that are kept warm. It returns how many it gave
// back. Call it at a steady rate: a call costs a few microseconds a slab.
func (h *Heap) ReleasePages(limit int) int {
	n := 0
	for _, p := range [...]*pageHeap{&h.mu.small, &h.mu.large} {
		n += p.release(limit - n)
	}
	return n
}

// release is ReleasePages for one page heap. The system is called without the lock.
func (p *pageHeap) release(limit int) int {
	h := p.h
	h.mu.Lock()
	n := min(limit, len(p.warm)-h.opts.KeepWarm)
	if n <= 0 {
		h.mu.Unlock()
		return 0
	}
	out := slices.Clone(p.warm[:n])
	p.warm = slices.Delete(p.warm, 0, n)
	h.mu.Unlock()

	slices.Sort(out)
	for i := 0; i < n; {
		j := i + 1
		for j < n && out[j] == out[j-1]+1 {
			j++
		}
		h.discard(uint64(out[i])*SlabSize, uint64(out[j-1]+1)*SlabSize)
		i = j
	}
	h.mapped.Add(-int64(n) * SlabSize)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range out {
		p.put(i, 1)
	}
	return n
}

package arena

import (
	"math/bits"
	"slices"
)

// pageHeap hands out runs of slabs, under the heap's mutex. It takes a warm run of the
// right size first, the one returned last before others, then the smallest span that
// fits, and then grows. Spans are listed by size and joined with their neighbours as
// they come back.
type pageHeap struct {
	h      *Heap
	id     uint16
	warm   [maxWarm + 1][]uint32 // runs by how many slabs they are
	low    [2]int                // the fewest single slabs in warm: since Age, and between the two before
	bytes  int64                 // that warm runs of large blocks hold
	spans  [spanBins]uint32      // lists of spans by size, linked through prev and next
	huge   []slabRange           // for which huge pages were asked
	newest slabRange             // of them, that grow added last
}

const (
	smallHeap = iota
	largeHeap

	maxWarm   = 32 // slabs
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

// take returns the first of n slabs that belong together, 0 if there is no room, and
// how many pages of them may hold memory.
func (p *pageHeap) take(n uint32) (first, pages uint32) {
	if n <= maxWarm && len(p.warm[n]) > 0 {
		return p.takeWarm(n)
	}
	p.restock()
	first = p.find(n)
	if first == 0 {
		if !p.grow(n) {
			return 0, 0
		}
		first = p.find(n)
	}
	p.cut(first, n)
	p.fillAhead(first)
	if p.id == smallHeap {
		p.h.mapped.Add(SlabSize) // until its memory is given back
	}
	return first, 0
}

// takeWarm returns the run of n slabs that came back last.
func (p *pageHeap) takeWarm(n uint32) (first, pages uint32) {
	list := p.warm[n]
	first = list[len(list)-1]
	p.warm[n] = list[:len(list)-1]
	if n == 1 {
		p.low[0] = min(p.low[0], len(p.warm[1]))
		p.restock()
	}
	pages = p.h.slab(first).pages
	p.countWarm(-int64(pages))
	return first, pages
}

// countWarm notes that warm runs of large blocks hold so many pages more.
func (p *pageHeap) countWarm(pages int64) {
	if p.id == largeHeap {
		p.bytes += pages * pageSize
		p.h.mapped.Add(pages * pageSize)
	}
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
			p.adviseHuge(slabRange{first, first + n})
			return true
		}
	}
	return false
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

// putWarm takes a run back of which the memory of some pages stays.
func (p *pageHeap) putWarm(i, n, pages uint32) {
	*p.h.slab(i + n - 1) = slab{bin: binWarm, owner: p.id}
	*p.h.slab(i) = slab{bin: binWarm, owner: p.id, span: n, pages: pages}
	p.warm[n] = append(p.warm[n], i)
	p.countWarm(int64(pages))
}

// Age begins another age. ReleasePages leaves alone as many small slabs as were in use at
// some time in this one or the one before. What is given back and needed again soon costs
// twice, above all on virtual machines: where collections grow, slabs of one size of block
// run dry while those of the next size are needed; and after a FLUSHALL the same amount is
// often filled in again. Both together were a fifth of the time of SADD.
func (h *Heap) Age() {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.mu.small
	p.low = [2]int{len(p.warm[1]), p.low[0]}
}

// ReleasePages gives the memory of up to limit unused slabs back to the system, the
// ones unused longest, except the few that are kept warm and those that were in use not
// long ago: see Age. It returns how many it gave back. Call it at a steady rate: a call
// costs a few microseconds a slab.
func (h *Heap) ReleasePages(limit int) int {
	n := h.mu.small.release(1, limit, h.opts.KeepWarm)
	for size := uint32(1); size <= maxWarm && n < limit; size++ {
		n += h.mu.large.release(size, limit-n, 0)
	}
	return n
}

// release gives the memory of warm runs of n slabs back, up to limit slabs, except keep
// runs. The system is called without the lock.
func (p *pageHeap) release(n uint32, limit, keep int) int {
	h := p.h
	runs := p.cool(n, (limit+int(n)-1)/int(n), keep)
	slices.Sort(runs)
	for i := 0; i < len(runs); {
		j := i + 1
		for j < len(runs) && runs[j] == runs[j-1]+n {
			j++
		}
		h.discard(uint64(runs[i])*SlabSize, uint64(runs[j-1]+n)*SlabSize)
		i = j
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range runs {
		*h.slab(i) = slab{}
		*h.slab(i + n - 1) = slab{}
		p.put(i, n)
	}
	return len(runs) * int(n)
}

// cool takes up to limit warm runs of n slabs out, the oldest first, except keep, and of
// the small ones those that are to be ready and that were in use not long ago.
func (p *pageHeap) cool(n uint32, limit, keep int) []uint32 {
	h := p.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.id == smallHeap {
		keep = max(keep, h.stockGoal())
	}
	limit = min(limit, len(p.warm[n])-keep)
	if p.id == smallHeap {
		limit = min(limit, p.low[0], p.low[1])
	}
	if limit <= 0 {
		return nil
	}
	if p.id == smallHeap {
		p.low[0], p.low[1] = p.low[0]-limit, p.low[1]-limit
	}
	runs := slices.Clone(p.warm[n][:limit])
	p.warm[n] = slices.Delete(p.warm[n], 0, limit)
	for _, i := range runs {
		p.plain(i)
		p.countWarm(-int64(h.slab(i).pages))
	}
	if p.id == smallHeap {
		h.mapped.Add(-int64(limit) * SlabSize)
	}
	return runs
}

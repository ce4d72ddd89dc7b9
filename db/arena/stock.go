package arena

import "golang.org/x/sys/unix"

// Stock. While a snapshot is open, the first change of nearly everything takes new
// memory, and the page faults of that are dearer than the changes: on a virtual machine
// they kept a worker busy for a second behind the begin of a save, when 30,000 writes a
// second met 2 million keys. So a goroutine makes some slabs ready, in huge pages where
// there are any, and goes on as long as they are taken.

// stockPart is how much of what the heap has mapped is kept ready, at most stockMax slabs.
const (
	stockPart = 16
	stockMax  = 4 * chunkSlabs
)

// stocker makes slabs ready.
type stocker struct {
	wake chan struct{} // capacity 1
	done chan struct{}
}

func newStocker() *stocker {
	return &stocker{wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// run fills the stock when it is woken, until the channel is closed.
func (s *stocker) run(h *Heap) {
	defer close(s.done)
	for range s.wake {
		for h.stockUp() {
		}
	}
}

// stop ends the stocker and waits for it.
func (s *stocker) stop() {
	close(s.wake)
	<-s.done
}

// Expect says that much memory for small blocks will be needed soon, as when a snapshot
// was begun; it holds until Relax was called as often.
func (h *Heap) Expect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.expects++
}

// Expected returns how many Expect hold.
func (h *Heap) Expected() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.expects
}

// Relax takes one Expect back. What is ready goes the way of all unused slabs.
func (h *Heap) Relax() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.expects--
}

// stockGoal is how many slabs should be ready. The caller holds mu.
func (h *Heap) stockGoal() int {
	if h.mu.expects == 0 {
		return 0
	}
	return int(min(h.mapped.Load()/stockPart/SlabSize, stockMax)) &^ (chunkSlabs - 1)
}

// restock wakes the stocker if half of the stock is gone. The caller holds mu.
func (p *pageHeap) restock() {
	h := p.h
	if h.mu.expects == 0 || p.id != smallHeap || h.stocker == nil || len(p.warm[1]) > h.stockGoal()/2 {
		return
	}
	select {
	case h.stocker.wake <- struct{}{}:
	default: // it is awake
	}
}

// stockUp makes one chunk ready; false if there are enough, or no room.
func (h *Heap) stockUp() bool {
	first := h.takeChunk()
	if first == 0 {
		return false
	}
	// Where the system does not know these, memory comes as it is used.
	b := h.slabs(first, first+chunkSlabs)
	if h.opts.HugePages != 0 && h.mapped.Load() >= h.opts.HugePages && unix.Madvise(b, unix.MADV_HUGEPAGE) == nil {
		h.mu.Lock()
		h.mu.small.huge = append(h.mu.small.huge, slabRange{first, first + chunkSlabs})
		h.mu.Unlock()
	}
	_ = unix.Madvise(b, unix.MADV_POPULATE_WRITE)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := first; i < first+chunkSlabs; i++ {
		h.mu.small.putWarm(i, 1, SlabSize/pageSize)
	}
	h.mapped.Add(chunkSize)
	return true
}

// takeChunk takes a whole chunk off the free spans; 0 if there is none, or none needed.
func (h *Heap) takeChunk() uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.mu.small
	if len(p.warm[1])+chunkSlabs > h.stockGoal() {
		return 0
	}
	first := p.cutChunk()
	if first == 0 && p.grow(chunkSlabs) {
		first = p.cutChunk()
	}
	if first != 0 {
		for i := first; i < first+chunkSlabs; i++ {
			*h.slab(i) = slab{bin: binSystem} // neither free nor lost
		}
	}
	return first
}

// stockTries bounds how many spans are looked at for one that holds a whole chunk. Those of
// twoChunks slabs do for certain, wherever they begin.
const (
	stockTries = 64
	twoChunks  = 2*chunkSlabs - 1
)

// cutChunk cuts a whole chunk, which begins at a multiple of its size, out of a listed
// span; 0 if it finds none.
func (p *pageHeap) cutChunk() uint32 {
	tries := 0
	for b := spanBin(chunkSlabs); b < spanBins; b++ {
		for i := p.spans[b]; i != 0 && (tries < stockTries || b >= spanBin(twoChunks)); i = p.h.slab(i).next {
			tries++
			n := p.h.slab(i).span
			at := (i + chunkSlabs - 1) &^ (chunkSlabs - 1)
			if at+chunkSlabs > i+n {
				continue
			}
			p.unlist(i)
			if at > i {
				p.list(i, at-i)
			}
			if end := at + chunkSlabs; end < i+n {
				p.list(end, i+n-end)
			}
			return at
		}
	}
	return 0
}

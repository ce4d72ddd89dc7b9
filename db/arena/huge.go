package arena

import (
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// Huge pages. To give one, the system must find 2 MB in one piece and clear them, which
// can take it tens of milliseconds when it has to move other memory about. So a goroutine
// has them ready ahead of their use: a filler.

// slabRange is neighbouring slabs.
type slabRange struct{ first, end uint32 }

// fillAheadSlabs is how much of a range is made ready beyond what is in use: 8 MB.
const fillAheadSlabs = 4 * chunkSlabs

const lowestPriority = 19

// filler makes huge pages ready.
type filler struct {
	want chan slabRange // capacity 1: the latest wish
	done chan struct{}
}

func newFiller() *filler {
	return &filler{want: make(chan slabRange, 1), done: make(chan struct{})}
}

// run fills what is wanted until the channel is closed.
func (f *filler) run(h *Heap) {
	defer close(f.done)
	// Clearing memory is to take processor time from nobody who answers clients. The
	// thread ends with the goroutine, since it stays locked.
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), lowestPriority)
	for r := range f.want {
		for ; r.first < r.end && len(f.want) == 0; r.first += chunkSlabs {
			end := min(r.first+chunkSlabs, r.end)
			// Where the system does not know this, memory comes as it is used.
			_ = unix.Madvise(h.slabs(r.first, end), unix.MADV_POPULATE_WRITE)
		}
	}
}

// stop ends the filler and waits for it.
func (f *filler) stop() {
	close(f.want)
	<-f.done
}

// adviseHuge asks for huge pages for a fresh range when small blocks need much memory.
// Large blocks get none: they use their slabs by the page. The caller holds mu.
func (p *pageHeap) adviseHuge(r slabRange) {
	h := p.h
	if p.id != smallHeap || h.opts.HugePages == 0 || h.mapped.Load() < h.opts.HugePages {
		return
	}
	if unix.Madvise(h.slabs(r.first, r.end), unix.MADV_HUGEPAGE) == nil {
		p.huge, p.newest = append(p.huge, r), r
	}
}

// fillAhead wishes for what will be needed soon when slab i, the first of its chunk,
// begins to be used. The caller holds mu.
func (p *pageHeap) fillAhead(i uint32) {
	r := p.newest
	if i%chunkSlabs != 0 || i < r.first || i >= r.end {
		return
	}
	r = slabRange{i, min(i+fillAheadSlabs, r.end)}
	select {
	case p.h.filler.want <- r:
	default: // it is behind; it will be asked again
	}
}

// plain takes back that slab i may lie in a huge page, for all of its range: else the
// system would make one again of what is left around a slab that was given back. The huge
// pages that are there stay. The caller holds mu.
func (p *pageHeap) plain(i uint32) {
	for j, r := range p.huge {
		if i >= r.first && i < r.end {
			_ = unix.Madvise(p.h.slabs(r.first, r.end), unix.MADV_NOHUGEPAGE)
			p.huge = slices.Delete(p.huge, j, j+1)
			if p.newest == r {
				p.newest = slabRange{}
			}
			return
		}
	}
}

package arena

import (
	"sync/atomic"

	"heddle/db/invariants"
)

// Arena hands out blocks to one owner at a time: a shard, under its lock. For each
// size class it fills one slab. When that is full, it goes on with the fullest
// of those that have room again, so that the emptiest can run dry and go back.
type Arena struct {
	h       *Heap
	id      uint16
	count   *counters
	delta   int64 // change of count.used that h.near does not know yet
	pending int   // slabs marked as evacuating
	current [numClasses]uint32
	bins    [numClasses][quarters]uint32
	slabs   [numClasses]uint32 // how many there are
	live    [numClasses]uint32 // blocks
}

// nearSlack is how many bytes an arena's use may change before h.near follows.
const nearSlack = 4 << 10

// NewArena returns an empty arena; nil when there are too many.
func (h *Heap) NewArena() *Arena {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := 1; id <= maxArenas; id++ {
		if h.mu.arenas[id] == nil {
			a := &Arena{h: h, id: uint16(id), count: h.counter(uint16(id))}
			h.mu.arenas[id] = a
			h.lastArena.Store(max(h.lastArena.Load(), int32(id)))
			return a
		}
	}
	return nil
}

// Heap returns the heap that a is a part of.
func (a *Arena) Heap() *Heap { return a.h }

// Used returns the bytes in live blocks of this arena, large ones aside (they
// are the heap's). It may be called without the lock.
func (a *Arena) Used() int64 { return atomic.LoadInt64(&a.count.used) }

// Alloc returns a block of at least n bytes, 0 when there is no memory. Its bytes
// are whatever they are. Blocks above MaxSmall bytes are the heap's: see AllocLarge.
// A block whose class is a multiple of 64 bytes and a power of two begins at a
// multiple of 64.
func (a *Arena) Alloc(n int) Ref {
	if n > MaxSmall {
		return a.h.AllocLarge(n)
	}
	c := classOf(n)
	for {
		i := a.current[c]
		s := a.h.slab(i)
		units := classes[c].units
		var off uint16
		switch {
		case s.free != 0:
			off = s.free - 1
			s.free = uint16(*a.h.Word(refOf(i) + Ref(off)))
		case s.bump < s.limit:
			off = s.bump
			s.bump += units
		default:
			if !a.next(c) {
				return 0
			}
			continue
		}
		s.used++
		a.live[c]++
		a.account(int64(units) * 8)
		return refOf(i) + Ref(off)
	}
}

// account notes that live blocks take n bytes more.
func (a *Arena) account(n int64) {
	a.count.used += n
	a.delta += n
	if a.delta > nearSlack || a.delta < -nearSlack {
		a.h.near.Add(a.delta)
		a.delta = 0
	}
}

// next gives class c another slab to fill, the current one being full.
func (a *Arena) next(c int) bool {
	old := a.current[c]
	i := a.fullest(c)
	if i == 0 {
		if i = a.newSlab(c); i == 0 {
			return false
		}
	}
	if old != 0 {
		a.h.slab(old).bin = binFull
	}
	a.h.slab(i).bin = binCurrent
	a.current[c] = i
	return true
}

// fullest unlists and returns the fullest slab of class c that has room.
func (a *Arena) fullest(c int) uint32 {
	for q := quarters - 1; q >= 0; q-- {
		if i := a.bins[c][q]; i != 0 {
			a.unlist(i, c, q)
			return i
		}
	}
	return 0
}

// newSlab gets a slab from the page heap.
func (a *Arena) newSlab(c int) uint32 {
	h := a.h
	h.mu.Lock()
	defer h.mu.Unlock()
	i, _ := h.mu.small.take(1)
	if i != 0 {
		*h.slab(i) = slab{class: uint8(c), bin: binCurrent, owner: a.id, limit: classes[c].limit}
		a.slabs[c]++
	}
	return i
}

// Free takes block r back. A large block loses one holder.
func (a *Arena) Free(r Ref) {
	i := uint32(r >> refShift)
	s := a.h.slab(i)
	if s.class == classLarge {
		a.h.Release(r)
		return
	}
	c := int(s.class)
	if invariants.Enabled {
		a.checkFree(r, s)
	}
	*a.h.Word(r) = uint64(s.free)
	s.free = uint16(r&(slabUnits-1)) + 1
	s.used--
	a.live[c]--
	a.account(-int64(classes[c].units) * 8)
	if s.bin != binCurrent {
		a.rebin(i, s, c)
	} else if s.used == 0 {
		s.free, s.bump = 0, 0 // begin at the front again
	}
}

// checkFree asserts what it can and overwrites the block, so that whoever still
// reads it is found.
func (a *Arena) checkFree(r Ref, s *slab) {
	c := classes[s.class]
	off := uint16(r & (slabUnits - 1))
	invariants.Assert(s.owner == a.id && s.used > 0 && s.bin >= binQuarter && s.bin <= binEvacuating,
		"free of %x, not a block of arena %d: %+v", r, a.id, s)
	invariants.Assert(off < s.bump && off%c.units == 0, "free of %x inside of a block", r)
	for i, w := 0, a.h.Words(r, int(c.units)); i < len(w); i++ {
		w[i] = 0xdbdbdbdbdbdbdbdb
	}
}

// rebin lists slab i by how full it is now, or gives it back when it is empty.
func (a *Arena) rebin(i uint32, s *slab, c int) {
	if s.bin == binEvacuating {
		if s.used == 0 {
			a.pending--
			a.giveBack(i, c)
		}
		return
	}
	q := int(uint32(s.used) * classes[c].recip >> 16)
	if s.used > 0 && int(s.bin)-binQuarter == q {
		return
	}
	if s.bin != binFull {
		a.unlist(i, c, int(s.bin)-binQuarter)
	}
	if s.used == 0 {
		a.giveBack(i, c)
		return
	}
	a.list(i, c, q)
}

// giveBack returns an unlisted, empty slab to the page heap.
func (a *Arena) giveBack(i uint32, c int) {
	a.slabs[c]--
	a.h.mu.Lock()
	a.h.mu.small.putWarm(i, 1, SlabSize/pageSize)
	a.h.mu.Unlock()
}

// list puts a slab on the list of its quarter.
func (a *Arena) list(i uint32, c, q int) {
	s, head := a.h.slab(i), &a.bins[c][q]
	s.bin, s.prev, s.next = uint8(binQuarter+q), 0, *head
	if *head != 0 {
		a.h.slab(*head).prev = i
	}
	*head = i
}

// unlist takes a slab off its list.
func (a *Arena) unlist(i uint32, c, q int) {
	s := a.h.slab(i)
	if s.next != 0 {
		a.h.slab(s.next).prev = s.prev
	}
	if s.prev != 0 {
		a.h.slab(s.prev).next = s.next
	} else {
		a.bins[c][q] = s.next
	}
}

// Cap returns the usable bytes of block r.
func (h *Heap) Cap(r Ref) int {
	s := h.slabOf(r)
	if s.class == classLarge {
		return int(s.pages) * pageSize
	}
	return int(classes[s.class].units) * 8
}

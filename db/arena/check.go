package arena

import (
	"fmt"
	"sync/atomic"
)

// Check verifies the arena's slabs, lists and counters. For tests; under the
// arena's lock.
func (a *Arena) Check() error {
	var used int64
	var slabs, live [numClasses]uint32
	pending := 0
	for _, i := range a.owned() {
		s := a.h.slab(i)
		if err := a.checkSlab(i, s); err != nil {
			return err
		}
		slabs[s.class]++
		live[s.class] += uint32(s.used)
		used += int64(s.used) * int64(classes[s.class].units) * 8
		if s.bin == binEvacuating {
			pending++
		}
	}
	if used != a.count.used || slabs != a.slabs || live != a.live || pending != a.pending {
		return fmt.Errorf("arena %d: counts %d bytes, %d slabs evacuating; has %d, %d (or slabs or blocks of a class)",
			a.id, a.count.used, a.pending, used, pending)
	}
	return a.checkLists()
}

// checkSlab verifies one slab: its free list, its counts, its place.
func (a *Arena) checkSlab(i uint32, s *slab) error {
	c := classes[s.class]
	free := 0
	for f := s.free; f != 0; f = uint16(*a.h.Word(refOf(i) + Ref(f-1))) {
		if free++; free > int(c.count) || (f-1)%c.units != 0 || f-1 >= s.bump {
			return fmt.Errorf("slab %d: its free list leads to %d", i, f)
		}
	}
	if int(s.used)+free != int(s.bump/c.units) || s.limit != c.limit || s.bump > s.limit {
		return fmt.Errorf("slab %d: %d used and %d free, %d handed out", i, s.used, free, s.bump/c.units)
	}
	quarter := int(uint32(s.used) * c.recip >> 16)
	switch s.bin {
	case binCurrent:
		if a.current[s.class] != i {
			return fmt.Errorf("slab %d is not the current one", i)
		}
	case binFull:
		if s.used != c.count {
			return fmt.Errorf("slab %d counts as full with %d of %d", i, s.used, c.count)
		}
	case binEvacuating:
	default:
		if int(s.bin)-binQuarter != quarter {
			return fmt.Errorf("slab %d with %d of %d is listed in quarter %d", i, s.used, c.count, s.bin-binQuarter)
		}
	}
	return nil
}

// checkLists verifies that the lists hold slabs of their quarter, well linked.
func (a *Arena) checkLists() error {
	for c := range numClasses {
		for q, i := range a.bins[c] {
			for prev := uint32(0); i != 0; prev, i = i, a.h.slab(i).next {
				s := a.h.slab(i)
				if int(s.class) != c || int(s.bin)-binQuarter != q || s.prev != prev || s.owner != a.id {
					return fmt.Errorf("slab %d is listed wrongly: %+v", i, *s)
				}
			}
		}
	}
	return nil
}

// Check verifies that every slab that was ever handed out is in one place.
func (h *Heap) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	spans := 0
	for i := uint32(h.first / SlabSize); i < h.mu.next; {
		s := h.slab(i)
		n := uint32(1)
		switch s.bin {
		case binFree:
			n, spans = s.span, spans+1
			if last := h.slab(i + n - 1); last.bin != binFree || last.pages != i && n > 1 {
				return fmt.Errorf("span %d of %d slabs ends badly: %+v", i, n, *last)
			}
		case binLarge:
			n = s.span
			if atomic.LoadInt32(&s.refs) <= 0 || s.pages == 0 || s.pages > n*(SlabSize/pageSize) {
				return fmt.Errorf("large block %d is broken: %+v", i, *s)
			}
		case binWarm, binLeaving:
			n = s.span
		case binUnused:
			return fmt.Errorf("slab %d is lost", i)
		}
		i += n
	}
	return h.checkSpans(spans)
}

// checkSpans verifies that the lists hold so many spans.
func (h *Heap) checkSpans(want int) error {
	for _, p := range [...]*pageHeap{&h.mu.small, &h.mu.large} {
		for b, i := range p.spans {
			for ; i != 0; i = h.slab(i).next {
				if s := h.slab(i); s.bin != binFree || spanBin(s.span) != b || s.owner != p.id {
					return fmt.Errorf("span %d is listed wrongly: %+v", i, *s)
				}
				want--
			}
		}
		bytes := int64(0)
		for n, runs := range p.warm {
			for _, i := range runs {
				s := h.slab(i)
				if s.bin != binWarm || int(s.span) != n {
					return fmt.Errorf("run %d is not warm, or not %d slabs: %+v", i, n, *s)
				}
				bytes += int64(s.pages) * pageSize
			}
		}
		if p.id == largeHeap && bytes != p.bytes {
			return fmt.Errorf("warm runs have %d bytes, %d are counted", bytes, p.bytes)
		}
	}
	if want != 0 {
		return fmt.Errorf("%d spans are not listed", want)
	}
	return nil
}

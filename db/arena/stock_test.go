package arena

import (
	"testing"
	"time"
)

// TestStock: while much memory is expected, slabs are made ready as they are taken, from
// fresh space and from spans that came back; afterwards all of them go back.
func TestStock(t *testing.T) {
	for _, o := range []Options{{HugePages: 1}, {HugePages: 1 << 40}} {
		h := newHeap(t, o)
		a := h.NewArena()
		fill := func(n int) []Ref {
			refs := make([]Ref, n)
			for i := range refs {
				refs[i] = a.Alloc(MaxSmall)
				*h.Word(refs[i]) = uint64(i)
			}
			return refs
		}
		ready := func() int {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.mu.small.warm[1])
		}
		wait := func(want int) {
			t.Helper()
			for end := time.Now().Add(10 * time.Second); ready() < want; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d slabs are ready, want %d", ready(), want)
				}
			}
		}
		refs := fill(8 << 10) // 128 MB
		fresh := append([]Ref{}, refs...)
		if ready() != 0 {
			t.Errorf("%d slabs are ready, though nothing is expected", ready())
		}
		for range 2 {
			h.Expect()
			for range 3 {
				more := fill(100)
				wait(stockMax / 2)
				fresh = append(fresh, more...)
			}
			if err := h.Check(); err != nil {
				t.Fatal(err)
			}
			h.Relax()
			for i, r := range fresh {
				if i >= len(refs) && *h.Word(r) != uint64((i-len(refs))%100) {
					t.Fatalf("block %d was given to two", i)
				}
			}
			for _, r := range fresh[len(refs):] {
				a.Free(r)
			}
			fresh = fresh[:len(refs)]
			// The stocker may be at a last chunk.
			for end := time.Now().Add(10 * time.Second); ready() > 0 && time.Now().Before(end); {
				h.Age()
				h.ReleasePages(100)
			}
			if ready() != 0 {
				t.Errorf("%d slabs are ready after the end", ready())
			}
		}
		for _, r := range refs {
			a.Free(r)
		}
		if err := h.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestStockAmongHoles: many free spans that hold no whole chunk do not hide one that does,
// and the heap does not grow for each look.
func TestStockAmongHoles(t *testing.T) {
	h := newHeap(t, Options{HugePages: 1 << 40})
	p := &h.mu.small
	h.mu.Lock()
	const period = 2 * chunkSlabs
	var slabs []uint32
	for range (stockTries + 10) * period {
		i, _ := p.take(1)
		*h.slab(i) = slab{bin: binSystem}
		slabs = append(slabs, i)
	}
	for _, i := range slabs { // all but two slabs, that lie across a border
		if at := i % period; at != 0 && at != period-1 {
			*h.slab(i) = slab{}
			p.put(i, 1)
		}
	}
	h.mu.Unlock()
	h.Expect() // not before: the stocker is not to be woken
	before := h.Committed()
	for range 100 {
		if h.takeChunk() == 0 {
			t.Fatalf("there is no chunk, with %d MB committed, %d before", h.Committed()>>20, before>>20)
		}
	}
	if grown := h.Committed() - before; grown > 100*chunkSize+growMax {
		t.Errorf("the heap has grown by %d MB for 100 chunks", grown>>20)
	}
}

// TestStockStays: what is ready is not given back while it is expected to be needed.
func TestStockStays(t *testing.T) {
	h := newHeap(t, Options{HugePages: 1 << 40})
	a := h.NewArena()
	for range 8 << 10 { // 128 MB
		a.Alloc(MaxSmall)
	}
	h.Expect()
	for h.stockUp() {
	}
	for range 3 {
		h.Age()
		h.ReleasePages(1000)
	}
	h.mu.Lock()
	ready, goal := len(h.mu.small.warm[1]), h.stockGoal()
	h.mu.Unlock()
	if ready < goal {
		t.Errorf("%d slabs are ready, want %d", ready, goal)
	}
	h.Relax()
	for range 3 {
		h.Age()
		h.ReleasePages(1000)
	}
	if n := len(h.mu.small.warm[1]); n != 0 {
		t.Errorf("%d slabs are ready after the end", n)
	}
}

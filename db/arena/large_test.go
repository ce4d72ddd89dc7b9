package arena

import (
	"runtime"
	"testing"
)

// TestLateFree gives large blocks back, whose memory goes by and by: it counts no more at
// once, the heap is sound meanwhile, and what is allocated next is zero, also where there is
// no other room for it.
func TestLateFree(t *testing.T) {
	const size = lateFree + 12345
	h, err := NewHeap(Options{Reserve: minReserve})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 8 {
		var refs []Ref
		for range 3 {
			r := h.AllocLarge(size)
			if r == 0 {
				t.Fatal("no room")
			}
			if !h.Untouched(r) {
				t.Error("a large block may hold anything")
			}
			b := h.Bytes(r, size)
			for i := 0; i < size; i += 2048 {
				if b[i] != 0 {
					t.Fatalf("byte %d of a new block is not zero", i)
				}
				b[i] = 'x'
			}
			b[size-1] = 'x'
			refs = append(refs, r)
		}
		for _, r := range refs {
			h.Release(r)
		}
		if h.largeUsed.Load() != 0 {
			t.Errorf("%d bytes are counted still", h.largeUsed.Load())
		}
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
	}
	// Nearly all of the address space at once: it is there when the others have gone.
	for range 3 {
		r := h.AllocLarge(3 << 30)
		if r == 0 {
			t.Fatal("no room for three gigabytes of four")
		}
		h.Release(r)
	}
	if h.AllocLarge(1); h.Untouched(h.AllocLarge(1)) {
		t.Error("a small one is untouched")
	}
}

// TestLateFreesOnce gives many blocks back at once: one goroutine does it for all.
func TestLateFreesOnce(t *testing.T) {
	h, err := NewHeap(Options{Reserve: minReserve})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	refs := make([]Ref, 100)
	for i := range refs {
		if refs[i] = h.AllocLarge(lateFree); refs[i] == 0 {
			t.Fatal("no room")
		}
		h.Bytes(refs[i], 1)[0] = 'x'
	}
	before := runtime.NumGoroutine()
	most := 0
	for _, r := range refs {
		h.Release(r)
		most = max(most, runtime.NumGoroutine()-before)
	}
	if most > 1 {
		t.Errorf("%d goroutines give memory back", most)
	}
	h.mu.Lock()
	h.awaitLeaving()
	h.mu.Unlock()
	if h.AllocLarge(3<<30) == 0 {
		t.Error("what has left is no room")
	}
}

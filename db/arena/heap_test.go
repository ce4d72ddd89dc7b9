package arena

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"testing"
)

// rss returns the resident memory of the process in bytes.
func rss(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	n, err := strconv.ParseInt(string(bytes.Fields(b)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n * int64(os.Getpagesize())
}

// TestMemoryComesBack frees nine of ten blocks at random places and compacts the rest.
func TestMemoryComesBack(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testMemoryComesBack(t, Options{}) })
	t.Run("huge", func(t *testing.T) { testMemoryComesBack(t, Options{HugePages: 1}) })
}

func testMemoryComesBack(t *testing.T, o Options) {
	h := newHeap(t, o)
	a := h.NewArena()
	refs := make([]Ref, 400000)
	for i := range refs {
		refs[i] = 1 // so that the list has its memory before we measure
	}
	base := rss(t)
	for i := range refs {
		refs[i] = a.Alloc(56)
		*h.Word(refs[i]) = uint64(i)
	}
	peak := rss(t) - base
	for i, r := range refs {
		if i%10 != 0 {
			a.Free(r)
		}
	}
	for a.Sparse() > 0 {
		for i := 0; i < len(refs); i += 10 {
			if r := refs[i]; a.Evacuating(r) {
				refs[i] = a.Alloc(56)
				*h.Word(refs[i]) = *h.Word(r)
				a.Free(r)
			}
		}
	}
	h.Age()
	h.Age() // nothing was in use not long ago
	for h.ReleasePages(100) > 0 {
	}
	for i := 0; i < len(refs); i += 10 {
		if *h.Word(refs[i]) != uint64(i) {
			t.Fatalf("block %d has changed", i)
		}
	}
	if left := rss(t) - base; left > peak*2/5 && !raceEnabled {
		t.Errorf("%d KB of %d KB remain", left>>10, peak>>10)
	}
	if m := h.Mapped(); m > 400000*56/4 {
		t.Errorf("%d KB count as mapped, the blocks took %d KB", m>>10, 400000*56>>10)
	}
	if err := a.Check(); err != nil {
		t.Error(err)
	}
}

// TestLargeInParallel has goroutines allocate, share and release large blocks.
func TestLargeInParallel(t *testing.T) {
	h := newHeap(t, Options{})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 300 {
				n := 20000 * (1 + (i*7+g)%12)
				r := h.AllocLarge(n)
				if r == 0 || h.Cap(r) < n || h.Shared(r) {
					t.Errorf("AllocLarge(%d) = %x", n, r)
					return
				}
				b := h.Bytes(r, n)
				b[0], b[n-1] = byte(g), byte(g)
				h.Retain(r)
				if !h.Shared(r) {
					t.Errorf("a block with two holders is not shared")
				}
				h.Release(r)
				if b[0] != byte(g) || b[n-1] != byte(g) {
					t.Errorf("a block was given to two")
				}
				h.Release(r)
			}
		})
	}
	wg.Wait()
	if n := h.Used(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	h.Age()
	h.Age() // nothing was in use not long ago
	for h.ReleasePages(10) > 0 {
	}
	if n := h.Mapped(); n > SlabSize {
		t.Errorf("%d bytes are mapped", n)
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

// TestArenasInParallel has a goroutine for each arena while others look and clean up.
func TestArenasInParallel(t *testing.T) {
	h := newHeap(t, Options{HugePages: 1})
	var wg, watch sync.WaitGroup
	done := make(chan struct{})
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				h.Expect()
				h.Age()
				h.ReleasePages(20)
				h.Relax()
				if h.Used() < 0 || h.Mapped() < 0 || h.Committed() < 0 {
					t.Error("a counter is negative")
				}
			}
		}
	})
	for g := range 4 {
		wg.Go(func() {
			a := h.NewArena()
			defer a.Close()
			for round := range 5 {
				refs := make([]Ref, 3000)
				for i := range refs {
					refs[i] = a.Alloc(1 + (i*37+g)%3000)
					*h.Word(refs[i]) = uint64(g)<<32 | uint64(i)
				}
				for i, r := range refs {
					if *h.Word(r) != uint64(g)<<32|uint64(i) {
						t.Errorf("block %d of arena %d was given to two", i, g)
						return
					}
					if i%(round+2) != 0 {
						a.Free(r)
					}
				}
				if err := a.Check(); err != nil {
					t.Error(err)
				}
				a.Drop()
			}
		})
	}
	wg.Wait()
	close(done)
	watch.Wait()
	if h.Used() != 0 || h.UsedNear() != 0 {
		t.Errorf("%d bytes are left", h.Used())
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

func TestExtend(t *testing.T) {
	h := newHeap(t, Options{})
	r := h.AllocLarge(MaxSmall + 1)
	if got := h.Cap(r); got != MaxSmall+pageSize {
		t.Fatalf("Cap = %d", got)
	}
	if !h.Extend(r, SlabSize) || h.Cap(r) != SlabSize || h.Used() != SlabSize {
		t.Errorf("it does not grow to its slab: %d bytes, %d used", h.Cap(r), h.Used())
	}
	if h.Extend(r, SlabSize+1) {
		t.Error("it grows beyond its slab")
	}
	room := h.AllocLargeRoom(SlabSize, 3*SlabSize)
	if h.Cap(room) != SlabSize || !h.Extend(room, 3*SlabSize) || h.Cap(room) != 3*SlabSize {
		t.Errorf("a block with room has %d bytes", h.Cap(room))
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	h.Release(room)
	h.Release(r)
	if h.Used() != 0 {
		t.Errorf("%d bytes are left", h.Used())
	}
}

// TestTouchAnything follows refs that are none.
func TestTouchAnything(t *testing.T) {
	h := newHeap(t, Options{})
	a := h.NewArena()
	r := a.Alloc(100)
	*h.Word(r) = 42
	if h.Touch(r) != 42 {
		t.Error("a good ref is not followed")
	}
	for _, r := range []Ref{0, 1, 1 << 20, 1<<39 - 1, 1<<40 - 1, 1<<61 - 1, ^Ref(0), Ref(h.committed.Load() / 8), Ref(h.first/8) - 1} {
		if h.Touch(r) != 0 {
			t.Errorf("%x is followed", r)
		}
	}
	if last := Ref(h.committed.Load()/8) - 1; h.Touch(last) != 0 {
		t.Error("the last word is not 0")
	}
}

// TestOutOfSpace fills a small heap: what is asked for then is refused, and what is
// given back can be had again.
func TestOutOfSpace(t *testing.T) {
	h := newHeap(t, Options{Reserve: 16 << 20})
	a := h.NewArena()
	var refs []Ref
	for {
		r := a.Alloc(MaxSmall)
		if r == 0 {
			break
		}
		refs = append(refs, r)
	}
	if len(refs) < 500 || h.AllocLarge(1<<20) != 0 || h.AllocLarge(1<<62) != 0 {
		t.Fatalf("%d blocks fit", len(refs))
	}
	for _, r := range refs {
		a.Free(r)
	}
	for range refs {
		if a.Alloc(MaxSmall) == 0 {
			t.Fatal("what was given back is lost")
		}
	}
	a.Drop()
	if err := h.Check(); err != nil {
		t.Error(err)
	}
}

// TestArenasAreReused opens and closes more arenas than there may be at once.
func TestArenasAreReused(t *testing.T) {
	h := newHeap(t, Options{})
	for range 2 * maxArenas {
		a := h.NewArena()
		if a == nil || a.Alloc(100) == 0 {
			t.Fatal("no arena")
		}
		a.Close()
	}
	if n, near := h.Used(), h.UsedNear(); n != 0 || near != 0 {
		t.Errorf("%d bytes are left, about %d", n, near)
	}
	var all []*Arena
	for a := h.NewArena(); a != nil; a = h.NewArena() {
		all = append(all, a)
	}
	if len(all) != maxArenas {
		t.Errorf("%d arenas, want %d", len(all), maxArenas)
	}
}

func BenchmarkAllocFree(b *testing.B) {
	h := newHeap(b, Options{})
	a := h.NewArena()
	for b.Loop() {
		a.Free(a.Alloc(56))
	}
}

// BenchmarkChurn replaces blocks at random places of many.
func BenchmarkChurn(b *testing.B) {
	h := newHeap(b, Options{})
	a := h.NewArena()
	refs := make([]Ref, 1<<20)
	for i := range refs {
		refs[i] = a.Alloc(56)
	}
	i := uint32(0)
	for b.Loop() {
		i = (i*1664525 + 1013904223) & (1<<20 - 1)
		a.Free(refs[i])
		refs[i] = a.Alloc(56)
	}
}

func BenchmarkLarge(b *testing.B) {
	h := newHeap(b, Options{})
	for _, n := range []int{20 << 10, 60 << 10, 200 << 10, 1 << 20} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				r := h.AllocLarge(n)
				clear(h.Bytes(r, n))
				h.Release(r)
			}
		})
	}
}

package arena

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func newHeap(t testing.TB, opts Options) *Heap {
	t.Helper()
	h, err := NewHeap(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestClasses(t *testing.T) {
	for n := 1; n <= MaxSmall; n++ {
		c := classOf(n)
		size := sizeOfClass(c)
		if size < n || c > 0 && sizeOfClass(c-1) >= n {
			t.Fatalf("%d bytes go to class %d of %d bytes", n, c, size)
		}
		waste, most := size-n, n/8
		switch {
		case n > 8<<10:
			most = n * 2 / 7
		case n > maxStep && n <= 4<<10:
			most = n / 16
		}
		if waste > 8 && waste > most+8 {
			t.Fatalf("%d bytes waste %d", n, waste)
		}
	}
	for c := range classes {
		if rest := SlabSize - int(classes[c].limit)*8; c >= stepClasses && rest > 512 || rest > SlabSize/20 {
			t.Fatalf("class %d of %d bytes leaves %d bytes of a slab", c, sizeOfClass(c), rest)
		}
	}
	if classOf(MaxSmall) != numClasses-1 || classOf(0) != 0 {
		t.Fatal("the ends are not covered")
	}
}

// block is what the model knows of a live block.
type block struct {
	r    Ref
	n    int
	mark uint64
}

// fill writes the mark to both ends.
func (b block) fill(h *Heap) {
	m := h.Bytes(b.r, h.Cap(b.r))
	binary.LittleEndian.PutUint64(m[len(m)-8:], b.mark)
	binary.LittleEndian.PutUint64(m, b.mark)
}

// intact reports whether both ends still hold the mark.
func (b block) intact(h *Heap) bool {
	m := h.Bytes(b.r, h.Cap(b.r))
	return binary.LittleEndian.Uint64(m) == b.mark && binary.LittleEndian.Uint64(m[len(m)-8:]) == b.mark
}

func TestArenaModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, err := NewHeap(Options{Reserve: 1 << 32})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		arenas := []*Arena{h.NewArena(), h.NewArena(), h.NewArena()}
		live := make([][]block, len(arenas))
		mark := uint64(0)
		pick := rapid.IntRange(0, len(arenas)-1)
		alloc := func(t *rapid.T, n int) {
			i := pick.Draw(t, "arena")
			mark++
			b := block{arenas[i].Alloc(n), n, mark}
			if b.r == 0 || h.Cap(b.r) < n || h.Cap(b.r) != SizeFor(n) {
				t.Fatalf("Alloc(%d) = %x of %d bytes", n, b.r, h.Cap(b.r))
			}
			b.fill(h)
			live[i] = append(live[i], b)
		}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) { alloc(t, rapid.IntRange(1, 70000).Draw(t, "n")) },
			"burst": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{8, 56, 64, 100, 2000, 8192}).Draw(t, "n")
				for range rapid.IntRange(1, 300).Draw(t, "times") {
					alloc(t, n)
				}
			},
			"free": func(t *rapid.T) {
				i := pick.Draw(t, "arena")
				for range min(len(live[i]), rapid.IntRange(1, 400).Draw(t, "times")) {
					j := rapid.IntRange(0, len(live[i])-1).Draw(t, "which")
					arenas[i].Free(live[i][j].r)
					live[i][j] = live[i][len(live[i])-1]
					live[i] = live[i][:len(live[i])-1]
				}
			},
			"compact": func(t *rapid.T) {
				i := pick.Draw(t, "arena")
				compact(t, arenas[i], live[i])
			},
			"age":     func(*rapid.T) { h.Age() },
			"release": func(t *rapid.T) { h.ReleasePages(rapid.IntRange(0, 100).Draw(t, "slabs")) },
			"drop": func(t *rapid.T) {
				i := pick.Draw(t, "arena")
				for _, b := range live[i] {
					if h.IsLarge(b.r) {
						h.Release(b.r)
					}
				}
				live[i] = live[i][:0]
				arenas[i].Drop()
			},
			"": func(t *rapid.T) { checkModel(t, h, arenas, live) },
		})
	})
}

// compact moves what should be moved and expects the marked slabs to go.
func compact(t *rapid.T, a *Arena, live []block) {
	want, moved := a.Sparse(), 0
	for i, b := range live {
		if !a.Evacuating(b.r) {
			continue
		}
		n := a.Alloc(b.n)
		copy(a.h.Bytes(n, a.h.Cap(n)), a.h.Bytes(b.r, a.h.Cap(b.r)))
		a.Free(b.r)
		live[i].r = n
		moved++
	}
	if moved != want || a.Pending() != 0 {
		t.Fatalf("moved %d blocks, expected %d; %d slabs remain", moved, want, a.Pending())
	}
}

// checkModel checks that every block is intact and that the counters are right.
func checkModel(t *rapid.T, h *Heap, arenas []*Arena, live [][]block) {
	used := int64(0)
	for _, bs := range live {
		for _, b := range bs {
			used += int64(h.Cap(b.r))
			if !b.intact(h) {
				t.Fatalf("block %x of %d bytes was overwritten", b.r, b.n)
			}
		}
	}
	if h.Used() != used {
		t.Fatalf("Used() = %d, blocks have %d", h.Used(), used)
	}
	if d := h.UsedNear() - used; d > 3*nearSlack || d < -3*nearSlack {
		t.Fatalf("UsedNear() is off by %d", d)
	}
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	for _, a := range arenas {
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

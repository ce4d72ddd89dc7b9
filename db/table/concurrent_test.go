package table

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"heddle/db/arena"
	"heddle/db/invariants"
)

// TestTouchWhileChanging has readers without a lock follow whatever they meet while the
// table grows, shrinks, is dropped, and its memory goes back to the system.
func TestTouchWhileChanging(t *testing.T) {
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for seed := range uint64(2) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			sum := uint64(0)
			for !stop.Load() {
				h := mix(r.Uint64N(20000))
				sum += w.t.TouchSlot(h) + w.t.TouchRecord(h)
			}
			touched(sum)
		})
	}
	for round := range 4 {
		for id := range uint64(20000) {
			if err := w.set(id, false); err != nil {
				t.Fatal(err)
			}
		}
		if round == 2 {
			w.t.Drop()
			for _, e := range w.model {
				w.arena.Free(e.ref)
			}
			clear(w.model)
		}
		for id := range uint64(20000) {
			if err := w.del(id); err != nil {
				t.Fatal(err)
			}
		}
		w.heap.ReleasePages(1000)
	}
	stop.Store(true)
	wg.Wait()
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

// TestViewWhileChanging reads a view without a lock while all of it is replaced.
func TestViewWhileChanging(t *testing.T) {
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	for id := range uint64(n) {
		if err := w.set(id, false); err != nil {
			t.Fatal(err)
		}
	}
	w.snapshot()
	v := w.views[0]
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = w.checkView(v)
		}
		done <- err
	}()
	for id := range uint64(n) {
		if s, ok := w.t.Find(mix(id), keyOf(id)); ok {
			w.t.SetClock(s, 7)
		}
		if err := w.set(id+uint64(n), true); err != nil {
			t.Fatal(err)
		}
		if err := w.del(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotCost has a snapshot of which nothing changes cost nothing, and one of which
// one record changes a segment.
func TestSnapshotCost(t *testing.T) {
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(20000) {
		if err := w.set(id, false); err != nil {
			t.Fatal(err)
		}
	}
	before := w.arena.Used()
	w.snapshot()
	if n := w.arena.Used() - before; n != 0 {
		t.Fatalf("a snapshot takes %d bytes", n)
	}
	for range 2 {
		if err := w.set(5, true); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.arena.Used() - before; n != bucketSize*segmentBuckets+16 {
		t.Fatalf("one changed record takes %d bytes", n)
	}
	if err := w.closeView(0); err != nil {
		t.Fatal(err)
	}
	if n := w.arena.Used() - before; n != 0 {
		t.Fatalf("a closed snapshot leaves %d bytes", n)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checked builds split segments at random")
	}
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	defer w.heap.Close()
	for id := range uint64(5000) {
		if err := w.set(id, false); err != nil {
			t.Fatal(err)
		}
	}
	key, id := keyOf(77), uint64(77)
	ref := w.arena.Alloc(16)
	var keep arena.Ref
	f := func(what string, fn func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s allocates %v times", what, n)
		}
	}
	f("Find", func() {
		s, _ := w.t.Find(mix(id), key)
		w.t.SetClock(s, w.t.Clock(s)+1)
		w.t.SetRef(s, w.t.Ref(s))
	})
	f("FindHash", func() {
		w.t.FindHash(mix(id), func(s Slot) bool { keep = w.t.Ref(s); return true })
	})
	f("Insert and Delete", func() {
		*w.heap.Word(ref) = 1 << 40
		s, _ := w.t.Insert(mix(1<<40), ref, 1)
		w.t.Delete(s)
	})
	f("Scan", func() { w.t.Scan(0, func(s Slot) { keep = w.t.Ref(s) }) })
	f("Sample", func() { w.t.Sample(12345, 5, func(s Slot) { keep = w.t.Ref(s) }) })
	f("Touch", func() { id += w.t.TouchSlot(id) + w.t.TouchRecord(id) })
	_ = keep
}

// TestRandomIsFair draws from a table whose segments are of different depths.
func TestRandomIsFair(t *testing.T) {
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	const n, draws = 2000, 400000
	for id := range uint64(n) {
		if err := w.set(id, false); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	counts := [n]int{}
	for range draws {
		s, _ := w.t.Random(r.Uint64)
		counts[*w.heap.Word(w.t.Ref(s))]++
	}
	for id, c := range counts {
		if c < draws/n/2 || c > draws/n*2 {
			t.Errorf("key %d was drawn %d times of %d", id, c, draws/n)
		}
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

// TestMemoryComesBack deletes nine of ten records and expects the rest to be compacted.
func TestMemoryComesBack(t *testing.T) {
	w, err := newWorld(mix)
	if err != nil {
		t.Fatal(err)
	}
	const n = 60000
	for id := range uint64(n) {
		if err := w.set(id, false); err != nil {
			t.Fatal(err)
		}
	}
	peak := w.heap.Mapped()
	for id := range uint64(n) {
		if id%10 != 0 {
			if err := w.del(id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for cursor := w.t.Shrink(0, 3); cursor != 0; {
		cursor = w.t.Shrink(cursor, 3)
	}
	if err := w.compact(); err != nil {
		t.Fatal(err)
	}
	w.arena.Trim()
	w.heap.Age()
	w.heap.Age() // nothing was in use not long ago
	for w.heap.ReleasePages(10) > 0 {
	}
	if m := w.heap.Mapped(); m > peak*3/10 {
		t.Errorf("%d KB of %d KB remain, the index has %d KB", m>>10, peak>>10, w.t.MemSize()>>10)
	}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}

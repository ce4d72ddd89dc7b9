package host

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 300, 1: 300, 4: 300, 6: 200, 12: 100, 24: 50, 32: 40, 100: 32, 200: 16, 256: 12, 100_000: 12} {
		if got := gcPercent(live << 20); got != want {
			t.Errorf("%d MB alive: %d, want %d", live, got, want)
		}
	}
}

func TestHeapKeeper(t *testing.T) {
	t.Setenv("GOGC", "")
	k := newHeapKeeper()
	ever, objects := uint64(0), uint64(0)
	f := func(live, allocated, free, written uint64, percent int, trim bool) {
		t.Helper()
		ever += written << 20
		p, tr := k.look(heapState{live << 20, allocated << 20, free << 20, ever, objects << 20})
		if p != percent || tr != trim {
			t.Errorf("%d MB of %d alive, %d free, %d new: %d, %v", live, allocated, free, written, p, tr)
		}
	}
	f(3, 10, 0, 10, 300, false)
	f(128, 140, 0, 80, 25, false)
	f(130, 140, 0, 1, 0, false) // hardly another pace
	f(400, 500, 0, 400, 12, false)
	for range quietTicks - 1 {
		f(400, 440, 10, 0, 0, false)
	}
	f(400, 440, 10, 0, 0, true)
	for range 3 * quietTicks {
		f(400, 401, 0, 0, 0, false) // nothing left to give back
	}
	objects = 380
	f(401, 410, 0, 10, 0, false)
	objects = 100
	for range quietTicks - 1 {
		f(401, 410, 0, 0, 0, false)
	}
	f(401, 410, 0, 0, 0, true) // what was deleted is garbage that no collection has seen
	f(400, 450, 0, 1, 0, false)
	f(10, 450, 0, 0, 120, false)
	t.Setenv("GOGC", "50")
	k = newHeapKeeper()
	f(400, 800, 0, 0, 0, false)
}

// TestKeepHeap lets go of much memory, and wants it back from the runtime.
func TestKeepHeap(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	waste := make([]byte, 200<<20)
	for i := range waste {
		waste[i] = 1
	}
	objects := atomic.Int64{}
	objects.Store(int64(len(waste)))
	go keepHeap(ctx, objects.Load)
	time.Sleep(2 * heapTick)
	runtime.KeepAlive(waste)
	waste = nil
	objects.Store(0)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s := heapNow(0)
		if s.allocated+s.free < 100<<20 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", s)
		}
	}
}

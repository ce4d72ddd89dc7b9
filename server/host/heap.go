package host

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Go's heap holds what is not in the arenas: large collections, in blocks of a few KB
// without pointers, and what passes through, transactions of large values and the like.
//
// The runtime's own pace, a collection whenever the heap has doubled, would make large
// collections take twice their size. To look at them is cheap, a mark for each block:
// some 0.2 ms of processor time for a megabyte. So the heap may grow by two fifths of
// what is alive, but as it gets larger by no more than 32 MB or an eighth, whichever is
// more: to write a megabyte of new blocks then costs 0.5 to 2 ms of collection, which is
// some 50 ns at most for each element that is inserted, and nothing where blocks are
// changed in place. A small heap may grow by some MB: to write a file of 60 MB cost 90
// collections otherwise, each of which stops all workers for a moment. When the heap is
// quiet and a noticeable part of it is garbage, it is collected and the memory given back,
// since nothing else would do that for minutes.

const (
	// heapRoom is how much a large heap may grow before it is collected, at least.
	heapRoom = 32 << 20
	// mostPercent and leastPercent are the bounds of GOGC, for heaps that are not small.
	mostPercent  = 40
	leastPercent = 12
	// smallRoom is how much a small heap may grow, and smallPercent bounds GOGC for it:
	// the runtime takes it as percents of 4 MB at least.
	smallRoom    = 12 << 20
	smallPercent = 300
	// heapTick is how often the keeper looks.
	heapTick = 500 * time.Millisecond
	// quietTicks is for how many ticks little must have been allocated. What is given
	// back and needed again soon is dearer than what it saves meanwhile: see arena.Heap.Age.
	quietTicks = 20
	// quietBytes is how much little is, in a tick.
	quietBytes = 256 << 10
	// heapSlack is how much may be left that is not alive, beside a sixteenth of what is.
	heapSlack = 3 << 20
)

// gcPercent is GOGC for a heap of which so many bytes are alive.
func gcPercent(live uint64) int {
	live = max(live, 1)
	return max(min(int(100*heapRoom/live), mostPercent), leastPercent, min(int(100*smallRoom/live), smallPercent))
}

// heapState is what the runtime tells of the heap, in bytes.
type heapState struct {
	live      uint64 // found alive by the last collection
	allocated uint64 // in use now, garbage included
	free      uint64 // not in use, and not given back to the system
	ever      uint64 // allocated since the start
	objects   uint64 // in large collections that are in use
}

func heapNow(objects int64) heapState {
	s := [...]metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(s[:])
	return heapState{s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64(), s[3].Value.Uint64(), uint64(objects)}
}

// heapKeeper sets the pace of collections.
type heapKeeper struct {
	percent int // as it is set; 0: the user has set it
	quiet   int // ticks
	ever    uint64
	live    uint64 // as the last look saw it
	objects uint64 // there were at the last collection
}

// newHeapKeeper begins with the runtime's default, and leaves what the user chose.
func newHeapKeeper() *heapKeeper {
	k := &heapKeeper{percent: 100}
	if os.Getenv("GOGC") != "" {
		k.percent = 0
	}
	return k
}

// look says what GOGC is to become, 0 for no change, and whether memory should be given
// back now.
func (k *heapKeeper) look(s heapState) (percent int, trim bool) {
	if want := gcPercent(s.live); k.percent != 0 && abs(want-k.percent) > k.percent/8 {
		k.percent, percent = want, want
	}
	if k.quiet++; s.ever-k.ever > quietBytes {
		k.quiet = 0
	}
	k.ever = s.ever
	if s.live != k.live {
		k.live, k.objects = s.live, s.objects
	}
	dropped := k.objects - min(k.objects, s.objects) // found alive, but not any longer
	if k.quiet >= quietTicks && s.allocated+s.free+dropped > s.live+s.live/16+heapSlack {
		k.quiet, k.objects, trim = 0, s.objects, true
	}
	return percent, trim
}

func abs(n int) int { return max(n, -n) }

// keepHeap watches over Go's heap until the end. objects tells how many bytes large
// collections have.
func keepHeap(ctx context.Context, objects func() int64) {
	tick := time.NewTicker(heapTick)
	defer tick.Stop()
	for k := newHeapKeeper(); ctx.Err() == nil; {
		percent, trim := k.look(heapNow(objects()))
		if percent != 0 {
			debug.SetGCPercent(percent)
		}
		if trim {
			debug.FreeOSMemory()
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

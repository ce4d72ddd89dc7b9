package table

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"heddle/db/arena"
)

// benchRecord is the size of a record with a 15-byte key and a 32-byte value.
const benchRecord = 56

// benchTables is how many tables the keys are spread over, as over a keyspace's shards.
const benchTables = 64

// bench is tables full of n keys.
type bench struct {
	heap   *arena.Heap
	keys   *keyring
	tables [benchTables]*Table
	arenas [benchTables]*arena.Arena
	from   uint64 // the first key
	n      uint64
}

func newBench(b testing.TB, huge int64) *bench {
	h, err := arena.NewHeap(arena.Options{HugePages: huge})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Close() })
	x := &bench{heap: h, keys: &keyring{h, mix}}
	for i := range x.tables {
		x.arenas[i] = h.NewArena()
		x.tables[i] = New(h, x.arenas[i], x.keys, NewEpochs(new(atomic.Int64)))
	}
	return x
}

// grow inserts keys up to n.
func (x *bench) grow(n uint64) {
	for ; x.n < n; x.n++ {
		x.insert(x.from + x.n)
	}
}

func (x *bench) insert(id uint64) {
	hash := mix(id)
	i := hash & (benchTables - 1)
	ref := x.arenas[i].Alloc(benchRecord)
	*x.heap.Word(ref) = id
	if _, ok := x.tables[i].Insert(hash, ref, 1); !ok {
		panic("no memory")
	}
}

func (x *bench) find(id uint64, key []byte) bool {
	hash := mix(id)
	binary.LittleEndian.PutUint64(key, id)
	_, ok := x.tables[hash&(benchTables-1)].Find(hash, key)
	return ok
}

var benchSizes = []uint64{1e3, 1e4, 1e5, 1e6, 3e6, 1e7}

// eachSize runs fn with tables of growing size.
func eachSize(b *testing.B, fn func(b *testing.B, x *bench)) { eachSizeHuge(b, 0, fn) }

// eachSizeHuge is eachSize with huge pages from so many bytes on.
func eachSizeHuge(b *testing.B, huge int64, fn func(b *testing.B, x *bench)) {
	x := newBench(b, huge)
	for _, n := range benchSizes {
		if testing.Short() && n > 1e6 {
			return
		}
		x.grow(n)
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			reportCPU(b, func() { fn(b, x) })
			b.ReportMetric(x.perKey(), "B/key")
		})
	}
}

// reportCPU reports the time that the thread ran, which a busy machine distorts less.
func reportCPU(b *testing.B, fn func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := threadTime()
	fn()
	b.ReportMetric(float64(threadTime()-from)/float64(b.N), "cpu-ns/op")
}

func threadTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// perKey returns the bytes a key takes beside its record.
func (x *bench) perKey() float64 {
	sum := int64(0)
	for _, t := range x.tables {
		sum += t.MemSize()
	}
	return float64(sum) / float64(x.n)
}

func BenchmarkFindHit(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		r := rand.New(rand.NewPCG(1, 2))
		key := make([]byte, 8)
		for b.Loop() {
			if !x.find(x.from+r.Uint64N(x.n), key) {
				b.Fatal("missing")
			}
		}
	})
}

// BenchmarkFindAlone cannot begin a lookup before the last one is done.
func BenchmarkFindAlone(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		key := make([]byte, 8)
		id, turn := uint64(0), uint64(0)
		for b.Loop() {
			turn++
			id = x.from + mix(id^turn<<32)%x.n
			hash := mix(id)
			binary.LittleEndian.PutUint64(key, id)
			t := x.tables[hash&(benchTables-1)]
			s, ok := t.Find(hash, key)
			if !ok {
				b.Fatal("missing")
			}
			id = *x.heap.Word(t.Ref(s))
		}
	})
}

func BenchmarkFindMiss(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		r := rand.New(rand.NewPCG(1, 2))
		key := make([]byte, 8)
		for b.Loop() {
			if x.find(r.Uint64()|1<<63, key) {
				b.Fatal("found")
			}
		}
	})
}

// BenchmarkFindTouched looks keys up in batches that are touched first.
func BenchmarkFindTouched(b *testing.B) {
	for _, batch := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			eachSize(b, func(b *testing.B, x *bench) { x.findTouched(b, batch) })
		})
	}
}

// BenchmarkFindHuge is FindTouched with huge pages.
func BenchmarkFindHuge(b *testing.B) {
	for _, batch := range []int{1, 16} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			eachSizeHuge(b, 1, func(b *testing.B, x *bench) { x.findTouched(b, batch) })
		})
	}
}

func (x *bench) findTouched(b *testing.B, batch int) {
	r := rand.New(rand.NewPCG(1, 2))
	key := make([]byte, 8)
	ids, hashes := make([]uint64, batch), make([]uint64, batch)
	sum := uint64(0)
	b.ResetTimer()
	for i := 0; i < b.N; i += batch {
		for j := range ids {
			ids[j] = x.from + r.Uint64N(x.n)
			hashes[j] = mix(ids[j])
		}
		for _, h := range hashes {
			sum += x.tables[h&(benchTables-1)].TouchSlot(h)
		}
		for _, h := range hashes {
			sum += x.tables[h&(benchTables-1)].TouchRecord(h)
		}
		for _, id := range ids {
			if !x.find(id, key) {
				b.Fatal("missing")
			}
		}
	}
	touched(sum)
}

// BenchmarkInsert grows tables from empty to a size: the time is for one key.
func BenchmarkInsert(b *testing.B) {
	for _, n := range benchSizes {
		if testing.Short() && n > 1e6 {
			return
		}
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			reportCPU(b, func() {
				for done := uint64(0); done < uint64(b.N); done += n {
					x := newBench(b, 0)
					x.grow(min(n, uint64(b.N)-done))
					if n == x.n {
						b.ReportMetric(x.perKey(), "B/key")
					}
					x.heap.Close()
				}
			})
		})
	}
}

// BenchmarkDeleteInsert replaces the oldest key by a new one.
func BenchmarkDeleteInsert(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		key := make([]byte, 8)
		for b.Loop() {
			x.remove(x.from, key)
			x.from++
			x.insert(x.from + x.n - 1)
		}
	})
}

func (x *bench) remove(id uint64, key []byte) {
	hash := mix(id)
	t, a := x.tables[hash&(benchTables-1)], x.arenas[hash&(benchTables-1)]
	binary.LittleEndian.PutUint64(key, id)
	s, ok := t.Find(hash, key)
	if !ok {
		panic("missing")
	}
	ref := t.Ref(s)
	t.Delete(s)
	a.Free(ref)
}

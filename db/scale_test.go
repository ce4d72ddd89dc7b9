package db

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rss returns the process' resident memory in bytes.
func rss(b *testing.B) float64 {
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(data))[1])
	return float64(pages * os.Getpagesize())
}

// BenchmarkMemory stores 3 million keys of 15 bytes with 32-byte values, then
// deletes 90 % of them and runs what cron runs, for at most a minute.
func BenchmarkMemory(b *testing.B) {
	const n = 3_000_000
	for range b.N {
		before := rss(b)
		ks := open(b, Options{})
		fill(b, ks, n)
		peak := rss(b) - before
		b.ReportMetric(peak/n, "B/key")
		b.ReportMetric(float64(ks.Used())/n, "used-B/key")
		tx := ks.NewTx()
		var buf [16]byte
		for i := range uint64(n) {
			if i%10 != 0 {
				one(ks, tx, benchKey(buf[:], i), true, func() { tx.Delete(benchKey(buf[:], i)) })
			}
		}
		start := time.Now()
		for more := true; more && time.Since(start) < time.Minute; {
			ks.Shrink()
			ks.Age()
			more = ks.Compact(1000, 64)
		}
		b.ReportMetric(time.Since(start).Seconds(), "compact-s")
		b.ReportMetric((rss(b)-before)/peak*100, "%-left")
		b.ReportMetric(float64(ks.Used())/(n/10), "used-after-B/key")
	}
}

// quantiles reports the 50th, 99.9th percentile and maximum of durations.
func quantiles(b *testing.B, prefix string, d []time.Duration) {
	slices.Sort(d)
	b.ReportMetric(float64(d[len(d)/2])/1e3, prefix+"p50-us")
	b.ReportMetric(float64(d[len(d)*999/1000])/1e3, prefix+"p99.9-us")
	b.ReportMetric(float64(d[len(d)-1])/1e3, prefix+"max-us")
}

// cpuTime returns the processor time of this thread: what a command took, however
// busy the machine is with others.
func cpuTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// BenchmarkGrowth grows to 10 million keys and reports the longest single SET.
func BenchmarkGrowth(b *testing.B) {
	const n = 10_000_000
	for range b.N {
		ks := open(b, Options{})
		tx := ks.NewTx()
		var buf [16]byte
		val := make([]byte, 32)
		wall, cpu := make([]time.Duration, n), make([]time.Duration, n)
		runtime.LockOSThread()
		lastWall, lastCPU := time.Now(), cpuTime()
		for i := range uint64(n) {
			set(ks, tx, benchKey(buf[:], i), val)
			w, c := time.Now(), cpuTime()
			wall[i], lastWall = w.Sub(lastWall), w
			cpu[i], lastCPU = c-lastCPU, c
		}
		runtime.UnlockOSThread()
		quantiles(b, "", wall)
		quantiles(b, "cpu-", cpu)
		begin := time.Now()
		sn := ks.Snapshot(nil)
		b.ReportMetric(float64(time.Since(begin))/1e3, "snapshot-begin-us")
		begin = time.Now()
		count := 0
		sn.Each(0, func(*Item) bool { count++; return true })
		b.ReportMetric(float64(time.Since(begin))/float64(count), "snapshot-ns/key")
		sn.Close()
	}
}

// BenchmarkSnapshot reads a snapshot of 3 million keys to its end, over and
// over, while keys are written, and compares the writers' latencies.
func BenchmarkSnapshot(b *testing.B) {
	const n, writes = 3_000_000, 60_000
	for range b.N {
		ks := open(b, Options{})
		fill(b, ks, n)
		quantiles(b, "quiet-", paced(ks, n, writes))
		used := ks.Used()
		var stop atomic.Bool
		var most atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for !stop.Load() {
				sn := ks.Snapshot(nil)
				sn.Each(0, func(it *Item) bool { return len(it.Key) > 0 })
				most.Store(max(most.Load(), ks.Used()-used))
				sn.Close()
			}
		})
		quantiles(b, "busy-", paced(ks, n, writes))
		stop.Store(true)
		wg.Wait()
		b.ReportMetric(float64(most.Load())/1e6, "kept-MB")
	}
}

// paced runs writes at 30,000 a second and returns how long each took.
func paced(ks *Keyspace, keys, writes uint64) []time.Duration {
	tx := ks.NewTx()
	var buf [16]byte
	val := []byte(fmt.Sprintf("%032d", writes))
	val[0] = 'x'
	d := make([]time.Duration, writes)
	start := time.Now()
	for i := range writes {
		for time.Since(start) < time.Duration(i)*time.Second/30_000 {
		}
		t := time.Now()
		set(ks, tx, benchKey(buf[:], tx.Rand()%keys), val)
		d[i] = time.Since(t)
	}
	return d
}

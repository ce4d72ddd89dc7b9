package aof

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"heddle/disk"
	"heddle/disk/simdisk"
)

// rig is an Appender within a bubble of time, on a disk whose syncs and writes take as long as they are told.
type rig struct {
	t     *testing.T
	d     *simdisk.Disk
	src   *fakeSource
	app   *Appender
	limit atomic.Int64
	mu    sync.Mutex
	fault error
	sleep map[simdisk.Kind]time.Duration
	fail  map[simdisk.Kind]error
	syncs atomic.Int64
}

func newRig(t *testing.T, p Policy) *rig {
	g := &rig{t: t, d: simdisk.New(), src: newSource(), sleep: map[simdisk.Kind]time.Duration{}, fail: map[simdisk.Kind]error{}}
	f, err := g.d.OpenFile("/aof", 0o102, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	g.d.Fail(func(op simdisk.Op) error {
		g.mu.Lock()
		d, err := g.sleep[op.Kind], g.fail[op.Kind]
		if op.Kind == simdisk.Sync {
			g.syncs.Add(1)
		}
		g.mu.Unlock()
		time.Sleep(d)
		return err
	})
	g.app = Start(AppenderOptions{
		Source: g.src, File: f, Policy: p, Now: time.Now, After: time.After, MaxBehind: 1000,
		Publish: func(l int64) { g.limit.Store(l) }, Fault: func(err error) { g.mu.Lock(); g.fault = err; g.mu.Unlock() },
	})
	return g
}

func (g *rig) set(k simdisk.Kind, d time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sleep[k], g.fail[k] = d, err
}

func (g *rig) write(n int) int64 {
	return g.src.add(time.Now().UnixMilli(), effect{0, []string{"SET", "k", strings.Repeat("x", n)}})
}

func (g *rig) text() string {
	f, err := disk.Open(g.d, "/aof")
	if err != nil {
		g.t.Fatal(err)
	}
	b := make([]byte, 1<<20)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

func (g *rig) want(what string, limit int64) {
	g.t.Helper()
	if got := g.limit.Load(); got != limit {
		g.t.Errorf("%s: the gate is at %d, not %d", what, got, limit)
	}
}

// TestGroupCommit: under always nothing is told before it is synced, and what comes during a sync shares the next.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Always)
		g.set(simdisk.Sync, 10*time.Millisecond, nil)
		first := g.write(1)
		synctest.Wait()
		g.want("during the sync", 0)
		var last int64
		for range 50 {
			last = g.write(1)
		}
		time.Sleep(11 * time.Millisecond)
		g.want("after one sync", first)
		time.Sleep(10 * time.Millisecond)
		g.want("after two", last)
		if g.syncs.Load() != 2 {
			t.Errorf("%d syncs", g.syncs.Load())
		}
		if err := g.app.Close(); err != nil {
			t.Error(err)
		}
		g.want("closed", math.MaxInt64)
	})
}

// TestTwoSecondRule: under everysec a slow sync holds nobody up, until what was acknowledged is unsynced for two
// seconds: then replies wait for it.
func TestTwoSecondRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, EverySec)
		g.set(simdisk.Sync, 5*time.Second, nil)
		first := g.write(1)
		time.Sleep(1500 * time.Millisecond)
		g.want("while the sync is not late", math.MaxInt64)
		second := g.write(1)
		time.Sleep(750 * time.Millisecond)
		g.want("2.25 s after the first write", 0)
		if !g.app.Stats().Syncing || g.app.Stats().Delayed != 1 {
			t.Errorf("%+v", g.app.Stats())
		}
		if !strings.Contains(g.text(), "$1\r\nx\r\n*3") {
			t.Error("the second write waits for the sync")
		}
		time.Sleep(4 * time.Second) // 6.25: the sync that began at about 1 has ended; the second write is 4.6 s old
		g.want("after the first sync", first)
		time.Sleep(6 * time.Second)
		g.want("after the second sync", math.MaxInt64)
		if g.app.Stats().Unsynced != 0 {
			t.Errorf("%+v, second at %d", g.app.Stats(), second)
		}
		g.set(simdisk.Sync, 0, nil)
		if err := g.app.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestEverySecond: one sync a second while there is something to sync, none without.
func TestEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, EverySec)
		for range 100 {
			g.write(1)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if n := g.syncs.Load(); n < 9 || n > 12 {
			t.Errorf("%d syncs in ten seconds", g.syncs.Load())
		}
		before := g.syncs.Load()
		time.Sleep(time.Hour)
		if g.syncs.Load() != before {
			t.Errorf("%d syncs of nothing", g.syncs.Load()-before)
		}
		g.app.SetNoSync(true)
		g.write(1)
		time.Sleep(10 * time.Second)
		if g.syncs.Load() != before {
			t.Error("a sync while there is to be none")
		}
		g.want("without syncs", math.MaxInt64)
		g.app.SetNoSync(false)
		synctest.Wait()
		g.want("syncs again", math.MaxInt64)
		if n := g.app.Stats().Delayed; n != 0 {
			t.Errorf("the time without syncs counts as delay: %d", n)
		}
		g.app.SetPolicy(Always)
		end := g.write(1)
		synctest.Wait()
		g.want("always", end)
		g.app.SetPolicy(No)
		g.write(1)
		time.Sleep(5 * time.Second)
		g.want("no", math.MaxInt64)
		if err := g.app.Close(); err != nil {
			t.Error(err)
		}
		if d := g.d.Crash(simdisk.Nothing, 0); d == nil {
			t.Error("no disk")
		}
	})
}

// TestSlowWrites: when the disk takes less than is produced, replies wait before memory runs full.
func TestSlowWrites(t *testing.T) {
	for _, p := range []Policy{EverySec, No} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, p)
			g.set(simdisk.Write, time.Second, nil)
			g.write(10)
			time.Sleep(10 * time.Millisecond)
			for range 20 {
				g.write(100)
			}
			time.Sleep(200 * time.Millisecond)
			g.want("with much behind", 0)
			g.set(simdisk.Write, 0, nil)
			time.Sleep(10 * time.Second)
			g.want("with nothing behind", math.MaxInt64)
			if err := g.app.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFaults: an error is told once it happens, one try a second follows, and a success clears it; the file has
// everything once.
func TestFaults(t *testing.T) {
	for _, p := range []Policy{Always, EverySec, No} {
		for _, k := range []simdisk.Kind{simdisk.Write, simdisk.Sync} {
			for _, e := range []error{syscall.ENOSPC, syscall.EIO, &simdisk.Short{N: 7, Err: syscall.ENOSPC}} {
				if _, short := e.(*simdisk.Short); k == simdisk.Sync && (p == No || short) {
					continue
				}
				synctest.Test(t, func(t *testing.T) { testFault(t, p, k, e) })
			}
		}
	}
}

func testFault(t *testing.T, p Policy, k simdisk.Kind, e error) {
	g := newRig(t, p)
	g.write(1)
	time.Sleep(3 * time.Second)
	good := g.app.Stats().Size
	g.set(k, 0, e)
	g.write(2)
	time.Sleep(3 * time.Second)
	g.mu.Lock()
	fault := g.fault
	g.mu.Unlock()
	var no syscall.Errno
	if !errors.As(fault, &no) || g.app.Stats().Err == nil {
		t.Errorf("%v %s: the fault is %v", p, k, fault)
	}
	if p != Always {
		g.want("with a fault", math.MaxInt64)
	}
	if k == simdisk.Write && g.app.Stats().Size != good {
		t.Errorf("the file has %d bytes, not %d", g.app.Stats().Size, good)
	}
	g.set(k, 0, nil)
	time.Sleep(1100 * time.Millisecond)
	g.mu.Lock()
	fault = g.fault
	g.mu.Unlock()
	if fault != nil || g.app.Stats().Err != nil {
		t.Errorf("%v %s: the fault stays: %v", p, k, fault)
	}
	end := g.write(3)
	if err := g.app.Close(); err != nil {
		t.Error(err)
	}
	text := g.text()
	for _, x := range []string{"$1\r\nx\r\n", "$2\r\nxx\r\n", "$3\r\nxxx\r\n"} {
		if strings.Count(text, x) != 1 {
			t.Errorf("%v %s %v: %q is there %d times in %q", p, k, e, x, strings.Count(text, x), text)
		}
	}
	if g.src.released < end && p != No {
		t.Errorf("released up to %d of %d", g.src.released, end)
	}
}

// TestFlushFails: who flushes or closes gets the error, and is not kept waiting.
func TestFlushFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, EverySec)
		g.write(1)
		g.set(simdisk.Write, 0, syscall.ENOSPC)
		if err := g.app.Flush(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("flush: %v", err)
		}
		if err := g.app.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("close: %v", err)
		}
		if err := g.app.Flush(); err != ErrClosed {
			t.Errorf("flush when closed: %v", err)
		}
		if err := g.app.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// TestFormat: databases, groups and annotations.
func TestFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, EverySec)
		g.app.SetTimestamps(true)
		g.src.add(5_500, effect{0, []string{"A"}})
		g.src.add(5_900, effect{0, []string{"B"}})
		g.src.add(6_000, effect{12, []string{"C"}}, effect{12, []string{"D"}})
		g.src.add(5_000, effect{12, []string{"E"}}, effect{3, []string{"F"}}, effect{12, []string{"G"}})
		if err := g.app.Flush(); err != nil {
			t.Fatal(err)
		}
		g.app.SetTimestamps(false)
		g.src.add(9_000, effect{12, []string{"H"}})
		if err := g.app.Close(); err != nil {
			t.Fatal(err)
		}
		want := "#TS:5\r\n" + string(resp("SELECT", "0")) + string(resp("A")) + string(resp("B")) +
			"#TS:6\r\n" + string(resp("SELECT", "12")) + string(resp("MULTI")) + string(resp("C")) + string(resp("D")) + string(resp("EXEC")) +
			string(resp("MULTI")) + string(resp("E")) + string(resp("SELECT", "3")) + string(resp("F")) +
			string(resp("SELECT", "12")) + string(resp("G")) + string(resp("EXEC")) + string(resp("H"))
		if got := g.text(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// nowhere is a file that takes everything.
type nowhere struct{ disk.File }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkFormat formats and writes groups without allocating.
func BenchmarkFormat(b *testing.B) {
	for name, effects := range map[string]int{"one": 1, "multi": 3} {
		b.Run(name, func(b *testing.B) {
			a := &Appender{o: AppenderOptions{Now: time.Now, Source: newSource(), Publish: func(int64) {}}, stir: make(chan struct{}, 1), file: nowhere{}}
			a.w.init(a, 0, 0)
			value := strings.Repeat("x", 100)
			var body []byte
			for range effects {
				body = append(body, resp("SET", "some:key:name", value)...)
			}
			records := make([]Record, 100)
			for i := range records {
				records[i] = Record{Start: int64(i), End: int64(i + 1), DB: i / 50, Effects: effects, Millis: 1, First: true, Last: true, RESP: body}
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%len(records) == 0 {
					a.w.records = records
					if err := a.w.take(-1); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkScan reads commands.
func BenchmarkScan(b *testing.B) {
	var text []byte
	for range 10000 {
		text = append(text, resp("SET", "some:key:name", strings.Repeat("x", 32))...)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		sc := NewScanner(strings.NewReader(string(text)), ScanOptions{Size: int64(len(text))})
		var batch Batch
		for sc.Next(&batch) == nil {
		}
	}
}

// TestSwitchOfClosed has a switch asked for when the Appender is gone.
func TestSwitchOfClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Always)
		if err := g.app.Close(); err != nil {
			t.Error(err)
		}
		g.app.SwitchAt(0, func() (disk.File, error) { return nil, errors.New("asked") })
		if err := g.app.WaitSwitch(); err != ErrClosed {
			t.Errorf("%v", err)
		}
	})
}

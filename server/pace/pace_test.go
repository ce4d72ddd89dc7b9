package pace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	f := func(share int64, s signs, want int64) {
		t.Helper()
		if got := next(share, s); got != want {
			t.Errorf("next(%d, %+v) = %d, want %d", share, s, got, want)
		}
	}
	f(full, signs{}, full)
	f(full-1, signs{}, full)
	f(halfShare, signs{}, halfShare+growth)
	f(full, signs{waited: true}, full*3/4)
	f(full, signs{waited: true, crowded: true}, full*3/4)
	f(halfShare+1, signs{waited: true}, halfShare)
	f(full, signs{crowded: true}, full-crowdStep)
	f(halfShare+1, signs{crowded: true}, halfShare)
	f(full, signs{blind: true}, halfShare)
}

func TestRest(t *testing.T) {
	f := func(worked time.Duration, share, readers int64, want time.Duration) {
		t.Helper()
		if got := rest(worked, share, readers); got != want {
			t.Errorf("rest(%v, %d, %d) = %v, want %v", worked, share, readers, got, want)
		}
	}
	const us = time.Microsecond
	f(20*us, full, 1, 0)
	f(20*us, full, 8, 0)
	f(20*us, full/2, 1, 20*us)
	f(20*us, full/4, 1, 60*us)
	f(20*us, full/4, 2, 140*us)
	f(20*us, full/4, 0, 60*us)
}

// told makes a Pacer of one thread on one processor to which the test tells the signs.
func told(t *testing.T) (p *Pacer, tell func(waited, load string)) {
	t.Helper()
	dir := t.TempDir()
	thread, load := filepath.Join(dir, "schedstat"), filepath.Join(dir, "loadavg")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tell = func(w, l string) { write(thread, w); write(load, l) }
	tell("100 0 1\n", "0.20 0.18 0.12 1/80 11206\n")
	p = New()
	t.Cleanup(p.Close)
	p.watchFile(thread)
	_ = p.mu.load.Close()
	var err error
	if p.mu.load, err = os.Open(load); err != nil {
		t.Fatal(err)
	}
	p.cpus = 1
	p.mu.demand.file = "" // unknown: what crowds the machine are others
	return p, tell
}

func TestSigns(t *testing.T) {
	p, tell := told(t)
	now := time.Hour
	look := func(times int) int64 {
		for range times {
			now += lookEvery
			p.look(now)
		}
		return p.share.Load()
	}
	if got := look(1000); got != full {
		t.Errorf("without signs the share is %d", got)
	}
	tell("100 0 1\n", "0.20 0.18 0.12 2/80 11206\n")
	if got := look(1000); got != halfShare {
		t.Errorf("on a crowded machine the share is %d", got)
	}
	tell("200 0 2\n", "0.20 0.18 0.12 1/80 11206\n")
	look(1000)
	tell("200 10000000 3\n", "0.20 0.18 0.12 1/80 11206\n")
	if got := look(1); got != full*3/4 {
		t.Errorf("when a worker waited the share becomes %d", got)
	}
	if got := look(1); got != full*3/4+growth {
		t.Errorf("when none waits any longer the share becomes %d", got)
	}
	tell("200 30000000 2\n", "")
	now += time.Minute
	before := p.share.Load()
	if got := look(1); got != before+growth {
		t.Errorf("a wait of long ago makes %d of %d", got, before)
	}
	for range 100 {
		tell("", "no numbers")
	}
	if got := look(3); got != halfShare {
		t.Errorf("when nothing is told the share is %d", got)
	}
	p.nextAt.Store(int64(now + time.Second))
	p.look(now)
	if p.share.Load() != halfShare {
		t.Error("it looked before its time")
	}
}

// A crowd counts if others use processors, as of a tenth of a second ago.
func TestDemand(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stat")
	d := newDemand()
	d.file = name
	var used time.Duration
	var err error
	d.own = func() (time.Duration, error) { return used, err }
	now := time.Hour
	busy := int64(1000)
	f := func(busyFor, own, served time.Duration, span time.Duration, told, want bool) {
		t.Helper()
		const tick = time.Second / ticksPerSecond
		busy += int64(busyFor / tick)
		used += own
		d.served += served
		now += span
		if err := os.WriteFile(name, fmt.Appendf(nil, "cpu  %d 1 2 1000 50 3 4 99 0 0\ncpu0 1\n", busy), 0o600); err != nil {
			t.Fatal(err)
		}
		d.measure(now, told)
		if d.wanted != want {
			t.Errorf("wanted: %v", d.wanted)
		}
	}
	const ms = time.Millisecond
	f(0, 0, 0, 0, true, true)                     // nothing is known yet
	f(200*ms, 200*ms, 0, 100*ms, true, false)     // all of it is ours
	f(200*ms, 200*ms, 30*ms, 100*ms, true, true)  // but workers did some of that
	f(200*ms, 190*ms, 10*ms, 100*ms, true, false) // others take little
	f(100*ms, 100*ms, 0, 50*ms, true, false)      // too early to look again
	f(100*ms, 60*ms, 0, 50*ms, true, true)        // others take more
	f(200*ms, 200*ms, 0, 100*ms, false, true)     // what workers take is not told
	f(100*ms, 100*ms, 0, 100*ms, true, false)
	f(2000*ms, 2000*ms, 0, 2000*ms, true, true) // that was long ago
	f(100*ms, 100*ms, 0, 100*ms, true, false)
	err = os.ErrInvalid
	f(100*ms, 100*ms, 0, 100*ms, true, true) // the system does not tell
	err, d.file = nil, ""
	f(100*ms, 100*ms, 0, 100*ms, true, true)
	if own, err := ownTime(); own <= 0 || err != nil {
		t.Errorf("own time %v, %v", own, err)
	}
}

func TestNumbers(t *testing.T) {
	p, tell := told(t)
	f := func(waited, load string, wantWaited int64, told bool, wantRunning int, known bool) {
		t.Helper()
		tell(waited, load)
		for th := range p.mu.threads {
			th.waited, th.runs = 0, 0
		}
		if n, ok := p.waited(); n != wantWaited || ok != told {
			t.Errorf("%q: %d, %v", waited, n, ok)
		}
		if n, ok := p.running(); n != wantRunning || ok != known {
			t.Errorf("%q: %d, %v", load, n, ok)
		}
	}
	f("1 200000 3\n", "0.20 0.18 0.12 17/80 11206\n", 20000, true, 17, true)
	f("1 90 3\n", "0.20 0.18 0.12 1/80 11206\n", 0, true, 1, true)
	f("", "", 0, false, 0, false)
	f("1", "/", 0, false, 0, false)
	f("1 x 3", "0.1 x/2", 0, false, 0, false)
}

func TestOnlineCPUs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "online")
	f := func(text string, want int) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := onlineCPUs(name); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	f("0\n", 1)
	f("0-3,8\n", 5)
	f("0-1\n", 2)
	f("", runtime.NumCPU())
	f("3-1", runtime.NumCPU())
	f("0-,1", runtime.NumCPU())
	if n := onlineCPUs("/sys/devices/system/cpu/online"); n < runtime.NumCPU() {
		t.Errorf("%d processors, of which this process may use %d", n, runtime.NumCPU())
	}
}

// TestSystem reads the signs of this system.
func TestSystem(t *testing.T) {
	p := New()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stop := p.Watch()
	if n, ok := p.running(); p.mu.load != nil && (!ok || n < 1) {
		t.Errorf("%d threads run (%v)", n, ok)
	}
	if _, ok := p.waited(); len(p.mu.threads) > 0 && !ok {
		t.Error("the thread cannot be watched")
	}
	stop()
	stop()
	if len(p.mu.threads) != 0 {
		t.Error("the thread is watched still")
	}
	p.Watch()
	p.Close()
	p.Close()
	if len(p.mu.threads) != 0 || p.mu.load != nil {
		t.Error("something is open after Close")
	}
}

// TestReaders lets several read under signs, and without.
func TestReaders(t *testing.T) {
	p, tell := told(t)
	work := func(readers int) {
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				b := p.Begin()
				defer b.End()
				for until := p.now() + 20*time.Millisecond; p.now() < until; {
					b.Breathe()
				}
			})
		}
		wg.Wait()
	}
	p.share.Store(full)
	work(2)
	if d, n := p.Slept(); n != 0 {
		t.Errorf("without signs readers slept %d times, %v", n, d)
	}
	tell("100 0 1\n", "0.20 0.18 0.12 2/80 11206\n")
	for tries := 0; tries < 100 && p.breaks.Load() == 0; tries++ { // on a busy machine 20 ms may hold little work
		work(2)
	}
	if d, n := p.Slept(); n == 0 || d == 0 {
		t.Error("with signs readers did not sleep")
	}
	if s := p.Share(); s < float64(halfShare)/full || s > 1 {
		t.Errorf("share %v", s)
	}
	if n := p.readers.Load(); n != 0 {
		t.Errorf("%d readers are left", n)
	}
}

func BenchmarkBreathe(b *testing.B) {
	p := New()
	defer p.Close()
	r := p.Begin()
	defer r.End()
	p.share.Store(full)
	b.ReportAllocs()
	for range b.N {
		r.Breathe()
	}
}

func BenchmarkLook(b *testing.B) {
	p := New()
	defer p.Close()
	defer p.Watch()()
	b.ReportAllocs()
	for i := range b.N {
		p.look(time.Duration(i) * lookEvery)
	}
}

package aof

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

// written waits until the Appender has written all that there is.
func (w *world) written() {
	for end := time.Now().Add(10 * time.Second); w.app.Stats().Behind > 0; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			w.t.Fatal("it is never written")
		}
	}
}

// window has operations fail: count of them from the first on.
type window struct {
	mu           sync.Mutex
	first, count int
	failed       int
}

func (f *window) fail(op simdisk.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op.N < f.first || f.first < 0 || f.failed >= f.count {
		return nil
	}
	f.failed++
	return syscall.EIO
}

// close has nothing fail any more, and reports whether anything did.
func (f *window) close() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = -1
	return f.failed > 0
}

// TestFaultsOfRewrite has each operation of a rewrite fail, with so many of those that follow that what should repair
// it fails as well. The rewrite is aborted then, and the old file goes on. Whenever the power fails, also when the
// disk may have the manifest that was given up, all that was promised is found.
func TestFaultsOfRewrite(t *testing.T) {
	counts, step := []int{3, 1000}, 1
	if testing.Short() {
		counts, step = counts[:1], 7
	}
	for _, mode := range []Mode{On, Enabling} {
		for _, policy := range []Policy{Always, No} {
			for _, count := range counts {
				for first, more := 0, true; more; first += step {
					more = faultyRewrite(t, mode, policy, first, count)
					if t.Failed() {
						t.Fatalf("mode %d, policy %d: from operation %d on %d fail", mode, policy, first, count)
					}
				}
			}
		}
	}
}

// faultyRewrite reports whether anything failed.
func faultyRewrite(t *testing.T, mode Mode, policy Policy, first, count int) bool {
	w := newWorld(t, simdisk.New(), policy)
	r := rand.New(rand.NewPCG(uint64(first), uint64(count)))
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.write(r)
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	w.crashEvery(1)

	f := window{first: w.d.Ops() + first, count: count}
	w.d.Fail(f.fail)
	if mode == On {
		w.rewriteOnce(r)
	} else {
		w.enable(r, &f)
	}
	any := f.close()
	for range 3 {
		w.write(r)
		w.written()
	}
	for w.flush() != nil {
		time.Sleep(100 * time.Microsecond)
	}
	w.rewriteOnce(r)
	for w.flush() != nil {
		time.Sleep(100 * time.Microsecond)
	}
	w.d.Before(nil)
	w.check(w.d.Crash(simdisk.Nothing, 0), len(w.groups), w.groups, "flushed")
	if err := w.app.Close(); err != nil {
		t.Error(err)
	}
	return any
}

// rewriteOnce makes a rewrite, which is aborted when a step fails.
func (w *world) rewriteOnce(r *rand.Rand) {
	rw, err := w.st.BeginRewrite(On, false)
	if err != nil {
		return
	}
	off, groups := w.snapshot()
	w.app.SwitchAt(off, rw.Switch)
	err = w.app.WaitSwitch()
	if err == nil {
		w.write(r)
		if err = w.saveBase(rw.TempPath(), groups); err == nil {
			err = w.st.Finish(rw)
		}
	}
	if err != nil {
		w.st.Abort(rw)
	}
}

// enable switches the AOF off, and on again, which is tried until it works: the last tries find a disk that does.
func (w *world) enable(r *rand.Rand, f *window) {
	promised := w.limit.Load()
	if err := w.flush(); err == nil {
		promised = w.sure.Load()
	}
	w.silent.Store(true)
	w.limit.Store(promised)
	_ = w.app.Close() // what it could not write is not promised
	for try := 0; ; try++ {
		if try == 4 {
			f.close()
		}
		if w.tryEnable(r) {
			return
		}
	}
}

// tryEnable switches the AOF on, or reports that it could not.
func (w *world) tryEnable(r *rand.Rand) bool {
	rw, err := w.st.BeginRewrite(Enabling, false)
	if err != nil {
		return false
	}
	w.offMu.Lock()
	end := w.src.End()
	w.src = newSource()
	w.src.at, w.src.end, w.src.released = end, end, end
	w.offMu.Unlock()
	off, groups := w.snapshot()
	app := Start(w.options(rw.File(), off, 0))
	w.write(r)
	if err = w.saveBase(rw.TempPath(), groups); err == nil {
		err = w.st.Finish(rw)
	}
	if err != nil {
		_ = app.Close() // its file is dropped
		w.st.Abort(rw)
		return false
	}
	w.app = app
	w.silent.Store(false)
	return true
}

// manifestFails has the manifest get its name, without the folder being synced, and all that would repair it fail.
func manifestFails(d *simdisk.Disk, repair bool) {
	var mu sync.Mutex
	renamed, failed := false, false
	d.Fail(func(op simdisk.Op) error {
		mu.Lock()
		defer mu.Unlock()
		manifest := strings.HasSuffix(op.Name, manifestSuffix)
		switch {
		case op.N < 0 || failed && (!manifest || repair):
			return nil
		case renamed && op.Kind == simdisk.SyncDir:
			failed = true
			return syscall.EIO
		case failed:
			return syscall.EIO
		}
		renamed = renamed || manifest && op.Kind == simdisk.Rename
		return nil
	})
}

// TestTornBehindFailedSwitch has the disk name a new file that nobody knows of, while the old one is written on: power
// loss tears that, and what is whole of it is loaded all the same.
func TestTornBehindFailedSwitch(t *testing.T) {
	w := newWorld(t, simdisk.New(), No)
	r := rand.New(rand.NewPCG(1, 1))
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.write(r)
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	manifestFails(w.d, false)
	w.rewriteOnce(r)
	for range 3 {
		w.write(r)
		w.written()
	}
	least, all := w.promised()
	ambiguous := 0
	for seed := range uint64(300) {
		d := w.d.Crash(simdisk.Random, seed)
		if st, err := openStore(d); err == nil && len(st.Files()) == 3 {
			ambiguous++
		}
		w.check(d, least, all, fmt.Sprint("seed ", seed))
	}
	if ambiguous == 0 {
		t.Error("the disk never names the new file")
	}
	w.d.Fail(nil)
	if err := w.app.Close(); err != nil {
		t.Error(err)
	}
}

// TestFirstManifestFails: where there was no manifest, none is left by a rewrite that fails.
func TestFirstManifestFails(t *testing.T) {
	w := newWorld(t, simdisk.New(), No)
	st, err := openStore(w.d)
	if err != nil {
		t.Fatal(err)
	}
	w.st = st
	manifestFails(w.d, true)
	if w.tryEnable(rand.New(rand.NewPCG(1, 1))) {
		t.Fatal("it did not fail")
	}
	for _, d := range []*simdisk.Disk{w.d, w.d.Crash(simdisk.Nothing, 0), w.d.Crash(simdisk.Everything, 0)} {
		if st, err := openStore(d); err != nil || st.Any() {
			t.Errorf("%v, %v", st, err)
		}
	}
}

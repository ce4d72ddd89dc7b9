package aof

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"heddle/disk"
	"heddle/disk/simdisk"
)

// world is a server's AOF on a simulated disk: what it was given, what it promised, and its files.
type world struct {
	t      *testing.T
	d      *simdisk.Disk
	src    *fakeSource
	st     *Store
	app    *Appender
	limit  atomic.Int64 // of the gate
	sure   atomic.Int64 // what Flush promised
	fault  atomic.Bool
	silent atomic.Bool // what the gate lets pass is no promise
	offMu  sync.Mutex
	ends   []int64    // offset behind group i
	groups [][]string // commands of group i, with their database
	n      int
	policy Policy
	stamps bool
}

const folder = "/data"

func newWorld(t *testing.T, d *simdisk.Disk, p Policy) *world {
	w := &world{t: t, d: d, src: newSource(), policy: p}
	if err := d.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	return w
}

func openStore(d disk.FS) (*Store, error) {
	return Open(Options{FS: d, Dir: folder, DirName: "appendonlydir", FileName: "appendonly.aof"})
}

func (w *world) options(f disk.File, at, size int64) AppenderOptions {
	return AppenderOptions{
		Source: w.src, At: at, File: f, Size: size, Policy: w.policy, Timestamps: w.stamps,
		Publish: func(l int64) {
			if !w.silent.Load() {
				w.limit.Store(l)
			}
		},
		Fault: func(err error) { w.fault.Store(err != nil) },
		Now:   time.Now, After: func(d time.Duration) <-chan time.Time { return time.After(d / 200) },
	}
}

// start is the start of a server.
func (w *world) start() error {
	st, err := openStore(w.d)
	if err != nil {
		return err
	}
	if _, err := st.Upgrade(); err != nil {
		return err
	}
	f, size, err := st.Prepare(func(f disk.File) error { return nil }, false)
	if err != nil {
		return err
	}
	w.st, w.app = st, Start(w.options(f, w.src.End(), size))
	return nil
}

// write appends a group of some effects.
func (w *world) write(r *rand.Rand) {
	w.offMu.Lock()
	defer w.offMu.Unlock()
	var effects []effect
	var texts []string
	for range 1 + r.IntN(3)*r.IntN(2) {
		db, value := r.IntN(2), fmt.Sprintf("v%d", w.n)
		if r.IntN(40) == 0 {
			value += strings.Repeat("x", r.IntN(200000))
		}
		effects = append(effects, effect{db, []string{"SET", fmt.Sprintf("k%d", w.n), value}})
		texts = append(texts, fmt.Sprintf("%d k%d %d", db, w.n, len(value)))
		w.n++
	}
	w.ends = append(w.ends, w.src.add(1000*int64(len(w.ends)), effects...))
	w.groups = append(w.groups, texts)
}

// flush promises all that was written.
func (w *world) flush() error {
	end := w.src.End()
	err := w.app.Flush()
	if err == nil {
		w.sure.Store(end)
	}
	return err
}

// snapshot is what a base has to hold at the newest offset.
func (w *world) snapshot() (off int64, groups int) {
	w.offMu.Lock()
	defer w.offMu.Unlock()
	return w.src.End(), len(w.groups)
}

// load reads all files and returns a text a command.
func load(st *Store) ([]string, error) {
	var got []string
	db := "0"
	_, err := st.Load(LoadOptions{
		Truncated: true, Now: time.Now,
		RDB:   func(io.Reader, string) error { return errors.New("no RDB here") },
		Begin: func(string) { db = "0" },
		Apply: func(b *Batch) error {
			for _, c := range b.Commands {
				if string(c.Argv[0]) == "SELECT" {
					db = string(c.Argv[1])
					continue
				}
				got = append(got, fmt.Sprintf("%s %s %d", db, c.Argv[1], len(c.Argv[2])))
			}
			return nil
		},
	})
	return got, err
}

// check opens a disk and compares what it holds with what was written: whole groups, in order, and not fewer than
// least.
func (w *world) check(d *simdisk.Disk, least int, all [][]string, what string) {
	w.t.Helper()
	st, err := openStore(d)
	if err != nil {
		w.t.Errorf("%s: open: %v", what, err)
		return
	}
	if _, err := st.Upgrade(); err != nil {
		w.t.Errorf("%s: upgrade: %v", what, err)
		return
	}
	got, err := load(st)
	if err != nil {
		w.t.Errorf("%s: load: %v; manifest %q", what, err, st.Manifest().Append(nil))
		return
	}
	groups := 0
	for rest := got; len(rest) > 0; groups++ {
		if groups >= len(all) || len(rest) < len(all[groups]) || !slices.Equal(rest[:len(all[groups])], all[groups]) {
			w.t.Errorf("%s: group %d of %d is wrong: %v; manifest %q", what, groups, len(all), rest[:min(len(rest), 3)], st.Manifest().Append(nil))
			return
		}
		rest = rest[len(all[groups]):]
	}
	if groups < least {
		w.t.Errorf("%s: %d groups are there, %d were promised; manifest %q", what, groups, least, st.Manifest().Append(nil))
		return
	}
	f, _, err := st.Prepare(func(f disk.File) error { return nil }, false)
	if err != nil {
		w.t.Errorf("%s: prepare: %v", what, err)
		return
	}
	if err := errors.Join(f.Close(), st.Clean()); err != nil {
		w.t.Errorf("%s: clean: %v", what, err)
	}
	if again, err := load(st); err != nil || !slices.Equal(again, got) {
		w.t.Errorf("%s: the second load differs: %v", what, err)
	}
}

// promised is how many groups were acknowledged.
func (w *world) promised() (int, [][]string) {
	limit := w.sure.Load()
	if w.policy == Always {
		limit = w.limit.Load()
	}
	w.offMu.Lock()
	defer w.offMu.Unlock()
	n := 0
	for n < len(w.ends) && w.ends[n] <= limit {
		n++
	}
	return n, w.groups[:len(w.groups):len(w.groups)]
}

// crashEverywhere checks every crash of the disk from now on: before each operation, what power loss and kill leave.
func (w *world) crashEverywhere() { w.crashEvery(3) }

// crashEvery does it with so many random states of the disk each time.
func (w *world) crashEvery(states int) {
	var mu sync.Mutex // operations come from several goroutines
	w.d.Before(func(op simdisk.Op) {
		mu.Lock()
		defer mu.Unlock()
		least, _ := w.promised()
		disks := []*simdisk.Disk{w.d.Crash(simdisk.Nothing, 0), w.d.Crash(simdisk.Everything, 0), w.d.Clone()}
		for seed := range states {
			disks = append(disks, w.d.Crash(simdisk.Random, uint64(op.N*10+seed)))
		}
		_, all := w.promised()
		for i, d := range disks {
			w.check(d, least, all, fmt.Sprintf("crash %d before %d %s %s", i, op.N, op.Kind, op.Name))
		}
	})
}

// saveBase writes the base of a rewrite: all effects of the first groups.
func (w *world) saveBase(name string, groups int) error {
	f, err := w.d.OpenFile(name, 0o1102, 0o644)
	if err != nil {
		return err
	}
	var text []byte
	w.offMu.Lock()
	for _, g := range w.groups[:groups] {
		for _, c := range g {
			var db, n int
			var key string
			_, _ = fmt.Sscanf(c, "%d %s %d", &db, &key, &n)
			text = appendSelect(text, db)
			text = append(text, resp("SET", key, strings.Repeat("b", n))...)
		}
	}
	w.offMu.Unlock()
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// rewrite makes a whole rewrite, or aborts it at some point.
func (w *world) rewrite(r *rand.Rand) {
	abort := r.IntN(6)
	rw, err := w.st.BeginRewrite(On, false)
	if err != nil {
		return
	}
	if abort == 0 {
		w.st.Abort(rw)
		return
	}
	w.write(r)
	off, groups := w.snapshot()
	w.app.SwitchAt(off, rw.Switch)
	w.write(r)
	if abort == 1 || w.app.WaitSwitch() != nil {
		w.st.Abort(rw)
		return
	}
	w.write(r)
	err = w.saveBase(rw.TempPath(), groups)
	if abort == 2 || err != nil {
		w.st.Abort(rw)
		return
	}
	if w.st.Finish(rw) != nil {
		w.st.Abort(rw)
	}
}

// TestCrashEverywhere: whenever the power goes, all that replies told of is there, groups are whole, and the next
// start finds files it can load.
func TestCrashEverywhere(t *testing.T) {
	for seed := range uint64(3) {
		for _, policy := range []Policy{Always, EverySec, No} {
			w := newWorld(t, simdisk.New(), policy)
			r := rand.New(rand.NewPCG(seed, 7))
			w.stamps = seed%2 == 0
			w.limit.Store(-1)
			w.crashEverywhere()
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			for range 6 {
				for range r.IntN(6) {
					w.write(r)
				}
				switch r.IntN(3) {
				case 0:
					w.rewrite(r)
				case 1:
					if err := w.flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.app.Close(); err != nil {
				t.Fatal(err)
			}
			w.d.Before(nil)
			w.check(w.d.Crash(simdisk.Nothing, 0), len(w.groups), w.groups, "closed")
			if t.Failed() {
				t.Fatalf("seed %d, policy %d", seed, policy)
			}
		}
	}
}

// TestUpgradeCrash: the single file of old servers is never lost.
func TestUpgradeCrash(t *testing.T) {
	w := newWorld(t, simdisk.New(), Always)
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		w.write(r)
	}
	if err := w.saveBase(filepath.Join(folder, "appendonly.aof"), 5); err != nil {
		t.Fatal(err)
	}
	f, _ := disk.Open(w.d, filepath.Join(folder, "appendonly.aof"))
	if err := errors.Join(f.Sync(), w.d.SyncDir(folder)); err != nil {
		t.Fatal(err)
	}
	w.limit.Store(w.src.End())
	w.crashEverywhere()
	w.src.Release(w.src.End())
	w.src.at = w.src.End()
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.write(r)
	if err := w.app.Close(); err != nil {
		t.Fatal(err)
	}
	want := "file appendonly.aof seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n"
	if got := string(w.st.Manifest().Append(nil)); got != want {
		t.Errorf("manifest %q", got)
	}
}

// TestFaultsAnywhere: whatever operation fails, and for how long: nothing that was promised is lost, nothing is
// there twice, and it works again when the disk does.
func TestFaultsAnywhere(t *testing.T) {
	errs := []error{syscall.ENOSPC, syscall.EIO, &simdisk.Short{N: 5, Err: syscall.ENOSPC}, &simdisk.Short{N: 9}}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		w := newWorld(t, simdisk.New(), Policy(seed%3))
		r := rand.New(rand.NewPCG(seed, 8))
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		faulty, rate, fr := false, 1+r.IntN(4), rand.New(rand.NewPCG(seed, 9))
		w.d.Fail(func(op simdisk.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if !faulty || op.N < 0 || fr.IntN(rate) > 0 {
				return nil
			}
			err := errs[fr.IntN(len(errs))]
			if _, ok := err.(*simdisk.Short); ok && op.Kind != simdisk.Write {
				return syscall.EIO
			}
			return err
		})
		w.crashEverywhere()
		for i := range 10 {
			mu.Lock()
			faulty = i%3 == 1
			mu.Unlock()
			for range r.IntN(5) {
				w.write(r)
			}
			if r.IntN(2) == 0 {
				w.rewrite(r)
			} else {
				_ = w.flush()
			}
		}
		mu.Lock()
		faulty = false
		mu.Unlock()
		for w.flush() != nil {
			time.Sleep(time.Millisecond)
		}
		if w.fault.Load() {
			t.Error("the fault is not cleared")
		}
		w.d.Before(nil)
		w.check(w.d.Crash(simdisk.Nothing, 0), len(w.groups), w.groups, "flushed")
		if err := w.app.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

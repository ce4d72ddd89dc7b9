package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"heddle/db"
	"heddle/db/rdb"
	"heddle/disk"
)

// loading is how far the load is that goes on, for INFO and the log.
type loading struct {
	on     atomic.Bool
	began  atomic.Int64 // Unix seconds
	total  atomic.Int64 // bytes of all files
	read   atomic.Int64
	keys   atomic.Int64
	memory atomic.Int64 // that the file says was in use when it was made
	stop   atomic.Bool
}

// begin starts to count anew.
func (l *loading) begin(now time.Time, total int64) {
	l.began.Store(now.Unix())
	l.total.Store(total)
	l.read.Store(0)
	l.keys.Store(0)
	l.memory.Store(0)
	l.on.Store(true)
}

// describe says how far it is.
func (l *loading) describe(took time.Duration) string {
	read, total := l.read.Load(), l.total.Load()
	text := fmt.Sprintf("%d of %d MB, %d keys", read>>20, total>>20, l.keys.Load())
	if total > 0 {
		text = fmt.Sprintf("%.1f%%, %s", min(100*float64(read)/float64(total), 100), text)
	}
	if read > 0 && total > read {
		left := time.Duration(float64(took) * float64(total-read) / float64(read))
		text += fmt.Sprintf(", about %s to go", left.Round(time.Second))
	}
	return text
}

// Loading reports whether the server loads its data, and answers so.
func (k *Keeper) Loading() bool { return k.loading.on.Load() }

// stopLoading makes a load end soon, because the process does.
func (k *Keeper) stopLoading() { k.loading.stop.Store(true) }

// errStopped is how a load ends that is to be stopped.
var errStopped = errors.New("the server stops")

// ErrStart is why a server does not start. The reasons are in the log.
var ErrStart = errors.New("the data cannot be loaded")

// Start loads what is on the disk, and has changes written from then on if the
// append-only file is on. Until it returns the engine answers -LOADING; before it
// is called the engine must have been told so.
func (k *Keeper) Start() error {
	// From here on, whoever stops the server must not save what little is there.
	k.loading.on.Store(true)
	k.sweep()
	if k.o.Config.Bool("appendonly") {
		if err := k.startAOF(); err != nil {
			return err
		}
	} else if err := k.startRDB(); err != nil {
		return err
	}
	dirty := k.o.Keyspace.Dirty(false)
	k.mu.Lock()
	k.rdb.base = dirty
	k.mu.Unlock()
	k.loading.on.Store(false)
	k.o.Engine.SetLoading(false)
	return nil
}

// startRDB loads the RDB file, if there is one.
func (k *Keeper) startRDB() error {
	if k.o.RecoverUntil != 0 {
		k.o.Log.Warningf("Recovery to a time needs appendonly yes: an RDB file knows no times. Exiting.")
		return ErrStart
	}
	start := time.Now()
	found, err := k.loadRDB(false, true)
	switch {
	case errors.Is(err, errStopped):
		return ErrStart
	case err != nil:
		k.o.Log.Warningf("Fatal error loading the DB, check server logs. Exiting.")
		return ErrStart
	case found:
		k.o.Log.Noticef("DB loaded from disk: %.3f seconds", time.Since(start).Seconds())
	}
	return nil
}

// loadRDB adds the RDB file to what is in memory; found is false if there is none.
// replace says that its keys replace those that are there, else one that is there is a
// mistake. What is wrong is logged.
func (k *Keeper) loadRDB(replace, counted bool) (found bool, err error) {
	name := filepath.Join(k.dir(), k.dbfile())
	f, err := disk.Open(k.o.FS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		k.o.Log.Warningf("Fatal error: can't open the RDB file %s for reading: %s", name, disk.Errno(err))
		return false, err
	}
	defer f.Close()
	size := int64(0)
	if st, err := f.Stat(); err == nil {
		size = st.Size()
	}
	if counted {
		start := time.Now()
		k.loading.begin(k.o.Now(), size)
		defer k.progress("Loading", func() string { return k.loading.describe(time.Since(start)) })()
	}
	o := k.loadOptions()
	o.Replace = replace
	r, err := rdb.Load(f, name, k.o.Keyspace, o)
	if err != nil {
		k.explain(name, err)
		return true, err
	}
	k.loaded(r)
	return true, nil
}

// explain says what is wrong with an RDB file, and where.
func (k *Keeper) explain(name string, err error) {
	if errors.Is(err, errStopped) {
		return
	}
	k.o.Log.Warningf("%v", err)
	f, err := disk.Open(k.o.FS, name)
	if err != nil {
		return
	}
	defer f.Close()
	var report bytes.Buffer
	_ = rdb.Check(f, name, &report, db.Millis(k.o.Now().UnixMilli())) // what it finds is in the report
	k.o.Log.Raw(report.String())
	k.o.Log.Warningf("Terminating server after rdb file reading failure.")
}

// loaded notes what a load found.
func (k *Keeper) loaded(r rdb.Result) {
	if r.Empty > 0 {
		k.o.Log.Warningf("Done loading RDB, keys loaded: %d, keys expired: %d, empty keys skipped: %d.", r.Loaded, r.Expired, r.Empty)
	} else {
		k.o.Log.Noticef("Done loading RDB, keys loaded: %d, keys expired: %d.", r.Loaded, r.Expired)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rdb.loaded, k.rdb.expired = r.Loaded, r.Expired
}

// loadOptions say how a file is read.
func (k *Keeper) loadOptions() rdb.LoadOptions {
	o := rdb.LoadOptions{
		Now: db.Millis(k.o.Now().UnixMilli()), Read: &k.loading.read, Keys: &k.loading.keys,
		Log: func(line string) { k.o.Log.Noticef("%s", line) }, Warn: func(line string) { k.o.Log.Warningf("%s", line) },
		Aux:      k.loading.aux,
		Function: k.keepLibrary, Stop: k.loading.stopped,
		NoChecksum: k.o.Keyspace.Settings().Limits.SkipChecksum,
	}
	if delay := k.o.Config.IntVar("key-load-delay"); delay.Load() != 0 {
		t := newTask(savingRDB, k.o.Now())
		o.EachKey = func() { t.delay(delay.Load) }
	}
	return o
}

// aux notes what a file says about itself.
func (l *loading) aux(name, value string) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && name == "used-mem" {
		l.memory.Store(n)
	}
}

func (l *loading) stopped() error {
	if l.stop.Load() {
		return errStopped
	}
	return nil
}

// sweep removes temporary files that this server left when it was killed. Those of
// other processes may be in use.
func (k *Keeper) sweep() {
	dir := k.dir()
	for _, background := range []bool{false, true} {
		_ = k.o.FS.Remove(filepath.Join(dir, temporary(background)))
	}
}

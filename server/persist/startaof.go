package persist

import (
	"errors"
	"io"
	"path/filepath"
	"time"

	"heddle/db"
	"heddle/db/aof"
	"heddle/db/rdb"
	"heddle/disk"
	"heddle/replication/oplog"
)

// startAOF loads the append-only file and begins to write it.
func (k *Keeper) startAOF() error {
	o := k.storeOptions()
	release, err := k.claim(o, k.patience)
	if err != nil {
		k.o.Log.Warningf("Fatal error: %v. Exiting.", err)
		return ErrStart
	}
	k.mu.Lock()
	k.aof.release = release
	k.mu.Unlock()
	st, err := aof.Open(o)
	if err != nil {
		k.logManifest(err)
		return ErrStart
	}
	if _, err := st.Upgrade(); err != nil {
		k.o.Log.Warningf("%v", err)
		return ErrStart
	}
	k.mu.Lock()
	k.aof.store = st
	k.mu.Unlock()
	start := time.Now()
	until := k.recovery(st)
	var l aof.Loaded
	if st.Any() {
		if l, err = k.loadStore(st, true, until); err != nil {
			return ErrStart
		}
		k.o.Log.Noticef("DB loaded from append only file: %.3f seconds", time.Since(start).Seconds())
	} else {
		k.warnUnused()
	}
	if until != 0 {
		return k.settleRecovery(st, until, l)
	}
	return k.openAOF(st)
}

// warnUnused says so when there is an RDB file that is not loaded.
func (k *Keeper) warnUnused() {
	if there, err := disk.Exists(k.o.FS, filepath.Join(k.dir(), k.dbfile())); there && err == nil {
		k.o.Log.Warningf("WARNING: appendonly is yes and there is no append-only file, so that the server starts without keys and %s is not loaded. "+
			"To go over to the append-only file, start with appendonly no and say CONFIG SET appendonly yes.", k.dbfile())
	}
}

// openAOF opens the file to append to.
func (k *Keeper) openAOF(st *aof.Store) error {
	preamble := k.o.Config.Bool("aof-use-rdb-preamble")
	f, size, err := st.Prepare(func(to disk.File) error { return k.emptyBase(to, preamble) }, preamble)
	if err != nil {
		k.o.Log.Warningf("%v", err)
		return ErrStart
	}
	var r *oplog.Reader
	var rerr error
	k.o.Keyspace.Lock(k.o.Keyspace.AllShards())
	r, rerr = k.o.Oplog.NewReader(k.o.Oplog.End())
	k.o.Keyspace.Unlock(k.o.Keyspace.AllShards())
	if rerr != nil {
		k.o.Log.Warningf("BUG: %v", rerr)
		return errors.Join(ErrStart, f.Close())
	}
	k.useAppender(st, k.startAppender(r, f, size, true))
	if err := st.Clean(); err != nil {
		k.o.Log.Warningf("%v", err)
	}
	return nil
}

// useAppender says that the append-only file is on.
func (k *Keeper) useAppender(st *aof.Store, app *appender) {
	k.measure(st, app)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.aof.mode, k.aof.app = aofOn, app
	k.aof.base = k.aof.others + app.Stats().Size
}

// emptyBase writes a base without keys.
func (k *Keeper) emptyBase(to disk.File, preamble bool) error {
	if !preamble {
		return nil
	}
	t := newTask(rewritingAOF, k.o.Now())
	sn := k.snapshot(func(int64) {})
	defer sn.Close()
	o := k.saveOptions(t, true)
	o.EachKey = nil
	_, err := rdb.Save(to, sn, o)
	return err
}

// loadAOF is DEBUG LOADAOF's load: of the files that are written, which need not be those
// that dir says by now. A rewrite that comes to its end meanwhile leaves them in place.
func (k *Keeper) loadAOF() (err error) {
	k.mu.Lock()
	st := k.aof.store
	k.mu.Unlock()
	if st != nil {
		defer st.Pin()()
	} else if st, err = aof.Open(k.storeOptions()); err != nil {
		k.logManifest(err)
		return err
	}
	if !st.Any() {
		return nil
	}
	_, err = k.loadStore(st, false, 0) // what was recovered is all there is by now
	return err
}

// loadStore loads all files, or up to a time; counted says that INFO and the log tell how
// far it is.
func (k *Keeper) loadStore(st *aof.Store, counted bool, until int64) (l aof.Loaded, err error) {
	total, err := st.TotalSize()
	if err != nil {
		k.o.Log.Warningf("%v", err)
		return l, err
	}
	if counted {
		start := time.Now()
		k.loading.begin(k.o.Now(), total)
		defer k.progress("Loading", func() string { return k.loading.describe(time.Since(start)) })()
	}
	p := k.newReplay()
	defer p.close()
	l, err = st.Load(aof.LoadOptions{
		Truncated: k.o.Config.Bool("aof-load-truncated"), Until: until,
		RDB: func(r io.Reader, name string) error { return k.loadBase(r, name, until) }, Begin: p.begin, Apply: p.apply, Read: &k.loading.read, Now: time.Now,
	})
	if err != nil {
		k.logLoad(err)
	}
	return l, err
}

// logLoad says why a load failed.
func (k *Keeper) logLoad(err error) {
	var bad *aof.ScanError
	switch {
	case errors.Is(err, errStopped):
	case errors.As(err, &bad):
		k.o.Log.Warningf("%v", bad)
		k.o.Log.Warningf("%s", bad.LogLine())
	default:
		k.o.Log.Warningf("%v", err)
	}
}

// loadBase loads an RDB file that an append-only file begins with.
func (k *Keeper) loadBase(r io.Reader, name string, until int64) error {
	o := k.loadOptions()
	o.Read = nil // what reads for the store counts
	o.KeepExpired, o.Replace, o.Exact = true, true, true
	o.Now = db.Millis(k.o.Now().UnixMilli())
	res, err := rdb.Load(r, name, k.o.Keyspace, o)
	if err != nil {
		k.explain(filepath.Join(k.dir(), k.o.Config.String("appenddirname"), name), err)
		return err
	}
	k.loaded(res)
	return tooNew(res.Aux, name, until)
}

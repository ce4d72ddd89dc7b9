package persist

import (
	"errors"
	"path/filepath"
	"time"

	"heddle/db"
	"heddle/db/aof"
	"heddle/db/rdb"
	"heddle/disk"
	"heddle/replication/oplog"
	"heddle/resp"
)

// aofMode says how the append-only file stands.
type aofMode uint8

const (
	aofOff      aofMode = iota
	aofEnabling         // it was switched on; the first rewrite is to come or under way
	aofOn
)

// aofState is what is known of the append-only file.
type aofState struct {
	mode aofMode
	// store is that of the files which are on, or which a rewrite makes that is under way.
	// Without a claim there is none: whoever has the files meanwhile changes them, and what
	// was known of them is worth nothing.
	store     *aof.Store
	app       *appender // nil: nothing is written
	others    int64     // bytes of all files but the one that is written
	base      int64     // bytes of all files when it was last rewritten, or loaded
	release   func()    // gives up the claim of the files that are on; nil: none
	scheduled bool      // a rewrite
	failed    bool      // the last one did
	failures  int64     // in a row
	count     int64
	took      time.Duration
	cow       int64

	// See mayRewriteLocked.
	pause    time.Duration
	retryAt  time.Time
	pausedAt int64
}

// Replies of BGREWRITEAOF.
const (
	errRewriting resp.Error = "ERR Background append only file rewriting already in progress"
	errNoRewrite resp.Error = "ERR Can't execute an AOF background rewriting. Please check the server logs for more information."

	rewriteStarted   = "Background append only file rewriting started"
	rewriteScheduled = "Background append only file rewriting scheduled"
)

// BGRewriteAOF is BGREWRITEAOF. held says that the caller has all shards locked, in
// EXEC: then the rewrite is only scheduled.
func (k *Keeper) BGRewriteAOF(held bool) (string, error) {
	k.mu.Lock()
	switch {
	case k.work != nil && k.work.kind == rewritingAOF:
		k.mu.Unlock()
		return "", errRewriting
	case k.work != nil || held || k.stopping:
		k.aof.scheduled = true
		k.aof.failures = 0 // who asks for it wants it now
		k.mu.Unlock()
		return rewriteScheduled, nil
	}
	run := k.beginRewriteLocked()
	k.mu.Unlock()
	if run(true) != nil {
		return "", errNoRewrite
	}
	return rewriteStarted, nil
}

// openStore returns the store of the append-only files that are claimed; other says that
// they are not those in use.
func (k *Keeper) openStore(o aof.Options) (st *aof.Store, other bool, err error) {
	k.mu.Lock()
	st = k.aof.store
	k.mu.Unlock()
	if st != nil && same(o.FS, st.Folder(), filepath.Join(o.Dir, o.DirName)) {
		return st, false, nil
	}
	if st, err = aof.Open(o); err != nil {
		k.logManifest(err)
		return nil, true, err
	}
	return st, true, nil
}

func (k *Keeper) storeOptions() aof.Options {
	c := k.o.Config
	return aof.Options{
		FS: k.o.FS, Dir: k.dir(), DirName: c.String("appenddirname"), FileName: c.String("appendfilename"),
		Log: k.logFile, KeepHistory: c.Bool("aof-disable-auto-gc"),
	}
}

func (k *Keeper) logFile(warning bool, text string) {
	if warning {
		k.o.Log.Warningf("%s", text)
		return
	}
	k.o.Log.Noticef("%s", text)
}

// logManifest says what is wrong with a manifest.
func (k *Keeper) logManifest(err error) {
	var bad *aof.ManifestError
	if !errors.As(err, &bad) {
		k.o.Log.Warningf("%v", err)
		return
	}
	for _, line := range bad.Lines() {
		k.o.Log.Warningf("%s", line)
	}
}

// rewrite is a rewrite under way.
type rewrite struct {
	t     *task
	mode  aofMode
	store *aof.Store
	rw    *aof.Rewrite
	rdb   bool
	sn    *db.Snapshot
	app   *appender
	fresh bool // app was made for it
	// release gives up the claim of the files, or of those that it replaced.
	release func()
	// moves says that the directive dir has changed while the file was on. The new folder
	// gets a set of files of its own, as when the file is switched on, and until that is
	// complete the old one goes on: at no time is there no folder that has everything.
	moves bool
	from  string // the old folder
}

// beginRewriteLocked makes a rewrite the work of the background. What it returns
// begins it, without mu: now says that the snapshot is taken before it returns, for
// which no shard may be locked by the caller.
func (k *Keeper) beginRewriteLocked() (run func(now bool) error) {
	r := &rewrite{t: newTask(rewritingAOF, k.o.Now()), mode: k.aof.mode, app: k.aof.app}
	k.work = r.t
	k.aof.scheduled = false
	k.aof.count++
	k.running.Add(1)
	return func(now bool) error {
		if err := k.openRewrite(r); err != nil {
			k.rewritten(r, err)
			k.running.Done()
			return err
		}
		if now {
			k.freeze(r)
		}
		go func() {
			defer k.running.Done()
			if !now {
				k.freeze(r)
			}
			k.rewritten(r, k.rewriteBase(r))
		}()
		return nil
	}
}

// openRewrite creates the next file.
func (k *Keeper) openRewrite(r *rewrite) (err error) {
	o := k.storeOptions()
	if r.release, err = k.claim(o, 0); err != nil {
		return err
	}
	var other bool
	if r.store, other, err = k.openStore(o); err != nil {
		return err
	}
	if r.mode != aofOn {
		k.mu.Lock()
		k.aof.store = r.store
		k.mu.Unlock()
	}
	if r.moves = other && r.mode == aofOn; r.moves {
		k.mu.Lock()
		if k.aof.store != nil { // it was not switched off meanwhile
			r.from = k.aof.store.Folder()
		}
		k.mu.Unlock()
	}
	r.rdb = k.o.Config.Bool("aof-use-rdb-preamble")
	mode := map[aofMode]aof.Mode{aofOff: aof.Off, aofEnabling: aof.Enabling, aofOn: aof.On}[r.mode]
	if r.moves {
		mode = aof.Enabling
	}
	r.rw, err = r.store.BeginRewrite(mode, r.rdb)
	return err
}

// freeze takes the snapshot, at the same instant as the place in the log of effects
// from which on the new file has them.
func (k *Keeper) freeze(r *rewrite) {
	var src *oplog.Reader
	r.sn = k.snapshot(func(int64) {
		end := k.o.Oplog.End()
		switch {
		case r.mode == aofOn && !r.moves:
			r.app.SwitchAt(end, r.rw.Switch)
		case r.mode != aofOff:
			src, _ = k.o.Oplog.NewReader(end) // the end is always there
		}
	})
	k.setTotal(r.t, r.sn)
	if src != nil {
		r.app, r.fresh = k.startAppender(src, r.rw.File(), 0, !r.moves), true
	}
	k.o.Log.Noticef("Background append only file rewriting started by pid %d", pid())
	k.SetSync()
}

// rewriteBase writes the new base and puts it in its place.
func (k *Keeper) rewriteBase(r *rewrite) (err error) {
	defer r.sn.Close()
	if r.mode == aofOn && !r.moves {
		if err := r.app.WaitSwitch(); err != nil {
			return err
		}
		k.measure(r.store, r.app)
	}
	stop := k.progress("Rewriting the AOF", r.t.describe)
	defer stop()
	f, err := k.o.FS.OpenFile(r.rw.TempPath(), createFlags, 0o644)
	if err != nil {
		return err
	}
	if err = k.writeBase(f, r); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	k.o.Log.Noticef("Successfully created the temporary AOF base file %s", filepath.Base(r.rw.TempPath()))
	if err := r.t.stop(); err != nil {
		return err
	}
	if r.moves {
		if err := r.app.Flush(); err != nil {
			return err
		}
	}
	return r.store.Finish(r.rw)
}

// writeBase writes a snapshot as the base of an append-only file.
func (k *Keeper) writeBase(f disk.File, r *rewrite) error {
	o := k.saveOptions(r.t, true)
	if r.rdb {
		_, err := rdb.Save(f, r.sn, o)
		return err
	}
	c := aof.CommandsOptions{
		Now: o.Now, Functions: o.Functions, SyncEvery: o.SyncEvery, Keys: o.Keys, Bytes: o.Bytes, EachKey: o.EachKey, Stop: o.Stop,
	}
	if k.o.Config.Bool("aof-timestamp-enabled") {
		c.Stamp = int64(o.Now) / 1000
	}
	return aof.WriteCommands(f, r.sn, c)
}

// rewritten takes note of the end of a rewrite.
func (k *Keeper) rewritten(r *rewrite, err error) {
	defer k.SetSync()
	defer func() {
		if r.release != nil {
			r.release()
		}
	}()
	if err != nil {
		k.abort(r)
	} else {
		k.o.Log.Noticef("Background AOF rewrite terminated with success")
		if r.app != nil {
			k.measure(r.store, r.app)
		}
		if r.fresh {
			k.takeOver(r)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.work = nil
	if k.aof.mode != aofOn {
		k.aof.store = nil
	}
	k.aof.took, k.aof.cow = k.o.Now().Sub(r.t.began), r.t.cow.Load()
	switch {
	case err == nil:
		k.aof.failed, k.aof.failures = false, 0
		if r.mode != aofOff {
			k.aof.base = k.aof.others + r.app.Stats().Size
		}
		k.o.Log.Noticef("Background AOF rewrite finished successfully")
	case errors.Is(err, errKilled):
		k.o.Log.Warningf("Background AOF rewrite was stopped")
	default:
		k.o.Log.Warningf("Background AOF rewrite terminated with error: %s", disk.Errno(err))
		if r.moves {
			k.o.Log.Warningf("The append-only file cannot move to %s: it goes on in %s", r.store.Folder(), r.from)
		}
		k.aof.failed = true
		k.aof.failures++
	}
	if err != nil && !k.stopping && (k.aof.mode == aofEnabling || k.aof.mode == aofOn && r.moves) {
		// It cannot be left half on, nor in a folder that a start does not look into. What is in
		// the new one may look whole, if the disk took the manifest and then failed to remove it.
		k.aof.scheduled = true
	}
}

// takeOver has the writer that was made for a rewrite be the one of the append-only file,
// unless that was switched off meanwhile.
func (k *Keeper) takeOver(r *rewrite) {
	k.mu.Lock()
	old := k.aof.app
	if k.aof.mode == aofOff {
		old = r.app
	} else {
		k.speak(r.app.voice)
		k.aof.mode, k.aof.app, k.aof.store = aofOn, r.app, r.store
		k.aof.release, r.release = r.release, k.aof.release
	}
	k.mu.Unlock()
	if old == nil {
		return
	}
	if old != r.app {
		k.leaveFolder(r)
	}
	if err := k.stopAppender(old); err != nil {
		k.o.Log.Warningf("Fail to fsync the AOF file: %s", disk.Errno(err))
	}
}

// leaveFolder returns when the new folder has all that the old one was promised to have, or
// when nobody waits for that any more. Until then both are written.
func (k *Keeper) leaveFolder(r *rewrite) {
	to := r.store.Folder()
	for told := false; ; told = true {
		err := r.app.Flush()
		if err == nil {
			k.o.Log.Noticef("The append-only file has moved to %s", to)
			return
		}
		if !told {
			k.o.Log.Warningf("Fail to fsync the AOF file: %s. Until that works in %s, it goes on in %s", disk.Errno(err), to, r.from)
		}
		if errors.Is(err, aof.ErrClosed) {
			return
		}
		select {
		case <-r.t.woken:
			return
		case <-time.After(flushAgain):
		}
	}
}

// flushAgain is how long leaveFolder waits behind a failure: as long as the writer.
const flushAgain = time.Second

// abort ends a rewrite that failed: the files in use stay in use.
func (k *Keeper) abort(r *rewrite) {
	if r.fresh {
		_ = k.stopAppender(r.app) // its file is dropped
	}
	if r.rw != nil {
		r.store.Abort(r.rw)
	}
}

// measure asks for the sizes of the files.
func (k *Keeper) measure(st *aof.Store, app *appender) {
	base, incr := st.Sizes()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.aof.others = max(base+incr-app.Stats().Size, 0)
}

// aofSizesLocked are the bytes of all files, now and when they were last rewritten.
func (k *Keeper) aofSizesLocked() (size, base int64) {
	size = k.aof.others
	if k.aof.app != nil {
		size += k.aof.app.Stats().Size
	}
	return size, k.aof.base
}

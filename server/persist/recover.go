package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"heddle/db/aof"
	"heddle/disk"
	"heddle/replication/oplog"
)

// Recovery to a time loads the append-only files up to it. What comes behind is then no
// part of the data any more, and nothing may be appended behind it; but it must not be
// lost either: the time may have been the wrong one. So all files first get a second name
// in a folder beside, on which a server can be started as before. Then they are replaced by
// a rewrite, at whose end the manifest changes from all old to all new at once.
//
// With the files the manifest says what time was asked for. Another start with the same
// time, by a service that was told of it once and not told otherwise, then loads all there
// is: nothing that was written since is lost. To recover to that time again the files that
// were kept are put back, which say nothing of it.

// recovery is the time to which the files are to be loaded, 0 if all of them.
func (k *Keeper) recovery(st *aof.Store) (until int64) {
	until = k.o.RecoverUntil
	if until == 0 || st.Manifest().Recovered != until {
		return until
	}
	k.o.Log.Warningf("Recovery: the files were recovered to %s by an earlier start. What was written since then is loaded, too. "+
		"Take --aof-recover-until away from the command line.", stamp(until))
	return 0
}

// stamp is a Unix time as people read it.
func stamp(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// tooNew refuses a base that was made behind the time to recover to: what it was then
// cannot be told any more.
func tooNew(aux [][2]string, name string, until int64) error {
	for _, a := range aux {
		made, err := strconv.ParseInt(a[1], 10, 64)
		if until != 0 && a[0] == "ctime" && err == nil && made > until {
			return errTooNew(name, fmt.Sprintf("was made at %s (Unix time %d)", stamp(made), made), until)
		}
	}
	return nil
}

func errTooNew(name, what string, until int64) error {
	return fmt.Errorf("Recovery: %s %s, later than %s: what was there at that time is not in these files. "+
		"Nothing is changed. Recover from a copy or a backup that was made before, or to a later time", name, what, stamp(until))
}

// settleRecovery ends a recovery; the data is loaded.
func (k *Keeper) settleRecovery(st *aof.Store, until int64, l aof.Loaded) error {
	if l.Until == nil {
		if st.Any() {
			k.o.Log.Warningf("Recovery: nothing is noted to be later than %s, all is loaded. Times are noted in files that were written "+
				"with aof-timestamp-enabled yes.", stamp(until))
		}
		if err := k.openAOF(st); err != nil {
			return err
		}
		return k.markRecovered(st, until)
	}
	if first := st.Files()[0]; l.File == first.Name && l.Until.Offset == 0 {
		k.o.Log.Warningf("%v", errTooNew(first.Name, "begins at "+stamp(l.Until.Time), until))
		return ErrStart
	}
	k.o.Log.Warningf("Recovery: what was written after %s is left out", stamp(until))
	err := k.keepAside(st)
	if err == nil {
		err = k.replaceAll(st, until)
	}
	if err != nil {
		k.o.Log.Warningf("The recovery cannot be brought to an end, the files are as they were: %v", err)
		return ErrStart
	}
	return nil
}

// markRecovered notes it for a recovery that had nothing to leave out.
func (k *Keeper) markRecovered(st *aof.Store, until int64) error {
	if err := st.MarkRecovered(until); err != nil {
		k.o.Log.Warningf("The recovery cannot be noted: %v", err)
		return ErrStart
	}
	return nil
}

// keepAside links all files into a folder of their own.
func (k *Keeper) keepAside(st *aof.Store) error {
	c := k.o.Config
	aside := st.Folder() + "-before-" + strconv.FormatInt(k.o.Now().Unix(), 10)
	o := k.storeOptions()
	if err := k.o.FS.MkdirAll(aside, 0o755); err != nil {
		return err
	}
	for _, e := range st.Files() {
		if err := k.o.FS.Link(st.Path(e), filepath.Join(aside, e.Name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	name := filepath.Base(st.ManifestPath())
	err := disk.Replace(k.o.FS, aside, name, func(f disk.File) error {
		_, err := f.Write(st.Manifest().Append(nil))
		return err
	})
	if err == nil {
		err = k.o.FS.SyncDir(o.Dir)
	}
	if err == nil {
		k.o.Log.Noticef("Recovery: the files as they were are in %s; rename it to %s to have them back", aside, c.String("appenddirname"))
	}
	return err
}

// replaceAll makes a new base of what is in memory, and a new file to append to.
func (k *Keeper) replaceAll(st *aof.Store, until int64) error {
	r := &rewrite{t: newTask(rewritingAOF, k.o.Now()), mode: aofEnabling, store: st, rdb: k.o.Config.Bool("aof-use-rdb-preamble")}
	var err error
	if r.rw, err = st.BeginRewrite(aof.Enabling, r.rdb); err != nil {
		return err
	}
	r.rw.Recovered = until
	var reader *oplog.Reader
	r.sn = k.snapshot(func(int64) { reader, err = k.o.Oplog.NewReader(k.o.Oplog.End()) })
	if err != nil {
		r.sn.Close()
		st.Abort(r.rw)
		return err
	}
	r.app, r.fresh = k.startAppender(reader, r.rw.File(), 0, true), true
	k.setTotal(r.t, r.sn)
	if err := k.rewriteBase(r); err != nil {
		k.abort(r)
		return err
	}
	k.useAppender(st, r.app)
	return nil
}

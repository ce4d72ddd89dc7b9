package persist

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"heddle/db/aof"
	"heddle/disk"
	"heddle/replication/oplog"
)

// Recovery to a time loads the append-only files up to it. What comes behind is then no
// part of the data any more, and nothing may be appended behind it; but it must not be
// lost either: the time may have been the wrong one. So all files first get a second name
// in a folder beside, on which a server can be started as before. Then they are replaced by
// a rewrite, at whose end the manifest changes from all old to all new at once.

// settleRecovery does that; the data is loaded.
func (k *Keeper) settleRecovery(st *aof.Store) error {
	if !st.Any() {
		return k.openAOF(st)
	}
	err := k.keepAside(st)
	if err == nil {
		err = k.replaceAll(st)
	}
	if err != nil {
		k.o.Log.Warningf("The recovery cannot be brought to an end, the files are as they were: %v", err)
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
func (k *Keeper) replaceAll(st *aof.Store) error {
	r := &rewrite{t: newTask(rewritingAOF, k.o.Now()), mode: aofEnabling, store: st, rdb: k.o.Config.Bool("aof-use-rdb-preamble")}
	var err error
	if r.rw, err = st.BeginRewrite(aof.Enabling, r.rdb); err != nil {
		return err
	}
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

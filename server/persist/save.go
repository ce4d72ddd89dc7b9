package persist

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/db/rdb"
	"heddle/disk"
	"heddle/resp"
)

// Replies of SAVE and BGSAVE.
const (
	errSaving    resp.Error = "ERR Background save already in progress"
	errOtherWork resp.Error = "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible."
	errFailed    resp.Error = "ERR"

	saveStarted   = "Background saving started"
	saveScheduled = "Background saving scheduled"
)

// Save is SAVE: it returns when the RDB file is replaced.
func (k *Keeper) Save() error {
	k.front.Lock()
	defer k.front.Unlock()
	if k.busySaving() {
		return errSaving
	}
	if err := k.saveNow(); err != nil {
		return errFailed
	}
	return nil
}

// busySaving reports whether an RDB file is being saved in the background.
func (k *Keeper) busySaving() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.work != nil && k.work.kind == savingRDB
}

// saveNow replaces the RDB file by one of this instant, in the foreground.
func (k *Keeper) saveNow() error {
	k.mu.Lock()
	k.rdb.saves++
	t := newTask(savingRDB, k.o.Now())
	k.now = t
	k.mu.Unlock()
	var dirty int64
	sn := k.snapshot(func(n int64) { dirty, t.order = n, k.install.next() })
	defer func() {
		k.mu.Lock()
		k.now = nil
		k.mu.Unlock()
	}()
	err := k.writeRDB(t, sn, temporary(false))
	sn.Close()
	k.mu.Lock()
	if err == nil {
		k.rdb.base, k.rdb.lastSave, k.rdb.failed = dirty, k.o.Now(), false
	}
	k.mu.Unlock()
	k.Review()
	return err
}

// temporary is the name under which an RDB file is written. A save in the background
// and one in the foreground may run at the same time.
func temporary(background bool) string {
	if background {
		return "temp-bg-" + strconv.Itoa(pid()) + ".rdb"
	}
	return "temp-" + strconv.Itoa(pid()) + ".rdb"
}

// writeRDB saves a snapshot under a temporary name and replaces the RDB file by it.
func (k *Keeper) writeRDB(t *task, sn *db.Snapshot, temp string) error {
	k.setTotal(t, sn)
	dir, name := k.dir(), k.dbfile()
	stop := k.progress("Saving", t.describe)
	defer stop()
	opened := false
	err := disk.ReplaceVia(ordered{k.o.FS, &k.install, t}, filepath.Join(dir, temp), filepath.Join(dir, name), func(f disk.File) error {
		opened = true
		_, err := rdb.Save(f, sn, k.saveOptions(t, false))
		return err
	})
	var rename *os.LinkError
	text := disk.Errno(err)
	switch {
	case err == nil:
		k.o.Log.Noticef("DB saved on disk")
	case errors.Is(err, errKilled):
	case !opened:
		k.o.Log.Warningf("Failed opening the temp RDB file %s (in server root dir %s) for saving: %s", temp, dir, text)
	case errors.As(err, &rename):
		k.o.Log.Warningf("Error moving temp DB file %s on the final destination %s (in server root dir %s): %s", temp, name, dir, text)
	default:
		k.o.Log.Warningf("Write error saving DB on disk: %s", text)
	}
	return err
}

// saveOptions say how a file is written; base, that it begins an append-only file.
func (k *Keeper) saveOptions(t *task, base bool) rdb.SaveOptions {
	c := k.o.Config
	o := rdb.SaveOptions{
		Version: RDBVersion(c), Now: db.Millis(k.o.Now().UnixMilli()), Compress: c.Bool("rdbcompression"), Checksum: c.Bool("rdbchecksum"),
		Preamble: base, Keys: &t.keys, Bytes: &t.bytes, Stop: t.stop,
		Aux: rdb.StandardAux(config.RedisVersion, db.Millis(k.o.Now().UnixMilli()), k.o.Keyspace.Used(), nil, base), Functions: k.library(),
	}
	if c.Bool("rdb-save-incremental-fsync") && !base || c.Bool("aof-rewrite-incremental-fsync") && base {
		o.SyncEvery = syncEvery
	}
	if delay := c.IntVar("rdb-key-save-delay"); delay.Load() != 0 {
		o.EachKey = func() { t.delay(delay.Load) }
	}
	return o
}

// syncEvery is after how many bytes of a file their way to the disk begins.
const syncEvery = 4 << 20

// RDBVersion is the version of files and of payloads of DUMP that heddle-rdb-version asks for,
// 0 for the one that the data needs.
func RDBVersion(c *config.Store) int {
	n, _ := strconv.Atoi(c.String("heddle-rdb-version")) // auto is 0
	return n
}

// BGSave is BGSAVE, with or without SCHEDULE. held says that the caller has all
// shards locked, in EXEC: then the save is only scheduled.
func (k *Keeper) BGSave(schedule, held bool) (string, error) {
	k.mu.Lock()
	switch {
	case k.stopping, k.now != nil, k.work != nil && k.work.kind == savingRDB:
		k.mu.Unlock()
		return "", errSaving
	case k.work != nil || held:
		defer k.mu.Unlock()
		if !schedule && !held {
			return "", errOtherWork
		}
		k.rdb.scheduled = true
		return saveScheduled, nil
	}
	run := k.beginSaveLocked()
	k.mu.Unlock()
	run()
	return saveStarted, nil
}

// beginSaveLocked makes a save the work of the background; what it returns begins it,
// without mu.
func (k *Keeper) beginSaveLocked() (run func()) {
	t := newTask(savingRDB, k.o.Now())
	k.work = t
	k.rdb.scheduled, k.rdb.lastTry = false, t.began
	k.rdb.saves++
	k.running.Add(1)
	return func() {
		var dirty int64
		sn := k.snapshot(func(n int64) { dirty, t.order = n, k.install.next() })
		k.setTotal(t, sn)
		k.o.Log.Noticef("Background saving started by pid %d", pid())
		k.SetSync()
		go func() {
			defer k.running.Done()
			err := k.writeRDB(t, sn, temporary(true))
			sn.Close()
			k.saved(t, dirty, err)
		}()
	}
}

func (k *Keeper) setTotal(t *task, sn *db.Snapshot) {
	t.total.Store(keysOf(sn, k.o.Keyspace.Databases()))
}

// saved takes note of the end of a save in the background.
func (k *Keeper) saved(t *task, dirty int64, err error) {
	k.mu.Lock()
	now := k.o.Now()
	k.rdb.took, k.rdb.cow = now.Sub(t.began), t.cow.Load()
	switch {
	case err == nil:
		k.o.Log.Noticef("Background saving terminated with success")
		k.rdb.base, k.rdb.lastSave, k.rdb.failed = max(dirty, k.rdb.base), now, false
	case errors.Is(err, errKilled):
		k.o.Log.Warningf("Background saving was stopped")
	default:
		k.o.Log.Warningf("Background saving error")
		k.rdb.failed = true
	}
	k.work = nil
	k.mu.Unlock()
	k.Review()
	k.SetSync()
}

// killSave ends a save in the background, if there is one, and reports whether.
func (k *Keeper) killSave() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.work == nil || k.work.kind != savingRDB {
		return false
	}
	k.o.Log.Noticef("Killing running RDB saving child: %d", pid())
	k.work.kill()
	return true
}

// Flushed is told that FLUSHALL emptied all databases: what is being saved is not
// wanted any more, and where save points are set, the RDB file becomes one without
// keys. What is to be done for that, and waited for, is returned. held says that the
// caller has all shards locked in EXEC: then it is done behind it, nil is returned.
func (k *Keeper) Flushed(held bool) func() {
	if k.reloading.Load() {
		return nil
	}
	k.killSave()
	if len(k.o.Config.SaveRules()) == 0 || k.Loading() {
		return nil
	}
	save := func() {
		k.front.Lock()
		defer k.front.Unlock()
		_ = k.saveNow() // what went wrong is in the log
	}
	if !held {
		return save
	}
	k.flushes.Add(1)
	go func() {
		defer k.flushes.Add(-1)
		save()
	}()
	return nil
}

// progressEvery is how often the log says how far long work is.
const progressEvery = 5 * time.Second

// progress has the log say every few seconds how far some work is, until stop is
// called.
func (k *Keeper) progress(what string, describe func() string) (stop func()) {
	done := make(chan struct{})
	go func() {
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				k.o.Log.Noticef("%s: %s", what, describe())
			}
		}
	}()
	return func() { close(done) }
}

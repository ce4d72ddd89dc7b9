package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"heddle/db"
	"heddle/db/aof"
	"heddle/db/rdb"
	"heddle/disk"
	"heddle/resp"
)

// Backup is what HEDDLE.BACKUP made.
type Backup struct {
	Dir   string
	Files []string // below Dir
	Keys  int64
	Bytes int64
	Took  time.Duration
}

// Refusals of HEDDLE.BACKUP.
const (
	errBackupRuns  resp.Error = "ERR a backup is already in progress"
	errBackupName  resp.Error = "ERR the folder of a backup is a relative path below the directive dir; enable-protected-configs allows others"
	errBackupThere resp.Error = "ERR the folder is there and not empty"
)

// createFlags open a file that is made anew.
const createFlags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC

// Backup copies the data as of one instant into a folder, on which a server can be
// started: an RDB file, and if the append-only file is on, a set of its files whose
// base is that RDB file. Everything is written to a folder beside it, synced, read
// again and checked, before that gets its name: a folder of that name is a whole
// backup. free says that the folder may be anywhere.
//
// The files of the server are not copied: that would need one format for the base, as
// it happens to be, and all of its history. A snapshot is smaller, and checked as a whole.
func (k *Keeper) Backup(dir string, free bool) (b Backup, err error) {
	if !k.backing.CompareAndSwap(false, true) {
		return b, errBackupRuns
	}
	defer k.backing.Store(false)
	start := time.Now()
	if b.Dir, err = k.backupDir(dir, free); err != nil {
		return b, err
	}
	temp := filepath.Join(filepath.Dir(b.Dir), "temp-backup-"+strconv.Itoa(pid())+"-"+filepath.Base(b.Dir))
	if err := k.o.FS.RemoveAll(temp); err != nil {
		return b, k.backupFailed(b.Dir, err)
	}
	sn := k.snapshot(func(int64) {})
	b.Keys = keysOf(sn, k.o.Keyspace.Databases())
	err = k.fillBackup(temp, sn, &b)
	sn.Close()
	if err == nil {
		_ = k.o.FS.Remove(b.Dir) // an empty folder that may be there
		if err = k.o.FS.Rename(temp, b.Dir); err == nil {
			err = disk.SyncParent(k.o.FS, b.Dir)
		}
	}
	if err != nil {
		_ = k.o.FS.RemoveAll(temp)
		return b, k.backupFailed(b.Dir, err)
	}
	b.Took = time.Since(start)
	k.o.Log.Noticef("Backup of %d keys made in %s: %d bytes, %.3f seconds", b.Keys, b.Dir, b.Bytes, b.Took.Seconds())
	return b, nil
}

func (k *Keeper) backupFailed(dir string, err error) error {
	k.o.Log.Warningf("Backup to %s failed: %v", dir, err)
	return resp.Error("ERR the backup failed: " + strings.ReplaceAll(disk.Errno(err), "\n", " "))
}

// backupDir says which folder is meant, and whether it may be.
func (k *Keeper) backupDir(name string, free bool) (string, error) {
	root := k.dir()
	if strings.IndexByte(name, 0) >= 0 || name == "" {
		return "", errBackupName
	}
	dir := name
	if !filepath.IsAbs(name) {
		dir = filepath.Join(root, name)
	}
	if !free {
		if !filepath.IsLocal(name) || filepath.Clean(name) == "." {
			return "", errBackupName
		}
		if err := inside(root, dir); err != nil {
			return "", err
		}
	}
	dir = filepath.Clean(dir)
	list, err := k.o.FS.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", resp.Error("ERR the folder cannot be read: " + disk.Errno(err))
	case len(list) > 0:
		return "", errBackupThere
	}
	return dir, nil
}

// inside makes sure that no link on the way leads out of root.
func inside(root, dir string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return errBackupName
	}
	for at := dir; len(at) > 1; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Lstat(at); err == nil {
				return errBackupName // a link to what is not there
			}
			continue
		}
		if err != nil || real != root && !strings.HasPrefix(real, root+string(filepath.Separator)) {
			return errBackupName
		}
		return nil
	}
	return errBackupName
}

// fillBackup writes and checks the files.
func (k *Keeper) fillBackup(temp string, sn *db.Snapshot, b *Backup) error {
	if err := k.o.FS.MkdirAll(temp, 0o755); err != nil {
		return err
	}
	rdbName := filepath.Join(temp, k.dbfile())
	t := newTask(savingRDB, k.o.Now())
	t.total.Store(b.Keys)
	defer k.progress("Backup", t.describe)()
	err := disk.Replace(k.o.FS, temp, k.dbfile(), func(f disk.File) error {
		o := k.saveOptions(t, false)
		o.EachKey = nil
		_, err := rdb.Save(f, sn, o)
		return err
	})
	if err == nil {
		err = k.verify(rdbName)
	}
	b.Files = append(b.Files, k.dbfile())
	k.mu.Lock()
	on := k.aof.mode != aofOff
	k.mu.Unlock()
	if err == nil && on {
		err = k.fillAOF(temp, rdbName, b)
	}
	for i := 0; err == nil && i < len(b.Files); i++ {
		var st fs.FileInfo
		if st, err = k.o.FS.Stat(filepath.Join(temp, b.Files[i])); err == nil {
			b.Bytes += st.Size()
		}
	}
	return err
}

// fillAOF adds append-only files whose base is the RDB file.
func (k *Keeper) fillAOF(temp, rdbName string, b *Backup) error {
	o := k.storeOptions()
	o.Dir, o.Log = temp, nil
	st, err := aof.Open(o)
	if err != nil {
		return err
	}
	f, _, err := st.Prepare(func(to disk.File) error { return k.copyFile(to, rdbName) }, true)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	folder := o.DirName
	list, err := k.o.FS.ReadDir(filepath.Join(temp, folder))
	if err != nil {
		return err
	}
	for _, e := range list {
		b.Files = append(b.Files, filepath.Join(folder, e.Name()))
	}
	for _, e := range st.Files() {
		if e.Type == aof.Base {
			if err := k.verify(st.Path(e)); err != nil {
				return err
			}
		}
	}
	// Read it as a start would.
	_, err = aof.Open(o)
	return errors.Join(err, k.o.FS.SyncDir(temp))
}

func (k *Keeper) copyFile(to disk.File, name string) error {
	from, err := disk.Open(k.o.FS, name)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// verify reads an RDB file and checks it to its end.
func (k *Keeper) verify(name string) error {
	f, err := disk.Open(k.o.FS, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := rdb.Check(f, name, io.Discard, db.Millis(k.o.Now().UnixMilli())); err != nil {
		return fmt.Errorf("the copy does not read as it was written: %w", err)
	}
	return nil
}

package persist

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"heddle/db/aof"
	"heddle/disk"
)

// Two servers that append to the same files destroy both their data. So whoever loads,
// writes or rewrites append-only files claims them first, by a lock beside them, which the
// kernel gives up when the process ends. It is one of the files, not of the folder: other
// servers may have theirs there under another appendfilename, or an RDB file. Within this
// server the users of one set of files are counted: the mode that is on, and rewrites,
// which may go on for a while when it is off, or be for another folder.
type claims struct {
	mu   sync.Mutex
	held map[string]*claimed // by the name of the lock
}

type claimed struct {
	lock  io.Closer // nil: this file system has no locks
	users int
}

const (
	lockSuffix = ".lock"
	// claimPatience is how long a start waits for the server before it to end, which may be
	// still on its way down.
	claimPatience = 10 * time.Second
	claimPoll     = 20 * time.Millisecond
)

// claimError says that another server uses the files.
type claimError struct {
	folder, file, owner string
}

// Error implements error.
func (e *claimError) Error() string {
	owner := e.owner
	if owner == "" {
		owner = "unknown"
	}
	return fmt.Sprintf("the append-only files %s.* in the folder %s are in use by another server (%s)", e.file, e.folder, owner)
}

// claim takes the files for this server, until release is called, for which another may
// have to end within some time. Where there are no locks it goes on without.
func (k *Keeper) claim(o aof.Options, patience time.Duration) (release func(), err error) {
	folder := filepath.Join(o.Dir, o.DirName)
	name := filepath.Join(folder, o.FileName+lockSuffix)
	// What is wrong with the folder is told by who needs it.
	_ = o.FS.MkdirAll(folder, 0o755)
	told := false
	for end := time.Now().Add(patience); ; time.Sleep(claimPoll) {
		err := k.claims.take(k, o.FS, name)
		var other *disk.LockedError
		if !errors.As(err, &other) {
			break
		}
		if k.loading.stop.Load() || !time.Now().Before(end) {
			return nil, &claimError{folder, o.FileName, other.Owner}
		}
		if !told {
			told = true
			k.o.Log.Noticef("The append-only files in %s are in use by another server (%s), waiting for it to end", folder, other.Owner)
		}
	}
	return sync.OnceFunc(func() { k.claims.drop(k, name) }), nil
}

// claimLoaded claims what DEBUG LOADAOF loads, unless it is in use here: where it is torn it is
// cut.
func (k *Keeper) claimLoaded() (release func(), err error) {
	k.mu.Lock()
	used := k.aof.store != nil
	k.mu.Unlock()
	if used {
		return func() {}, nil
	}
	return k.claim(k.storeOptions(), 0)
}

// take is one try. Its error is a *disk.LockedError.
func (c *claims) take(k *Keeper, fsys disk.FS, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.mine(fsys, name); h != nil {
		c.held[name] = h
		h.users++
		return nil
	}
	host, _ := os.Hostname()
	lock, err := fsys.Lock(name, fmt.Sprintf("pid %d on %s", pid(), host))
	var other *disk.LockedError
	if errors.As(err, &other) {
		return other
	}
	if err != nil {
		lock = nil
		k.o.Log.Warningf("The append-only files cannot be locked: %s. See to it that no other server uses them: %s", disk.Errno(err), name)
	}
	if c.held == nil {
		c.held = map[string]*claimed{}
	}
	c.held[name] = &claimed{lock, 1}
	return nil
}

// mine returns what is held under the name, or under another that leads to the same file: then
// the lock would be refused to ourselves.
func (c *claims) mine(fsys disk.FS, name string) *claimed {
	if h := c.held[name]; h != nil {
		return h
	}
	for other, h := range c.held {
		if same(fsys, other, name) {
			return h
		}
	}
	return nil
}

// same reports whether two names lead to one file or folder.
func same(fsys disk.FS, a, b string) bool {
	if a == b {
		return true
	}
	x, err := fsys.Stat(a)
	if err != nil {
		return false
	}
	y, err := fsys.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// drop ends one use.
func (c *claims) drop(k *Keeper, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[name]
	if h.users--; h.users > 0 {
		return
	}
	maps.DeleteFunc(c.held, func(_ string, other *claimed) bool { return other == h })
	if h.lock == nil {
		return
	}
	if err := h.lock.Close(); err != nil {
		k.o.Log.Warningf("The lock %s cannot be given up: %s", name, disk.Errno(err))
	}
}

// unclaimLocked returns what gives up the claim of the mode that was on; mu is held.
func (k *Keeper) unclaimLocked() (release func()) {
	release = k.aof.release
	k.aof.release = nil
	if release == nil {
		return func() {}
	}
	return release
}

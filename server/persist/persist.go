// Package persist keeps the data: it loads files at the start, saves snapshots,
// has the append-only file written and rewritten, and says when writes must be
// refused because they cannot be kept.
//
// # The Keeper
//
// One Keeper owns the state machine of durability. Of the two kinds of background
// work, saving an RDB file and rewriting the append-only file, at most one runs at a
// time, as in Redis, where each is a child process; here it is a goroutine that reads
// a snapshot. Whatever asks for the other meanwhile is scheduled. Work in the
// foreground (SAVE, DEBUG RELOAD, the last save of a server that stops, the save
// behind FLUSHALL) is done one after the other; the clients that asked for it wait,
// others do not, except where half of it must not be seen.
//
// # What is counted as saved
//
// The keyspace counts changes since the start. base is that count as of the snapshot
// from which the last successful save was made, so that the difference is what a
// crash would lose. It is taken while all shards are locked for the snapshot: no
// change is counted twice or not at all.
//
// # Names of files
//
// All names are relative to the working directory, which is the directive dir: who
// changes dir while a save is under way has the file end up in the folder that is
// current when the file is renamed, as in Redis. So the folder is asked for once, when
// the work begins, and all its names are made absolute.
//
// # Rejected
//
// Saving inside the locks (the only way in which nothing could change between FLUSHALL
// and the save that follows it) keeps all clients waiting for a disk. Instead changes
// that come in between are saved with it.
package persist

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/disk"
	"heddle/replication/oplog"
	"heddle/server/dispatch"
	"heddle/server/log"
)

// Options are the parts that a Keeper works with.
type Options struct {
	FS       disk.FS
	Config   *config.Store
	Log      *log.Logger
	Keyspace *db.Keyspace
	Engine   *dispatch.Engine
	Oplog    *oplog.Log
	// Hold returns when no command of any client runs; none does until release is
	// called.
	Hold func() (release func())
	// Now tells the time; time.Now if nil.
	Now func() time.Time
	// RecoverUntil, if not 0, is the Unix time in seconds up to which the
	// append-only file is loaded.
	RecoverUntil int64
}

// Keeper owns the state machine of durability. Its methods are for any goroutine; no
// shard may be locked by the caller where it is not said otherwise.
type Keeper struct {
	o       Options
	loading loading

	faults faults
	voices voices
	claims claims

	front     sync.Mutex // held by work in the foreground
	syncing   sync.Mutex // of SetSync
	switching sync.Mutex // of SetAppendOnly
	// whole is held by who replaces the data as a whole (DEBUG RELOAD), and shared by who
	// takes a snapshot, which must not see half of it. Hold holds clients back, not what runs
	// aside nor cron.
	whole   sync.RWMutex
	install installer
	mu      sync.Mutex // guards what follows; nothing is waited for under it
	rdb     rdbState
	aof     aofState
	work    *task // what runs in the background; nil: nothing
	since   time.Time
	// stopping says that the server is on its way down: nothing is begun any more.
	stopping bool
	running  sync.WaitGroup // goroutines of background work
	flushes  atomic.Int32   // saves behind FLUSHALL in EXEC that are not done

	forks      int64         // snapshots taken
	begun      time.Duration // how long it took to begin the last one
	reloading  atomic.Bool   // a file is being loaded while clients are held
	backing    atomic.Bool   // a backup is being made
	flushSleep atomic.Int64  // nanoseconds, see SetFlushSleep
	libraries  [][]byte      // of functions, see keepLibrary
	now        *task         // the save in the foreground; nil: none
	patience   time.Duration // see claimPatience
}

// rdbState is what is known of saves.
type rdbState struct {
	base      int64     // changes up to the last good save, see the package
	lastSave  time.Time // of a good one, or of the start
	lastTry   time.Time // of one in the background
	failed    bool      // the last one did
	took      time.Duration
	cow       int64
	saves     int64
	scheduled bool
	loaded    int64 // keys that the last load of an RDB found, and those that were expired
	expired   int64
}

// New returns a keeper. Nothing is loaded yet.
func New(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	k := &Keeper{o: o, since: o.Now(), patience: claimPatience}
	k.rdb.lastSave, k.rdb.took = k.since, -1
	k.aof.took = -1
	return k
}

// dir is the folder of all files, absolute.
func (k *Keeper) dir() string {
	dir := k.o.Config.String("dir")
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// dbfile is the name of the RDB file.
func (k *Keeper) dbfile() string { return k.o.Config.String("dbfilename") }

// pid tells files of this process from those of others that use the same folder.
func pid() int { return os.Getpid() }

// seconds is a duration as INFO shows it, -1 for one that is not known.
func seconds(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return int64(d / time.Second)
}

// changes counts the changes since the last good save.
func (k *Keeper) changes(held bool) int64 {
	if k.flushes.Load() > 0 {
		return 0 // what counts is being saved
	}
	dirty := k.o.Keyspace.Dirty(held)
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(dirty-k.rdb.base, 0)
}

// LastSave is the Unix time of the last good save.
func (k *Keeper) LastSave() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rdb.lastSave.Unix()
}

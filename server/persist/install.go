package persist

import (
	"path/filepath"
	"sync"
	"sync/atomic"

	"heddle/disk"
)

// installer sees to it that an RDB file is never replaced by an older one. Saves overlap:
// one in the background may be about to rename its file, after minutes of writing and
// syncing, when FLUSHALL, SAVE or DEBUG RELOAD puts a newer one in place; and one that was
// killed must not appear at all. To have those wait for the end of the other was
// rejected, for a disk may stand still.
type installer struct {
	count atomic.Int64

	mu    sync.Mutex
	name  string // of the file that was replaced last
	order int64  // of its snapshot
}

// next numbers a snapshot, with all shards locked.
func (i *installer) next() int64 { return i.count.Add(1) }

// ordered is the file system as a save sees it.
type ordered struct {
	disk.FS
	i *installer
	t *task
}

// Rename renames a complete file to its name, unless that has a newer one or the save was
// killed.
func (o ordered) Rename(from, to string) error {
	o.i.mu.Lock()
	defer o.i.mu.Unlock()
	to = filepath.Clean(to)
	if o.t.dead.Load() || o.i.name == to && o.i.order > o.t.order {
		return errKilled
	}
	err := o.FS.Rename(from, to)
	if err == nil {
		o.i.name, o.i.order = to, o.t.order
	}
	return err
}

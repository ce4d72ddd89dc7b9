package persist

import (
	"sync"

	"heddle/disk"
	"heddle/resp"
)

// errMisconfRDB is the answer to writes while saves fail.
const errMisconfRDB resp.Error = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. " +
	"Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if " +
	"RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error."

// errMisconfAOF begins the answer to writes while the append-only file cannot be written.
const errMisconfAOF = "MISCONF Errors writing to the AOF file: "

// faults are why writes are refused. The mutex is a leaf, since the writer of the
// append-only file tells of its faults with a lock of its own held, which others take
// under the Keeper's.
type faults struct {
	mu  sync.Mutex
	rdb bool  // the last save failed
	aof error // why the append-only file cannot be written
}

// Review says whether writes are refused, and why: to be called when a directive
// changed that has a say in it.
func (k *Keeper) Review() {
	k.mu.Lock()
	failed := k.rdb.failed
	k.mu.Unlock()
	k.setFaults(func(f *faults) { f.rdb = failed })
}

// setFault notes why the append-only file cannot be written, nil if it can.
func (k *Keeper) setFault(err error) {
	k.setFaults(func(f *faults) { f.aof = err })
}

func (k *Keeper) setFaults(change func(*faults)) {
	f := &k.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
	c := k.o.Config
	var text resp.Error
	switch {
	case f.rdb && c.Bool("stop-writes-on-bgsave-error") && len(c.SaveRules()) > 0:
		text = errMisconfRDB
	case f.aof != nil:
		text = resp.Error(errMisconfAOF + disk.Errno(f.aof))
	}
	k.o.Engine.SetWriteFault(text)
}

// writeFault is why the append-only file cannot be written, nil if it can.
func (k *Keeper) writeFault() error {
	k.faults.mu.Lock()
	defer k.faults.mu.Unlock()
	return k.faults.aof
}

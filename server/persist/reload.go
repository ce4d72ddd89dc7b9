package persist

import (
	"time"

	"heddle/db"
	"heddle/resp"
)

// ReloadOptions are the words of DEBUG RELOAD.
type ReloadOptions struct {
	NoSave  bool // load the file that is there
	NoFlush bool // keep what is in memory
	Merge   bool // keys of the file replace those in memory
}

const (
	errReload  resp.Error = "ERR Error trying to load the RDB dump, check server logs."
	errLoadAOF resp.Error = "ERR Error trying to load the AOF files, check server logs."
)

// Reload is DEBUG RELOAD: no client sees anything between before and after.
func (k *Keeper) Reload(o ReloadOptions) error {
	k.front.Lock()
	defer k.front.Unlock()
	release := k.o.Hold()
	defer release()
	if !o.NoSave {
		if err := k.saveNow(); err != nil {
			return errFailed
		}
	}
	k.whole.Lock()
	defer k.whole.Unlock()
	if !o.NoFlush {
		k.empty()
	}
	_, err := k.loadRDB(o.Merge, false)
	k.rebase()
	if err != nil {
		return errReload
	}
	k.o.Log.Warningf("DB reloaded by DEBUG RELOAD")
	return nil
}

// ReloadAOF is DEBUG LOADAOF.
func (k *Keeper) ReloadAOF() error {
	k.front.Lock()
	defer k.front.Unlock()
	release := k.o.Hold()
	defer release()
	if err := k.flushAOF(); err != nil {
		return errLoadAOF
	}
	unclaim, err := k.claimLoaded()
	if err != nil {
		k.o.Log.Warningf("%v", err)
		return errLoadAOF
	}
	defer unclaim()
	k.whole.Lock()
	defer k.whole.Unlock()
	k.empty()
	k.reloading.Store(true)
	err = k.loadAOF()
	k.reloading.Store(false)
	k.rebase()
	if err != nil {
		return errLoadAOF
	}
	k.o.Log.Warningf("Append Only File loaded by DEBUG LOADAOF")
	return nil
}

// empty removes all keys, and libraries of functions.
func (k *Keeper) empty() {
	k.dropLibraries()
	k.o.Keyspace.Whole(db.Millis(time.Now().UnixMilli())).Flush(-1, false)
}

// rebase says that what is in memory now is saved.
func (k *Keeper) rebase() {
	dirty := k.o.Keyspace.Dirty(false)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rdb.base = dirty
}

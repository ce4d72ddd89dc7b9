package persist

import (
	"errors"

	"heddle/disk"
)

// The append-only file is on only once its first rewrite is complete: until then there is
// no base, and a start would find nothing. So to switch it on is to begin a rewrite, whose
// end turns aofEnabling into aofOn (see rewritten); to switch it off ends its writer.

// errEnable is the answer to CONFIG SET appendonly yes that fails.
var errEnable = errors.New("Unable to turn on AOF. Check server logs.")

// errSwitching is the answer in EXEC while the disk keeps what was switched off.
var errSwitching = errors.New("the append-only file is being switched off, and the disk is not done with it")

// SetAppendOnly is CONFIG SET appendonly. held says that the caller has all shards locked,
// in EXEC: then the first rewrite is only scheduled, and what is switched off is synced
// behind it.
func (k *Keeper) SetAppendOnly(on, held bool) error {
	if !held {
		k.switching.Lock()
	} else if !k.switching.TryLock() {
		return errSwitching
	}
	k.mu.Lock()
	same := on == (k.aof.mode != aofOff) || k.Loading()
	k.mu.Unlock()
	switch {
	case same:
	case !on && held:
		finish := k.disable()
		k.running.Go(func() {
			defer k.switching.Unlock()
			finish()
		})
		return nil
	case !on:
		k.disable()()
	default:
		defer k.switching.Unlock()
		return k.enable(held)
	}
	k.switching.Unlock()
	return nil
}

// enable switches the append-only file on.
func (k *Keeper) enable(held bool) error {
	var release func()
	if !held { // else nobody may wait for a disk, and the rewrite claims them
		var err error
		if release, err = k.claim(k.storeOptions(), 0); err != nil {
			k.o.Log.Warningf("AOF cannot be turned on: %v", err)
			return err
		}
	}
	k.mu.Lock()
	k.aof.mode, k.aof.release = aofEnabling, release
	if t := k.work; t != nil {
		defer k.mu.Unlock()
		k.aof.scheduled = true
		if t.kind == rewritingAOF {
			k.o.Log.Warningf("AOF was enabled but there is already an AOF rewriting in background. Stopping background AOF and starting a rewrite now.")
			t.kill()
		} else {
			k.o.Log.Warningf("AOF was enabled but there is already another background operation. An AOF background was scheduled to start when possible.")
		}
		return nil
	}
	if held || k.stopping {
		k.aof.scheduled = true
		k.mu.Unlock()
		k.o.Log.Warningf("AOF was enabled during a transaction. An AOF background was scheduled to start when possible.")
		return nil
	}
	run := k.beginRewriteLocked()
	k.mu.Unlock()
	if run(false) != nil {
		k.mu.Lock()
		k.aof.mode, k.aof.scheduled = aofOff, false
		release := k.unclaimLocked()
		k.mu.Unlock()
		release()
		k.o.Log.Warningf("AOF was turned on but the first rewrite cannot be started. Append only mode is off.")
		return errEnable
	}
	return nil
}

// disable switches the append-only file off: what was written is synced by what it returns,
// its files stay.
func (k *Keeper) disable() (finish func()) {
	k.mu.Lock()
	app, mode := k.aof.app, k.aof.mode
	k.aof.mode, k.aof.scheduled = aofOff, false
	if mode == aofOn {
		k.aof.app = nil
	}
	if k.work != nil && k.work.kind == rewritingAOF {
		k.o.Log.Noticef("Killing running AOF rewrite child: %d", pid())
		k.work.kill()
	} else {
		k.aof.store = nil
	}
	release := k.unclaimLocked()
	k.mu.Unlock()
	return func() {
		defer release()
		if app == nil || mode != aofOn {
			return // the rewrite that was to be its first ends it
		}
		if err := k.stopAppender(app); err != nil {
			k.o.Log.Warningf("Fail to fsync the AOF file: %s", disk.Errno(err))
		}
	}
}

package persist

import (
	"errors"

	"heddle/disk"
)

// StopOptions are the words of SHUTDOWN, and those of shutdown-on-sigterm.
type StopOptions struct {
	Save, NoSave bool // whatever the save points say
	Force        bool // stop even if saving fails
}

// ErrStay is why a server does not stop. The reasons are in the log.
var ErrStay = errors.New("errors trying to shut down the server")

// Stop makes the data durable before the process ends: what runs in the background
// is killed, the append-only file is synced, the RDB file is saved if save points are set
// or the options want it. From then on no command of any client runs. If it returns an
// error, everything goes on as before.
func (k *Keeper) Stop(o StopOptions) error {
	if k.Loading() {
		k.stopLoading()
		return nil // what is on the disk is more than what is in memory
	}
	k.mu.Lock()
	if k.aof.mode == aofEnabling {
		if !o.Force {
			k.mu.Unlock()
			k.o.Log.Warningf("Writing initial AOF, can't exit.")
			return ErrStay
		}
		k.o.Log.Warningf("Writing initial AOF. Exiting anyway.")
	}
	k.stopping = true
	k.killLocked()
	k.mu.Unlock()
	k.front.Lock()
	defer k.front.Unlock()
	release := k.o.Hold()
	if err := k.stop(o); err != nil {
		k.mu.Lock()
		k.stopping = false
		k.mu.Unlock()
		release()
		return err
	}
	return nil
}

// killLocked ends what runs in the background.
func (k *Keeper) killLocked() {
	switch {
	case k.work == nil:
		return
	case k.work.kind == savingRDB:
		k.o.Log.Warningf("There is a child saving an .rdb. Killing it!")
	default:
		k.o.Log.Warningf("There is a child rewriting the AOF. Killing it!")
	}
	k.work.kill()
}

// stop does it, while nothing else runs.
func (k *Keeper) stop(o StopOptions) error {
	k.running.Wait()
	if err := k.closeAOF(o.Force); err != nil {
		return err
	}
	if o.NoSave || len(k.o.Config.SaveRules()) == 0 && !o.Save {
		return nil
	}
	k.o.Log.Noticef("Saving the final RDB snapshot before exiting.")
	if k.saveNow() == nil {
		return nil
	}
	if o.Force {
		k.o.Log.Warningf("Error trying to save the DB. Exit anyway.")
		return nil
	}
	k.o.Log.Warningf("Error trying to save the DB, can't exit.")
	return ErrStay
}

// Close ends the writing of the append-only file: when nobody waits for it any more.
func (k *Keeper) Close() {
	k.mu.Lock()
	app := k.aof.app
	k.aof.app, k.aof.mode = nil, aofOff
	release := k.unclaimLocked()
	k.mu.Unlock()
	defer release()
	if app == nil {
		return
	}
	if err := k.stopAppender(app); err != nil {
		k.o.Log.Warningf("Fail to fsync the AOF file: %s", disk.Errno(err))
	}
}

// Abandon removes temporary files: the process ends at once.
func (k *Keeper) Abandon() { k.sweep() }

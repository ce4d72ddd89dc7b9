package aof

import (
	"time"

	"heddle/disk"
)

// syncer syncs the file when the minder says so.
func (a *Appender) syncer() {
	defer a.rest.Done()
	for j := range a.jobs {
		err := j.f.Sync()
		a.mu.Lock()
		a.syncing = false
		if err == nil {
			a.setSynced(j.m)
		} else {
			a.syncErr = err
		}
		a.idle.Broadcast()
		a.mu.Unlock()
		if err != nil {
			a.wake()
		}
	}
}

// setSynced notes a sync that succeeded; a.mu is held.
func (a *Appender) setSynced(m mark) {
	a.stats.Syncs++
	a.synced, a.kept = m, m
	a.oldest, a.younger = a.younger, time.Time{}
	a.late = a.isLate(a.o.Now())
	a.o.Source.Release(m.off)
	a.publish()
}

// beginSync has the syncer begin; a.mu is held.
func (a *Appender) beginSync(now time.Time) {
	a.syncing, a.lastSync, a.younger = true, now, time.Time{}
	if a.writing {
		a.younger = a.took
	}
	a.jobs <- syncJob{a.file, a.written} // empty while none is under way
}

// taken notes that the writer took a group from the oplog; a.mu is held.
func (a *Appender) taken(now time.Time) {
	a.took = now
	if a.oldest.IsZero() {
		a.oldest = now
	}
	if a.syncing && a.younger.IsZero() {
		a.younger = now
	}
	select {
	case a.stir <- struct{}{}:
	default:
	}
}

// isLate reports whether the two-second rule is broken; a.mu is held.
func (a *Appender) isLate(now time.Time) bool {
	return a.policy == EverySec && !a.rewriting && a.fault == nil && !a.oldest.IsZero() && now.Sub(a.oldest) > lateAfter
}

// minder looks at the clock while there is anything to look after.
func (a *Appender) minder() {
	defer a.rest.Done()
	for {
		select {
		case <-a.ended:
			return
		case <-a.stir:
		}
		for a.mind() {
			select {
			case <-a.ended:
				return
			case <-a.o.After(tick):
			}
		}
	}
}

// mind does what is due, and reports whether to come again.
func (a *Appender) mind() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.o.Now()
	unsynced := a.written.size - a.synced.size
	if a.policy == EverySec && a.syncs() && !a.syncing && !a.stop && a.fault == nil && a.syncErr == nil && a.written.off > a.synced.off &&
		(now.Sub(a.lastSync) >= syncEvery || unsynced >= earlySync) {
		a.beginSync(now)
	}
	if late := a.isLate(now); late != a.late {
		a.late = late
		if late {
			a.stats.Delayed++
			a.o.Log(false, "Asynchronous AOF fsync is taking too long (disk is busy?). Replies wait for the fsync to complete, this may slow down Redis.")
		}
	}
	a.publish()
	return a.writing || a.syncing || a.written.off > a.synced.off && a.policy != No || a.o.Source.End() > a.written.off
}

// syncNow syncs in the writer, after any sync that is under way. a.mu is held, but not while the disk works.
func (a *Appender) syncNow() error {
	for a.syncing {
		a.idle.Wait()
	}
	if err := a.syncErr; err != nil {
		a.syncErr = nil
		return err
	}
	if a.written == a.synced {
		return nil
	}
	f, m := a.file, a.written
	a.lastSync, a.younger = a.o.Now(), time.Time{}
	a.mu.Unlock()
	err := f.Sync()
	a.mu.Lock()
	if err == nil {
		a.setSynced(m)
	}
	return err
}

// faultText is the line that Redis logs about an error of a step.
func faultText(step string, err error) string {
	if step == stepSync {
		return "Fail to fsync the AOF file: " + disk.Errno(err)
	}
	return "Error writing to the AOF file: " + disk.Errno(err)
}

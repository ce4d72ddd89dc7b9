package persist

import (
	"time"
)

// retryDelay is how long the server waits behind a failed save before it tries again
// of its own accord.
const retryDelay = 5 * time.Second

// The pace at which failing rewrites are tried again of the server's own accord: behind
// so many of them in a row after a minute, then after twice as long each time.
const (
	rewriteFailures = 3
	rewritePauseMin = time.Minute
	rewritePauseMax = time.Hour
)

// Tick does what is due: what was scheduled, save points, the automatic rewrite. To be
// called several times a second.
func (k *Keeper) Tick(now time.Time) {
	if k.Loading() || !k.whole.TryRLock() {
		return
	}
	k.whole.RUnlock()
	dirty := k.changes(false)
	kept := k.o.Keyspace.Kept()
	var begin func()
	k.mu.Lock()
	if t := k.work; t != nil {
		t.cow.Store(max(t.cow.Load(), kept))
	}
	if !k.stopping && k.work == nil && k.now == nil {
		begin = k.dueLocked(now, dirty)
	}
	k.mu.Unlock()
	if begin != nil {
		begin()
	}
}

// dueLocked returns the one thing to begin now, nil if there is none.
func (k *Keeper) dueLocked(now time.Time, dirty int64) func() {
	if k.aof.scheduled && k.mayRewriteLocked(now) {
		return k.beginDueLocked()
	}
	for _, r := range k.o.Config.SaveRules() {
		if dirty >= r.Changes && now.Sub(k.rdb.lastSave) > time.Duration(r.Seconds)*time.Second && k.maySaveLocked(now) {
			k.o.Log.Noticef("%d changes in %d seconds. Saving...", r.Changes, r.Seconds)
			return k.beginSaveLocked()
		}
	}
	if growth, ok := k.grownLocked(); ok && k.mayRewriteLocked(now) {
		k.o.Log.Noticef("Starting automatic rewriting of AOF on %d%% growth", growth)
		return k.beginDueLocked()
	}
	if k.rdb.scheduled && k.maySaveLocked(now) {
		return k.beginSaveLocked()
	}
	return nil
}

// beginDueLocked is beginRewriteLocked for cron, which has no use for errors.
func (k *Keeper) beginDueLocked() func() {
	run := k.beginRewriteLocked()
	return func() { _ = run(true) }
}

// maySaveLocked reports whether the last save was good, or failed long enough ago.
func (k *Keeper) maySaveLocked(now time.Time) bool {
	return !k.rdb.failed || now.Sub(k.rdb.lastTry) > retryDelay
}

// grownLocked reports by how many percent the append-only file grew since it was
// rewritten, and whether that is enough to do it again.
func (k *Keeper) grownLocked() (percent int64, ok bool) {
	c := k.o.Config
	wanted := c.Int("auto-aof-rewrite-percentage")
	if k.aof.mode != aofOn || wanted == 0 {
		return 0, false
	}
	size, base := k.aofSizesLocked()
	if size <= c.Bytes("auto-aof-rewrite-min-size") {
		return 0, false
	}
	percent = size*100/max(base, 1) - 100
	return percent, percent >= wanted
}

// mayRewriteLocked reports whether the server may rewrite of its own accord: not while that
// failed several times in a row, but for a try now and then.
func (k *Keeper) mayRewriteLocked(now time.Time) bool {
	if k.aof.failures < rewriteFailures {
		k.aof.pause, k.aof.retryAt = 0, time.Time{}
		return true
	}
	if !k.aof.retryAt.IsZero() && now.Before(k.aof.retryAt) {
		return false
	}
	if !k.aof.retryAt.IsZero() {
		k.aof.retryAt = time.Time{}
		if k.aof.pausedAt == k.aof.failures {
			return true
		}
	}
	if k.aof.pause = min(k.aof.pause*2, rewritePauseMax); k.aof.pause == 0 {
		k.aof.pause = rewritePauseMin
	}
	k.aof.pausedAt, k.aof.retryAt = k.aof.failures, now.Add(k.aof.pause)
	k.o.Log.Warningf("Background AOF rewrite has repeatedly failed and triggered the limit, will retry in %d minutes", k.aof.pause/time.Minute)
	return false
}

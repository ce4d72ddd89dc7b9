package db

// An Awaiter keeps the lines of those who wait for keys; the keyspace only knows
// how many keys of a shard are awaited, and tells it what happens in such a shard.
// Its methods run with the shard locked, in the middle of the change: they note
// what there is to do, and look at the keys once the change is done. They must not
// come back to the keyspace.
//
// The lines are the awaiter's and not part of the keyspace, because a waiter is a
// client with a command and a place in several lines. They belong under the shard's
// lock all the same: whoever finds nothing in a key and stands in line for it does
// both under one lock, so that no write comes in between.
type Awaiter interface {
	// Ready says that a key was written or removed. key must not be kept.
	Ready(db int, hash uint64, key []byte)
	// Replaced says that all keys of a database that fall in the shard are
	// about to be removed or exchanged for others.
	Replaced(db, shard int)
}

// SetAwaiter names who is told of the transaction's own changes; without one it is
// Hooks.Awaiter, who is told of what the engine does by itself.
func (t *Tx) SetAwaiter(a Awaiter) { t.root.awaiter = a }

// AddAwaited says that n more keys of a shard, which is locked, are awaited, or
// fewer if n is negative.
func (ks *Keyspace) AddAwaited(shard, n int) {
	t := &ks.shards[shard].watched
	t.awaited += n
	t.update()
}

// awaiter returns who is told of changes by tx, or by the engine if tx is nil.
func (s *shard) awaiter(tx *Tx) Awaiter {
	if tx != nil && tx.root.awaiter != nil {
		return tx.root.awaiter
	}
	return s.ks.hooks.Awaiter
}

// LockShard locks one shard, for a caller that holds none; UnlockShard gives it
// back.
func (ks *Keyspace) LockShard(i int) { ks.lockShard(i) }

// UnlockShard is described at LockShard.
func (ks *Keyspace) UnlockShard(i int) { ks.unlockShard(i) }

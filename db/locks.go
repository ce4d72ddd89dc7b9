package db

import (
	"math/bits"

	"heddle/db/invariants"
)

// LockSet is a set of shards, a bit each.
type LockSet uint64

// Has reports whether shard i is in the set.
func (l LockSet) Has(i int) bool { return l>>uint(i)&1 != 0 }

// With returns the set with shard i in it.
func (l LockSet) With(i int) LockSet { return l | 1<<uint(i) }

// AllShards returns the set of all shards.
func (ks *Keyspace) AllShards() LockSet { return LockSet(1)<<uint(len(ks.shards)-1)<<1 - 1 }

// Lock locks the shards of a set, in ascending order. See LOCKS.md.
func (ks *Keyspace) Lock(set LockSet) {
	if invariants.Enabled {
		holdOrder(ks, set)
	}
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(uint64(set)); !ks.shards[i].mu.TryLock() {
			ks.waitFor(i)
		}
	}
}

// longWait is how long a wait for a shard takes, in nanoseconds, that is counted as long.
const longWait = 1_000_000

// waitFor locks a shard that another holds.
func (ks *Keyspace) waitFor(i int) {
	mu := &ks.shards[i].mu
	if ks.mono == nil {
		mu.Lock()
		return
	}
	start := ks.mono()
	mu.Lock()
	if ks.mono()-start >= longWait {
		ks.longWaits.Add(1)
	}
}

// LongWaits returns how often somebody had to wait for a shard for a millisecond or more,
// since the start.
func (ks *Keyspace) LongWaits() int64 { return ks.longWaits.Load() }

// TryLock locks shard i if it is free at once. Since it does not wait, it may be
// called while holding any other shards.
func (ks *Keyspace) TryLock(i int) bool {
	if !ks.shards[i].mu.TryLock() {
		return false
	}
	if invariants.Enabled {
		noteOrder(ks, LockSet(1)<<uint(i))
	}
	return true
}

// Unlock gives the shards of a set back.
func (ks *Keyspace) Unlock(set LockSet) {
	if invariants.Enabled {
		dropOrder(ks, set)
	}
	for ; set != 0; set &= set - 1 {
		ks.shards[bits.TrailingZeros64(uint64(set))].mu.Unlock()
	}
}

// lockShard locks a single shard, for a caller that holds none. (It is not
// checked: finding out which goroutine it is costs more than what it does.)
func (ks *Keyspace) lockShard(i int) *shard {
	if !ks.shards[i].mu.TryLock() {
		ks.waitFor(i)
	}
	return &ks.shards[i]
}

// unlockShard gives a single shard back.
func (ks *Keyspace) unlockShard(i int) { ks.shards[i].mu.Unlock() }

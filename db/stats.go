package db

import "math/bits"

// counters count what happens in a shard, under its lock.
type counters struct {
	hits, misses, expired, evicted, dirty, moved, members int64
}

// Stats are totals over all shards.
type Stats struct {
	Hits, Misses     int64
	Expired, Evicted int64
	ExpiredMembers   int64 // of collections
	Dirty            int64 // changes since the start
	LazyPending      int64 // keys that wait to be freed in the background
	LazyFreed        int64 // keys that were
	Moved            int64 // records moved to empty half-empty slabs
}

// Stats adds up the statistics of all shards.
func (ks *Keyspace) Stats() Stats { return ks.sumStats(false) }

func (ks *Keyspace) sumStats(held bool) (st Stats) {
	ks.eachShard(held, func(s *shard) {
		c := &s.counts
		st.Hits += c.hits
		st.Misses += c.misses
		st.Expired += c.expired
		st.Evicted += c.evicted
		st.Dirty += c.dirty
		st.Moved += c.moved
		st.ExpiredMembers += c.members
	})
	st.LazyPending, st.LazyFreed = ks.lazy.pending.Load(), ks.lazy.freed.Load()
	st.Dirty += ks.keyless.Load()
	return st
}

// Dirty returns the number of changes since the start, Stats.Dirty alone. held
// says that the caller has all shards locked.
func (ks *Keyspace) Dirty(held bool) int64 {
	n := ks.keyless.Load()
	ks.eachShard(held, func(s *shard) { n += s.counts.dirty })
	return n
}

// ResetStats sets all counters to zero but Dirty, as CONFIG RESETSTAT does. held
// says that the caller has all shards locked.
func (ks *Keyspace) ResetStats(held bool) {
	ks.eachShard(held, func(s *shard) { s.counts = counters{dirty: s.counts.dirty} })
	ks.lazy.freed.Store(0)
}

// Used returns the bytes in use: records, tables, indexes, large collections,
// and what others reported by AddOverhead.
func (ks *Keyspace) Used() int64 {
	return ks.heap.Used() + ks.objects.Load() + ks.overhead.Load()
}

// AddOverhead adds to what Used returns: client buffers, the oplog and the like.
func (ks *Keyspace) AddOverhead(n int64) {
	if n != 0 {
		ks.overhead.Add(n)
	}
}

// Objects returns the bytes of large collections, a part of Used.
func (ks *Keyspace) Objects() int64 { return ks.objects.Load() }

// Overhead returns what was added by AddOverhead.
func (ks *Keyspace) Overhead() int64 { return ks.overhead.Load() }

// dirty counts changes by a command that holds the shards of a set.
func (ks *Keyspace) dirty(set LockSet, n int64) {
	if set == 0 {
		ks.keyless.Add(n)
		return
	}
	ks.shards[bits.TrailingZeros64(uint64(set))&int(ks.mask)].counts.dirty += n
}

// random returns a random number; any goroutine may ask.
func (ks *Keyspace) random() uint64 {
	x := ks.rands.Add(0x9e3779b97f4a7c15)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

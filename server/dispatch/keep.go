package dispatch

import "heddle/db"

// An executor that alone has clients keeps the shards that it locked until its
// batch is done: nobody runs commands that could wait for them, and locking and
// unlocking is a tenth of what a GET costs. Background work (expiry, compaction,
// the begin of a snapshot) waits for the end of a batch, some dozens of
// microseconds. A further shard is taken without waiting, since the order of
// shards is not kept; if it is not free, what is kept goes back first.

// lockOne locks the shard of a single-key command and opens the transaction.
func (x *Executor) lockOne(c *Client, hash uint64, write bool) {
	shard := x.ks.ShardOf(hash)
	set := db.LockSet(1) << uint(shard)
	if !x.alone {
		x.lock(c, set, write)
		return
	}
	if x.kept&set == 0 {
		if !x.ks.TryLock(shard) {
			x.letGo()
			x.ks.Lock(set)
		}
		x.kept |= set
	}
	x.begun = true
	x.tx.Begin(c.db, x.now, set, write)
}

// unlockOne closes the transaction, serves those who waited for what it wrote, and
// gives the shard back if others use it.
func (x *Executor) unlockOne() {
	if !x.alone {
		x.unlock()
		return
	}
	x.tx.End()
	x.begun = false
	if len(x.ready) > 0 {
		x.held, x.kept = x.kept, 0
		x.serve()
		x.held, x.kept = 0, x.held
	}
}

// letGo gives back what was kept: at the end of a batch, and before anything
// that locks in another way.
func (x *Executor) letGo() {
	if set := x.kept; set != 0 {
		x.kept = 0
		x.ks.Unlock(set)
	}
}

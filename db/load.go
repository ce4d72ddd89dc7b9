package db

// Loading. Who loads a file stores keys through a Tx of its own, as a command would,
// shard by shard; what differs is little: nobody is told of the keys, access clocks come
// from the file, and tables are made large enough at once.

// SetQuiet says whether keys come to be without the event "new", as they do when a file is
// loaded. It holds until changed.
func (t *Tx) SetQuiet(on bool) { t.quiet = on }

// Access is when, or how often, a key was used, as files and RESTORE tell it.
type Access struct {
	Idle Millis // since the last access; negative: not known
	Freq int    // logarithmic counter of accesses, 0 to 255; negative: not known
}

// NoAccess tells nothing.
func NoAccess() Access { return Access{Idle: -1, Freq: -1} }

// SetAccess sets the access clock of a key that is there. What the eviction policy does not
// go by is ignored: Freq unless it is an LFU policy, Idle if it is one.
func (t *Tx) SetAccess(key []byte, a Access) {
	lfu := t.cfg.Policy.lfu()
	if lfu && a.Freq < 0 || !lfu && a.Idle < 0 || !t.find(key) {
		return
	}
	c := &t.cur
	if lfu {
		c.d.table.SetClock(c.slot, lfuMinute(t.now)<<8|uint32(min(a.Freq, lfuMax)))
		return
	}
	c.d.table.SetClock(c.slot, lruClock(t.now-a.Idle))
}

// Reserve makes room in the tables of a database for so many keys, so that loading them
// does not split segments. It locks one shard after the other, and does nothing for shards
// that have keys of the database. What is reserved and not used goes when the table next
// shrinks.
func (ks *Keyspace) Reserve(db int, keys int64) {
	each := int(keys / int64(len(ks.shards)))
	if each == 0 {
		return
	}
	for i := range ks.shards {
		ks.LockShard(i)
		ks.shards[i].database(db).table.Reserve(each)
		ks.UnlockShard(i)
	}
}

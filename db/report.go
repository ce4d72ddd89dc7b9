package db

// Report describes the keyspace for INFO, MEMORY STATS and DEBUG HTSTATS.
type Report struct {
	Stats
	Databases []DatabaseReport // those that are not empty
	Snapshots int              // open
	Kept      int64            // bytes that only snapshots need
	Live      int64            // bytes in blocks, those of tables included
	Mapped    int64            // bytes of slabs in use
	Committed int64            // bytes of address space that was ever used
}

// DatabaseReport describes one database.
type DatabaseReport struct {
	Index      int
	Keys       int64
	Expires    int64
	Behind     int64 // keys whose time has come but which are still there, estimated
	AvgTTL     Millis
	TableBytes int64 // of what finds keys
	WheelBytes int64 // of what finds deadlines
}

// Report looks at all shards, one after the other. held says that the caller
// has them all locked.
func (ks *Keyspace) Report(now Millis, held bool) Report {
	r := Report{Stats: ks.sumStats(held), Kept: ks.kept.Load()}
	for db := range ks.databases {
		if d := ks.reportDatabase(db, now, held); d.Keys > 0 {
			r.Databases = append(r.Databases, d)
		}
	}
	ks.eachShard(held, func(s *shard) { r.Snapshots = max(r.Snapshots, s.epochs.Open()) })
	r.Live, r.Mapped, r.Committed = ks.heap.Used(), ks.heap.Mapped(), ks.heap.Committed()
	return r
}

func (ks *Keyspace) reportDatabase(db int, now Millis, held bool) DatabaseReport {
	r := DatabaseReport{Index: db}
	var ttls, counted int64
	ks.eachShard(held, func(s *shard) {
		d := s.at(db).Load()
		if d == nil {
			return
		}
		r.Keys += int64(d.table.Len())
		r.Expires += d.expires
		r.Behind += d.behind(now)
		r.TableBytes += d.table.MemSize()
		r.WheelBytes += d.wheel.memSize()
		sum, n := d.avgTTL(now)
		ttls, counted = ttls+sum, counted+n
	})
	if counted > 0 {
		r.AvgTTL = Millis(max(ttls/counted, 0))
	}
	return r
}

// eachShard runs fn with each shard locked in turn, or, if held, as it is.
func (ks *Keyspace) eachShard(held bool, fn func(*shard)) {
	for i := range ks.shards {
		if held {
			fn(&ks.shards[i])
			continue
		}
		fn(ks.lockShard(i))
		ks.unlockShard(i)
	}
}

// behind is about how many keys have expired but are still there, as the index knows it:
// entries may lead nowhere.
func (d *database) behind(now Millis) int64 {
	n := d.wheel.behind(now)
	if d.old != nil {
		n += d.old.behind(now)
	}
	return min(n, d.expires)
}

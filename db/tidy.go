package db

// Work left behind. A large collection may do what was asked of it, as everybody sees it, at
// once, and leave for later what would keep others waiting: to give back the memory of half a
// million members that are gone, say. It is then asked to go on, a little at a time, until
// nothing is left: by Tidy, which cron calls. Where it stands is noted by the hash of its
// key, in the database, so that it is found wherever SWAPDB takes that; a key that is gone or
// has another value by then is passed over, and one that was renamed was noted again.
//
// Nothing that can be seen changes by it but the memory in use: no change is counted, WATCH
// does not notice, nothing is propagated. What a snapshot needs is left to it, as with any
// other change.
//
// Rejected: a goroutine for each collection, that would have to look for it in the same way;
// to do it with the next commands at the key, of which there may be none.

// Untidy is an Object that may leave work behind.
type Untidy interface {
	Object
	// Backlog returns how much there is to do, in elements. In constant time.
	Backlog() int
	// Tidy does up to limit of it, at least one.
	Tidy(limit int)
}

// tidyBatch is how much is done under one lock, which takes about a tenth of a millisecond.
const tidyBatch = 128

// noteUntidy has Tidy look at the collection at t.cur, of handle h, if that left work
// behind.
func (t *Tx) noteUntidy(h *handle) {
	if h.untidy {
		return
	}
	if o, ok := h.obj.(Untidy); ok && o.Backlog() > 0 {
		c := &t.cur
		h.untidy = true
		c.d.untidy = append(c.d.untidy, c.hash)
		t.ks.untidy.Add(1)
	}
}

// Tidy does what collections left behind: about budget elements, some under each lock. It
// reports whether there may be more.
func (ks *Keyspace) Tidy(now Millis, budget int) (more bool) {
	if ks.untidy.Load() == 0 {
		return false
	}
	start := int(ks.rands.Add(1) % uint64(len(ks.shards)))
	for i := range ks.shards {
		id := (start + i) % len(ks.shards)
		for n := 1; n > 0 && budget > 0; budget -= n {
			s := ks.lockShard(id)
			n = s.tidy(now)
			ks.unlockShard(id)
		}
	}
	return budget <= 0
}

// tidy has one collection of the shard go on, and returns how much was done, 0 if there is
// nothing to do.
func (s *shard) tidy(now Millis) int {
	for db := range s.ks.databases {
		d := s.at(db).Load()
		if d == nil || len(d.untidy) == 0 {
			continue
		}
		last := len(d.untidy) - 1
		done, more := s.tidyOne(db, d, d.untidy[last], now)
		if more {
			return done
		}
		s.ks.untidy.Add(-1)
		if d.untidy = d.untidy[:last]; last == 0 {
			d.untidy = nil
		}
		return max(done, 1)
	}
	return 0
}

// tidyOne has the collection at the key of a hash go on.
func (s *shard) tidyOne(db int, d *database, hash uint64, now Millis) (done int, more bool) {
	slot, ok := s.hashed(d, hash, false)
	if !ok {
		return 0, false
	}
	rec := s.openRecord(d.table.Ref(slot))
	if rec.kind() != kindObject {
		return 0, false
	}
	o, ok := s.handles.object(rec.handle()).(Untidy)
	if !ok {
		return 0, false
	}
	t := s.engineTx()
	t.Begin(db, now, LockSet(1)<<uint(s.id), true)
	defer t.End()
	t.cur = place{ok: true, s: s, d: d, hash: hash, slot: slot, rec: rec}
	if !d.table.Fresh(slot) {
		if !t.thaw() {
			return 0, true // there is no memory for it now
		}
		o = s.handles.object(t.cur.rec.handle()).(Untidy)
	}
	was := o.Backlog()
	o.Tidy(tidyBatch)
	i := t.cur.rec.handle()
	s.handles.resize(i)
	left := o.Backlog()
	s.handles.list[i].untidy = left > 0
	return was - left, left > 0
}

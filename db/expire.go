package db

import "heddle/db/table"

// avgBase is subtracted from deadlines before they are summed up, and farDeadline
// bounds what is left, so that the sum cannot overflow.
const (
	avgBase     Millis = 1_700_000_000_000
	farDeadline Millis = 1 << 41
)

func fromBase(at Expiry) int64 { return int64(min(max(at-avgBase, -farDeadline), farDeadline)) }

// retime notes that a key's deadline changes, either being NoExpiry if there is
// none. timer says whether the expiry index has an entry due no later than the
// old one; retime returns the same of the new one.
func (d *database) retime(hash uint64, old Expiry, timer bool, at Expiry, now Millis) bool {
	if at == old {
		return timer
	}
	if old != NoExpiry {
		d.expires--
		d.deadlines -= fromBase(old)
	}
	if at == NoExpiry {
		return false
	}
	d.expires++
	d.deadlines += fromBase(at)
	if old != NoExpiry && timer && at >= old {
		return true
	}
	return d.wheel.add(keyEntry(hash), at, now)
}

// avgTTL is the mean time to live of keys with a deadline.
func (d *database) avgTTL(now Millis) (sum, n int64) {
	return d.deadlines - d.expires*fromBase(now), d.expires
}

// expireBatch is how many entries of the expiry index are looked at under one lock.
const expireBatch = 64

// ExpireCycle removes keys whose time has come, looking at no more than about
// budget entries of the expiry index, a few under each lock. It returns how
// many it looked at; fewer than budget mean that nothing more is due.
func (ks *Keyspace) ExpireCycle(now Millis, budget int) int {
	if ks.frozen.Load() {
		return 0
	}
	keep, done := ks.settings.Load().KeepExpired, 0
	start := int(ks.rands.Add(1) % uint64(len(ks.shards)))
	for i := range ks.shards {
		id := (start + i) % len(ks.shards)
		for n := expireBatch; n >= expireBatch && done < budget; done += n {
			s := ks.lockShard(id)
			n = s.expireDue(now, expireBatch, keep)
			ks.unlockShard(id)
		}
	}
	return done
}

// expireDue works off up to limit entries and returns how many there were. If keep is set
// nothing expires; the index is only kept in order.
func (s *shard) expireDue(now Millis, limit int, keep bool) int {
	done := 0
	for db := range s.ks.databases {
		d := s.at(db).Load()
		if d == nil {
			continue
		}
		s.rewind(d, now)
		if !keep {
			done += s.expireTable(db, d, now, limit-done)
		}
		if done < limit {
			done += s.rebuild(d, now, limit-done)
		}
	}
	return done
}

// expireTable works off up to limit entries of one table.
func (s *shard) expireTable(db int, d *database, now Millis, limit int) int {
	done := s.expireOverdue(db, d, now, limit)
	for _, w := range [...]*wheel{d.old, &d.wheel} {
		if w == nil || w.entries == 0 {
			continue
		}
		w.advance(now)
		for more := true; more && done < limit; {
			var n int
			n, more = s.expireSome(db, d, w, now, min(expireBatch, limit-done))
			done += n
		}
		if w.entries == 0 {
			w.drop()
		}
	}
	return done
}

// expireSome works off up to limit entries, at most expireBatch, of an expiry
// index. What they lead to is touched first, for all of them at once. It returns how
// many entries and members it worked off, and whether there may be more entries.
func (s *shard) expireSome(db int, d *database, w *wheel, now Millis, limit int) (done int, more bool) {
	var due [expireBatch]uint64
	n := 0
	for n < limit {
		hash, ok := w.next()
		if !ok {
			break
		}
		due[n] = hash
		n++
	}
	s.sink = touchAll(&d.table, due[:n])
	members := 0
	for _, entry := range due[:n] {
		switch {
		case entry&memberTimer == 0:
			s.fire(db, d, entry, now)
		case members < limit:
			members += s.fireMembers(db, d, entry, now, w.tick, limit-members)
		default:
			d.overdue = append(d.overdue, entry)
		}
	}
	return n + members, n == limit
}

// fire deals with an entry that is due: the key has expired, or its deadline
// moved, or it is gone.
func (s *shard) fire(db int, d *database, hash uint64, now Millis) {
	slot, at, ok := s.timed(d, hash)
	if !ok {
		return
	}
	rec := s.openRecord(d.table.Ref(slot))
	if now > at {
		if slot, ok = d.table.Prepare(slot); ok {
			s.expire(db, d, slot)
			return
		}
		// There is no memory to remove it with: try again soon.
	}
	rec.setFlag(flagTimer, d.wheel.add(keyEntry(hash), at, now))
}

// timed finds a key with a deadline by its hash.
func (s *shard) timed(d *database, hash uint64) (slot table.Slot, at Expiry, ok bool) {
	if slot, ok = s.hashed(d, hash, true); ok {
		rec := s.openRecord(d.table.Ref(slot))
		at = rec.expire()
	}
	return slot, at, ok
}

// hashed finds a key by its hash, or an entry of it, one with a deadline if timed is set.
func (s *shard) hashed(d *database, hash uint64, timed bool) (slot table.Slot, ok bool) {
	d.table.FindHash(hash, func(sl table.Slot) bool {
		r := s.openRecord(d.table.Ref(sl))
		if timed && r.flags()&flagExpire == 0 || keyEntry(s.ks.Hash(r.key())) != keyEntry(hash) {
			return true
		}
		slot, ok = sl, true
		return false
	})
	return slot, ok
}

// staleSlack is how many entries that lead nowhere a table's index may have
// at least.
const staleSlack = 1024

// rewindTicks is by how many ticks the clock must have been set back for the index to be
// built anew: two seconds.
const rewindTicks = 16

// rewind has the index begin anew when the clock was set back: what is added to it would
// come up only when the clock has come to where it was.
func (s *shard) rewind(d *database, now Millis) {
	if tick := int64(now) >> tickShift; d.old == nil && d.wheel.entries > 0 && tick < d.wheel.tick-rewindTicks {
		d.renew(tick)
	}
}

// renew begins a new index, which rebuild fills.
func (d *database) renew(tick int64) {
	old := d.wheel
	d.old, d.wheel = &old, wheel{heap: old.heap, arena: old.arena, tick: tick}
	d.cursor = 0
}

// rebuild replaces the expiry index when it holds more entries that lead
// nowhere than others: a new one is filled from the table, up to limit keys at
// a time, while the old one still serves.
func (s *shard) rebuild(d *database, now Millis, limit int) int {
	if d.old == nil {
		if d.wheel.entries <= 2*(d.expires+s.handles.timed)+staleSlack {
			return 0
		}
		d.renew(d.wheel.tick)
	}
	done := 0
	for done < limit {
		d.cursor = d.table.Scan(d.cursor, func(slot table.Slot) {
			s.retimer(d, slot, now)
			done++
		})
		if d.cursor == 0 {
			d.old.drop()
			d.old = nil
			break
		}
	}
	return done
}

// retimer gives a key an entry in the new index.
func (s *shard) retimer(d *database, slot table.Slot, now Millis) {
	r := s.openRecord(d.table.Ref(slot))
	if at := r.expire(); at != NoExpiry {
		r.setFlag(flagTimer, d.wheel.add(keyEntry(s.ks.Hash(r.key())), at, now))
	}
	s.retimeMembers(d, &r, now)
}

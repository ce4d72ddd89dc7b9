package db

import (
	"errors"
	"math"

	"heddle/db/table"
)

// Members with deadlines. A large collection may say that some of its members are to
// go at some time; the engine then asks it to remove them when the time comes, without
// anybody looking at the key. What the collection keeps of its deadlines is its own
// business: the engine only asks for the next.
//
// For that the key has an entry in the expiry index of its database, which is told
// from entries of keys by its lowest bit. The handle knows at which tick that is taken
// up: if the next deadline moves earlier a second entry is made, and the first one comes
// up when another is expected later, and is dropped. If it moves later the entry finds
// nothing to do and is put back where it belongs. So a collection needs one entry
// whatever its size, and those without deadlines need nothing.
//
// A collection many of whose members are due at once is worked off bit by bit, as keys
// are. Commands that open it remove some of them as well, no more than dueStep, so that
// millions that are due keep nobody waiting; the others are still there, and nobody must see
// them: who reads passes over them, who changes a member removes it before if its time
// has come, and says so (Txn.MemberExpired). If all are due the key goes at once.
//
// Some cannot pass over them: a rank of a sorted set counts what is before it, and to draw
// a member at random from a set that is nearly all due takes long. They call Clear. If there
// is too much to do for one command, and dispatch has said that it can run the command again
// later (Tx.SetPatient), that fails with ErrDue: dispatch has the members removed in steps,
// while others use the shard, and then runs it (ClearDue). Rejected: to have
// all commands wait so, which is seconds for the client where it needs not be; and a second
// index of what is due by rank, which would take as long to build as to remove them.

// Timed is an Object whose members may have deadlines.
type Timed interface {
	Object
	// NextDeadline returns the earliest deadline, 0 if there is none. In constant time.
	NextDeadline() Millis
	// ExpireDue removes up to limit members whose time has come, calls fn for each and
	// returns how many there were. fn must not keep member.
	ExpireDue(now Millis, limit int, fn func(member []byte)) (n int)
	// AllDue reports whether the time of all members has come. It may say no where it would
	// take longer than a few steps to know.
	AllDue(now Millis) bool
}

const (
	// dueStep is how many members that are due a command removes on its way, which takes some
	// tens of microseconds.
	dueStep = 64
	// clearStep is how many are removed under one lock where that is all there is to do.
	clearStep = 128
)

// ErrDue says that so many members are due that they should be removed in steps before.
// Nothing was changed but that some are gone.
var ErrDue = errors.New("members are due")

// Entries of the expiry index are hashes, which in their lowest bit (as it only says
// the shard) tell what they are for.
const memberTimer = 1

// keyEntry is the entry for the deadline of a key, memberEntry for those of its members.
func keyEntry(hash uint64) uint64    { return hash &^ memberTimer }
func memberEntry(hash uint64) uint64 { return hash | memberTimer }

// schedule sees to it that the collection at t.cur is looked at when its next member is due,
// and by Tidy if it left work behind.
func (t *Tx) schedule() {
	c := &t.cur
	h := &c.s.handles.list[c.rec.handle()]
	t.noteUntidy(h)
	o, ok := h.obj.(Timed)
	if !ok {
		return
	}
	if next := o.NextDeadline(); next != 0 && (h.due == 0 || next < h.due || h.turn == 0) {
		c.s.handles.setTimer(h, next, c.d.wheel.enter(memberEntry(c.hash), next, t.now))
	}
}

// reschedule is schedule when the entry that there was has come up.
func (t *Tx) reschedule() {
	c := &t.cur
	c.s.handles.setTimer(&c.s.handles.list[c.rec.handle()], 0, 0)
	t.schedule()
}

// setTimer notes when a member of the collection of a handle is due, 0 for never, and
// at which tick its entry in the expiry index comes up: 0 when there is none. (Without
// memory for that its members go when somebody changes it.)
func (h *handles) setTimer(v *handle, due Millis, turn int64) {
	if v.turn != 0 {
		h.timed--
	}
	if v.due, v.turn = due, turn; turn != 0 {
		h.timed++
	}
}

// dueAt reports whether members of the collection at a record may be due.
func (s *shard) dueAt(r *record, now Millis) bool {
	if r.kind() != kindObject {
		return false
	}
	due := s.handles.list[r.handle()].due
	return due != 0 && due <= now
}

// purge removes up to limit members that are due from the collection at t.cur, and the
// key with the last of them; t.cur.ok tells. It returns how many there were; failed that
// there is no memory to change a collection that a snapshot needs.
func (t *Tx) purge(limit int) (n int, failed bool) {
	c := &t.cur
	o, ok := c.s.handles.object(c.rec.handle()).(Timed)
	if !ok {
		return 0, false
	}
	if next := o.NextDeadline(); next == 0 || next > t.due {
		t.reschedule()
		return 0, false
	}
	if o.Len() > limit && o.AllDue(t.due) {
		return t.purgeKey(o.Len())
	}
	if !c.d.table.Fresh(c.slot) {
		if !t.thaw() {
			return 0, true
		}
		o = c.s.handles.object(c.rec.handle()).(Timed)
	}
	typ, key := c.rec.typ(), c.rec.key()
	n = o.ExpireDue(t.due, limit, func(member []byte) {
		if hook := t.ks.hooks.MemberExpired; hook != nil {
			hook(t.db, typ, key, member)
		}
	})
	c.s.counts.members += int64(n)
	empty := t.settleSize()
	if n > 0 { // what was due may have been gone already
		class, event := memberEvent(typ)
		t.Event(class, event, key)
	}
	if empty {
		c.ok = false
		c.s.lose(t.db, c.d, c.slot, ClassGeneric, "del", nil)
		return n, false
	}
	if next := o.NextDeadline(); next > t.due || next == 0 {
		t.reschedule()
	}
	if n > 0 && c.s.watched.used {
		c.s.watched.changed(c.s, t, t.db, key)
	}
	return n, false
}

// purgeKey removes the key at t.cur, all n members of which are due.
func (t *Tx) purgeKey(n int) (int, bool) {
	c := &t.cur
	if !t.prepare() {
		return 0, true
	}
	c.ok = false
	class, event := memberEvent(c.rec.typ())
	t.Event(class, event, c.rec.key())
	c.s.counts.members += int64(n)
	c.s.lose(t.db, c.d, c.slot, ClassGeneric, "del", t.ks.hooks.Expired)
	return n, false
}

// allDue reports whether all members of the collection at t.cur are due, and removes the
// key then, as expireFound does.
func (t *Tx) allDue() bool {
	c := &t.cur
	if !c.s.dueAt(&c.rec, t.due) {
		return false
	}
	if o, ok := c.s.handles.object(c.rec.handle()).(Timed); !ok || !o.AllDue(t.due) {
		return false
	}
	if t.mayPurge() {
		if _, failed := t.purge(dueStep); failed && t.writing {
			panic(ErrOutOfMemory)
		}
	}
	c.ok = false
	return true
}

// purgeSeen removes some of the members that are due from the collection at t.cur, for a
// command that reads it; false if the key went with the last of them.
func (t *Tx) purgeSeen() bool {
	c := &t.cur
	if c.s.dueAt(&c.rec, t.due) && t.mayPurge() {
		t.purge(dueStep)
	}
	return c.ok
}

// mayPurge reports whether what is due may be removed.
func (t *Tx) mayPurge() bool { return t.writing || !t.ks.frozen.Load() }

// SetPatient says that ErrDue may be answered to the commands until End.
func (t *Tx) SetPatient() { t.patient = true }

// Clear is described at View.
func (t *Tx) Clear(key []byte, typ Type) (c Coll, found bool, err error) {
	if !t.find(key) {
		return c, false, nil
	}
	p := &t.cur
	if p.rec.typ() == typ && p.s.dueAt(&p.rec, t.due) && t.mayPurge() {
		limit := math.MaxInt
		if t.root.patient {
			limit = clearStep
		}
		switch _, failed := t.purge(limit); {
		case failed && t.writing:
			return c, false, ErrOutOfMemory
		case failed: // who only reads has to do with what there is
		case !p.ok:
			return c, false, nil
		case p.s.dueAt(&p.rec, t.due):
			t.root.cleared = dueKey{t.db, p.hash}
			return c, false, ErrDue
		}
	}
	if !t.collection(&c, typ) {
		return c, false, ErrWrongType
	}
	return c, true, nil
}

// dueKey is where ErrDue comes from.
type dueKey struct {
	db   int
	hash uint64
}

// Cleared returns the database and the hash of the key that ErrDue came from, for ClearDue.
func (t *Tx) Cleared() (db int, hash uint64) { return t.cleared.db, t.cleared.hash }

// ClearDue removes all members that are due by now from the collection at the key of a
// hash, some under each lock, or until writes are paused. No shard may be locked by the caller.
func (ks *Keyspace) ClearDue(db int, hash uint64, now Millis) {
	for more := true; more; {
		s := ks.lockShard(int(hash & ks.mask))
		more = s.clearSome(db, hash, now)
		ks.unlockShard(s.id)
	}
}

// clearSome removes some of them; false when there are no more.
func (s *shard) clearSome(db int, hash uint64, now Millis) (more bool) {
	d := s.at(db).Load()
	if d == nil || s.ks.frozen.Load() {
		return false
	}
	slot, ok := s.hashed(d, hash, false)
	if !ok {
		return false
	}
	rec := s.openRecord(d.table.Ref(slot))
	if rec.expired(now) || !s.dueAt(&rec, now) {
		return false
	}
	t := s.engineTx()
	t.Begin(db, now, LockSet(1)<<uint(s.id), true)
	defer t.End()
	t.cur = place{ok: true, s: s, d: d, hash: s.ks.Hash(rec.key()), slot: slot, rec: rec}
	_, failed := t.purge(clearStep)
	return !failed && t.cur.ok && s.dueAt(&t.cur.rec, now)
}

// MemberExpired is described at Txn.
func (t *Tx) MemberExpired(key, member []byte) {
	if !t.find(key) {
		return
	}
	typ := t.cur.rec.typ()
	if hook := t.ks.hooks.MemberExpired; hook != nil {
		hook(t.db, typ, key, member)
	}
	s := t.cur.s
	s.counts.members++
	t.settleSize()
	class, event := memberEvent(typ)
	t.Event(class, event, key)
	if s.watched.used {
		s.watched.changed(s, t, t.db, key)
	}
}

// restDue reports whether all members that are left of the collection at t.cur are due, so
// that the key has to go, and says that it does.
func (t *Tx) restDue() bool {
	c := &t.cur
	if !c.s.dueAt(&c.rec, t.due) {
		return false
	}
	o, ok := c.s.handles.object(c.rec.handle()).(Timed)
	if !ok || !o.AllDue(t.due) {
		return false
	}
	c.s.counts.members += int64(o.Len())
	if hook := t.ks.hooks.Expired; hook != nil {
		hook(t.db, c.rec.key())
	}
	return true
}

// memberEvent is the keyspace event that members have expired: for hashes as Redis has
// it, for the other types that of their removal.
func memberEvent(t Type) (Class, string) {
	switch t {
	case TypeSet:
		return ClassSet, "srem"
	case TypeZSet:
		return ClassZSet, "zrem"
	}
	return ClassHash, "hexpired"
}

// fireMembers works off up to limit members, at least one, for an entry that came up
// by a tick, and returns how many there were. When there are more the entry is kept for
// the next call.
func (s *shard) fireMembers(db int, d *database, entry uint64, now Millis, tick int64, limit int) int {
	slot, ok := s.withTimer(d, entry, tick)
	if !ok {
		return 0
	}
	rec := s.openRecord(d.table.Ref(slot))
	if rec.expired(now) {
		s.fire(db, d, entry, now)
		return 1
	}
	h := &s.handles.list[rec.handle()]
	if h.due > now {
		s.handles.setTimer(h, h.due, d.wheel.enter(entry, h.due, now))
		return 0
	}
	t := s.engineTx()
	t.Begin(db, now, LockSet(1)<<uint(s.id), true)
	t.cur = place{ok: true, s: s, d: d, hash: s.ks.Hash(rec.key()), slot: slot, rec: rec}
	n, failed := t.purge(limit)
	if failed || t.cur.ok && s.dueAt(&t.cur.rec, now) {
		d.overdue = append(d.overdue, entry)
	}
	t.End()
	return n
}

// withTimer finds the key that an entry for members is for, if that is the entry which
// is expected to come up by a tick.
func (s *shard) withTimer(d *database, entry uint64, tick int64) (slot table.Slot, ok bool) {
	d.table.FindHash(entry, func(sl table.Slot) bool {
		r := s.openRecord(d.table.Ref(sl))
		if r.kind() != kindObject || memberEntry(s.ks.Hash(r.key())) != entry {
			return true
		}
		turn := s.handles.list[r.handle()].turn
		slot, ok = sl, turn != 0 && turn <= tick
		return false
	})
	return slot, ok
}

// engineTx returns the transaction with which the engine changes values itself.
func (s *shard) engineTx() *Tx {
	if s.own == nil {
		s.own = s.ks.NewTx()
	}
	return s.own
}

// expireOverdue goes on with collections that have more members due than one call may
// remove, and returns how many it removed, no more than limit.
func (s *shard) expireOverdue(db int, d *database, now Millis, limit int) (done int) {
	for n := len(d.overdue); n > 0 && done < limit; n = min(n-1, len(d.overdue)) {
		entry := d.overdue[n-1]
		d.overdue = append(d.overdue[:n-1], d.overdue[n:]...)
		done += s.fireMembers(db, d, entry, now, math.MaxInt64, limit-done)
	}
	if len(d.overdue) == 0 {
		d.overdue = nil
	}
	return done
}

// retimeMembers gives a collection an entry in an index that is built anew.
func (s *shard) retimeMembers(d *database, r *record, now Millis) {
	if r.kind() != kindObject {
		return
	}
	if h := &s.handles.list[r.handle()]; h.due != 0 {
		s.handles.setTimer(h, h.due, d.wheel.enter(memberEntry(s.ks.Hash(r.key())), h.due, now))
	}
}

// checkTimer checks that a collection is looked at in time.
func (c *checker) checkTimer(d *database, r record, timed map[uint64]bool) {
	if r.kind() != kindObject {
		return
	}
	h := &c.s.handles.list[r.handle()]
	if h.turn != 0 {
		c.timed++
	}
	o, ok := h.obj.(Timed)
	if !ok {
		return
	}
	next := o.NextDeadline()
	if next != 0 && (h.due == 0 || h.due > next) {
		c.fail("key %q: a member is due at %d, it is looked at at %d", r.key(), next, h.due)
	}
	entry := memberEntry(c.s.ks.Hash(r.key()))
	if h.turn != 0 && !timed[entry] {
		for _, e := range d.overdue {
			if e == entry {
				return
			}
		}
		c.fail("key %q has members with deadlines, but is not in the index", r.key())
	}
}

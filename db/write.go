package db

import "heddle/db/table"

// Delete removes the key. Where a snapshot makes memory necessary for that, and
// there is none, it panics with ErrOutOfMemory before anything has changed.
func (t *Tx) Delete(key []byte) bool {
	if !t.find(key) {
		return false
	}
	if !t.prepare() {
		panic(ErrOutOfMemory)
	}
	c := &t.cur
	c.ok = false
	c.s.remove(c.d, c.slot, false)
	return true
}

// SetExpire sets or removes the time to live. It panics with ErrOutOfMemory before
// anything has changed when there is no memory for a record of another size.
func (t *Tx) SetExpire(key []byte, at Expiry) bool {
	if !t.find(key) {
		return false
	}
	c := &t.cur
	old := c.rec.expire()
	switch {
	case at == KeepExpiry || at == old:
		return true
	case at != NoExpiry && old != NoExpiry && c.d.table.Fresh(c.slot):
		t.setDeadline(at)
		return true
	}
	if !t.reshape(at) {
		panic(ErrOutOfMemory)
	}
	return true
}

// reshape gives the record at t.cur another deadline, or none, in a new block.
func (t *Tx) reshape(at Expiry) bool {
	c := &t.cur
	old := c.rec
	n := len(old.val())
	r, ok := t.remake(shape{typ: old.typ(), kind: old.kind(), vlen: n, room: n}, at)
	if !ok {
		return false
	}
	copy(r.val(), old.val())
	t.settleShared(r)
	return true
}

// settleShared puts at t.cur a record that has the value of the old one. A
// handle moves over; where a snapshot keeps the old one, it is doubled.
func (t *Tx) settleShared(r record) {
	c := &t.cur
	if r.kind().hasHandle() && !c.d.table.Fresh(c.slot) {
		r.setHandle(c.s.handles.dup(c.rec.handle()))
	}
	t.settleMoved(r, true)
}

// Rename moves a value to another key.
func (t *Tx) Rename(from, to []byte) (bool, error) {
	if !t.find(from) {
		return false, nil
	}
	if string(from) == string(to) {
		return true, nil
	}
	if !t.prepare() {
		return true, ErrOutOfMemory
	}
	c := &t.cur
	clock := c.d.table.Clock(c.slot)
	moved := c.rec.kind().hasHandle() && c.d.table.Fresh(c.slot) && c.s == t.shardOf(to)
	var err error
	if moved {
		err = t.moveHandle(from, to)
	} else {
		err = t.copyTo(t, to)
	}
	if err != nil {
		return true, err
	}
	c.d.table.SetClock(c.slot, clock)
	if t.find(from) {
		c.ok = false
		c.s.remove(c.d, c.slot, moved)
	}
	return true, nil
}

// moveHandle gives the value at t.cur, which is behind a handle, to another key.
func (t *Tx) moveHandle(from, to []byte) error {
	c := &t.cur
	i, handles := c.rec.handle(), &c.s.handles
	v := value{typ: c.rec.typ(), kind: c.rec.kind(), handle: i, anew: true}
	handles.setTimer(&handles.list[i], 0, 0) // its entry is for the old key
	handles.list[i].untidy = false           // likewise
	err := t.put(to, &v, c.rec.expire())
	if v.kind == kindObject && (err == nil || t.find(from)) {
		t.schedule()
	}
	return err
}

// Copy copies a value and its time to live to a key of a database.
func (t *Tx) Copy(from []byte, db int, to []byte) (bool, error) {
	if !t.access(from) {
		return false, nil
	}
	dst := t.In(db).(*Tx)
	if dst == t && string(from) == string(to) {
		return true, nil
	}
	return true, t.copyTo(dst, to)
}

// copyTo stores the value at t.cur, and its time to live, under another key.
func (t *Tx) copyTo(dst *Tx, to []byte) error {
	r := t.cur.rec
	v := value{typ: r.typ(), kind: r.kind(), anew: true}
	at := r.expire()
	if !v.kind.hasHandle() {
		if v.kind == kindInt {
			v.n = r.int()
		} else {
			v.b = r.val()
		}
		return dst.put(to, &v, at)
	}
	h := t.cur.s.handles.list[r.handle()]
	if h.big != nil {
		h.big.Retain()
		return dst.putHandle(to, v, handle{big: h.big}, at)
	}
	return dst.putHandle(to, v, handle{obj: h.obj.Clone()}, at)
}

// Touched says that key was changed.
func (t *Tx) Touched(key []byte, class Class, event string) {
	r := t.root
	r.changes++
	if r.edited {
		t.recount(key, class, event)
	} else if event != "" && t.ks.hooks.Event != nil {
		t.ks.hooks.Event(t.db, class, event, key)
	}
	if s := t.shardOf(key); s.watched.used {
		s.watched.changed(s, t, t.db, key)
	}
}

// Adjusted counts n changes within the collection at key, and its size anew.
func (t *Tx) Adjusted(key []byte, n int64) {
	t.root.changes += n
	if t.find(key) {
		t.settleSize()
	}
}

// Wake lets those who wait for key look at it again.
func (t *Tx) Wake(key []byte) {
	s := t.shardOf(key)
	if a := s.awaiter(t); s.watched.awaited > 0 && a != nil {
		a.Ready(t.db, t.hashOf(key), key)
	}
}

// recount is Touched where collections were changed: their size is counted
// anew, and an empty one is removed, which is an event of its own.
func (t *Tx) recount(key []byte, class Class, event string) {
	empty := t.find(key) && (t.settleSize() || t.restDue())
	t.Event(class, event, key)
	if empty {
		t.Delete(key)
		t.Event(ClassGeneric, "del", key)
	}
}

// settleSize counts the size of the collection at t.cur anew, if it is one, and
// reports whether it is empty and has to go.
func (t *Tx) settleSize() bool {
	c := &t.cur
	switch k := c.rec.kind(); {
	case k.packed():
		return packedLen(c.rec.val()) == 0 && c.rec.typ() != TypeStream
	case k == kindObject:
		c.s.handles.resize(c.rec.handle())
		t.schedule()
		return c.s.handles.object(c.rec.handle()).Len() == 0 && c.rec.typ() != TypeStream
	}
	return false
}

// Dirty adds n changes to the count.
func (t *Tx) Dirty(n int64) { t.root.changes += n }

// Event publishes a keyspace event without marking a change.
func (t *Tx) Event(class Class, event string, key []byte) {
	if event != "" && t.ks.hooks.Event != nil {
		t.ks.hooks.Event(t.db, class, event, key)
	}
}

// remove deletes the key at a slot of database d. moved says that its handle
// lives on in another record.
func (s *shard) remove(d *database, slot table.Slot, moved bool) {
	rec, fresh := s.take(d, slot)
	s.dropRecord(rec, fresh, moved)
}

// take removes the record at a slot from database d; it is the caller's then, to be
// dropped.
func (s *shard) take(d *database, slot table.Slot) (rec record, fresh bool) {
	rec, fresh = s.openRecord(d.table.Ref(slot)), d.table.Fresh(slot)
	if at := rec.expire(); at != NoExpiry {
		d.retime(0, at, true, NoExpiry, 0)
	}
	d.table.Delete(slot)
	return rec, fresh
}

// dropRecord gives a record that left the table back, now or, if a snapshot
// may read it, when the snapshot is closed. moved says that a handle lives on
// in another record.
func (s *shard) dropRecord(rec record, fresh, moved bool) {
	if !fresh {
		s.retire(&rec)
		return
	}
	if rec.kind().hasHandle() && !moved {
		s.handles.drop(rec.handle())
	}
	s.arena.Free(rec.ref)
}

// expire removes the key at slot because its time has come.
func (s *shard) expire(db int, d *database, slot table.Slot) {
	s.counts.expired++
	s.lose(db, d, slot, ClassExpired, "expired", s.ks.hooks.Expired)
}

// lose removes the key at slot and tells of it: the engine does it, not a command.
// The key is read where it stands, for it may be long.
func (s *shard) lose(db int, d *database, slot table.Slot, class Class, event string, hook func(int, []byte)) {
	rec, fresh := s.take(d, slot)
	h, key := &s.ks.hooks, rec.key()
	if hook != nil {
		hook(db, key)
	}
	if h.Event != nil {
		h.Event(db, class, event, key)
	}
	if s.watched.used {
		s.watched.changed(s, nil, db, key)
	}
	s.dropRecord(rec, fresh, false)
}

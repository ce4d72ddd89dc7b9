package db

import (
	"math"

	"heddle/db/invariants"
)

// value is what is to be stored under a key.
type value struct {
	typ    Type
	kind   kind
	b      []byte // of kinds that are bytes
	n      int64  // of kindInt
	handle uint32 // of kindBig and kindObject; the record takes it over
	anew   bool   // it comes from another key: a value that was there has gone before
}

// size returns the bytes that the value takes in a record.
func (v *value) size() int {
	if n := impliedSize(v.kind); n != 0 {
		return n
	}
	return len(v.b)
}

// write puts the value into a record that has room for it.
func (v *value) write(r *record) {
	switch v.kind {
	case kindInt:
		r.setInt(v.n)
	case kindBig, kindObject:
		r.setHandle(v.handle)
	default:
		copy(r.val(), v.b)
	}
}

// put stores a value under key, replacing what is there.
func (t *Tx) put(key []byte, v *value, e Expiry) error {
	if !t.find(key) {
		return t.insert(key, v, e)
	}
	c := &t.cur
	at := e
	if e == KeepExpiry {
		at = c.rec.expire()
	}
	if !t.overwrite(v, at) && !t.replace(v, at) {
		return ErrOutOfMemory
	}
	t.renew()
	if v.anew {
		t.announce(key)
	}
	return nil
}

// announce tells that a key has come to be.
func (t *Tx) announce(key []byte) {
	if t.ks.hooks.Event != nil && !t.root.quiet {
		t.ks.hooks.Event(t.db, ClassNew, "new", key)
	}
}

// renew sets the access clock of a value just replaced: an LFU counter lives
// on, as in Redis.
func (t *Tx) renew() {
	c := &t.cur
	if t.cfg.Policy.lfu() {
		if !t.touchless {
			t.touch()
		}
		return
	}
	if clock := lruClock(t.now); c.d.table.Clock(c.slot) != clock {
		c.d.table.SetClock(c.slot, clock)
	}
}

// overwrite stores a value at t.cur in the block that is there. It fails when
// the block has no room or too much, when the record changes its form, or when
// a snapshot needs the record as it is.
func (t *Tx) overwrite(v *value, at Expiry) bool {
	if invariants.Enabled && invariants.Sometimes(8) {
		return false
	}
	c := &t.cur
	old := c.rec.kind()
	if old.hasHandle() || v.kind.hasHandle() || !c.d.table.Fresh(c.slot) {
		return false
	}
	if (at == NoExpiry) != (c.rec.flags()&flagExpire == 0) {
		return false
	}
	if old == kindInt && v.kind == kindInt {
		c.rec.setKind(v.typ, v.kind)
		c.rec.setInt(v.n)
	} else if !t.refill(v) {
		return false
	}
	if at != NoExpiry {
		t.setDeadline(at)
	}
	return true
}

// refill writes a value of another length, or kind, into the record at t.cur.
func (t *Tx) refill(v *value) bool {
	c := &t.cur
	n := v.size()
	if n > narrowMax && c.rec.flags()&flagWide == 0 || !fits(t.ks.heap.Cap(c.rec.ref), c.rec.valAt()+n) {
		return false
	}
	c.rec.setKind(v.typ, v.kind)
	if v.kind == kindInt {
		c.rec.setLen(t.ks.heap, 0)
		c.rec.b = t.ks.heap.Bytes(c.rec.ref, c.rec.valAt()+intSize)
	} else {
		c.rec.setLen(t.ks.heap, n)
	}
	v.write(&c.rec)
	return true
}

// fits reports whether n bytes may live in a block of room bytes without
// wasting much of it.
func fits(room, n int) bool { return n <= room && n+8+room/8 >= room }

// replace stores a value at t.cur in a new record.
func (t *Tx) replace(v *value, at Expiry) bool {
	n := v.size()
	r, ok := t.remake(shape{typ: v.typ, kind: v.kind, vlen: n, room: n}, at)
	if !ok {
		return false
	}
	v.write(&r)
	t.settle(r)
	return true
}

// remake allocates a record that is to follow the one at t.cur, with its key
// and a deadline.
func (t *Tx) remake(s shape, at Expiry) (record, bool) {
	c := &t.cur
	if !t.prepare() {
		return record{}, false
	}
	s.key, s.expire = c.rec.key(), at
	r, ok := newRecord(t.ks.heap, c.s.arena, &s)
	if ok {
		timer := c.d.retime(c.hash, c.rec.expire(), c.rec.flags()&flagTimer != 0, at, t.now)
		r.setFlag(flagTimer, timer)
	}
	return r, ok
}

// settle puts a record made by remake in the place of the one at t.cur, which
// is dropped with its handle.
func (t *Tx) settle(r record) { t.settleMoved(r, false) }

// settleMoved is settle; if moved, the old record's handle lives on in the new
// one, unless the old one is frozen.
func (t *Tx) settleMoved(r record, moved bool) {
	c := &t.cur
	fresh := c.d.table.Fresh(c.slot)
	old := c.rec
	c.slot = c.d.table.SetRef(c.slot, r.ref)
	c.rec = r
	c.s.dropRecord(old, fresh, moved)
}

// setDeadline changes the deadline of the record at t.cur, which has one.
func (t *Tx) setDeadline(at Expiry) {
	c := &t.cur
	old := c.rec.expire()
	if old == at {
		return
	}
	timer := c.d.retime(c.hash, old, c.rec.flags()&flagTimer != 0, at, t.now)
	c.rec.setExpire(at)
	c.rec.setFlag(flagTimer, timer)
}

// insert stores a value under a key that find did not find.
func (t *Tx) insert(key []byte, v *value, e Expiry) error {
	n := v.size()
	r, err := t.insertShape(shape{typ: v.typ, kind: v.kind, key: key, vlen: n, room: n, expire: e})
	if err == nil {
		v.write(&r)
		t.cur.rec = r
	}
	return err
}

// insertShape makes a record for a key that find did not find; the caller
// writes its value.
func (t *Tx) insertShape(s shape) (record, error) {
	c := &t.cur
	if s.expire == KeepExpiry {
		s.expire = NoExpiry
	}
	c.d = c.s.database(t.db)
	r, ok := newRecord(t.ks.heap, c.s.arena, &s)
	if !ok {
		return r, ErrOutOfMemory
	}
	slot, ok := c.d.table.Insert(c.hash, r.ref, t.cfg.born(t.now))
	if !ok {
		c.s.arena.Free(r.ref)
		return r, ErrOutOfMemory
	}
	if s.expire != NoExpiry {
		r.setFlag(flagTimer, c.d.retime(c.hash, NoExpiry, false, s.expire, t.now))
	}
	c.slot, c.rec, c.ok = slot, r, true
	t.announce(s.key)
	return r, nil
}

// SetString stores a string as SET does.
func (t *Tx) SetString(key, val []byte, e Expiry) error {
	if n, ok := parseInt(val); ok {
		return t.SetInt(key, n, e)
	}
	return t.SetText(key, val, e)
}

// SetText stores a string that is not to become an integer.
func (t *Tx) SetText(key, val []byte, e Expiry) error {
	k := kindEmb
	if len(val) > embMax {
		k = kindRaw
	}
	return t.setBytes(key, val, k, e)
}

// SetRaw stores a string whose encoding is to be raw.
func (t *Tx) SetRaw(key, val []byte, e Expiry) error { return t.setBytes(key, val, kindRaw, e) }

func (t *Tx) setBytes(key, val []byte, k kind, e Expiry) error {
	if len(val) < BigMin {
		return t.put(key, &value{typ: TypeString, kind: k, b: val}, e)
	}
	b := newBig(t.ks.heap, len(val), len(val))
	if b == nil {
		return ErrOutOfMemory
	}
	copy(b.Bytes(), val)
	return t.AdoptBig(key, b, e)
}

// SetInt stores an integer.
func (t *Tx) SetInt(key []byte, n int64, e Expiry) error {
	return t.put(key, &value{typ: TypeString, kind: kindInt, n: n}, e)
}

// NewBig is Keyspace.NewBig, for commands.
func (t *Tx) NewBig(size int) *Big { return t.ks.NewBig(size) }

// AdoptBig stores a Big made by Keyspace.NewBig as the string at key, and takes
// over the caller's reference, also when it fails. A value that is too small to
// be kept as a Big is copied.
func (t *Tx) AdoptBig(key []byte, b *Big, e Expiry) error {
	if b.Len() < BigMin {
		defer b.Release()
		return t.SetString(key, b.Bytes(), e)
	}
	return t.putHandle(key, value{typ: TypeString, kind: kindBig}, handle{big: b}, e)
}

// putHandle stores a value behind a new handle.
func (t *Tx) putHandle(key []byte, v value, h handle, e Expiry) error {
	s := t.shardOf(key)
	v.handle = s.handles.add(h)
	err := t.put(key, &v, e)
	if err != nil {
		s.handles.drop(v.handle)
	} else if v.kind == kindObject {
		t.schedule()
	}
	return err
}

// shardOf returns the shard of a key.
func (t *Tx) shardOf(key []byte) *shard { return &t.ks.shards[t.hashOf(key)&t.ks.mask] }

// thaw replaces the record at t.cur, frozen and with a handle, by one that may
// be changed.
func (t *Tx) thaw() bool {
	c := &t.cur
	r, ok := t.remake(shape{typ: c.rec.typ(), kind: c.rec.kind(), vlen: handleSize}, c.rec.expire())
	if !ok {
		return false
	}
	r.setHandle(c.s.handles.dup(c.rec.handle()))
	t.settle(r)
	return true
}

// parseInt reads val as Redis does to decide whether a string is kept as an
// integer: only the spelling that it would be printed with.
func parseInt(val []byte) (int64, bool) {
	if len(val) == 0 || len(val) > 20 {
		return 0, false
	}
	d, neg := val, val[0] == '-'
	if neg {
		d = val[1:]
	}
	if len(d) == 0 || len(d) > 19 || d[0] < '1' || d[0] > '9' {
		return 0, len(val) == 1 && val[0] == '0'
	}
	var u uint64
	for _, c := range d {
		if c < '0' || c > '9' {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	if neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u <= math.MaxInt64
}

package db

import (
	"math"
	"math/rand/v2"

	"heddle/db/invariants"
	"heddle/db/table"
)

// Tx is the keyspace as one command sees it, for reading (View) and for
// writing (Txn). An executor has one and uses it again and again: it locks the
// shards of the command's keys, calls Begin, runs the handler, calls End and
// unlocks. A Tx is not safe for concurrent use.
//
// What a Tx hands out of the keyspace's memory is valid until the next change
// of the same key, or until the shards are unlocked.
type Tx struct {
	ks        *Keyspace
	root      *Tx // the transaction that counts changes; t itself unless made by In
	db        int
	now       Millis
	due       Millis // what is due by then is gone
	timeless  bool
	set       LockSet
	writing   bool
	touchless bool
	quiet     bool
	patient   bool   // ErrDue may be answered
	cleared   dueKey // where it came from
	edited    bool   // a collection was changed since Begin
	cfg       *Settings
	changes   int64
	primed    []byte
	hash      uint64
	cur       place
	rnd       rand.PCG
	others    []*Tx // for In, by database
	awaiter   Awaiter
	spelling  [20]byte
}

// place is where find looked last.
type place struct {
	ok   bool // slot and rec are those of a key
	s    *shard
	d    *database // nil when the shard has nothing in the database
	hash uint64
	slot table.Slot
	rec  record
}

// NewTx returns a Tx for one executor.
func (ks *Keyspace) NewTx() *Tx {
	t := &Tx{ks: ks, cfg: ks.settings.Load()}
	t.root = t
	t.Seed(ks.rands.Add(0x9e3779b97f4a7c15))
	return t
}

// Seed makes Rand repeatable, for tests.
func (t *Tx) Seed(n uint64) { t.rnd.Seed(n, ^n) }

// Begin starts a command on a database, at an instant, with the shards of set
// locked by the caller. A command that does not write must not call the
// methods of Txn.
func (t *Tx) Begin(db int, now Millis, set LockSet, write bool) {
	t.db, t.now, t.set, t.writing = db, now, set, write
	if t.due = now; t.timeless {
		t.due = math.MinInt64
	}
	t.changes, t.edited, t.primed, t.cur.ok = 0, false, nil, false
	t.cfg = t.ks.settings.Load()
}

// Prime tells the hash of a key, so that it is not computed again. key must be
// the very slice that the handler will pass on.
func (t *Tx) Prime(key []byte, hash uint64) { t.primed, t.hash = key, hash }

// Select goes on in another database, between the commands of one EXEC. Settings
// that one of them changed hold for the next.
func (t *Tx) Select(db int) {
	t.db, t.cur.ok = db, false
	t.cfg = t.ks.settings.Load()
}

// SetTouchless says whether accesses leave the access clocks alone, as CLIENT
// NO-TOUCH wants. It holds until changed.
func (t *Tx) SetTouchless(on bool) { t.touchless = on }

// SetTimeless says whether keys and members whose time has come stay as they are, and
// deadlines that have passed are accepted like others: so it is where commands of the
// past are repeated, which name what had expired by then. It holds until changed, from
// the next Begin on.
func (t *Tx) SetTimeless(on bool) { t.timeless = on }

// Changes returns how many changes were counted since Begin.
func (t *Tx) Changes() int64 { return t.changes }

// LockSet returns the shards given to Begin.
func (t *Tx) LockSet() LockSet { return t.set }

// End finishes the command: it hands the count of changes on. The caller
// unlocks afterwards.
func (t *Tx) End() {
	if t.changes != 0 {
		t.ks.dirty(t.set, t.changes)
	}
	t.cur.ok, t.primed, t.patient = false, nil, false
}

// Abort makes the Tx usable again after a handler panicked.
func (t *Tx) Abort() { t.End() }

// hashOf returns the hash of a key.
func (t *Tx) hashOf(key []byte) uint64 {
	if p := t.primed; len(p) == len(key) && len(p) > 0 && &p[0] == &key[0] {
		return t.hash
	}
	return t.ks.Hash(key)
}

// find looks for a key and leaves in t.cur where it is, or where it would be.
// A key whose time has come, or that of all its members, is removed and not found.
func (t *Tx) find(key []byte) bool {
	c := &t.cur
	if c.ok && string(c.rec.key()) == string(key) {
		return true
	}
	c.ok = false
	hash := t.hashOf(key)
	i := hash & t.ks.mask
	if invariants.Enabled {
		invariants.Assert(t.set.Has(int(i)), "key %q: its shard %d is not locked", key, i)
	}
	s := &t.ks.shards[i]
	d := s.at(t.db).Load()
	c.s, c.d, c.hash = s, d, hash
	if d == nil {
		return false
	}
	slot, ok := d.table.Find(hash, key)
	if !ok {
		return false
	}
	rec := openRecord(t.ks.heap, d.table.Ref(slot))
	c.slot, c.rec, c.ok = slot, rec, true
	if rec.expired(t.due) {
		t.expireFound()
		return false
	}
	return rec.kind() != kindObject || !t.allDue()
}

// expireFound removes the key that find found, because its time has come. Without
// the memory for that it stays where it is, unseen, unless the transaction could put
// another in its place.
func (t *Tx) expireFound() {
	c := &t.cur
	c.ok = false
	if !t.writing && t.ks.frozen.Load() {
		return
	}
	switch {
	case t.prepare():
		c.s.expire(t.db, c.d, c.slot)
	case t.writing:
		panic(ErrOutOfMemory)
	}
}

// prepare sees to it that the record at t.cur can be replaced or removed, for which a
// snapshot may make memory necessary; false when there is none.
func (t *Tx) prepare() (ok bool) {
	c := &t.cur
	c.slot, ok = c.d.table.Prepare(c.slot)
	return ok
}

// access is find that counts as an access.
func (t *Tx) access(key []byte) bool {
	if !t.find(key) {
		return false
	}
	if !t.touchless {
		t.touch()
	}
	return true
}

// touch moves the access clock of the key at t.cur.
func (t *Tx) touch() {
	c := &t.cur
	old := c.d.table.Clock(c.slot)
	if clock := t.cfg.touched(old, t.now, &t.rnd); clock != old {
		c.d.table.SetClock(c.slot, clock)
	}
}

// lookup is access that also counts as a hit or miss.
func (t *Tx) lookup(key []byte) bool { return t.tally(key, t.access(key)) }

// tally counts a hit or miss.
func (t *Tx) tally(key []byte, found bool) bool {
	if found {
		t.cur.s.counts.hits++
		return true
	}
	t.cur.s.counts.misses++
	if t.ks.hooks.Event != nil {
		t.ks.hooks.Event(t.db, ClassMiss, "keymiss", key)
	}
	return false
}

// Inspect is Meta that counts as a hit or miss.
func (t *Tx) Inspect(key []byte) (Meta, bool) {
	m, found := t.Meta(key)
	if found {
		t.cur.s.counts.hits++
	} else {
		t.cur.s.counts.misses++
	}
	return m, found
}

// DB returns the database.
func (t *Tx) DB() int { return t.db }

// Databases returns the number of databases.
func (t *Tx) Databases() int { return t.ks.databases }

// Now returns the instant of the command.
func (t *Tx) Now() Millis { return t.now }

// Due is described at View.
func (t *Tx) Due() Millis { return t.due }

// Rand returns a random number.
func (t *Tx) Rand() uint64 { return t.rnd.Uint64() }

// String returns the string at key.
func (t *Tx) String(key []byte) (s Str, found bool, err error) {
	if !t.lookup(key) {
		return s, false, nil
	}
	found = t.str(&s)
	if !found {
		err = ErrWrongType
	}
	return s, found, err
}

// Current is String without counting a hit or miss.
func (t *Tx) Current(key []byte) (s Str, found bool, err error) {
	if !t.access(key) {
		return s, false, nil
	}
	found = t.str(&s)
	if !found {
		err = ErrWrongType
	}
	return s, found, err
}

// str writes the value at t.cur to s; false if it is no string.
func (t *Tx) str(s *Str) bool {
	r := &t.cur.rec
	if r.typ() != TypeString {
		return false
	}
	switch r.kind() {
	case kindInt:
		s.N, s.IsInt = r.int(), true
	case kindBig:
		s.Big = t.cur.s.handles.big(r.handle())
		s.B = s.Big.Bytes()
	default:
		s.B = r.val()
	}
	return true
}

// Type returns the key's type without counting an access.
func (t *Tx) Type(key []byte) Type {
	if !t.find(key) {
		return TypeNone
	}
	return t.cur.rec.typ()
}

// Probe is Type that counts as a hit or miss, but not as an access.
func (t *Tx) Probe(key []byte) Type {
	if !t.tally(key, t.find(key)) {
		return TypeNone
	}
	return t.cur.rec.typ()
}

// Exists reports whether the key is there, as an access.
func (t *Tx) Exists(key []byte) bool { return t.lookup(key) }

// Expire returns when the key expires.
func (t *Tx) Expire(key []byte) (Expiry, bool) {
	if !t.find(key) {
		return NoExpiry, false
	}
	return t.cur.rec.expire(), true
}

// slotSize is what a key costs in the table at the usual load.
const slotSize = 12

// Meta describes the key for OBJECT and DEBUG.
func (t *Tx) Meta(key []byte) (Meta, bool) {
	if !t.find(key) {
		return Meta{}, false
	}
	c := &t.cur
	clock := c.d.table.Clock(c.slot)
	m := Meta{Type: c.rec.typ(), Clock: clock, Ref: uint64(c.rec.ref), Expire: c.rec.expire(),
		Size: int64(t.ks.heap.Cap(c.rec.ref)) + slotSize}
	if t.cfg.Policy.lfu() {
		m.LFU, m.Freq = true, t.cfg.frequency(clock, t.now)
	} else {
		m.Idle = idleTime(clock, t.now)
	}
	t.describe(&m)
	return m, true
}

// describe fills in what depends on how the value is stored.
func (t *Tx) describe(m *Meta) {
	r := &t.cur.rec
	switch r.kind() {
	case kindInt:
		m.Encoding, m.Len = "int", decimalLen(r.int())
		m.SmallInt = t.cfg.smallInt(r.int())
	case kindEmb:
		m.Encoding, m.Len = "embstr", len(r.val())
	case kindRaw:
		m.Encoding, m.Len = "raw", len(r.val())
	case kindListpack, kindIntset, kindLoose:
		m.Encoding, m.Len = packingOf(r.kind()).encoding(r.typ()), packedLen(r.val())
	case kindBig:
		b := t.cur.s.handles.big(r.handle())
		m.Encoding, m.Len = "raw", len(b.Bytes())
		m.Size += b.memSize()
	case kindObject:
		o := t.cur.s.handles.object(r.handle())
		m.Encoding, m.Len = o.Encoding(), o.Len()
		m.Size += o.MemSize()
	}
}

// decimalLen returns the length of n's decimal spelling.
func decimalLen(n int64) int {
	l, u := 1, uint64(n)
	if n < 0 {
		l, u = 2, -u
	}
	for ; u >= 10; u /= 10 {
		l++
	}
	return l
}

// In returns the transaction seen from another database.
func (t *Tx) In(db int) Txn {
	r := t.root
	if r.db == db {
		r.cur.ok = false
		return r
	}
	if r.others == nil {
		r.others = make([]*Tx, r.ks.databases)
	}
	o := r.others[db]
	if o == nil {
		o = &Tx{ks: r.ks, root: r, db: db}
		o.Seed(r.rnd.Uint64())
		r.others[db] = o
	}
	o.now, o.due, o.set, o.writing, o.touchless, o.cfg, o.cur.ok = r.now, r.due, r.set, r.writing, r.touchless, r.cfg, false
	return o
}

package members

import "heddle/db"

// Deadlines says when members of a collection are to go: instants by member, and
// the members in the order of their instants. A collection has one once a member
// got a deadline; all that only reads works on a nil one, which has none.
//
// It is a Table of instants, and beside it an order of pairs: the instant and the
// hash by which the table finds the member. So a member stands there once, and
// the order has 16 bytes for each. Rejected: a heap, which cannot be cloned in
// constant time; a timing wheel as the keyspace has it, whose stale entries would
// need a rebuild now and then, for each collection.
type Deadlines struct {
	t *Table
	o order
}

// NewDeadlines returns an empty one.
func NewDeadlines() *Deadlines { return &Deadlines{t: New(Word)} }

// Len returns how many members have a deadline.
func (d *Deadlines) Len() int {
	if d == nil {
		return 0
	}
	return d.t.Len()
}

// MemSize returns the bytes of memory taken, with what is shared with clones.
func (d *Deadlines) MemSize() int64 {
	if d == nil {
		return 0
	}
	return d.t.MemSize() + d.o.mem
}

// Clone is Table.Clone; nil if d is nil.
func (d *Deadlines) Clone() *Deadlines {
	if d == nil {
		return nil
	}
	return &Deadlines{t: d.t.Clone(), o: d.o}
}

// Get returns the deadline of a member.
func (d *Deadlines) Get(member []byte) (at db.Millis, found bool) {
	if d == nil {
		return 0, false
	}
	w, found := d.t.Word(member)
	return db.Millis(w), found
}

// Passed reports whether the time of a member has come: it is to be hidden.
func (d *Deadlines) Passed(member []byte, now db.Millis) bool {
	if !d.AnyDue(now) {
		return false
	}
	at, found := d.Get(member)
	return found && at <= now
}

// Next returns the earliest deadline, 0 if there is none.
func (d *Deadlines) Next() db.Millis {
	if d == nil || d.t.Len() == 0 {
		return 0
	}
	return db.Millis(d.o.first().at)
}

// AnyDue reports whether a deadline has passed: usually none has, for they are taken away
// soon.
func (d *Deadlines) AnyDue(now db.Millis) bool {
	at := d.Next()
	return at != 0 && at <= now
}

// DueBy returns how many deadlines have passed. It takes a step for each 16384.
func (d *Deadlines) DueBy(now db.Millis) int {
	if !d.AnyDue(now) {
		return 0
	}
	return d.o.upTo(uint64(now))
}

// AllDue reports whether all of the n members that there are have a deadline that has
// passed. In constant time.
func (d *Deadlines) AllDue(n int, now db.Millis) bool {
	return d != nil && n > 0 && d.t.Len() == n && db.Millis(d.o.last().at) <= now
}

// Each visits every member with its deadline, in no order, until fn returns
// false, and reports whether it came to the end. fn must not change d.
func (d *Deadlines) Each(fn func(member []byte, at db.Millis) bool) bool {
	return d == nil || d.t.Each(func(m, v []byte) bool { return fn(m, db.Millis(Uint64(v))) })
}

// Set gives a member a deadline, which is positive.
func (d *Deadlines) Set(member []byte, at db.Millis) {
	h := d.t.hash(member)
	old, found := d.t.SetWord(member, uint64(at))
	if found && old == uint64(at) {
		return
	}
	if found {
		d.o.remove(d.t.owner, pair{old, h})
	}
	d.o.add(d.t.owner, pair{uint64(at), h})
}

// Delete takes the deadline of a member away and reports whether it had one.
func (d *Deadlines) Delete(member []byte) bool {
	if d == nil || d.t.Len() == 0 {
		return false
	}
	old, found := d.t.TakeWord(member)
	if found {
		d.o.remove(d.t.owner, pair{old, d.t.hash(member)})
	}
	return found
}

// Due takes away the deadlines that have passed, the earliest first, up to limit
// of them, and calls fn for each member, which is valid until fn returns. It
// returns how many there were. fn must not change d.
func (d *Deadlines) Due(now db.Millis, limit int, fn func(member []byte)) (n int) {
	for ; n < limit; n++ {
		if at := d.Next(); at == 0 || at > now {
			break
		}
		p := d.o.first()
		b, s := d.t.searchWord(p.hash, p.at)
		fn(d.t.member(b, offset(b, s)))
		d.t.cut(p.hash, s)
		d.o.remove(d.t.owner, p)
	}
	return n
}

// searchWord returns the block of a hash, and the slot of a member with just this
// hash and word.
func (t *Table) searchWord(h, w uint64) (b []byte, slot int) {
	b = t.block(h)
	for s := range count(b) {
		if print8(b, s) == byte(h) && t.entryHash(b, s) == h && Uint64(t.value(b, offset(b, s))) == w {
			return b, s
		}
	}
	panic("members: a deadline without its member")
}

package set

import (
	"math"

	"heddle/db"
	"heddle/db/listpack"
)

// Builder makes a set without a key out of members that come one after the other, for those
// who load files: in no transaction and under no lock. Reset comes first; a Builder may be
// used again, once what Coll returned is stored.
type Builder struct {
	limits db.Limits
	s      Set
	room   []byte
	seen   listpack.Seen // members, while packed
}

// Reset begins a set of n announced members. packing is the form that the file has it in:
// Intset, Listpack or NotPacked. As in Redis, what is more than an intset or a listpack may
// have is a hash table from the start, a table in the file begins as an intset, and members
// of a listpack in the file may have any length.
func (b *Builder) Reset(l *db.Limits, n uint64, packing db.Packing) {
	if b.s.obj == nil && b.s.packed != nil {
		b.room = b.s.packed
	}
	b.limits = *l
	b.seen.Reset()
	b.s = Set{limits: &b.limits, form: asIntset}
	switch {
	case packing == db.Listpack:
		b.s.form, b.limits.SetValue = asListpack, math.MaxInt64
		if n > uint64(max(l.SetEntries, 0)) {
			b.s.form = asTable
		}
	case n > uint64(max(l.SetIntset, 0)):
		b.s.form = asTable
	}
	if b.s.form == asTable {
		b.s.obj = newObject(asTable)
	}
}

// Add adds a member; false if it is there already. What it is given is copied.
func (b *Builder) Add(member []byte) bool {
	if b.s.obj != nil {
		return b.s.addLarge(member)
	}
	first := b.s.packed == nil
	var added bool // without a key it does not fail
	if b.seen.Add(member) || b.s.form != asListpack {
		added, _ = b.s.Add(member)
	} else {
		added, _ = b.s.addNewEntry(member)
	}
	if first && b.s.obj == nil {
		b.s.packed = append(b.room[:0], b.s.packed...)
	}
	return added
}

// Prefetch asks for the memory where a member will be added.
func (b *Builder) Prefetch(member []byte) {
	if b.s.obj != nil {
		b.s.obj.table.Prefetch(member)
	}
}

// SetDeadline gives a member that is there a deadline; false if it is not there.
func (b *Builder) SetDeadline(member []byte, at db.Millis) bool {
	if !b.s.Has(member) {
		return false
	}
	_ = b.s.SetDeadline(member, at) // without a key it does not fail
	return true
}

// Len returns the number of members.
func (b *Builder) Len() int { return b.s.Len() }

// Coll returns the set as it is to be stored. What is packed is the Builder's.
func (b *Builder) Coll() db.Coll {
	if b.s.obj != nil {
		return db.Coll{Type: db.TypeSet, Object: b.s.obj}
	}
	return db.Coll{Type: db.TypeSet, Packing: b.s.form.packing(), Packed: b.s.packed}
}

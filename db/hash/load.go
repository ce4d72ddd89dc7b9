package hash

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Builder makes a hash without a key out of fields that come one after the other, for those
// who load files: in no transaction and under no lock. Reset comes first; a Builder may be
// used again, once what Coll returned is stored.
type Builder struct {
	limits *db.Limits
	h      Hash // packed, while obj is nil
	room   []byte
	count  int
	seen   listpack.Seen // fields, while packed
	f, v   listpack.Value
}

// Reset begins a hash of n announced fields: where these are more than a listpack may have,
// it is a hash table from the start, as in Redis.
func (b *Builder) Reset(l *db.Limits, n uint64) {
	b.limits, b.count = l, 0
	b.h = Hash{loose: n > uint64(max(l.HashEntries, 0))}
	if b.h.loose && n > looseFields {
		b.h.obj = NewObject()
	}
	b.room = append(b.room[:0], 0, 0)
	b.seen.Reset()
}

// Add adds a field with its value and deadline, 0 for none; false if there is one of that
// name. What it is given is copied.
func (b *Builder) Add(field, value []byte, at db.Millis) bool {
	if b.h.obj == nil && (at != 0 || len(field)+len(value) > db.PackedMax) {
		b.unpack()
	}
	if b.h.obj == nil {
		b.f.Set(field)
		if b.seen.Add(field) && listpack.Find(b.room, listpack.Header, &b.f, 1) >= 0 {
			return false
		}
		b.v.Set(value)
		if b.h.mayPack(b.limits, field, value, b.count+1, len(b.room)+b.f.Size()+b.v.Size()) {
			b.room = b.v.Append(b.f.Append(b.room))
			b.count++
			return true
		}
		b.unpack()
	}
	o := b.h.obj
	if !o.set(b.limits, field, value) {
		return false
	}
	if at != 0 {
		o.setDeadline(field, at)
	}
	return true
}

// Prefetch asks for the memory where a field will be added.
func (b *Builder) Prefetch(field []byte) {
	if b.h.obj != nil {
		b.h.obj.table.Prefetch(field)
	}
}

// SetDeadline gives a field that is there a deadline; false if it is not there.
func (b *Builder) SetDeadline(field []byte, at db.Millis) bool {
	if b.h.obj == nil {
		b.unpack()
	}
	if !b.h.obj.table.Has(field) {
		return false
	}
	b.h.obj.setDeadline(field, at)
	return true
}

// unpack makes an Object of what is packed.
func (b *Builder) unpack() { b.h.obj = unpack(b.room, !b.h.loose) }

// Timed says that Redis would keep the hash in the form for fields with deadlines, though
// none of them has one any more.
func (b *Builder) Timed() {
	if b.h.obj == nil {
		b.unpack()
	}
	b.h.obj.timed = true
}

// Len returns the number of fields.
func (b *Builder) Len() int {
	if b.h.obj != nil {
		return b.h.obj.Len()
	}
	return b.count
}

// Coll returns the hash as it is to be stored. What is packed is the Builder's.
func (b *Builder) Coll() db.Coll {
	if b.h.obj != nil {
		return db.Coll{Type: db.TypeHash, Object: b.h.obj}
	}
	listpack.SetCount(b.room, b.count)
	c := db.Coll{Type: db.TypeHash, Packing: db.Listpack, Packed: b.room}
	if b.h.loose {
		c.Packing = db.Loose
	}
	return c
}

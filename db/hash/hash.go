// Package hash keeps hashes: fields with values, each of which may have a
// deadline.
//
// A small hash is packed in the record of its key: pairs of entries of package
// listpack, in the order in which fields came. A lookup reads through them, which
// for some dozens of fields takes as long as computing a hash and following a
// pointer. It becomes an Object, a members.Table, when it grows beyond the limits at
// which Redis would make a hash table of it (hash-max-listpack-entries,
// hash-max-listpack-value), when it would not fit into a record, and when a field gets
// a deadline. If Redis would make a table of what is small, a few fields with values of
// 100 bytes, it stays packed: a table costs some hundred bytes. In all cases OBJECT
// ENCODING says what Redis would: it is asked of clients' tests, and has nothing to do
// with how things are kept. No hash goes back.
//
// Rejected: deadlines within the packed form, as Redis 7.4 has them: each read
// would have to step over them, and fields that expire are few and go soon.
package hash

import (
	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Hash is a hash as one command sees it, with no fields when its key is absent.
// It is a handle: valid until the handler returns, and not to be copied once it
// was used to change something. What it hands out is borrowed: valid until its
// next change, and of a packed hash until its next call. Fields whose time has
// come are not there.
type Hash struct {
	tx     db.Txn // nil: for reading only
	key    []byte
	now    db.Millis
	packed []byte // pairs, if obj is nil; nil: no key
	loose  bool   // they are packed, but Redis would make a hash table of them
	obj    *Object
	field  listpack.Scratch
	value  listpack.Scratch
}

// Read returns the hash at key for reading, as View.Collection does:
// db.ErrWrongType.
func Read(v db.View, key []byte) (h Hash, err error) {
	c, _, err := v.Collection(key, db.TypeHash)
	h.open(&c, v.Due())
	return h, err
}

// ReadToDraw is Read for who draws fields at random, or walks over all: where most of what is stored is due,
// that is removed before (db.View.Clear).
func ReadToDraw(v db.View, key []byte) (h Hash, err error) {
	h, err = Read(v, key)
	if err != nil || h.obj == nil || h.obj.deadlines.DueBy(h.now) <= h.obj.table.Len()/2 {
		return h, err
	}
	c, _, err := v.Clear(key, db.TypeHash)
	h = Hash{}
	h.open(&c, v.Due())
	return h, err
}

// Of returns the hash that a snapshot holds, for reading.
func Of(c db.Coll, now db.Millis) (h Hash) {
	h.open(&c, now)
	return h
}

// open fills a new handle.
func (h *Hash) open(c *db.Coll, now db.Millis) {
	h.now, h.packed, h.loose = now, c.Packed, c.Packing == db.Loose
	if c.Object != nil {
		h.obj = c.Object.(*Object)
	}
}

// Write returns the hash at key for change, as Txn.EditCollection does:
// db.ErrWrongType, db.ErrOutOfMemory. The key comes to be with the first Set. Whoever
// changed something calls Touched.
func Write(tx db.Txn, key []byte) (h Hash, err error) {
	c, _, err := tx.EditCollection(key, db.TypeHash)
	h.open(&c, tx.Due())
	h.tx, h.key = tx, key
	return h, err
}

// Len returns the number of fields.
func (h *Hash) Len() int {
	switch {
	case h.obj != nil:
		return h.obj.table.Len() - h.obj.deadlines.DueBy(h.now)
	case h.packed != nil:
		return listpack.Count(h.packed)
	}
	return 0
}

// find returns the offset of a field in the packed form, -1 if it is not there.
func (h *Hash) find(f *listpack.Value) int {
	if h.packed == nil {
		return -1
	}
	return listpack.Find(h.packed, listpack.Header, f, 1)
}

// Get returns the value of a field.
func (h *Hash) Get(field []byte) (value []byte, found bool) {
	if h.obj != nil {
		if h.obj.deadlines.Passed(field, h.now) {
			return nil, false
		}
		return h.obj.table.Get(field)
	}
	var f listpack.Value
	f.Set(field)
	at := h.find(&f)
	if at < 0 {
		return nil, false
	}
	return listpack.At(h.packed, listpack.Next(h.packed, at)).Bytes(&h.value), true
}

// Lasting returns the value of a field that is there and has more than db.PackedMax
// bytes. It is not borrowed: those bytes never change.
func (h *Hash) Lasting(field []byte) []byte {
	value, _ := h.obj.table.Get(field)
	return value
}

// Has reports whether a field is there.
func (h *Hash) Has(field []byte) bool {
	if h.obj != nil {
		return h.obj.table.Has(field) && !h.obj.deadlines.Passed(field, h.now)
	}
	var f listpack.Value
	f.Set(field)
	return h.find(&f) >= 0
}

// Deadline returns when a field expires; false if it never does, or is not there.
func (h *Hash) Deadline(field []byte) (at db.Millis, found bool) {
	if h.obj == nil {
		return 0, false
	}
	at, found = h.obj.deadlines.Get(field)
	return at, found && at > h.now
}

// Iter begins a walk over all fields. The hash must not change meanwhile.
func (h *Hash) Iter() Iter {
	if h.obj == nil {
		return Iter{packed: h.packed, at: listpack.Header, now: h.now}
	}
	return h.obj.iter(h.now)
}

// Each visits every field until fn returns false. fn must not change the hash. An Iter
// does the same without an allocation.
func (h *Hash) Each(fn func(field, value []byte) bool) {
	for it := h.Iter(); it.Next(); {
		if !fn(it.Field(), it.Value()) {
			return
		}
	}
}

// Scan visits fields from cursor on and returns the cursor to go on with, 0 at the
// end: see members.Table.Scan. A hash that Redis would keep as a listpack is
// visited whole, whatever count is.
func (h *Hash) Scan(cursor uint64, count int, fn func(field, value []byte)) (next uint64) {
	if h.obj == nil || h.obj.small {
		h.Each(func(f, v []byte) bool {
			fn(f, v)
			return true
		})
		return 0
	}
	d := h.obj.deadlines
	if d == nil {
		return h.obj.table.Scan(cursor, count, fn)
	}
	return h.obj.table.Scan(cursor, count, func(f, v []byte) {
		if !d.Passed(f, h.now) {
			fn(f, v)
		}
	})
}

// Random returns a field with its value, each with the same probability. There is
// one.
func (h *Hash) Random(r members.Source) (field, value []byte) {
	if h.obj == nil {
		n := members.Below(r.Rand(), uint64(listpack.Count(h.packed)))
		at := listpack.Skip(h.packed, listpack.Header, 2*int(n))
		f := listpack.At(h.packed, at)
		return f.Bytes(&h.field), listpack.At(h.packed, at+len(f)).Bytes(&h.value)
	}
	return h.obj.random(h.now, r)
}

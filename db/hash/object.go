package hash

import (
	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Object is a hash that is not packed. It is a db.Object and a db.Timed.
type Object struct {
	table     *members.Table
	deadlines *members.Deadlines // nil: none has one
	small     bool               // Redis would keep it as a listpack
	timed     bool               // a field had a deadline while it was small
	db.Shared
}

// objectSize is the size of an Object itself.
const objectSize = 24 + db.SharedSize

// NewObject returns an empty one, which Redis would keep as a hash table: for
// those who load large hashes.
func NewObject() *Object { return &Object{table: members.New(members.Bytes)} }

// Put gives a field a value without more ado; at is its deadline, 0 for none. It
// is for objects that are not stored yet.
func (o *Object) Put(field, value []byte, at db.Millis) {
	o.table.Set(field, value)
	if at != 0 {
		o.setDeadline(field, at)
	}
}

// Len returns the number of fields, those included whose time has come.
func (o *Object) Len() int { return o.table.Len() }

// MemSize returns its size in bytes.
func (o *Object) MemSize() int64 { return objectSize + o.table.MemSize() + o.deadlines.MemSize() }

// Clone returns a copy that shares what both leave as it is, in constant time.
func (o *Object) Clone() db.Object {
	c := *o
	c.table, c.deadlines = o.table.Clone(), o.deadlines.Clone()
	return &c
}

// Encoding is its name for OBJECT ENCODING.
func (o *Object) Encoding() string {
	switch {
	case o.small && o.timed:
		return "listpackex"
	case o.small:
		return "listpack"
	}
	return "hashtable"
}

// NextDeadline returns when the next field expires, 0 if none does.
func (o *Object) NextDeadline() db.Millis { return o.deadlines.Next() }

// ExpireDue removes up to limit fields whose time has come, calls fn for each and
// returns how many there were.
func (o *Object) ExpireDue(now db.Millis, limit int, fn func(field []byte)) int {
	n := o.deadlines.Due(now, limit, func(field []byte) {
		o.table.Delete(field)
		fn(field)
	})
	o.forget()
	return n
}

// AllDue reports whether the time of all fields has come.
func (o *Object) AllDue(now db.Millis) bool { return o.deadlines.AllDue(o.table.Len(), now) }

// forget lets deadlines go when there are none left.
func (o *Object) forget() {
	if o.deadlines != nil && o.deadlines.Len() == 0 {
		o.deadlines = nil
	}
}

func (o *Object) setDeadline(field []byte, at db.Millis) {
	if o.deadlines == nil {
		o.deadlines, o.timed = members.NewDeadlines(), true
	}
	o.deadlines.Set(field, at)
}

func (o *Object) clearDeadline(field []byte) bool {
	if o.deadlines == nil || !o.deadlines.Delete(field) {
		return false
	}
	o.forget()
	return true
}

// set gives a field a value.
func (o *Object) set(l *db.Limits, field, value []byte) (created bool) {
	created = o.table.Set(field, value)
	o.small = o.small && fits(l, field, value) && int64(o.table.Len()) <= l.HashEntries
	return created
}

// fits reports whether a field and its value may stand in what Redis keeps as a
// listpack.
func fits(l *db.Limits, field, value []byte) bool {
	return int64(len(field)) <= l.HashValue && int64(len(value)) <= l.HashValue
}

// unpack makes an Object of what is packed.
func unpack(packed []byte, small bool) *Object {
	room := 0
	if packed != nil {
		room = len(packed)*9/8 + 3*listpack.Count(packed)/2
	}
	o := &Object{table: members.NewSized(members.Bytes, room), small: small}
	for it := (Iter{packed: packed, at: listpack.Header}); it.Next(); {
		o.table.Set(it.Field(), it.Value())
	}
	return o
}

// random returns a field whose time has not come.
func (o *Object) random(now db.Millis, r members.Source) (field, value []byte) {
	for {
		field, value = o.table.Random(r)
		if !o.deadlines.Passed(field, now) {
			return field, value
		}
	}
}

// Iter is a walk over a hash that does not change meanwhile.
type Iter struct {
	packed    []byte // or
	it        members.Iter
	at        int // where the next field begins; 0: not packed
	deadlines *members.Deadlines
	now       db.Millis
	f, v      listpack.Entry // of what is packed
	fb, vb    listpack.Scratch
}

func (o *Object) iter(now db.Millis) Iter {
	return Iter{it: o.table.Iter(), deadlines: o.deadlines, now: now}
}

// Next moves to the next field; false when there is none.
func (i *Iter) Next() bool {
	if i.at != 0 {
		if i.at >= len(i.packed) {
			return false
		}
		i.f = listpack.At(i.packed, i.at)
		i.v = listpack.At(i.packed, i.at+len(i.f))
		i.at += len(i.f) + len(i.v)
		return true
	}
	for i.it.Next() {
		if i.deadlines == nil || !i.deadlines.Passed(i.it.Member(), i.now) {
			return true
		}
	}
	return false
}

// Field returns the field that Next moved to.
func (i *Iter) Field() []byte {
	if i.at != 0 {
		return i.f.Bytes(&i.fb)
	}
	return i.it.Member()
}

// Value returns its value.
func (i *Iter) Value() []byte {
	if i.at != 0 {
		return i.v.Bytes(&i.vb)
	}
	return i.it.Value()
}

// LastingField and LastingValue return the same if it is longer than db.PackedMax
// bytes. They are not borrowed: those bytes never change.
func (i *Iter) LastingField() []byte { return i.it.Member() }

// LastingValue is described at LastingField.
func (i *Iter) LastingValue() []byte { return i.it.Value() }

// Frozen is a large hash as it was when it was frozen. It may be read without
// locks while the hash itself goes on.
type Frozen struct {
	db.Pin // the claim of the one who keeps it
	o      *Object
	now    db.Millis
}

// Freeze returns the hash as it is now, in constant time.
func (h *Hash) Freeze() Frozen {
	if h.obj == nil {
		o := unpack(h.packed, !h.loose)
		return Frozen{db.PinOf(o), o, h.now}
	}
	o := h.obj.Clone().(*Object)
	return Frozen{db.PinOf(o), o, h.now}
}

// Iter begins a walk over all fields.
func (f *Frozen) Iter() Iter { return f.o.iter(f.now) }

// Random is Hash.Random.
func (f *Frozen) Random(r members.Source) (field, value []byte) {
	return f.o.random(f.now, r)
}

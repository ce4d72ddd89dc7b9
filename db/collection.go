package db

import (
	"encoding/binary"

	"heddle/db/invariants"
)

// Collections. A small one is packed into bytes that stand in the record of its key,
// as a string does, so that it costs nothing beside them: no handle, no Go object, one
// cache miss. A large one is a Go object behind a handle. What is in the bytes is the
// business of the type's own package; the engine knows only that the first two are
// the number of elements, which it needs for Meta and in order to remove what became
// empty.
//
// The way chosen to change packed bytes is Splice: the type says which bytes go and
// how many come, the engine makes the room, in place when the block has it and no
// snapshot may read it, else in a new record. So no type knows of snapshots, of blocks,
// or of out of memory half-way.
//
// Rejected: to hand out the bytes for change and take them back, which copies all of
// them twice; and generous room to grow, for most small collections stop growing: at
// most 1/16 is added, and the classes of the arena round up by some percents anyway,
// so that a listpack of 4 KB that grows by 20 bytes moves about every tenth time.
//
// Limits: PackedMax bytes. The type makes an Object before it would be longer.

// PackedMax is the most bytes that a packed collection has.
const PackedMax = 8 << 10

// Packing says how the elements of a collection are kept.
type Packing uint8

// The packings.
const (
	NotPacked Packing = iota // in an Object
	Listpack                 // in the bytes of package listpack
	Intset                   // in the bytes of package intset
	// Loose is Listpack for a collection that Redis would not keep as one: a hash of
	// a few long values, say, costs as little as one of short values then. Only
	// OBJECT ENCODING calls it by another name.
	Loose
)

// kind returns the kind of record that a packing makes.
func (p Packing) kind() kind {
	if invariants.Enabled {
		invariants.Assert(p >= Listpack && p <= Loose, "packing %d", p)
	}
	return kindListpack + kind(p-Listpack)
}

// packingOf is the packing of a record's kind.
func packingOf(k kind) Packing { return Listpack + Packing(k-kindListpack) }

// encoding is the name for OBJECT ENCODING.
func (p Packing) encoding(t Type) string {
	switch {
	case t == TypeStream:
		return "stream"
	case p == Intset:
		return "intset"
	case p == Listpack:
		return "listpack"
	case t == TypeZSet:
		return "skiplist"
	case t == TypeList:
		return "quicklist"
	}
	return "hashtable"
}

// packedLen returns the number of elements of what is packed.
func packedLen(b []byte) int { return int(binary.LittleEndian.Uint16(b)) }

// Coll is a collection as it is stored: packed, or an Object.
type Coll struct {
	Type    Type
	Packing Packing
	Packed  []byte // borrowed: valid until the key is next changed; the first two bytes count the elements
	Object  Object // if NotPacked
}

// Len returns the number of elements.
func (c *Coll) Len() int {
	switch {
	case c.Packing != NotPacked:
		return packedLen(c.Packed)
	case c.Object != nil:
		return c.Object.Len()
	}
	return 0
}

// MemSize returns the bytes that it takes, the record around what is packed aside.
func (c *Coll) MemSize() int64 {
	if c.Object != nil {
		return c.Object.MemSize()
	}
	return int64(len(c.Packed))
}

// Limits returns the sizes at which collections change their encoding.
func (t *Tx) Limits() *Limits { return &t.cfg.Limits }

// Collection returns the collection at key.
func (t *Tx) Collection(key []byte, typ Type) (c Coll, found bool, err error) {
	if !t.tally(key, t.access(key) && t.purgeSeen()) {
		return c, false, nil
	}
	found = t.collection(&c, typ)
	if !found {
		err = ErrWrongType
	}
	return c, found, err
}

// CurrentCollection is Collection without counting a hit or miss.
func (t *Tx) CurrentCollection(key []byte, typ Type) (c Coll, found bool, err error) {
	if !t.access(key) || !t.purgeSeen() {
		return c, false, nil
	}
	found = t.collection(&c, typ)
	if !found {
		err = ErrWrongType
	}
	return c, found, err
}

// EditCollection returns the collection at key for change.
func (t *Tx) EditCollection(key []byte, typ Type) (c Coll, found bool, err error) {
	if !t.access(key) {
		return c, false, nil
	}
	p := &t.cur
	if p.rec.typ() != typ {
		return c, false, ErrWrongType
	}
	t.root.edited = true
	if p.rec.kind() == kindObject {
		if p.s.dueAt(&p.rec, t.due) {
			if _, failed := t.purge(dueStep); failed {
				return c, false, ErrOutOfMemory
			}
			if !p.ok {
				return c, false, nil
			}
		}
		if !p.d.table.Fresh(p.slot) && !t.thaw() {
			return c, false, ErrOutOfMemory
		}
	}
	t.collection(&c, typ)
	return c, true, nil
}

// collection writes the value at t.cur to c; false if it has another type.
func (t *Tx) collection(c *Coll, typ Type) bool {
	r := &t.cur.rec
	if r.typ() != typ {
		return false
	}
	c.Type = typ
	if k := r.kind(); k.packed() {
		c.Packing, c.Packed = packingOf(k), r.val()
	} else {
		c.Object = t.cur.s.handles.object(r.handle())
	}
	return true
}

// Splice replaces a part of the packed collection at key.
func (t *Tx) Splice(key []byte, typ Type, p Packing, at, del, ins int) ([]byte, error) {
	t.root.edited = true
	if !t.find(key) {
		if invariants.Enabled {
			invariants.Assert(at == 0 && del == 0, "splice of %d bytes at %d of nothing", del, at)
		}
		r, err := t.insertShape(shape{typ: typ, kind: p.kind(), key: key, vlen: ins, room: ins, expire: NoExpiry})
		if err != nil {
			return nil, err
		}
		return r.val(), nil
	}
	r := &t.cur.rec
	if r.typ() != typ {
		return nil, ErrWrongType
	}
	if !r.kind().packed() {
		panic("db: splice of a large collection")
	}
	n := len(r.val()) - del + ins
	if invariants.Enabled {
		invariants.Assert(at >= 0 && del >= 0 && ins >= 0 && at+del <= len(r.val()) && n <= PackedMax,
			"splice of %d bytes: %d at %d become %d", len(r.val()), del, at, ins)
	}
	if t.suits(n) {
		t.spliceInPlace(p, at, del, n)
		return r.val(), nil
	}
	b, err := t.spliceAnew(p, at, del, n)
	if err != nil && del >= ins && t.cur.d.table.Fresh(t.cur.slot) {
		t.spliceInPlace(p, at, del, n)
		return r.val(), nil
	}
	return b, err
}

// suits reports whether the packed collection at t.cur may become n bytes long where it
// is: whether its block has room for them, but not too much of it.
func (t *Tx) suits(n int) bool {
	if invariants.Enabled && invariants.Sometimes(8) {
		return false
	}
	c := &t.cur
	r := &c.rec
	if !c.d.table.Fresh(c.slot) || n > narrowMax && r.flags()&flagWide == 0 {
		return false
	}
	room, whole := t.ks.heap.Cap(r.ref), r.valAt()+n
	return whole <= room && (n >= len(r.val()) || room-whole <= room/4+16)
}

// spliceInPlace is Splice within the block that is there.
func (t *Tx) spliceInPlace(p Packing, at, del, n int) {
	r := &t.cur.rec
	old := len(r.val())
	r.setKind(r.typ(), p.kind())
	if n == old {
		return
	}
	if n > old {
		r.setLen(t.ks.heap, n)
	}
	b := r.val()
	copy(b[at+del+n-old:], b[at+del:old])
	if n < old {
		r.setLen(t.ks.heap, n)
	}
}

// spliceAnew is Splice in a new record.
func (t *Tx) spliceAnew(p Packing, at, del, n int) ([]byte, error) {
	c := &t.cur
	room := n
	if n > len(c.rec.val()) {
		room += n / 16
	}
	r, ok := t.remake(shape{typ: c.rec.typ(), kind: p.kind(), vlen: n, room: room}, c.rec.expire())
	if !ok {
		return nil, ErrOutOfMemory
	}
	old, b := c.rec.val(), r.val()
	copy(b, old[:at])
	copy(b[at+del+n-len(old):], old[at+del:])
	t.settle(r)
	return b, nil
}

// PutPacked stores a small collection.
func (t *Tx) PutPacked(key []byte, typ Type, p Packing, b []byte, e Expiry) error {
	if invariants.Enabled {
		invariants.Assert(len(b) >= 2 && len(b) <= PackedMax, "a packed collection of %d bytes", len(b))
	}
	t.root.edited = true
	return t.put(key, &value{typ: typ, kind: p.kind(), b: b}, e)
}

// PutObject stores a large collection.
func (t *Tx) PutObject(key []byte, typ Type, o Object, e Expiry) error {
	t.root.edited = true
	return t.putHandle(key, value{typ: typ, kind: kindObject}, handle{obj: o}, e)
}

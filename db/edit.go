package db

import (
	"strconv"

	"heddle/db/invariants"
)

// Edit returns the string at key for change in place, at least size bytes long.
func (t *Tx) Edit(key []byte, size int) ([]byte, error) {
	if !t.access(key) {
		return t.create(key, size)
	}
	n, err := t.stringLen()
	if err != nil {
		return nil, err
	}
	return t.stretch(max(n, size))
}

// Append adds to the string at key and returns its new length.
func (t *Tx) Append(key, suffix []byte) (int, error) {
	if !t.access(key) {
		b, err := t.create(key, len(suffix))
		copy(b, suffix)
		return len(suffix), err
	}
	n, err := t.stringLen()
	if err != nil {
		return 0, err
	}
	b, err := t.stretch(n + len(suffix))
	if err != nil {
		return 0, err
	}
	copy(b[n:], suffix)
	return len(b), nil
}

// stringLen returns the length of the string at t.cur.
func (t *Tx) stringLen() (int, error) {
	r := &t.cur.rec
	if r.typ() != TypeString {
		return 0, ErrWrongType
	}
	switch r.kind() {
	case kindInt:
		return decimalLen(r.int()), nil
	case kindBig:
		return t.cur.s.handles.big(r.handle()).Len(), nil
	}
	return len(r.val()), nil
}

// create makes a string of n zeros under a key that find did not find.
func (t *Tx) create(key []byte, n int) ([]byte, error) {
	if n < BigMin {
		r, err := t.insertShape(shape{typ: TypeString, kind: kindRaw, key: key, vlen: n, room: n, expire: NoExpiry})
		if err != nil {
			return nil, err
		}
		clear(r.val())
		return r.val(), nil
	}
	b := newBig(t.ks.heap, n, n)
	if b == nil {
		return nil, ErrOutOfMemory
	}
	b.zero(0)
	if err := t.AdoptBig(key, b, NoExpiry); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// stretch makes the string at t.cur raw, unshared and n bytes long, n being no
// less than it has, and returns its bytes for change.
func (t *Tx) stretch(n int) ([]byte, error) {
	c := &t.cur
	if c.rec.kind() == kindBig {
		return t.stretchBig(n)
	}
	if n >= BigMin {
		return t.outgrow(n)
	}
	if b := t.stretchInPlace(n); b != nil {
		return b, nil
	}
	old := t.spell()
	r, ok := t.remake(shape{typ: TypeString, kind: kindRaw, vlen: n, room: max(n, min(roomFor(n, len(old)), maxRoom))}, c.rec.expire())
	if !ok {
		return nil, ErrOutOfMemory
	}
	clear(r.val()[copy(r.val(), old):])
	t.settle(r)
	return r.val(), nil
}

// stretchInPlace is stretch within the block that is there; nil if that cannot be.
func (t *Tx) stretchInPlace(n int) []byte {
	if invariants.Enabled && invariants.Sometimes(8) {
		return nil
	}
	c := &t.cur
	r := &c.rec
	if r.kind() == kindInt || !c.d.table.Fresh(c.slot) {
		return nil
	}
	if n > narrowMax && r.flags()&flagWide == 0 || r.valAt()+n > t.ks.heap.Cap(r.ref) {
		return nil
	}
	old := len(r.val())
	r.setKind(TypeString, kindRaw)
	b := r.setLen(t.ks.heap, n)
	clear(b[old:])
	return b
}

// spell returns the bytes of the string at t.cur, which is not a Big.
func (t *Tx) spell() []byte {
	r := &t.cur.rec
	if r.kind() != kindInt {
		return r.val()
	}
	return strconv.AppendInt(t.spelling[:0], r.int(), 10)
}

// maxRoom is the most that is reserved in a record: beyond, a string becomes a
// Big, whose reserve costs no memory.
const maxRoom = BigMin - 512

// roomFor returns the room for a string that grew from old to n bytes: it will
// probably grow on.
func roomFor(n, old int) int {
	if n == old {
		return n
	}
	return 2 * n
}

// outgrow moves the string at t.cur to a Big of n bytes.
func (t *Tx) outgrow(n int) ([]byte, error) {
	c := &t.cur
	old := t.spell()
	b := newBig(t.ks.heap, n, roomFor(n, len(old)))
	if b == nil {
		return nil, ErrOutOfMemory
	}
	b.zero(copy(b.Bytes(), old))
	return t.settleBig(b, c.rec.expire())
}

// settleBig puts a Big into the place of the value at t.cur.
func (t *Tx) settleBig(b *Big, at Expiry) ([]byte, error) {
	c := &t.cur
	r, ok := t.remake(shape{typ: TypeString, kind: kindBig, vlen: handleSize}, at)
	if !ok {
		b.Release()
		return nil, ErrOutOfMemory
	}
	r.setHandle(c.s.handles.add(handle{big: b}))
	t.settle(r)
	return b.Bytes(), nil
}

// stretchBig is stretch of a Big.
func (t *Tx) stretchBig(n int) ([]byte, error) {
	c := &t.cur
	b := c.s.handles.big(c.rec.handle())
	if !b.shared() && c.d.table.Fresh(c.slot) && b.grow(n) {
		return b.Bytes(), nil
	}
	nb := newBig(t.ks.heap, n, roomFor(n, b.Len()))
	if nb == nil {
		return nil, ErrOutOfMemory
	}
	nb.zero(copy(nb.Bytes(), b.Bytes()))
	return t.settleBig(nb, c.rec.expire())
}

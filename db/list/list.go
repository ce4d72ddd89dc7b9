// Package list is the list type: sequences of strings that grow and shrink at
// both ends, kept packed in the record of their key while they are small and in
// a sequence of packed blocks when they are large.
package list

import (
	"heddle/db"
	"heddle/db/listpack"
)

// A small list is a listpack in the record of its key: nothing is beside it,
// and pushing and popping at either end moves some hundred bytes. It has no
// lengths to walk backwards by, so what is at its end is found by walking all
// of it. packedBytes keeps that walk, and those moves, near what the rest of a
// command costs: measured, an RPOP of a list of 1 KB takes 100 to 200 ns more than
// an LPOP, of one of 8 KB 1 to 3 µs. A larger list is an Object.
//
// An Object that has shrunk to packedBack bytes is packed again, so that a
// queue that once was long does not keep its blocks for ever; a quarter of
// packedBytes, so that one that breathes is not rebuilt at every breath.
const (
	packedBytes = 1 << 10
	packedCount = 512
	packedBack  = packedBytes / 4
)

// List is the list at a key: what handlers see, packed or not. It is valid
// until the handler returns, as long as the key is changed only through it.
type List struct {
	tx  db.Txn // nil if it is only read
	key []byte
	p   []byte  // the packed list, nil if it is an Object or absent
	o   *Object // the large list
	// seen is the offset of element index of a packed list, if index is positive:
	// what is read is often removed next.
	index, seen int
	// quick says that the Object that is being made is a quicklist by name.
	quick bool
}

// Read returns the list at key to be read, one of no elements if it is absent.
// It counts as an access, and as a keyspace hit or miss. db.ErrWrongType.
func Read(v db.View, key []byte) (List, error) {
	c, _, err := v.Collection(key, db.TypeList)
	return Of(&c), err
}

// Of returns the list that c is, to be read.
func Of(c *db.Coll) List {
	o, _ := c.Object.(*Object)
	return List{p: c.Packed, o: o}
}

// Write returns the list at key to be read and changed; it is created by the
// first element. After a change the handler calls tx.Touched, which removes it
// when it is empty. db.ErrWrongType, db.ErrOutOfMemory.
func Write(tx db.Txn, key []byte) (List, error) {
	c, _, err := tx.EditCollection(key, db.TypeList)
	l := Of(&c)
	l.tx, l.key = tx, key
	return l, err
}

// Current is Write for commands that may find nothing to change: it counts no
// hit or miss, and the list may only be read.
func Current(tx db.Txn, key []byte) (List, error) {
	c, _, err := tx.CurrentCollection(key, db.TypeList)
	return Of(&c), err
}

// Len returns the number of elements.
func (l *List) Len() int {
	switch {
	case l.o != nil:
		return l.o.n
	case l.p != nil:
		return listpack.Count(l.p)
	}
	return 0
}

// Large returns a clone of the list if it is large, which stays as it is while
// the list changes and can be read without locks; nil if it is small.
func (l *List) Large() *Object {
	if l.o == nil {
		return nil
	}
	return l.o.clone()
}

// At returns element i, 0 <= i < Len. It is valid until the list is changed.
func (l *List) At(i int) listpack.Entry {
	if l.o != nil {
		return l.o.at(i)
	}
	return listpack.At(l.p, l.offset(i))
}

// offset returns where element i of a packed list begins.
func (l *List) offset(i int) int {
	if i > 0 && i == l.index {
		return l.seen
	}
	l.index, l.seen = i, listpack.Skip(l.p, listpack.Header, i)
	return l.seen
}

// Lasting returns the string of an element if it is long, nil if not. Long ones
// stand in memory of their own that is never written to again, so that a reply
// need not copy them.
func Lasting(e listpack.Entry) []byte {
	if len(e) > blockBytes {
		return e.Plain()
	}
	return nil
}

// Push puts values at the front, one after the other, or behind the end. The
// first value is pushed first, so that it stands last of them at the front.
// Only db.ErrOutOfMemory; then nothing has changed.
func (l *List) Push(front bool, values ...[]byte) error {
	if len(values) == 1 {
		var v listpack.Value
		v.Set(values[0])
		return l.pushOne(front, &v, len(values[0]))
	}
	size, raw := 0, 0
	for _, s := range values {
		size += listpack.Size(s)
		raw += len(s)
	}
	if !l.grow(size, raw, len(values)) {
		return l.pushPacked(front, values, size)
	}
	fresh := l.unpack(front)
	var v listpack.Value
	for _, s := range values {
		v.Set(s)
		l.o.push(front, &v)
	}
	return l.keep(fresh)
}

// PushEntry is Push of an element of another list.
func (l *List) PushEntry(front bool, e listpack.Entry) error {
	var v listpack.Value
	v.SetEntry(e)
	return l.pushOne(front, &v, e.Len())
}

// pushOne is Push of one value whose string has raw bytes.
func (l *List) pushOne(front bool, v *listpack.Value, raw int) error {
	size := v.Size()
	if l.grow(size, raw, 1) {
		fresh := l.unpack(front)
		l.o.push(front, v)
		return l.keep(fresh)
	}
	at, err := l.gap(front, size, 1)
	if err == nil {
		v.Put(l.p[at:])
	}
	return err
}

// pushPacked is Push of values of size bytes in all that leave the list small.
func (l *List) pushPacked(front bool, values [][]byte, size int) error {
	at, err := l.gap(front, size, len(values))
	if err != nil {
		return err
	}
	var v listpack.Value
	for i := range values {
		if front {
			v.Set(values[len(values)-1-i])
		} else {
			v.Set(values[i])
		}
		v.Put(l.p[at:])
		at += v.Size()
	}
	return nil
}

// gap makes room for count more elements of size bytes at an end of a small
// list and returns where it is.
func (l *List) gap(front bool, size, count int) (at int, err error) {
	if l.p == nil {
		if l.p, err = l.tx.Splice(l.key, db.TypeList, db.Listpack, 0, 0, listpack.Header+size); err != nil {
			l.p = nil
			return 0, err
		}
		listpack.SetCount(l.p, count)
		return listpack.Header, nil
	}
	at = listpack.Header
	if !front {
		at = len(l.p)
	}
	return at, l.splice(at, 0, size, count)
}

// splice replaces del bytes of a small list by ins bytes and changes its count.
func (l *List) splice(at, del, ins, count int) error {
	p, err := l.tx.Splice(l.key, db.TypeList, db.Listpack, at, del, ins)
	if err != nil {
		return err
	}
	l.p, l.index = p, 0
	listpack.SetCount(p, listpack.Count(p)+count)
	return nil
}

// unpack makes an Object of a small list, not yet put under its key, with room at
// the front or the end; fresh reports that there was something to make.
func (l *List) unpack(front bool) (fresh bool) {
	if l.o != nil {
		return false
	}
	l.o = newObject(l.p, front)
	l.p = nil
	return true
}

// keep puts a fresh Object under the key.
func (l *List) keep(fresh bool) error {
	if !fresh {
		return nil
	}
	l.o.quick = l.quick
	return l.tx.PutObject(l.key, db.TypeList, l.o, db.KeepExpiry)
}

// Set replaces element i. Only db.ErrOutOfMemory; then nothing has changed.
func (l *List) Set(i int, s []byte) error {
	var v listpack.Value
	v.Set(s)
	if l.o == nil {
		at := l.offset(i)
		old := len(listpack.At(l.p, at))
		if !l.grow(v.Size(), len(s), 1) {
			err := l.splice(at, old, v.Size(), 0)
			if err == nil {
				v.Put(l.p[at:])
			}
			return err
		}
		fresh := l.unpack(false)
		l.o.set(i, &v)
		if err := l.keep(fresh); err != nil {
			return err
		}
		return l.shrink()
	}
	l.grow(v.Size(), len(s), 1)
	l.o.set(i, &v)
	return l.shrink()
}

// Insert puts s in front of element i, 0 <= i <= Len, the list having elements.
// Only db.ErrOutOfMemory; then nothing has changed.
func (l *List) Insert(i int, s []byte) error {
	var v listpack.Value
	v.Set(s)
	if !l.grow(v.Size(), len(s), 1) {
		at := l.offset(i)
		err := l.splice(at, 0, v.Size(), 1)
		if err == nil {
			v.Put(l.p[at:])
		}
		return err
	}
	fresh := l.unpack(false)
	l.o.insert(i, &v)
	return l.keep(fresh)
}

// Own prepares the list for Delete, which then does not fail. Only
// db.ErrOutOfMemory; then nothing has changed.
func (l *List) Own() error {
	if l.p == nil {
		return nil
	}
	return l.splice(0, 0, 0, 0)
}

// Trim removes all elements but those from..to (exclusive). Only
// db.ErrOutOfMemory; then nothing has changed.
func (l *List) Trim(from, to int) error {
	if err := l.Own(); err != nil {
		return err
	}
	if err := l.Delete(to, l.Len()-to); err != nil {
		return err
	}
	return l.Delete(0, from)
}

// Delete removes n elements from i on. Only db.ErrOutOfMemory; then nothing has
// changed.
func (l *List) Delete(i, n int) error {
	if n == 0 {
		return nil
	}
	if l.o != nil {
		l.o.delete(i, n)
		return l.shrink()
	}
	at := l.offset(i)
	end := len(l.p)
	if i+n < listpack.Count(l.p) {
		end = listpack.Skip(l.p, at, n)
	}
	return l.splice(at, end-at, 0, -n)
}

// Rotate moves the element at one end of a list that has any to the other; front
// says that it is the first. Only db.ErrOutOfMemory; then nothing has changed.
func (l *List) Rotate(front bool) error {
	i := 0
	if !front {
		i = l.Len() - 1
	}
	if o := l.o; o != nil {
		var v listpack.Value
		v.SetEntry(o.at(i))
		o.delete(i, 1)
		o.push(!front, &v)
		return l.shrink()
	}
	at := l.offset(i)
	if err := l.Own(); err != nil {
		return err
	}
	var tmp [packedBytes]byte
	n := copy(tmp[:], listpack.At(l.p, at))
	rest := l.p[listpack.Header:]
	if front {
		copy(rest, rest[n:])
		copy(rest[len(rest)-n:], tmp[:n])
	} else {
		copy(rest[n:], rest[:len(rest)-n])
		copy(rest, tmp[:n])
	}
	return nil
}

// Remove removes the first count elements equal to s, the last -count if count
// is negative, all if it is 0, and returns how many they were. Only
// db.ErrOutOfMemory; then nothing has changed.
func (l *List) Remove(s []byte, count int64) (n int, err error) {
	var v listpack.Value
	v.Set(s)
	most := l.Len()
	last := count < 0
	if last && -count > 0 && -count < int64(most) {
		most = int(-count)
	} else if count > 0 && count < int64(most) {
		most = int(count)
	}
	if l.o != nil {
		if n = l.o.remove(&v, most, last); n > 0 {
			err = l.shrink()
		}
		return n, err
	}
	return l.removePacked(&v, most, last)
}

// removePacked is Remove of at most so many elements of a small list.
func (l *List) removePacked(v *listpack.Value, most int, last bool) (int, error) {
	var buf offsets
	found := matches(buf[:0], l.p, listpack.Header, v)
	if last && len(found) > most {
		found = found[len(found)-most:]
	}
	found = found[:min(most, len(found))]
	switch len(found) {
	case 0:
		return 0, nil
	case 1:
		return 1, l.splice(int(found[0]), v.Size(), 0, -1)
	}
	p := append([]byte(nil), l.p...)
	p = p[:squeeze(p, found, v.Size())]
	listpack.SetCount(p, listpack.Count(p)-len(found))
	return len(found), l.putPacked(p)
}

// putPacked replaces the list by a small one.
func (l *List) putPacked(p []byte) error {
	if err := l.tx.PutPacked(l.key, db.TypeList, db.Listpack, p, db.KeepExpiry); err != nil {
		return err
	}
	c, _, err := l.tx.CurrentCollection(l.key, db.TypeList)
	l.p, l.o, l.index = c.Packed, nil, 0
	return err
}

// shrink packs a large list that became small and gives it its name back.
func (l *List) shrink() error {
	o := l.o
	o.shrunk(l.tx.Limits())
	if o.quick || o.bytes > packedBack || o.n == 0 || o.n > packedCount/4 {
		return nil
	}
	p := make([]byte, listpack.Header, listpack.Header+packedBack)
	for it := o.iter(0); it.Next(); {
		p = append(p, it.Entry()...)
	}
	listpack.SetCount(p, o.n)
	_ = l.putPacked(p) // if there is no memory, it stays large
	return nil
}

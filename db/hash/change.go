package hash

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Set gives a field a value and takes its deadline away. It reports whether the
// field is new. db.ErrOutOfMemory changes nothing.
func (h *Hash) Set(field, value []byte) (created bool, err error) {
	if h.obj != nil {
		h.bury(field)
		h.obj.clearDeadline(field)
	}
	return h.Update(field, value)
}

// bury removes a field whose time has come and that is still there.
func (h *Hash) bury(field []byte) {
	if !h.obj.deadlines.Passed(field, h.now) {
		return
	}
	h.obj.clearDeadline(field)
	h.obj.table.Delete(field)
	h.tx.MemberExpired(h.key, field)
}

// Update is Set that leaves the deadline of the field as it is.
func (h *Hash) Update(field, value []byte) (created bool, err error) {
	l := h.tx.Limits()
	if h.obj == nil {
		created, done, err := h.setPacked(l, field, value)
		if done || err != nil {
			return created, err
		}
		if err = h.unpack(); err != nil {
			return false, err
		}
	}
	h.bury(field)
	return h.obj.set(l, field, value), nil
}

// looseFields and looseBytes are up to which size a hash stays packed that Redis would
// not keep as a listpack: a table would take more memory, and little less time.
const (
	looseFields = 128
	looseBytes  = 2 << 10
)

// mayPack reports whether a hash of so many fields and bytes may be packed, with a
// field and a value among them.
func (h *Hash) mayPack(l *db.Limits, field, value []byte, count, size int) bool {
	if !h.loose && fits(l, field, value) && int64(count) <= l.HashEntries {
		return size <= db.PackedMax
	}
	h.loose = h.loose || size <= looseBytes && count <= looseFields
	return size <= looseBytes && count <= looseFields
}

// setPacked is Update of a packed hash; done is false when it may not stay one.
func (h *Hash) setPacked(l *db.Limits, field, value []byte) (created, done bool, err error) {
	if len(field)+len(value) > db.PackedMax {
		return false, false, nil
	}
	var f, v listpack.Value
	f.Set(field)
	v.Set(value)
	at, count := h.find(&f), h.Len()
	if at >= 0 {
		at = listpack.Next(h.packed, at)
		old := listpack.At(h.packed, at)
		n, was := v.Size(), h.loose
		if !h.mayPack(l, field, value, count, len(h.packed)-len(old)+n) {
			return false, false, nil
		}
		if v.Equal(old) && h.loose == was {
			return false, true, nil
		}
		if err = h.splice(at, len(old), n); err == nil {
			v.Put(h.packed[at:])
		}
		return false, true, err
	}
	at = max(len(h.packed), listpack.Header)
	n := f.Size()
	m := n + v.Size()
	count++
	if !h.mayPack(l, field, value, count, at+m) {
		return false, false, nil
	}
	if err = h.splice(len(h.packed), 0, at+m-len(h.packed)); err != nil {
		return false, true, err
	}
	f.Put(h.packed[at:])
	v.Put(h.packed[at+n:])
	listpack.SetCount(h.packed, count)
	return true, true, nil
}

func (h *Hash) splice(at, del, ins int) error {
	packing := db.Listpack
	if h.loose {
		packing = db.Loose
	}
	p, err := h.tx.Splice(h.key, db.TypeHash, packing, at, del, ins)
	if err == nil {
		h.packed = p
	}
	return err
}

// SetAll is Set of pairs: a field, its value and so on. It returns how many
// fields are new. After db.ErrOutOfMemory some may be set.
func (h *Hash) SetAll(pairs [][]byte) (created int, err error) {
	if h.obj == nil && h.packed == nil && len(pairs) > 2 && h.build(h.tx.Limits(), pairs) {
		return h.Len(), nil
	}
	for i := 0; i < len(pairs); i += 2 {
		is, err := h.Set(pairs[i], pairs[i+1])
		if err != nil {
			return created, err
		}
		if is {
			created++
		}
	}
	return created, nil
}

// build makes a new packed hash of pairs with one splice; false if it cannot be
// packed or a field repeats.
func (h *Hash) build(l *db.Limits, pairs [][]byte) bool {
	size, ok := listpack.Header, true
	for i := 0; i < len(pairs) && size <= db.PackedMax; i += 2 {
		ok = ok && fits(l, pairs[i], pairs[i+1])
		size += listpack.Size(pairs[i]) + listpack.Size(pairs[i+1])
	}
	ok = ok && int64(len(pairs)/2) <= l.HashEntries
	if size > db.PackedMax || !ok && (size > looseBytes || len(pairs)/2 > looseFields) || repeats(pairs) {
		return false
	}
	h.loose = !ok
	if h.splice(0, 0, size) != nil {
		h.loose = false
		return false
	}
	at := listpack.Header
	for _, s := range pairs {
		var v listpack.Value
		v.Set(s)
		v.Put(h.packed[at:])
		at += v.Size()
	}
	listpack.SetCount(h.packed, len(pairs)/2)
	return true
}

// repeats reports whether a field stands twice in pairs. It compares each with all
// before it, which is fast for as few as are packed.
func repeats(pairs [][]byte) bool {
	for i := 2; i < len(pairs); i += 2 {
		f := pairs[i]
		for j := 0; j < i; j += 2 {
			if string(pairs[j]) == string(f) {
				return true
			}
		}
	}
	return false
}

// unpack makes an Object of a packed hash, or an empty one where there is none.
func (h *Hash) unpack() error {
	o := unpack(h.packed, !h.loose)
	if err := h.tx.PutObject(h.key, db.TypeHash, o, db.KeepExpiry); err != nil {
		return err
	}
	h.obj, h.packed = o, nil
	return nil
}

// Delete removes a field and reports whether it was there. It panics with
// db.ErrOutOfMemory when that takes memory, because of a snapshot, and there is none.
func (h *Hash) Delete(field []byte) bool {
	if h.obj != nil {
		h.bury(field)
		h.obj.clearDeadline(field)
		return h.obj.table.Delete(field)
	}
	var f listpack.Value
	f.Set(field)
	at := h.find(&f)
	if at < 0 {
		return false
	}
	count := listpack.Count(h.packed)
	if err := h.splice(at, listpack.Skip(h.packed, at, 2)-at, 0); err != nil {
		panic(err)
	}
	listpack.SetCount(h.packed, count-1)
	return true
}

// SetDeadline lets a field that is there expire at an instant.
func (h *Hash) SetDeadline(field []byte, at db.Millis) error {
	if h.obj == nil {
		if err := h.unpack(); err != nil {
			return err
		}
	}
	h.obj.setDeadline(field, at)
	return nil
}

// ClearDeadline takes the deadline of a field away and reports whether it had one.
func (h *Hash) ClearDeadline(field []byte) bool {
	if h.obj == nil {
		return false
	}
	h.bury(field)
	return h.obj.clearDeadline(field)
}

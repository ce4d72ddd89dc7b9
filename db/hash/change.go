package hash

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Set gives a field a value and takes its deadline away. It reports whether the
// field is new. db.ErrOutOfMemory changes nothing.
func (h *Hash) Set(field, value []byte) (created bool, err error) {
	if h.obj != nil {
		h.obj.clearDeadline(field)
	}
	return h.Update(field, value)
}

// Update is Set that leaves the deadline of the field as it is.
func (h *Hash) Update(field, value []byte) (created bool, err error) {
	if h.obj == nil {
		l := h.tx.Limits()
		if fits(l, field, value) {
			created, done, err := h.setPacked(l, field, value)
			if done || err != nil {
				return created, err
			}
		}
		if err = h.unpack(fits(l, field, value)); err != nil {
			return false, err
		}
	}
	return h.obj.set(h.tx.Limits(), field, value), nil
}

// setPacked is Update of a packed hash; done is false when it may not stay one.
func (h *Hash) setPacked(l *db.Limits, field, value []byte) (created, done bool, err error) {
	var f, v listpack.Value
	f.Set(field)
	v.Set(value)
	at := h.find(&f)
	if at >= 0 {
		at = listpack.Next(h.packed, at)
		old := listpack.At(h.packed, at)
		if v.Equal(old) {
			return false, true, nil
		}
		n := v.Size()
		if len(h.packed)-len(old)+n > db.PackedMax {
			return false, false, nil
		}
		if err = h.splice(at, len(old), n); err == nil {
			v.Put(h.packed[at:])
		}
		return false, true, err
	}
	at = max(len(h.packed), listpack.Header)
	n, count := f.Size(), h.Len()+1
	m := n + v.Size()
	if int64(count) > l.HashEntries || at+m > db.PackedMax {
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
	p, err := h.tx.Splice(h.key, db.TypeHash, db.Listpack, at, del, ins)
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
	if int64(len(pairs)/2) > l.HashEntries {
		return false
	}
	size := listpack.Header
	for i := 0; i < len(pairs); i += 2 {
		if !fits(l, pairs[i], pairs[i+1]) {
			return false
		}
		size += listpack.Size(pairs[i]) + listpack.Size(pairs[i+1])
	}
	if size > db.PackedMax || repeats(pairs) || h.splice(0, 0, size) != nil {
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
func (h *Hash) unpack(small bool) error {
	o := unpack(h.packed, small)
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
		if err := h.unpack(true); err != nil {
			return err
		}
	}
	h.obj.setDeadline(field, at)
	return nil
}

// ClearDeadline takes the deadline of a field away and reports whether it had one.
func (h *Hash) ClearDeadline(field []byte) bool {
	return h.obj != nil && h.obj.clearDeadline(field)
}

package set

import (
	"errors"
	"slices"
	"strconv"

	"heddle/db"
	"heddle/db/intset"
	"heddle/db/listpack"
	"heddle/db/members"
)

var errOrphan = errors.New("set: a deadline without its member")

// Expect says that n members, first the first of them, are about to be added: a form
// that would not do for so many is given up at once, as Redis 7.2 does, though there
// may be fewer different ones.
func (s *Set) Expect(first []byte, n int) error {
	if s.packed == nil && s.obj == nil {
		s.form = asTable
		if _, ok := listpack.Number(first); ok && int64(n) <= s.limits.SetIntset {
			s.form = asIntset
		} else if int64(n) <= s.limits.SetEntries {
			s.form = asListpack
		}
		return nil
	}
	f := s.form
	if s.obj != nil {
		f = s.obj.form
	}
	if f == asIntset && int64(n) > s.limits.SetIntset || f == asListpack && int64(n) > s.limits.SetEntries {
		return s.unpack(asTable)
	}
	return nil
}

// Add adds a member and reports whether it is new. member must not be what the set
// handed out. db.ErrOutOfMemory changes nothing.
func (s *Set) Add(member []byte) (added bool, err error) {
	if s.obj != nil {
		return s.addLarge(member), nil
	}
	if s.packed == nil && s.form == undecided {
		if err = s.Expect(member, 1); err != nil {
			return false, err
		}
	}
	switch s.form {
	case asIntset:
		if n, ok := listpack.Number(member); ok {
			return s.addInteger(member, n)
		}
		return s.leaveIntset(member)
	case asListpack:
		return s.addEntry(member)
	}
	return s.addUnpacked(member, asTable)
}

// addLarge is Add to an Object.
func (s *Set) addLarge(member []byte) bool {
	s.bury(member)
	if !s.obj.table.Add(member) {
		return false
	}
	if s.obj.form != asTable {
		s.obj.form = s.formWith(s.obj.form, member)
	}
	return true
}

// bury removes a member whose time has come and that is still there.
func (s *Set) bury(member []byte) {
	if s.obj.deadlines.Passed(member, s.now) {
		s.obj.delete(member)
		s.tx.MemberExpired(s.key, member)
	}
}

// formWith returns the form of an Object of the given one to which a member was
// just added.
func (s *Set) formWith(f form, member []byte) form {
	n := int64(s.obj.table.Len())
	if f == asIntset {
		if _, ok := listpack.Number(member); ok {
			if n <= s.limits.SetIntset {
				return asIntset
			}
			return asTable
		}
		f = asListpack
	}
	if n <= s.limits.SetEntries && int64(len(member)) <= s.limits.SetValue {
		return f
	}
	return asTable
}

// addUnpacked makes an Object of the packed set, or of nothing, and adds to that.
func (s *Set) addUnpacked(member []byte, f form) (bool, error) {
	if err := s.unpack(f); err != nil {
		return false, err
	}
	return s.addLarge(member), nil
}

// unpack makes an Object of the set.
func (s *Set) unpack(f form) error {
	if s.obj != nil {
		s.obj.form = f
		return nil
	}
	o := &Object{table: members.NewSized(members.None, len(s.packed)*9/8+3*s.Len()), form: f}
	for w := s.Walk(new(listpack.Scratch)); w.Next(); {
		o.table.Add(w.Member())
	}
	if s.tx != nil {
		if err := s.tx.PutObject(s.key, db.TypeSet, o, db.KeepExpiry); err != nil {
			return err
		}
	}
	s.obj, s.packed = o, nil
	return nil
}

// splice is Txn.Splice, or the same with the memory of a set that has no key.
func (s *Set) splice(f form, at, del, ins int) error {
	if s.tx != nil {
		p, err := s.tx.Splice(s.key, db.TypeSet, f.packing(), at, del, ins)
		if err != nil {
			return err
		}
		s.packed, s.form = p, f
		return nil
	}
	old := len(s.packed)
	s.packed = slices.Grow(s.packed, max(0, ins-del))[:max(old, old+ins-del)]
	copy(s.packed[at+ins:], s.packed[at+del:old])
	s.packed, s.form = s.packed[:old+ins-del], f
	return nil
}

// addInteger is Add to an intset.
func (s *Set) addInteger(member []byte, n int64) (bool, error) {
	i, found := intset.Search(s.packed, n)
	if found {
		return false, nil
	}
	if int64(intset.Len(s.packed)) >= s.limits.SetIntset {
		return s.addUnpacked(member, asTable)
	}
	at, ins := intset.Room(s.packed, i, n)
	if len(s.packed)+ins > db.PackedMax {
		return s.addUnpacked(member, asIntset)
	}
	fresh := s.packed == nil
	if err := s.splice(asIntset, at, 0, ins); err != nil {
		return false, err
	}
	if fresh {
		clear(s.packed[:intset.HeaderSize])
	}
	intset.Put(s.packed, i, n)
	return true, nil
}

// leaveIntset adds a member that is no integer to an intset.
func (s *Set) leaveIntset(member []byte) (bool, error) {
	n := intset.Len(s.packed)
	longest := 0
	if n > 0 {
		longest = max(digits(intset.At(s.packed, 0)), digits(intset.At(s.packed, n-1)))
	}
	if int64(n) >= s.limits.SetEntries || int64(max(longest, len(member))) > s.limits.SetValue {
		return s.addUnpacked(member, asTable)
	}
	size := listpack.Header + listpack.Size(member)
	for i := range n {
		var v listpack.Value
		v.SetInt(intset.At(s.packed, i))
		size += v.Size()
	}
	if size > db.PackedMax {
		return s.addUnpacked(member, asListpack)
	}
	return true, s.repack(member, size)
}

// repack makes a listpack of size bytes of an intset and a member that is none of
// its own.
func (s *Set) repack(member []byte, size int) error {
	var room [1024]byte
	old := append(room[:0], s.packed...)
	if err := s.splice(asListpack, 0, len(s.packed), size); err != nil {
		return err
	}
	p := s.packed[:listpack.Header]
	for i := range intset.Len(old) {
		p = listpack.AppendInt(p, intset.At(old, i))
	}
	listpack.Append(p, member)
	listpack.SetCount(s.packed, intset.Len(old)+1)
	return nil
}

// digits returns the length of n's decimal spelling.
func digits(n int64) int {
	var buf [20]byte
	return len(strconv.AppendInt(buf[:0], n, 10))
}

// addEntry is Add to a listpack.
func (s *Set) addEntry(member []byte) (bool, error) {
	var v listpack.Value
	v.Set(member)
	if s.packed != nil && listpack.Find(s.packed, listpack.Header, &v, 0) >= 0 {
		return false, nil
	}
	return s.appendEntry(&v, member)
}

// addNewEntry is Add to a listpack of a member that is not there.
func (s *Set) addNewEntry(member []byte) (bool, error) {
	var v listpack.Value
	v.Set(member)
	return s.appendEntry(&v, member)
}

// appendEntry adds a member that is not there, and its entry, to a listpack.
func (s *Set) appendEntry(v *listpack.Value, member []byte) (bool, error) {
	n, size := 0, listpack.Header
	if s.packed != nil {
		n, size = listpack.Count(s.packed), len(s.packed)
	}
	if int64(n) >= s.limits.SetEntries || int64(len(member)) > s.limits.SetValue {
		return s.addUnpacked(member, asTable)
	}
	if size+v.Size() > db.PackedMax {
		return s.addUnpacked(member, asListpack)
	}
	at, ins := size, v.Size()
	if s.packed == nil {
		at, ins = 0, size+ins
	}
	if err := s.splice(asListpack, at, 0, ins); err != nil {
		return false, err
	}
	v.Put(s.packed[size:])
	listpack.SetCount(s.packed, n+1)
	return true, nil
}

// Delete removes a member and reports whether it was there. The set may be empty
// afterwards: Touched removes its key. db.ErrOutOfMemory changes nothing.
func (s *Set) Delete(member []byte) (bool, error) {
	switch {
	case s.obj != nil:
		s.bury(member)
		return s.obj.delete(member), nil
	case s.packed == nil:
		return false, nil
	case s.form == asIntset:
		n, ok := listpack.Number(member)
		if !ok {
			return false, nil
		}
		i, found := intset.Search(s.packed, n)
		if !found {
			return false, nil
		}
		return true, s.deleteAt(i, 0)
	}
	var v listpack.Value
	v.Set(member)
	at := listpack.Find(s.packed, listpack.Header, &v, 0)
	if at < 0 {
		return false, nil
	}
	return true, s.deleteAt(0, at)
}

// deleteAt removes member i of an intset, or the entry at an offset of a listpack.
func (s *Set) deleteAt(i, at int) error {
	if s.form == asIntset {
		at, del := intset.Hole(s.packed, i)
		if err := s.splice(asIntset, at, del, 0); err != nil {
			return err
		}
		intset.Removed(s.packed)
		return nil
	}
	del := listpack.Next(s.packed, at) - at
	if err := s.splice(asListpack, at, del, 0); err != nil {
		return err
	}
	listpack.SetCount(s.packed, listpack.Count(s.packed)-1)
	return nil
}

// Pop removes a random member and appends it to dst. There is one.
// db.ErrOutOfMemory changes nothing.
func (s *Set) Pop(r members.Source, dst []byte) ([]byte, error) {
	if s.obj != nil {
		n := len(dst)
		dst = append(dst, s.Random(r)...)
		s.obj.delete(dst[n:])
		return dst, nil
	}
	i := int(members.Below(r.Rand(), uint64(s.Len())))
	if s.form == asIntset {
		dst = strconv.AppendInt(dst, intset.At(s.packed, i), 10)
		return dst, s.deleteAt(i, 0)
	}
	at := listpack.Skip(s.packed, listpack.Header, i)
	dst = listpack.At(s.packed, at).Append(dst)
	return dst, s.deleteAt(0, at)
}

// SetDeadline says when a member, which is there, expires. at is later than now.
// db.ErrOutOfMemory changes nothing.
func (s *Set) SetDeadline(member []byte, at db.Millis) error {
	if s.obj == nil {
		if err := s.unpack(s.form); err != nil {
			return err
		}
	}
	if s.obj.deadlines == nil {
		s.obj.deadlines = members.NewDeadlines()
	}
	s.obj.deadlines.Set(member, at)
	return nil
}

// ClearDeadline makes a member stay, and reports whether it had a deadline.
func (s *Set) ClearDeadline(member []byte) bool {
	if s.obj == nil || s.obj.deadlines == nil {
		return false
	}
	s.bury(member)
	had := s.obj.deadlines != nil && s.obj.deadlines.Delete(member)
	s.obj.dropDeadlines()
	return had
}

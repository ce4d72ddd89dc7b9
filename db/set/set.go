// Package set keeps sets of members, each of which may have a deadline.
//
// A small set is packed in the record of its key: integers alone as an intset,
// sorted and searched by halving; others as a listpack, in the order in which they
// came, searched from the front. A large one is an Object: a members.Table.
//
// A set changes its form where Redis 7.2 would: an intset for the sake of a member
// that is no integer or when there are more than set-max-intset-entries, a listpack
// beyond set-max-listpack-entries and set-max-listpack-value. It also becomes an
// Object when it does not fit into a record any more, and when a member gets a
// deadline; OBJECT ENCODING goes on to say what Redis would, for that has nothing
// to do with how things are kept. No set goes back.
//
// Rejected: a sorted array of integers as a large Object for sets that only the
// configuration makes intsets. They are rare, and a table does everything
// faster but for giving them sorted, which nobody was promised. And a packed form for sets
// past Redis' limits, as hashes have it (db.Loose): with 200 members of 10 bytes it would
// take 2.0 KB against 4.2 in a table and 11 in Redis, but each look would go through 100
// entries and take over ten times as long. The same goes for sorted sets.
package set

import (
	"strconv"

	"heddle/db"
	"heddle/db/intset"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Set is a set as one command sees it, without members when its key is absent. It
// is a handle: valid until the handler returns, and not to be copied once it was
// used to change something. What it hands out is borrowed: valid until its next
// change, and of a packed set until its next call. Members whose time has come are
// not there.
type Set struct {
	tx     db.Txn // nil: for reading only, or made by New
	key    []byte
	now    db.Millis
	limits *db.Limits // nil: for reading only
	form   form       // of what is packed or, if there is nothing, of what is to come
	packed []byte     // if obj is nil; nil: nothing
	obj    *Object
	room   listpack.Scratch
}

// form is the name that a set goes by.
type form uint8

const (
	asTable form = iota
	asListpack
	asIntset
	undecided // there is nothing yet, and the first member decides
)

func (f form) packing() db.Packing {
	if f == asIntset {
		return db.Intset
	}
	return db.Listpack
}

// Read returns the set at key for reading, as View.Collection does: db.ErrWrongType.
func Read(v db.View, key []byte) (Set, error) {
	c, _, err := v.Collection(key, db.TypeSet)
	return of(&c, v.Due()), err
}

// Current is Read without counting a hit or miss, for commands that read in order
// to write something else.
func Current(tx db.Txn, key []byte) (Set, error) {
	c, _, err := tx.CurrentCollection(key, db.TypeSet)
	return of(&c, tx.Due()), err
}

// Of returns the set that a snapshot holds, for reading.
func Of(c db.Coll, now db.Millis) Set { return of(&c, now) }

func of(c *db.Coll, now db.Millis) Set {
	s := Set{now: now, packed: c.Packed, form: undecided}
	switch {
	case c.Object != nil:
		s.obj = c.Object.(*Object)
	case c.Packing == db.Intset:
		s.form = asIntset
	case c.Packing == db.Listpack:
		s.form = asListpack
	}
	return s
}

// Write returns the set at key for change, as Txn.EditCollection does:
// db.ErrWrongType, db.ErrOutOfMemory. The key comes to be with the first Add.
// Whoever changed something calls Touched.
func Write(tx db.Txn, key []byte) (Set, error) {
	c, _, err := tx.EditCollection(key, db.TypeSet)
	s := of(&c, tx.Due())
	s.tx, s.key, s.limits = tx, key, tx.Limits()
	return s, err
}

// ReadToDraw is Read for who draws members at random, or walks over all: where most of what is stored is due,
// that is removed before (db.View.Clear).
func ReadToDraw(v db.View, key []byte) (Set, error) {
	s, err := Read(v, key)
	if err != nil || s.obj == nil || s.obj.deadlines.DueBy(s.now) <= s.obj.table.Len()/2 {
		return s, err
	}
	c, _, err := v.Clear(key, db.TypeSet)
	return of(&c, v.Due()), err
}

// WriteToDraw is Write for who removes members at random: nothing that is due is there.
func WriteToDraw(tx db.Txn, key []byte) (Set, error) {
	s, err := Write(tx, key)
	if err != nil || s.obj == nil || !s.obj.deadlines.AnyDue(s.now) {
		return s, err
	}
	c, _, err := tx.Clear(key, db.TypeSet)
	s = of(&c, tx.Due())
	s.tx, s.key, s.limits = tx, key, tx.Limits()
	return s, err
}

// Len returns the number of members.
func (s *Set) Len() int {
	switch {
	case s.obj != nil:
		return s.obj.alive(s.now)
	case s.packed != nil:
		return listpack.Count(s.packed) // an intset counts in the same place
	}
	return 0
}

// Has reports whether a member is there.
func (s *Set) Has(member []byte) bool {
	switch {
	case s.obj != nil:
		return s.obj.has(member, s.now)
	case s.packed == nil:
		return false
	case s.form == asIntset:
		n, ok := listpack.Number(member)
		return ok && intset.Has(s.packed, n)
	}
	var v listpack.Value
	v.Set(member)
	return listpack.Find(s.packed, listpack.Header, &v, 0) >= 0
}

// Each visits every member until fn returns false. fn must not change the set.
func (s *Set) Each(fn func(member []byte) bool) {
	switch {
	case s.obj != nil:
		for it := s.obj.iter(s.now); it.Next(); {
			if !fn(it.Member()) {
				return
			}
		}
	case s.packed == nil:
	case s.form == asIntset:
		for i := range intset.Len(s.packed) {
			if !fn(strconv.AppendInt(s.room[:0], intset.At(s.packed, i), 10)) {
				return
			}
		}
	default:
		for at := listpack.Header; at < len(s.packed); {
			e := listpack.At(s.packed, at)
			if !fn(e.Bytes(&s.room)) {
				return
			}
			at += len(e)
		}
	}
}

// Scan visits members from cursor on and returns the cursor to go on with, 0 at the
// end: see members.Table.Scan. A set that Redis would keep packed is visited whole,
// whatever count is.
func (s *Set) Scan(cursor uint64, count int, fn func(member []byte)) (next uint64) {
	if s.obj == nil || s.obj.form != asTable {
		s.Each(func(m []byte) bool {
			fn(m)
			return true
		})
		return 0
	}
	d := s.obj.deadlines
	return s.obj.table.Scan(cursor, count, func(m, _ []byte) {
		if d == nil || !d.Passed(m, s.now) {
			fn(m)
		}
	})
}

// Random returns a member, each with the same probability. There is one.
func (s *Set) Random(r members.Source) []byte {
	if s.obj == nil {
		return s.at(int(members.Below(r.Rand(), uint64(s.Len()))))
	}
	return s.RandomStored(r)
}

// RandomStored is Random of a set that is Large: what it returns is valid until the
// set changes.
func (s *Set) RandomStored(r members.Source) []byte {
	for {
		m, _ := s.obj.table.Random(r)
		if s.obj.deadlines == nil || !s.obj.deadlines.Passed(m, s.now) {
			return m
		}
	}
}

// at returns member i of a packed set.
func (s *Set) at(i int) []byte {
	if s.form == asIntset {
		return strconv.AppendInt(s.room[:0], intset.At(s.packed, i), 10)
	}
	return listpack.At(s.packed, listpack.Skip(s.packed, listpack.Header, i)).Bytes(&s.room)
}

// Deadline returns when a member expires; false if it never does, or is not there.
func (s *Set) Deadline(member []byte) (at db.Millis, found bool) {
	if s.obj == nil {
		return 0, false
	}
	at, found = s.obj.deadlines.Get(member)
	return at, found && at > s.now
}

// Integers reports whether the set goes by the name of intset: all its members are
// integers.
func (s *Set) Integers() bool {
	if s.obj != nil {
		return s.obj.form == asIntset
	}
	return s.form == asIntset
}

// Hashed reports whether the set goes by the name of hashtable.
func (s *Set) Hashed() bool { return s.obj != nil && s.obj.form == asTable }

// Large reports whether the set is an Object, so that Clone takes constant time
// and the clone outlives the command.
func (s *Set) Large() bool { return s.obj != nil }

// Clone returns a set for reading that stays as this one is now, whatever becomes of
// the key, also when the command has ended and while others change it. In constant
// time if the set is large; else the members are copied.
func (s *Set) Clone() Set {
	c := Set{now: s.now, form: s.form}
	if s.obj != nil {
		c.obj = s.obj.clone()
	} else if s.packed != nil {
		c.packed = append([]byte(nil), s.packed...)
	}
	return c
}

// Pin returns the claim of the one who keeps a Clone, if that is large.
func (s *Set) Pin() db.Pin {
	if s.obj == nil {
		return db.Pin{}
	}
	return db.PinOf(s.obj)
}

// Check verifies packed bytes from outside: an intset in order, or a listpack of
// different members.
func Check(packing db.Packing, p []byte) error {
	if packing == db.Intset {
		return intset.Check(p)
	}
	if err := listpack.Check(p, 1); err != nil {
		return err
	}
	seen := make(map[string]bool, listpack.Count(p))
	for at := listpack.Header; at < len(p); at = listpack.Next(p, at) {
		e := string(listpack.At(p, at)) // equal members are equal bytes
		if seen[e] {
			return listpack.ErrInvalid
		}
		seen[e] = true
	}
	return nil
}

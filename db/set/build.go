package set

import (
	"heddle/db"
	"heddle/db/intset"
	"heddle/db/listpack"
)

// NewUnion returns an empty set without a key, in memory of its own, that begins as
// an intset: results of unions and differences are collected in one.
func NewUnion(l *db.Limits) Set { return Set{limits: l, form: asIntset} }

// NewInter is NewUnion that begins as a listpack, for intersections; Narrow goes
// with it.
func NewInter(l *db.Limits) Set { return Set{limits: l, form: asListpack} }

// Narrow makes an intset of a set without a key, if all its members are integers
// and not too many.
func (s *Set) Narrow() {
	if s.Integers() || int64(s.Len()) > s.limits.SetIntset {
		return
	}
	var p []byte
	for w := s.Walk(new(listpack.Scratch)); w.Next(); {
		n, ok := listpack.Number(w.Member())
		if !ok {
			break
		}
		p, _ = intset.Insert(p, n)
	}
	switch {
	case intset.Len(p) < s.Len():
	case len(p) <= db.PackedMax:
		s.packed, s.obj, s.form = p, nil, asIntset
	case s.obj != nil:
		s.obj.form = asIntset
	default: // a listpack spells them in fewer bytes
		_ = s.unpack(asIntset) // without a key it does not fail
	}
}

// Store puts a set without a key, which must not be empty, under a key, replacing
// what is there, its time to live too. It takes the set over.
func (s *Set) Store(tx db.Txn, key []byte) error { return s.store(tx, key, db.NoExpiry) }

func (s *Set) store(tx db.Txn, key []byte, e db.Expiry) error {
	if s.obj != nil {
		return tx.PutObject(key, db.TypeSet, s.obj, e)
	}
	return tx.PutPacked(key, db.TypeSet, s.form.packing(), s.packed, e)
}

package set

import (
	"heddle/db"
	"heddle/db/intset"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Taking many members at random. A few are drawn one by one. Nearly all are taken by
// drawing those that stay, into a new table. What is in between is one walk over
// the set that decides about each member, which is quicker than to draw: it goes
// from block to block. In the latter two cases the members taken are not listed; they
// are told from a clone by the same decisions.

// popWalk: with more than one member out of so many to be taken, or to stay, the
// set is not drawn from: to draw one takes as long as to decide about some tens.
const popWalk = 32

// PopMany removes n random members, 0 < n < Len, and returns them: all different, every
// choice with the same probability. db.ErrOutOfMemory changes nothing.
//
// As in Redis, a hash table of which few members are left becomes a listpack.
func (s *Set) PopMany(n int, r members.Source) (Part, error) {
	rest := s.Len() - n
	few := s.Hashed() && rest <= n/5
	var taken Part
	var err error
	switch {
	case s.obj == nil:
		taken, err = s.popPacked(n, r)
	case n <= s.Len()/popWalk:
		taken = s.popDrawn(n, r)
	case rest <= s.Len()/popWalk:
		taken = s.keepDrawn(n, rest, r)
	default:
		taken = s.popWalked(n, r)
	}
	if err == nil && few {
		s.toListpack()
	}
	return taken, err
}

// popPacked removes members of a packed set: all at once, so that nothing has changed
// when memory is out.
func (s *Set) popPacked(n int, r members.Source) (Part, error) {
	old := s.Clone()
	taken := old.Sample(n, r)
	gone := make(Bits, BitsSize(old.Len()))
	for it := taken.Iter(new(listpack.Scratch)); it.Next(); {
		gone.Put(it.at)
	}
	rest := make([]byte, 0, len(old.packed))
	count := old.Len() - n
	if s.form == asIntset {
		rest = append(rest, old.packed[:intset.HeaderSize]...)
		width := intset.Width(old.packed)
		for i, at := 0, intset.HeaderSize; at < len(old.packed); i, at = i+1, at+width {
			if !gone.Has(i) {
				rest = append(rest, old.packed[at:at+width]...)
			}
		}
	} else {
		rest = append(rest, old.packed[:listpack.Header]...)
		for i, at := 0, listpack.Header; at < len(old.packed); i++ {
			e := listpack.At(old.packed, at)
			if !gone.Has(i) {
				rest = append(rest, e...)
			}
			at += len(e)
		}
	}
	listpack.SetCount(rest, count)
	if err := s.tx.PutPacked(s.key, db.TypeSet, s.form.packing(), rest, db.KeepExpiry); err != nil {
		return Part{}, err
	}
	s.packed = rest
	return Part{s: old, n: n, chosen: gone}, nil
}

// popDrawn removes members of a large set one by one.
func (s *Set) popDrawn(n int, r members.Source) Part {
	taken := newObject(asTable)
	var m []byte
	for range n {
		m = append(m[:0], s.Random(r)...)
		taken.table.Add(m)
		s.obj.delete(m)
	}
	return Part{s: Set{obj: taken}, n: n}
}

// keepDrawn draws the members that stay.
func (s *Set) keepDrawn(n, rest int, r members.Source) Part {
	old := s.Clone()
	kept := &Object{table: s.obj.table.Empty(), form: s.obj.form, Shared: s.obj.Shared}
	for kept.table.Len() < rest {
		kept.table.Add(old.Random(r))
	}
	if d := old.obj.deadlines; d != nil {
		kept.deadlines = members.NewDeadlines()
		d.Each(func(m []byte, at db.Millis) bool {
			if kept.table.Has(m) {
				kept.deadlines.Set(m, at)
			}
			return true
		})
		kept.dropDeadlines()
	}
	*s.obj = *kept
	return Part{s: old, n: n, except: kept.table.Clone()}
}

// popWalked decides about each member in turn.
func (s *Set) popWalked(n int, r members.Source) Part {
	old := s.Clone()
	taken := Part{s: old, n: n, sample: true, seed: [2]uint64{r.Rand(), r.Rand()}}
	draw, d := taken.draw(), s.obj.deadlines
	s.obj.table.Filter(func(m, _ []byte) bool {
		if d != nil && d.Passed(m, s.now) || !draw.next() {
			return false
		}
		d.Delete(m)
		return true
	})
	s.obj.dropDeadlines()
	return taken
}

// toListpack makes a listpack of a hash table, if the limits let it be one. Without
// the memory for it, it stays as it is.
func (s *Set) toListpack() {
	if int64(s.Len()) > s.limits.SetEntries {
		return
	}
	small := NewInter(s.limits)
	for w := s.Walk(new(listpack.Scratch)); w.Next() && !small.Hashed(); {
		_, _ = small.Add(w.Member()) // without a key it does not fail
	}
	switch {
	case small.Hashed():
	case small.obj != nil || s.obj.deadlines != nil:
		s.obj.form = asListpack
	case small.store(s.tx, s.key, db.KeepExpiry) == nil:
		s.packed, s.obj, s.form = small.packed, nil, asListpack
	}
}

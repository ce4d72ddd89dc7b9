package set

import (
	"strconv"

	"heddle/db/intset"
	"heddle/db/listpack"
)

// Walk goes over a set of any form, in the order of Each. It holds nothing of the Set
// itself, only of what that is of, so that neither has to live on the heap for the
// sake of what is done with members.
type Walk struct {
	large  bool
	form   form
	packed []byte
	obj    iter
	at     int            // place in an intset, or offset
	e      listpack.Entry // of a listpack
	room   *listpack.Scratch
}

// Walk begins a walk over the set, which must not change meanwhile. room is where
// members are spelled that do not stand as they are.
func (s *Set) Walk(room *listpack.Scratch) Walk {
	w := Walk{large: s.obj != nil, form: s.form, packed: s.packed, at: -1, room: room}
	switch {
	case s.obj != nil:
		w.obj = s.obj.iter(s.now)
	case s.form != asIntset:
		w.at = listpack.Header
	}
	return w
}

// Next moves to the next member; false when there is none.
func (w *Walk) Next() bool {
	switch {
	case w.large:
		return w.obj.Next()
	case w.packed == nil:
		return false
	case w.form == asIntset:
		w.at++
		return w.at < intset.Len(w.packed)
	case w.at >= len(w.packed):
		return false
	}
	w.e = listpack.At(w.packed, w.at)
	w.at += len(w.e)
	return true
}

// Member returns the member that Next moved to, borrowed until it is called again.
func (w *Walk) Member() []byte {
	switch {
	case w.large:
		return w.obj.Member()
	case w.form == asIntset:
		return strconv.AppendInt(w.room[:0], intset.At(w.packed, w.at), 10)
	}
	return w.e.Bytes(w.room)
}

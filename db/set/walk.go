package set

import (
	"strconv"

	"heddle/db/intset"
	"heddle/db/listpack"
)

// walk goes over a set of any form, in the order of Each.
type walk struct {
	s    *Set
	obj  iter
	at   int            // place in an intset, or offset
	e    listpack.Entry // of a listpack
	room listpack.Scratch
}

func (s *Set) walk() walk {
	w := walk{s: s, at: -1}
	switch {
	case s.obj != nil:
		w.obj = s.obj.iter(s.now)
	case s.form != asIntset:
		w.at = listpack.Header
	}
	return w
}

func (w *walk) next() bool {
	s := w.s
	switch {
	case s.obj != nil:
		return w.obj.Next()
	case s.packed == nil:
		return false
	case s.form == asIntset:
		w.at++
		return w.at < intset.Len(s.packed)
	case w.at >= len(s.packed):
		return false
	}
	w.e = listpack.At(s.packed, w.at)
	w.at += len(w.e)
	return true
}

func (w *walk) member() []byte {
	switch {
	case w.s.obj != nil:
		return w.obj.Member()
	case w.s.form == asIntset:
		return strconv.AppendInt(w.room[:0], intset.At(w.s.packed, w.at), 10)
	}
	return w.e.Bytes(&w.room)
}

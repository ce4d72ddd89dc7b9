package lists

import (
	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/resp"
)

// streamFrom is how many elements of a large list a reply has to have to be sent
// as a stream.
const streamFrom = 1000

// replyRange writes elements from..to (exclusive), their number having been
// written. Many of a large list are sent from a clone, while it changes.
func replyRange(w *resp.Writer, l *list.List, from, to int) {
	if to-from > streamFrom {
		if o := l.Large(); o != nil {
			w.Stream(&forwards{Pin: db.PinOf(o), it: o.Iter(from), left: to - from})
			return
		}
	}
	var buf listpack.Scratch
	it := l.Iter(from)
	for range to - from {
		it.Next()
		reply(w, it.Entry(), &buf)
	}
}

// replyBack is replyRange of the last n elements from the end on.
func replyBack(w *resp.Writer, l *list.List, n int) {
	if n > streamFrom {
		if o := l.Large(); o != nil {
			s := &backwards{Pin: db.PinOf(o), left: n}
			s.it.FromObject(o, o.Len()-1)
			w.Stream(s)
			return
		}
	}
	var buf listpack.Scratch
	var it list.Reverse
	it.From(l, l.Len()-1)
	for range n {
		it.Next()
		reply(w, it.Entry(), &buf)
	}
}

// forwards and backwards are elements of a clone on their way to a client.
type forwards struct {
	db.Pin
	it   list.Iter
	left int
}

// Next writes the next piece.
func (s *forwards) Next(w *resp.Writer) (more bool) {
	var buf listpack.Scratch
	for s.left > 0 && w.Len() < resp.StreamPiece {
		s.it.Next()
		reply(w, s.it.Entry(), &buf)
		s.left--
	}
	return s.left > 0
}

type backwards struct {
	db.Pin
	it   list.Reverse
	left int
}

// Next writes the next piece.
func (s *backwards) Next(w *resp.Writer) (more bool) {
	var buf listpack.Scratch
	for s.left > 0 && w.Len() < resp.StreamPiece {
		s.it.Next()
		reply(w, s.it.Entry(), &buf)
		s.left--
	}
	return s.left > 0
}

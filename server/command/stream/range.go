package streams

import (
	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

// streamFrom is from how many entries on a reply is made while it is sent, out of a
// clone, instead of all at once.
const streamFrom = 1000

// entry writes an entry: its ID, and names and values in turn.
func entry(w *resp.Writer, e *stream.Entry) {
	w.Array(2)
	replyID(w, e.ID)
	var buf listpack.Scratch
	w.Array(2 * e.Len())
	for e.Len() > 0 {
		name, value := e.Pair()
		w.Bulk(name.Bytes(&buf))
		w.Bulk(value.Bytes(&buf))
	}
}

// replyRange writes an array of the entries from..to, at most count of them if count is
// positive, and returns how many that are.
func replyRange(w *resp.Writer, s *stream.Stream, from, to stream.ID, count int64, reverse bool) int {
	n := s.Count(from, to)
	if count > 0 {
		n = int(min(int64(n), count))
	}
	w.Array(n)
	switch {
	case n == 0:
	case n >= streamFrom:
		r := &rangeStream{left: n, reverse: reverse}
		r.s = s.Clone().(*stream.Stream)
		r.Pin = db.PinOf(r.s)
		if reverse {
			r.back = r.s.RangeReverse(from, to)
		} else {
			r.it = r.s.Range(from, to)
		}
		w.Stream(r)
	case reverse:
		it := s.RangeReverse(from, to)
		for range n {
			e, _ := it.Next()
			entry(w, &e)
		}
	default:
		it := s.Range(from, to)
		for range n {
			e, _ := it.Next()
			entry(w, &e)
		}
	}
	return n
}

// rangeStream is a resp.Stream of entries.
type rangeStream struct {
	db.Pin
	s       *stream.Stream
	it      stream.Iter
	back    stream.Reverse
	left    int
	reverse bool
}

// Next writes the next piece.
func (r *rangeStream) Next(w *resp.Writer) bool {
	for ; r.left > 0 && w.Len() < resp.StreamPiece; r.left-- {
		var e stream.Entry
		if r.reverse {
			e, _ = r.back.Next()
		} else {
			e, _ = r.it.Next()
		}
		entry(w, &e)
	}
	return r.left > 0
}

// XLEN key
func xlenSpec() *command.Spec { return readSpec("xlen", 2, command.Fast, 0, xlen) }

func xlen(c *command.Call, v db.View) error {
	s, err := stream.Read(v, c.Args.Key())
	if err != nil {
		return err
	}
	n := 0
	if s != nil {
		n = s.Len()
	}
	c.Reply.Int(int64(n))
	return nil
}

// XRANGE key start end [COUNT count]
// XREVRANGE key end start [COUNT count]
func xrangeSpec(reverse bool) *command.Spec {
	name := "xrange"
	if reverse {
		name = "xrevrange"
	}
	return readSpec(name, -4, 0, command.KeyAccess, func(c *command.Call, v db.View) error { return xrange(c, v, reverse) })
}

func xrange(c *command.Call, v db.View, reverse bool) error {
	a := &c.Args
	key, first, last := a.Key(), a.Bytes(), a.Bytes()
	if reverse {
		first, last = last, first
	}
	from, err := parseStart(first)
	if err != nil {
		return err
	}
	to, err := parseEnd(last)
	if err != nil {
		return err
	}
	count, limited := int64(0), false
	for a.More() && a.Len() >= 2 && a.Word("count") {
		count, limited = a.Int(), true
	}
	if err := a.Done(); err != nil {
		return err
	}

	s, err := stream.Read(v, key)
	switch {
	case err != nil:
		return err
	case s == nil:
		c.Reply.Array(0)
	case limited && count <= 0:
		c.Reply.NullArray()
	default:
		replyRange(c.Reply, s, from, to, count, reverse)
	}
	return nil
}

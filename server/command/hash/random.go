package hashes

import (
	"math"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/members"
	"heddle/resp"
	"heddle/server/command"
)

// HRANDFIELD key [count [WITHVALUES]]
func hrandfieldSpec() *command.Spec {
	spec := readSpec("hrandfield", -2, 0, command.KeyAccess, hrandfield)
	spec.Tips = []string{tipNondetermined}
	return spec
}

const (
	errRange    resp.Error = "ERR value is out of range"
	errMinCount resp.Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
)

func hrandfield(c *command.Call, v db.View) error {
	key := c.Args.Key()
	if !c.Args.More() {
		h, err := hash.ReadToDraw(v, key)
		switch {
		case err != nil:
			return err
		case h.Len() == 0:
			c.Reply.Null()
		default:
			field, _ := h.Random(v)
			c.Reply.Bulk(field)
		}
		return nil
	}
	count := c.Args.Int()
	if count == math.MinInt64 {
		c.Args.Reject(errMinCount)
	}
	p := partField
	if c.Args.More() && c.Args.Len() == 1 && c.Args.Word("withvalues") {
		p |= partValue
		if count < -math.MaxInt64/2 || count > math.MaxInt64/2 {
			c.Args.Reject(errRange)
		}
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.ReadToDraw(v, key)
	if err != nil {
		return err
	}
	replyRandom(c.Reply, v, &h, count, p)
	return nil
}

// replyRandom writes count random fields, all different; or -count that may
// repeat.
func replyRandom(w *resp.Writer, v db.View, h *hash.Hash, count int64, p parts) {
	size := int64(h.Len())
	n := min(count, size)
	if count < 0 {
		n = -count
	}
	if size == 0 {
		n = 0
	}
	r := randomReply{w, p, p&partValue != 0}
	r.open(n)
	switch {
	case n == 0:
	case n > streamFrom || count > 0 && size > streamFrom && 3*n >= size:
		w.Stream(newRandomStream(v, h, count, n, p))
	case count < 0:
		for range n {
			r.one(h.Random(v))
		}
	case 3*n < size && size > streamFrom:
		r.distinct(v, h, n)
	default:
		left := size
		for it := h.Iter(); n > 0 && it.Next(); left-- {
			if members.Below(v.Rand(), uint64(left)) < uint64(n) {
				r.one(it.Field(), it.Value())
				n--
			}
		}
	}
}

// randomReply writes the fields of HRANDFIELD.
type randomReply struct {
	w     *resp.Writer
	parts parts
	pairs bool
}

func (r *randomReply) open(n int64) {
	if r.pairs {
		r.w.Pairs(int(n))
		return
	}
	r.w.Array(int(n))
}

func (r *randomReply) one(field, value []byte) {
	if r.pairs {
		r.w.Pair()
	}
	r.parts.reply(r.w, field, value)
}

// distinct writes n different fields, few in comparison with the size of the hash:
// it draws until there are enough.
func (r *randomReply) distinct(v db.View, h *hash.Hash, n int64) {
	seen := members.New(members.None)
	for int64(seen.Len()) < n {
		if field, value := h.Random(v); seen.Add(field) {
			r.one(field, value)
		}
	}
}

// randomStream is a resp.Stream of random fields: count of those that follow, each
// with the same chance, in the order of the hash; or drawn one by one, so that they
// may repeat; or, if they are a small part of the hash, drawn until there are enough
// different ones, for a walk over millions to find the next would take too long.
type randomStream struct {
	frozen hash.Frozen
	it     hash.Iter
	r      *source
	repeat bool
	seen   *members.Table // what was drawn, nil if that does not matter
	n      int64          // still to be written
	left   int64          // still to be looked at, if nothing is drawn
	parts  parts
}

func newRandomStream(v db.View, h *hash.Hash, count, n int64, p parts) *randomStream {
	s := &randomStream{frozen: h.Freeze(), r: newSource(v), repeat: count < 0, n: n, left: int64(h.Len()), parts: p}
	if count > 0 && 3*n < s.left {
		s.seen = members.New(members.None)
	} else {
		s.it = s.frozen.Iter()
	}
	return s
}

func (s *randomStream) Next(w *resp.Writer) bool {
	r := randomReply{w, s.parts, s.parts&partValue != 0}
	for s.n > 0 && w.Len() < resp.StreamPiece {
		if s.repeat {
			r.one(s.frozen.Random(s.r))
			s.n--
			continue
		}
		if s.seen != nil {
			if field, value := s.frozen.Random(s.r); s.seen.Add(field) {
				r.one(field, value)
				s.n--
			}
			continue
		}
		s.it.Next()
		if members.Below(s.r.Rand(), uint64(s.left)) < uint64(s.n) {
			r.one(s.it.Field(), s.it.Value())
			s.n--
		}
		s.left--
	}
	return s.n > 0
}

// Held is what the frozen hash holds, and what was drawn.
func (s *randomStream) Held() int64 {
	n := s.frozen.Held()
	if s.seen != nil {
		n += s.seen.MemSize()
	}
	return n
}

// Release lets go of the frozen hash.
func (s *randomStream) Release() { s.frozen.Release() }

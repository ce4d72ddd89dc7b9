package sortedset

import (
	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
)

// streamFrom is the number of elements from which on a reply from a large sorted set is
// made while it is sent, out of a clone.
const streamFrom = 1000

// openRange writes the header of n elements, with or without scores.
func openRange(w *resp.Writer, n int64, scores bool) {
	if scores {
		w.Pairs(int(n))
		return
	}
	w.Array(int(n))
}

// replyElement writes one of them, at which it stands.
func replyElement(w *resp.Writer, z *zset.ZSet, it *zset.Iter, scores bool) {
	if scores {
		w.Pair()
	}
	replyMember(w, z, it)
	if scores {
		w.Double(it.Score())
	}
}

// replyRange writes the members of rank from to before to, backwards if rev is set.
func replyRange(w *resp.Writer, z *zset.ZSet, from, to int, rev, scores bool) {
	openRange(w, int64(to-from), scores)
	if o := z.Large(); o != nil && to-from > streamFrom {
		kept, pin := z.Keep()
		w.Stream(&rangeStream{Pin: pin, z: kept, from: from, to: to, rev: rev, scores: scores})
		return
	}
	replyMembers(w, z, from, to, rev, scores)
}

// replyMembers is replyRange without the header, and never streams.
func replyMembers(w *resp.Writer, z *zset.ZSet, from, to int, rev, scores bool) {
	var it zset.Iter
	for it.Start(z, from, to, rev); it.Next(); {
		replyElement(w, z, &it, scores)
	}
}

// rangeStream is the rest of a long range.
type rangeStream struct {
	db.Pin
	z           zset.ZSet
	from, to    int
	rev, scores bool
}

// Next writes some more elements.
func (s *rangeStream) Next(w *resp.Writer) bool {
	return s.some(w, func(it *zset.Iter) { replyElement(w, &s.z, it, s.scores) })
}

// some has write write some more elements.
func (s *rangeStream) some(w *resp.Writer, write func(it *zset.Iter)) bool {
	limit, n := w.Len()+resp.StreamPiece, 0
	var it zset.Iter
	for it.Start(&s.z, s.from, s.to, s.rev); w.Len() < limit && it.Next(); n++ {
		write(&it)
	}
	if s.rev {
		s.to -= n
	} else {
		s.from += n
	}
	return s.from < s.to
}

// replyAny writes count members drawn one by one, so that some may come twice.
func replyAny(w *resp.Writer, v db.View, z *zset.ZSet, count int64, scores bool) {
	openRange(w, count, scores)
	if count > streamFrom {
		kept, pin := z.Keep()
		w.Stream(&randomStream{Pin: pin, z: kept, left: count, scores: scores, random: splitmix(v.Rand())})
		return
	}
	for ; count > 0; count-- {
		at := z.Random(v)
		replyMembers(w, z, at, at+1, false, scores)
	}
}

// randomStream is the rest of many random members.
type randomStream struct {
	db.Pin
	z      zset.ZSet
	left   int64
	scores bool
	random splitmix
}

// splitmix makes random numbers (splitmix64) where those of the command are gone.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Next writes some more elements.
func (s *randomStream) Next(w *resp.Writer) bool {
	limit := w.Len() + resp.StreamPiece
	for ; s.left > 0 && w.Len() < limit; s.left-- {
		at := int(s.random.next() % uint64(s.z.Len()))
		replyMembers(w, &s.z, at, at+1, false, s.scores)
	}
	return s.left > 0
}

// sampleStream is many different members, a good part of all, in order: each is taken
// with the chance that is left for it.
type sampleStream struct {
	db.Pin
	z      zset.ZSet
	at     int // the rank that is looked at next
	left   int
	scores bool
	random splitmix
}

// Next writes some more elements.
func (s *sampleStream) Next(w *resp.Writer) bool {
	limit, n := w.Len()+resp.StreamPiece, s.z.Len()
	var it zset.Iter
	for it.Start(&s.z, s.at, n, false); s.left > 0 && w.Len() < limit && it.Next(); s.at++ {
		if s.random.next()%uint64(n-s.at) < uint64(s.left) {
			replyElement(w, &s.z, &it, s.scores)
			s.left--
		}
	}
	return s.left > 0
}

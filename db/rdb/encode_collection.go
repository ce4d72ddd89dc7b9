package rdb

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/intset"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/zset"
)

// Names of the aux fields that tell a member's deadline, as KeyDB has them.
var (
	auxSubexpireKey  = []byte("keydb-subexpire-key")
	auxSubexpireWhen = []byte("keydb-subexpire-when")
)

// A collection that Redis would pack has few members, but limits can be raised. fitsPacked
// reports whether what takes so many bytes here may be made a blob in memory; otherwise it
// is written member by member, and whoever loads it packs it himself.
func fitsPacked(size int64) bool { return size <= maxBlob }

// set writes a set.
func (e *encoder) set() bool {
	s := set.Of(e.it.Coll, e.now)
	if s.Len() == 0 {
		return false
	}
	switch {
	case s.Integers():
		e.intset(&s)
	case !s.Hashed() && e.version >= Version72 && fitsPacked(e.it.Coll.MemSize()):
		e.head(typeSetListpack)
		var room listpack.Scratch
		e.packed = listpack.BeginRedis(e.packed[:0])
		for w := s.Walk(&room); e.on() && w.Next(); {
			e.packed = listpack.AppendRedisString(e.packed, w.Member())
		}
		e.blob(listpack.EndRedis(e.packed, 0, s.Len()))
	default:
		e.head(typeSet)
		e.buf = appendLength(e.buf, uint64(s.Len()))
		var room listpack.Scratch
		for w := s.Walk(&room); e.on() && w.Next(); {
			e.string(w.Member())
			e.element()
		}
	}
	e.setDeadlines(&s)
	return true
}

func (e *encoder) setDeadlines(s *set.Set) {
	if o, _ := e.it.Coll.Object.(*set.Object); o == nil || o.NextDeadline() == 0 {
		return
	}
	var room listpack.Scratch
	for w := s.Walk(&room); e.on() && w.Next(); {
		if at, found := s.Deadline(w.Member()); found {
			e.deadline(w.Member(), at)
		}
	}
}

// intset writes a set of integers: the bytes of a member, the number of members, 4 bytes
// each, and the members in order, all little endian.
func (e *encoder) intset(s *set.Set) {
	e.head(typeSetIntset)
	n := s.Len()
	b := e.packed[:0]
	if p := e.it.Coll.Packed; p != nil {
		b = binary.LittleEndian.AppendUint32(b, uint32(intset.Width(p)))
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = append(b, p[intset.HeaderSize:]...)
	} else {
		b = appendIntset(b, s)
	}
	e.packed = b
	e.blob(b)
}

// appendIntset sorts the members of a set that is not an intset, but called one.
func appendIntset(b []byte, s *set.Set) []byte {
	list := make([]int64, 0, s.Len())
	width := 2
	s.Each(func(member []byte) bool {
		v, _ := listpack.Number(member)
		list = append(list, v)
		width = max(width, intset.WidthOf(v))
		return true
	})
	slices.Sort(list)
	b = binary.LittleEndian.AppendUint32(b, uint32(width))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, v := range list {
		switch width {
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// zset writes a sorted set.
func (e *encoder) zset() bool {
	z := zset.Of(&e.it.Coll, e.now)
	n := z.Len()
	if n == 0 {
		return false
	}
	var it zset.Iter
	if z.IsListpack() && fitsPacked(e.it.Coll.MemSize()) {
		e.head(typeZSetListpack)
		e.packed = listpack.BeginRedis(e.packed[:0])
		for it.Start(&z, 0, n, false); e.on() && it.Next(); {
			e.packed = listpack.AppendRedisString(e.packed, it.Member())
			e.packed = appendScore(e.packed, it.Score())
		}
		e.packed = listpack.EndRedis(e.packed, 0, 2*n)
		e.blob(e.packed)
	} else {
		e.head(typeZSet2)
		e.buf = appendLength(e.buf, uint64(n))
		// As Redis: from the highest on, which whoever loads it puts in front each time.
		for it.Start(&z, 0, n, true); e.on() && it.Next(); {
			e.string(it.Member())
			e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(it.Score()))
			e.element()
		}
	}
	if o := z.Large(); o != nil && o.NextDeadline() != 0 {
		for it.Start(&z, 0, n, false); e.on() && it.Next(); {
			if at, found := z.Deadline(it.Member()); found {
				e.deadline(it.Member(), at)
			}
		}
	}
	return true
}

// appendScore appends a score as the entry of a listpack: an integer, or the shortest text
// that reads as the same number.
func appendScore(dst []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && n >= -1<<52 && n <= 1<<52 {
		return listpack.AppendRedisInt(dst, n)
	}
	var text [32]byte
	return listpack.AppendRedisString(dst, scoreText(text[:0], f))
}

// scoreText spells a score.
func scoreText(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case abs >= 1e-5 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// hash writes a hash.
func (e *encoder) hash() bool {
	h := hash.Of(e.it.Coll, e.now)
	n := h.Len()
	if n == 0 {
		return false
	}
	packed := e.it.Coll.Packing == db.Listpack
	var first db.Millis
	if o, _ := e.it.Coll.Object.(*hash.Object); o != nil {
		packed = o.Encoding() != "hashtable"
		first = e.firstDeadline(o, &h)
	}
	packed = packed && fitsPacked(e.it.Coll.MemSize())
	switch {
	case first != 0 && (e.raise || e.version >= Version74):
		e.version = max(e.version, Version74)
		e.timedHash(&h, first, packed)
		return true
	case packed && e.it.Coll.Packed != nil:
		e.head(typeHashListpack)
		e.packed = listpack.AppendRedis(e.packed[:0], e.it.Coll.Packed)
		e.blob(e.packed)
	case packed:
		e.head(typeHashListpack)
		e.packed = listpack.BeginRedis(e.packed[:0])
		for it := h.Iter(); e.on() && it.Next(); {
			e.packed = listpack.AppendRedisString(e.packed, it.Field())
			e.packed = listpack.AppendRedisString(e.packed, it.Value())
		}
		e.packed = listpack.EndRedis(e.packed, 0, 2*n)
		e.blob(e.packed)
	default:
		e.head(typeHash)
		e.buf = appendLength(e.buf, uint64(n))
		for it := h.Iter(); e.on() && it.Next(); {
			e.string(it.Field())
			e.string(it.Value())
			e.element()
		}
	}
	if first != 0 {
		for it := h.Iter(); e.on() && it.Next(); {
			if at, found := h.Deadline(it.Field()); found {
				e.deadline(it.Field(), at)
			}
		}
	}
	return true
}

// firstDeadline returns the earliest deadline of the fields that are left, 0 if none has
// one.
func (e *encoder) firstDeadline(o *hash.Object, h *hash.Hash) (first db.Millis) {
	if next := o.NextDeadline(); next == 0 || next > e.now {
		return next
	}
	for it := h.Iter(); e.on() && it.Next(); {
		if at, found := h.Deadline(it.Field()); found && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// timedField is a field of a hash that is written packed, with its deadline.
type timedField struct {
	at       db.Millis // math.MaxInt64: none
	from, to int       // the entries of field and value
}

// timedHash writes a hash whose fields have deadlines, in the forms of Redis 7.4: the first
// deadline, 8 bytes little endian; then a listpack of field, value and deadline in the order
// of deadlines, with 0 for none and those last; or the number of fields, and for each of
// them the deadline as a length, counted from 1 for the first one, 0 for none, field and
// value.
func (e *encoder) timedHash(h *hash.Hash, first db.Millis, packed bool) {
	if !packed {
		e.head(typeHashMeta)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(first))
		e.buf = appendLength(e.buf, uint64(h.Len()))
		for it := h.Iter(); e.on() && it.Next(); {
			ttl := uint64(0)
			if at, found := h.Deadline(it.Field()); found {
				ttl = uint64(at-first) + 1
			}
			e.buf = appendLength(e.buf, ttl)
			e.string(it.Field())
			e.string(it.Value())
			e.element()
		}
		return
	}
	e.head(typeHashListpackEx)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(first))
	var pairs []byte
	e.order = e.order[:0]
	for it := h.Iter(); e.on() && it.Next(); {
		f := timedField{at: math.MaxInt64, from: len(pairs)}
		if at, found := h.Deadline(it.Field()); found {
			f.at = at
		}
		pairs = listpack.AppendRedisString(pairs, it.Field())
		pairs = listpack.AppendRedisString(pairs, it.Value())
		f.to = len(pairs)
		e.order = append(e.order, f)
	}
	slices.SortStableFunc(e.order, func(a, b timedField) int { return int(min(max(a.at-b.at, -1), 1)) })
	e.packed = listpack.BeginRedis(e.packed[:0])
	for _, f := range e.order {
		if f.at == math.MaxInt64 {
			f.at = 0
		}
		e.packed = append(e.packed, pairs[f.from:f.to]...)
		e.packed = listpack.AppendRedisInt(e.packed, int64(f.at))
	}
	e.packed = listpack.EndRedis(e.packed, 0, 3*len(e.order))
	e.blob(e.packed)
}

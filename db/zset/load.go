package zset

import (
	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Builder makes a sorted set without a key out of members that come one after the other, for
// those who load files: in no transaction and under no lock. Reset comes first; a Builder
// may be used again, once what Coll returned is stored.
//
// Members may come in any order. In ascending or descending order, as files have them,
// leaves of the tree are filled to the brim.
type Builder struct {
	limits *db.Limits
	anyLen bool // members of any length may be in a listpack
	p      []byte
	o      *Object
	m, s   listpack.Value
	text   scoreText
	seen   listpack.Seen // members, while packed
	last   int           // offset of the last pair, while packed
}

// Reset begins a sorted set of n announced members: where these are more than a listpack may
// have, it is a skip list, as in Redis. packed says that the file has a listpack, or a
// ziplist: those stay listpacks whatever the length of their members.
func (b *Builder) Reset(l *db.Limits, n uint64, packed bool) {
	b.limits, b.anyLen, b.o = l, packed, nil
	b.p, b.last = append(b.p[:0], 0, 0), listpack.Header
	b.seen.Reset()
	if n > uint64(max(l.ZSetEntries, 0)) {
		b.o = NewObject()
	}
}

// Add adds a member with its score, which is not NaN; false if it is there already: then it
// may have the new score, and the Builder is of no more use. What it is given is copied.
func (b *Builder) Add(member []byte, score float64) bool {
	if b.o != nil {
		n := b.o.Len()
		if b.o.asList && !b.fits(member, n+1) {
			b.o.asList = false
		}
		if b.o.asList {
			score += 0
		}
		b.o.Set(member, score)
		return b.o.Len() > n
	}
	n := listpack.Count(b.p)
	if !b.fits(member, n+1) {
		b.unpack(false)
		return b.Add(member, score)
	}
	b.m.Set(member)
	if b.seen.Add(member) && listpack.Find(b.p, listpack.Header, &b.m, 1) >= 0 {
		return false
	}
	setScore(&b.s, &b.text, score)
	ins := b.m.Size() + b.s.Size()
	if len(b.p)+ins > db.PackedMax {
		b.unpack(true)
		return b.Add(member, score)
	}
	old := len(b.p)
	at := placeFrom(b.p, b.last, score, member)
	if at == b.last {
		at = place(b.p, score, member)
	}
	b.p = b.s.Append(b.m.Append(b.p)) // for the room
	if at == old {
		b.last = old
	} else {
		copy(b.p[at+ins:], b.p[at:old])
		b.m.Put(b.p[at:])
		b.s.Put(b.p[at+b.m.Size():])
		b.last += ins
	}
	listpack.SetCount(b.p, n+1)
	return true
}

// Prefetch asks for the memory where a member will be added.
func (b *Builder) Prefetch(member []byte) {
	if b.o != nil {
		b.o.table.Prefetch(member)
	}
}

// fits reports whether n members, this among them, may be in a listpack.
func (b *Builder) fits(member []byte, n int) bool {
	return int64(n) <= b.limits.ZSetEntries && (b.anyLen || int64(len(member)) <= b.limits.ZSetValue)
}

// unpack makes an Object of what is packed.
func (b *Builder) unpack(asList bool) {
	b.o = NewObject()
	b.o.asList = asList
	var it Iter
	z := ZSet{p: b.p}
	for it.Start(&z, 0, z.Len(), false); it.Next(); {
		b.o.Set(it.Member(), it.Score())
	}
}

// SetDeadline gives a member that is there a deadline; false if it is not there.
func (b *Builder) SetDeadline(member []byte, at db.Millis) bool {
	if b.o == nil {
		b.unpack(true)
	}
	if !b.o.table.Has(member) {
		return false
	}
	if b.o.deadlines == nil {
		b.o.deadlines = members.NewDeadlines()
	}
	b.o.deadlines.Set(member, at)
	return true
}

// Len returns the number of members.
func (b *Builder) Len() int {
	if b.o != nil {
		return b.o.Len()
	}
	return listpack.Count(b.p)
}

// Coll returns the sorted set as it is to be stored. What is packed is the Builder's.
func (b *Builder) Coll() db.Coll {
	if b.o != nil {
		return db.Coll{Type: db.TypeZSet, Object: b.o}
	}
	return db.Coll{Type: db.TypeZSet, Packing: db.Listpack, Packed: b.p}
}

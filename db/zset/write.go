package zset

import (
	"math"
	"slices"

	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
)

// wordScore is the score in the word of a member in a table.
func wordScore(word []byte) float64 { return math.Float64frombits(members.Uint64(word)) }

// Put gives the member last looked for by Find a score, which must not be NaN, and adds
// it if it is not there. ErrOutOfMemory changes nothing.
func (z *ZSet) Put(score float64) error {
	if z.found && math.Float64bits(score) == math.Float64bits(z.old) {
		return nil
	}
	if z.o == nil {
		done, err := z.putPacked(score)
		if done || err != nil {
			return err
		}
	}
	if z.o.asList && !z.found {
		l := z.tx.Limits()
		z.o.asList = z.fits(l, z.o.Len()+1)
	}
	if z.o.asList {
		score += 0 // -0 becomes 0, as where it is packed
	}
	z.o.Set(z.member, score)
	return nil
}

// Remove removes a member and reports whether it was there. ErrOutOfMemory changes
// nothing.
func (z *ZSet) Remove(member []byte) (bool, error) {
	_, found := z.Find(member)
	return found, z.Drop()
}

// fits reports whether n members, the one looked for among them, may be in a listpack
// by Redis' limits.
func (z *ZSet) fits(l *db.Limits, n int) bool {
	return int64(n) <= l.ZSetEntries && int64(len(z.member)) <= l.ZSetValue
}

// putPacked is Put into packed bytes. If they may not have it, it makes an Object
// instead, without the member, and returns false.
func (z *ZSet) putPacked(score float64) (done bool, err error) {
	var text scoreText
	var s listpack.Value
	setScore(&s, &text, score)
	ins := z.value.Size() + s.Size()
	asList := z.found || z.fits(z.tx.Limits(), z.Len()+1)
	if !asList || len(z.p)+ins > db.PackedMax {
		return false, z.unpack(asList)
	}
	switch {
	case z.found:
		return true, z.repack(score, &s)
	case z.p == nil:
		p, err := z.splice(0, 0, listpack.Header+ins)
		if err != nil {
			return false, err
		}
		listpack.SetCount(p, 1)
		z.write(p, listpack.Header, &s)
		return true, nil
	}
	at := place(z.p, score, z.member)
	p, err := z.splice(at, 0, ins)
	if err != nil {
		return false, err
	}
	listpack.SetCount(p, listpack.Count(p)+1)
	z.write(p, at, &s)
	return true, nil
}

// write puts the pair of the member looked for and a score into a gap, and makes p
// what the set is.
func (z *ZSet) write(p []byte, at int, s *listpack.Value) {
	z.value.Put(p[at:])
	s.Put(p[at+z.value.Size():])
	z.p, z.at, z.found = p, at, true
}

// repack gives a packed member, found by Find, another score, and its place with it.
func (z *ZSet) repack(score float64, s *listpack.Value) error {
	x := pairAt(z.p, z.at)
	del, ins := x.next()-z.at, z.value.Size()+s.Size()
	to := place(z.p, score, z.member)
	if to > z.at { // the old pair is among those in front
		to = max(to, x.next())
	}
	at := z.at
	p, err := z.splice(at, del, ins)
	if err != nil {
		return err
	}
	// The gap is where the old pair was. It moves to where the new one belongs.
	switch {
	case to < at:
		copy(p[to+ins:], p[to:at])
		at = to
	case to > at:
		end := to - del
		copy(p[at:], p[at+ins:end+ins])
		at = end
	}
	z.write(p, at, s)
	return nil
}

// Batch makes the changes to come gather in room, 8 KB at best, as long as the set is packed,
// until Flush: many members are added with one change of the key, and without leaving
// blocks of every size behind.
func (z *ZSet) Batch(room []byte) {
	if z.o != nil {
		return
	}
	z.batch = true
	if z.room = append(room[:0], z.p...); z.p != nil {
		z.p = z.room
	}
}

// Flush ends Batch. ErrOutOfMemory changes nothing.
func (z *ZSet) Flush() error {
	if !z.batch || !z.changed {
		return nil
	}
	z.batch = false
	return z.tx.PutPacked(z.key, db.TypeZSet, db.Listpack, z.p, db.KeepExpiry)
}

// Gathers reports whether changes gather: what was put since Batch is not in the key yet.
func (z *ZSet) Gathers() bool { return z.batch }

// splice is Txn.Splice of the packed set, or the same in the room of a batch.
func (z *ZSet) splice(at, del, ins int) ([]byte, error) {
	if !z.batch {
		return z.tx.Splice(z.key, db.TypeZSet, db.Listpack, at, del, ins)
	}
	z.changed = true
	old := len(z.p)
	n := old - del + ins
	p := slices.Grow(z.room[:old], max(n-old, 0))[:max(n, old)]
	copy(p[at+ins:n], p[at+del:old])
	z.room = p
	return p[:n], nil
}

// unpack makes an Object of what is packed, or absent.
func (z *ZSet) unpack(asList bool) error {
	o := NewObject()
	o.table, o.asList = members.NewSized(members.Word, len(z.p)*9/8+8*z.Len()), asList // a score has 8 bytes there, and a slot 3
	var it Iter
	for it.Start(z, 0, z.Len(), false); it.Next(); {
		o.Set(it.Member(), it.Score())
	}
	if err := z.tx.PutObject(z.key, db.TypeZSet, o, db.KeepExpiry); err != nil {
		return err
	}
	z.o, z.p, z.batch = o, nil, false
	return nil
}

// Drop removes the member last looked for, if Find found it. ErrOutOfMemory changes
// nothing.
func (z *ZSet) Drop() error {
	switch {
	case !z.found:
		return nil
	case z.o != nil:
		z.found = false
		z.o.Delete(z.member)
		return nil
	}
	x := pairAt(z.p, z.at)
	if err := z.cut(z.at, x.next(), 1); err != nil {
		return err
	}
	z.found = false
	return nil
}

// cut removes n pairs, which stand from one offset to another.
func (z *ZSet) cut(from, to, n int) error {
	p, err := z.splice(from, to-from, 0)
	if err != nil {
		return err
	}
	listpack.SetCount(p, listpack.Count(p)-n)
	z.p = p
	return nil
}

// DropRange removes the members of rank from to before to. ErrOutOfMemory changes nothing.
func (z *ZSet) DropRange(from, to int) error {
	from, to = max(from, 0), min(to, z.Len())
	if from >= to {
		return nil
	}
	if z.o != nil {
		z.o.DeleteRange(from, to)
		return nil
	}
	at := offsetOf(z.p, from)
	return z.cut(at, listpack.Skip(z.p, at, 2*(to-from)), to-from)
}

// Store puts a sorted set under key, replacing what is there, its time to live too. It
// takes o over, and packs it if Redis' limits let it be a listpack. o must not be empty.
func Store(tx db.Txn, key []byte, o *Object) error {
	l := tx.Limits()
	if o.asList = int64(o.Len()) <= l.ZSetEntries && o.longest() <= l.ZSetValue; o.asList {
		if p := o.pack(); p != nil {
			return tx.PutPacked(key, db.TypeZSet, db.Listpack, p, db.NoExpiry)
		}
	}
	return tx.PutObject(key, db.TypeZSet, o, db.NoExpiry)
}

// longest returns the length of the longest member.
func (o *Object) longest() (n int64) {
	for c := o.tree.Seek(0); c.Valid(); c.Next() {
		n = max(n, int64(len(c.Member())))
	}
	return n
}

// pack returns the packed form, nil if that is too long.
func (o *Object) pack() []byte {
	p := make([]byte, listpack.Header, 512)
	listpack.SetCount(p, min(o.Len(), listpack.MaxCount))
	for c := o.tree.Seek(0); c.Valid() && len(p) <= db.PackedMax; c.Next() {
		var text scoreText
		var s listpack.Value
		setScore(&s, &text, c.Score())
		p = s.Append(listpack.Append(p, c.Member()))
	}
	if len(p) > db.PackedMax {
		return nil
	}
	return p
}

// Deadline returns when a member expires; false if it does not, or is not there.
func (z *ZSet) Deadline(member []byte) (db.Millis, bool) {
	if z.o == nil {
		return 0, false
	}
	at, found := z.o.deadlines.Get(member)
	if found && at <= z.now {
		return 0, false
	}
	if found && z.o.gone.spans != nil {
		_, found = z.o.Score(member)
	}
	if !found {
		return 0, false
	}
	return at, true
}

// SetDeadline says when a member, which must be there, expires. ErrOutOfMemory changes
// nothing.
func (z *ZSet) SetDeadline(member []byte, at db.Millis) error {
	if z.o == nil {
		if err := z.unpack(true); err != nil {
			return err
		}
	}
	if z.o.deadlines == nil {
		z.o.deadlines = members.NewDeadlines()
	}
	z.o.deadlines.Set(member, at)
	return nil
}

// ClearDeadline makes a member stay, and reports whether it had a deadline.
func (z *ZSet) ClearDeadline(member []byte) bool {
	_, had := z.Deadline(member)
	if had {
		z.o.forget(member)
	}
	return had
}

package zset

import (
	"math"

	"heddle/db"
	"heddle/db/members"
	"heddle/db/zset/tree"
)

// Object is a large sorted set: a table from members to scores, and a tree of both in
// order. It is a db.Object, and may be used on its own to compute with.
type Object struct {
	table     *members.Table
	tree      *tree.Tree
	deadlines *members.Deadlines // nil: no member has one
	asList    bool               // goes by the name of listpack, see Encoding
	gone      gone               // members that are gone, but still in the table
	db.Shared
}

// objectSize is what an Object takes beside its parts.
const objectSize = 112 + db.SharedSize

// NewObject returns an empty Object.
func NewObject() *Object {
	return &Object{table: members.New(members.Word), tree: tree.New()}
}

// Len returns the number of members.
func (o *Object) Len() int { return o.tree.Len() }

// MemSize returns the bytes of memory that it takes.
func (o *Object) MemSize() int64 {
	return objectSize + o.table.MemSize() + o.tree.MemSize() + o.deadlines.MemSize() + o.gone.rest.MemSize()
}

// Encoding is "skiplist", as Redis calls what is large, or "listpack" where Redis' limits
// would have it so, though it was too long to be packed here or has deadlines.
func (o *Object) Encoding() string {
	if o.asList {
		return "listpack"
	}
	return "skiplist"
}

// Clone returns a copy, in constant time.
func (o *Object) Clone() db.Object { return o.clone() }

func (o *Object) clone() *Object {
	return &Object{o.table.Clone(), o.tree.Clone(), o.deadlines.Clone(), o.asList, o.gone, o.Shared}
}

// Score returns the score of a member.
func (o *Object) Score(member []byte) (float64, bool) {
	w, found := o.table.Word(member)
	if found && o.ghost(member, w) {
		return 0, false
	}
	return math.Float64frombits(w), found
}

// Set gives a member a score, which must not be NaN. The member must not stand in
// o's own memory.
func (o *Object) Set(member []byte, score float64) {
	old, found := o.table.SetWord(member, math.Float64bits(score))
	if found && o.ghost(member, old) {
		o.forget(member)
		found = false
	}
	switch {
	case !found:
		if len(member) > tree.MaxInline {
			member = o.table.Kept(member)
		}
		o.tree.Insert(score, member)
		if o.gone.spans != nil {
			o.Tidy(tidyShare)
		}
	case old != math.Float64bits(score):
		o.tree.Move(math.Float64frombits(old), member, score)
	}
}

// Delete removes a member and reports whether it was there.
func (o *Object) Delete(member []byte) bool {
	w, found := o.table.TakeWord(member)
	if !found {
		return false
	}
	o.forget(member)
	return o.tree.Delete(math.Float64frombits(w), member) // but for ghosts
}

// DeleteRange removes the members of rank from to before to.
func (o *Object) DeleteRange(from, to int) {
	switch n := to - from; {
	case n < cutFrom:
		o.tree.DeleteRange(from, to, func(_ float64, member []byte) {
			o.table.Delete(member)
			o.forget(member)
		})
	case o.Len()-n < cutFrom:
		o.retain(from, to)
	default:
		o.cut(from, to)
	}
}

// retain makes o anew of the few members before rank from, and from rank to on. In the table
// they keep their order, for those who scan.
func (o *Object) retain(from, to int) {
	kept := &Object{table: o.table.Empty(), tree: tree.New(), asList: o.asList, Shared: o.Shared}
	z := Computed(o)
	for _, span := range [...][2]int{{0, from}, {to, o.Len()}} {
		var it Iter
		for it.Start(&z, span[0], span[1], false); it.Next(); {
			m := it.Member()
			kept.Set(m, it.Score())
			if at, timed := o.deadlines.Get(m); timed {
				if kept.deadlines == nil {
					kept.deadlines = members.NewDeadlines()
				}
				kept.deadlines.Set(m, at)
			}
		}
	}
	*o = *kept
}

// forget drops the deadline of a member.
func (o *Object) forget(member []byte) {
	if o.deadlines != nil && o.deadlines.Delete(member) && o.deadlines.Len() == 0 {
		o.deadlines = nil
	}
}

// NextDeadline returns when the first member is due, 0 if none ever is.
func (o *Object) NextDeadline() db.Millis { return o.deadlines.Next() }

// AllDue reports whether the time of all members has come.
func (o *Object) AllDue(now db.Millis) bool {
	return o.gone.spans == nil && o.deadlines.AllDue(o.Len(), now)
}

// ExpireDue removes up to limit members whose time has come, calls fn, unless it is nil,
// with each, and returns how many there were. Ghosts are among those that limit counts, but
// not told of.
func (o *Object) ExpireDue(now db.Millis, limit int, fn func(member []byte)) (n int) {
	o.deadlines.Due(now, limit, func(member []byte) {
		w, found := o.table.TakeWord(member)
		if !found || !o.tree.Delete(math.Float64frombits(w), member) {
			return
		}
		n++
		if fn != nil {
			fn(member)
		}
	})
	if o.deadlines != nil && o.deadlines.Len() == 0 {
		o.deadlines = nil
	}
	return n
}

// due reports whether the time of a member has come.
func (o *Object) due(now db.Millis) bool {
	next := o.deadlines.Next()
	return next != 0 && next <= now
}

// alive returns o or, when members of it are due, a clone without them: ranks and
// counts of readers, who may not change o, would be wrong with them.
func (o *Object) alive(now db.Millis) *Object {
	if !o.due(now) {
		return o
	}
	c := o.clone()
	c.ExpireDue(now, math.MaxInt, nil)
	return c
}

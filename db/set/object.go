package set

import (
	"heddle/db"
	"heddle/db/members"
)

// Object is a large set: a table of members. It is a db.Object.
type Object struct {
	table     *members.Table
	deadlines *members.Deadlines // nil: no member has one
	form      form
	db.Shared
}

// objectSize is what an Object takes beside its parts.
const objectSize = 24 + db.SharedSize

func newObject(f form) *Object { return &Object{table: members.New(members.None), form: f} }

// Len returns the number of members, those that are due included.
func (o *Object) Len() int { return o.table.Len() }

// MemSize returns the bytes of memory that it takes.
func (o *Object) MemSize() int64 { return objectSize + o.table.MemSize() + o.deadlines.MemSize() }

// Encoding is the name that Redis has for such a set: see the package.
func (o *Object) Encoding() string {
	return [...]string{asTable: "hashtable", asListpack: "listpack", asIntset: "intset"}[o.form]
}

// Clone returns a copy, in constant time.
func (o *Object) Clone() db.Object { return o.clone() }

func (o *Object) clone() *Object {
	return &Object{o.table.Clone(), o.deadlines.Clone(), o.form, o.Shared}
}

// NextDeadline returns when the first member is due, 0 if none ever is.
func (o *Object) NextDeadline() db.Millis { return o.deadlines.Next() }

// ExpireDue removes up to limit members whose time has come, calls fn, unless it is
// nil, with each, and returns how many there were.
func (o *Object) ExpireDue(now db.Millis, limit int, fn func(member []byte)) int {
	n := o.deadlines.Due(now, limit, func(m []byte) {
		o.table.Delete(m)
		if fn != nil {
			fn(m)
		}
	})
	o.dropDeadlines()
	return n
}

// AllDue reports whether the time of all members has come.
func (o *Object) AllDue(now db.Millis) bool { return o.deadlines.AllDue(o.table.Len(), now) }

// dropDeadlines forgets the deadlines when the last is gone.
func (o *Object) dropDeadlines() {
	if o.deadlines != nil && o.deadlines.Len() == 0 {
		o.deadlines = nil
	}
}

// alive returns the number of members that are not due.
func (o *Object) alive(now db.Millis) int {
	if o.deadlines == nil {
		return o.table.Len()
	}
	return o.table.Len() - o.deadlines.DueBy(now)
}

func (o *Object) has(member []byte, now db.Millis) bool {
	return o.table.Has(member) && (o.deadlines == nil || !o.deadlines.Passed(member, now))
}

// delete removes a member, with its deadline, and reports whether it was there.
func (o *Object) delete(member []byte) bool {
	if o.deadlines != nil && o.deadlines.Delete(member) {
		o.dropDeadlines()
	}
	return o.table.Delete(member)
}

// iter is a walk over the members that are not due.
type iter struct {
	members.Iter
	deadlines *members.Deadlines
	now       db.Millis
}

func (o *Object) iter(now db.Millis) iter { return iter{o.table.Iter(), o.deadlines, now} }

// Next moves to the next member; false when there is none.
func (it *iter) Next() bool {
	for it.Iter.Next() {
		if it.deadlines == nil || !it.deadlines.Passed(it.Member(), it.now) {
			return true
		}
	}
	return false
}

// Check verifies what is kept beside each other. It takes time in proportion to the
// size.
func (o *Object) Check() error {
	var err error
	o.deadlines.Each(func(m []byte, _ db.Millis) bool {
		if !o.table.Has(m) {
			err = errOrphan
		}
		return err == nil
	})
	return err
}

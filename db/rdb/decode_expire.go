package rdb

import "heddle/db"

// expireMembers gives members of the collection just decoded deadlines, as KeyDB's facts
// behind a key tell them. Members whose time has come go. Members that are not there are
// left out, and so are deadlines of what has no members: KeyDB writes such.
func (d *decoder) expireMembers(v *Value, subs []subexpire) fate {
	var set func(member []byte, at db.Millis) bool
	switch v.typ {
	case db.TypeHash:
		set = d.hash.SetDeadline
	case db.TypeSet:
		set = d.set.SetDeadline
	case db.TypeZSet:
		set = d.zset.SetDeadline
	default:
		return fateKept
	}
	past := false
	for _, s := range subs {
		if s.at > 0 && set(s.member, s.at) {
			past = past || s.at < d.now
		}
	}
	switch v.typ {
	case db.TypeHash:
		v.coll = d.hash.Coll()
	case db.TypeSet:
		v.coll = d.set.Coll()
	default:
		v.coll = d.zset.Coll()
	}
	if timed, ok := v.coll.Object.(db.Timed); ok && past && !d.keepDue {
		timed.ExpireDue(d.now, int(^uint(0)>>1), func([]byte) {})
		if timed.Len() == 0 {
			return fateExpired
		}
	}
	return fateKept
}

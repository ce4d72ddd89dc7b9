package dispatch

import (
	"bytes"
	"errors"
	"strconv"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/rdb"
	"heddle/db/set"
	"heddle/db/zset"
	"heddle/replication/oplog"
	"heddle/server/command"
)

// A command that fails half-way, for want of memory or since its handler panics, may
// have changed some of what it wanted to, and cannot say what. Neither the command nor
// nothing is its effect then, but what its keys have become: each is deleted, or
// restored as it is now. That costs a copy of each value, where there is no memory to
// spare; but a log that differs from the keyspace would go on to differ for ever. To
// have all handlers take back what they did was rejected: that may need memory, too.

// failedHalf reports whether an error of a handler leaves open what it changed.
func failedHalf(err error, changed bool) bool {
	return err != nil && !isParked(err) && !errors.Is(err, command.ErrAway) && !errors.Is(err, db.ErrDue) && (changed || errors.Is(err, db.ErrOutOfMemory))
}

// salvage makes effects of what the keys of a command that failed half-way are now. Its
// shards are locked.
func (x *Executor) salvage(s *command.Spec, argv [][]byte) {
	if s == nil || s.Write == nil || !x.begun || x.quiet || x.e.oplog == nil || !x.e.oplog.Active() {
		return
	}
	refs, err := command.FindKeys(nil, s, argv)
	if err != nil {
		return
	}
	for _, ref := range refs {
		if ref.Flags&command.KeyRO != 0 {
			continue
		}
		key := argv[ref.Index]
		x.salvageKey(x.tx.DB(), key)
		switch s.Name {
		case "move", "copy": // their keys may be in any database
			for n := range x.ks.Databases() {
				x.salvageKey(n, key)
			}
		case "keydb.nhset": // the key is the begin of a path
			if at := bytes.IndexByte(key, '.'); at >= 0 {
				x.salvageKey(x.tx.DB(), key[:at])
			}
		}
	}
}

// salvageKey makes effects of what a key is now.
func (x *Executor) salvageKey(n int, key []byte) {
	key = bytes.Clone(key)
	add := func(words ...[]byte) { x.effects = append(x.effects, oplog.Effect{DB: n, Argv: words}) }
	it, found := x.item(n, key)
	if !found {
		add([]byte("DEL"), key)
		return
	}
	l := x.tx.Limits()
	payload := rdb.AppendDump(nil, &it, rdb.DumpFormat{Version: l.DumpVersion, Limits: l})
	if len(payload) == 0 {
		x.e.log("BUG: no effect for a command that failed half-way: a value has no form to be restored from")
		return
	}
	at := int64(0)
	if it.Expire != db.NoExpiry {
		at = int64(it.Expire)
	}
	add([]byte("RESTORE"), key, strconv.AppendInt(nil, at, 10), payload, []byte("REPLACE"), []byte("ABSTTL"))
	x.deadlines(&it, func(member []byte, at db.Millis) {
		when := strconv.AppendInt(nil, int64(at), 10)
		if it.Type == db.TypeHash {
			add([]byte("HPEXPIREAT"), key, when, []byte("FIELDS"), []byte("1"), bytes.Clone(member))
		} else {
			add([]byte("PEXPIREMEMBERAT"), key, bytes.Clone(member), when)
		}
	})
}

// item returns what a key is. One whose time has come, but that there is no memory to
// remove, is gone for all who ask.
func (x *Executor) item(n int, key []byte) (it db.Item, found bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != db.ErrOutOfMemory {
				panic(r)
			}
			found = false
		}
	}()
	return x.tx.In(n).Item(key)
}

// deadlines calls fn for each member with a deadline, which payloads do not tell of.
// Those whose time has come are among them: the log deletes them when they go.
func (x *Executor) deadlines(it *db.Item, fn func(member []byte, at db.Millis)) {
	if timed, ok := it.Coll.Object.(db.Timed); !ok || timed.NextDeadline() == 0 {
		return
	}
	tell := func(member []byte, at db.Millis, found bool) bool {
		if found {
			fn(member, at)
		}
		return true
	}
	switch it.Type {
	case db.TypeHash:
		h := hash.Of(it.Coll, 0)
		h.Each(func(field, _ []byte) bool {
			at, found := h.Deadline(field)
			return tell(field, at, found)
		})
	case db.TypeSet:
		s := set.Of(it.Coll, 0)
		s.Each(func(member []byte) bool {
			at, found := s.Deadline(member)
			return tell(member, at, found)
		})
	case db.TypeZSet:
		z := zset.Of(&it.Coll, 0)
		z.Each(0, z.Len(), false, func(member []byte, _ float64) bool {
			at, found := z.Deadline(member)
			return tell(member, at, found)
		})
	}
}

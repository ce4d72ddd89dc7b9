package hashes

import (
	"math"

	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
)

// unit is what a time is counted in, in milliseconds.
type unit int64

const (
	seconds      unit = 1000
	milliseconds unit = 1
)

// maxDeadline is the latest instant at which a field may expire, in the year 4199:
// as Redis has it, who keeps it in 46 bits.
const maxDeadline = 1<<46 - 1

// Replies for a field.
const (
	noField     = -2 // it is not there
	noDeadline  = -1 // it does not expire
	notMet      = 0  // the condition is not met
	deadlineSet = 1
	fieldGone   = 2 // its time has come already
)

const (
	errNoFields     resp.Error = "ERR Mandatory argument FIELDS is missing or not at the right position"
	errNumFields    resp.Error = "ERR Number of fields must be a positive integer"
	errNumExpiring  resp.Error = "ERR Parameter `numFields` should be greater than 0" // the same of HEXPIRE
	errFieldsCount  resp.Error = "ERR The `numfields` parameter must match the number of arguments"
	errNegativeTime resp.Error = "ERR invalid expire time, must be >= 0"
)

// fields reads FIELDS numfields field [field ...], which is all that is left. wrong is
// what is said of a number that is none.
func fields(a *command.Args, wrong resp.Error) [][]byte {
	if !a.Word("fields") {
		a.Reject(errNoFields)
	}
	n := a.IntRange(1, math.MaxInt64, wrong)
	if n != int64(a.Len()) {
		a.Reject(errFieldsCount)
	}
	return a.Rest()
}

// instant reads a time and makes an instant of it: it is one, or it is a span from
// now.
func instant(c *command.Call, u unit, absolute bool, now db.Millis) db.Millis {
	n := c.Args.Int()
	if c.Args.Err() != nil {
		return 0
	}
	if n < 0 {
		c.Args.Reject(errNegativeTime)
		return 0
	}
	if absolute {
		now = 0
	}
	if n > maxDeadline/int64(u) || n*int64(u) > maxDeadline-int64(now) {
		c.Args.Reject(command.Errorf("ERR invalid expire time in '%s' command", c.Spec.Name))
		return 0
	}
	return now + db.Millis(n*int64(u))
}

// condition is when a deadline is set.
type condition uint8

const (
	always condition = iota
	ifNone
	ifSome
	ifLater
	ifSooner
)

func parseCondition(a *command.Args) condition {
	switch {
	case a.Word("nx"):
		return ifNone
	case a.Word("xx"):
		return ifSome
	case a.Word("gt"):
		return ifLater
	case a.Word("lt"):
		return ifSooner
	}
	return always
}

// met reports whether at may replace the deadline old, if there is one.
func (c condition) met(at, old db.Millis, has bool) bool {
	switch c {
	case ifNone:
		return !has
	case ifSome:
		return has
	case ifLater:
		return has && at > old
	case ifSooner:
		return !has || at < old
	}
	return true
}

// expireSpec: HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT
// key time [NX | XX | GT | LT] FIELDS numfields field [field ...]
func expireSpec(name string, u unit, absolute bool) *command.Spec {
	return writeSpec(name, -6, command.DenyOOM, command.KeyUpdate, func(c *command.Call, tx db.Txn) error {
		key, at := c.Args.Key(), instant(c, u, absolute, tx.Now())
		cond := parseCondition(&c.Args)
		list := fields(&c.Args, errNumExpiring)
		if err := c.Args.Done(); err != nil {
			return err
		}
		h, err := hash.Write(tx, key)
		if err != nil {
			return err
		}
		c.Reply.Array(len(list))
		changed := newEffect(c, key)
		for _, field := range list {
			reply, err := expire(&h, field, at, cond, tx.Due())
			if err != nil {
				return err
			}
			if reply > 0 {
				changed.add(field)
			}
			c.Reply.Int(int64(reply))
		}
		changed.expire(tx, at)
		return nil
	})
}

// expire lets a field expire, or removes it if its time has come already.
func expire(h *hash.Hash, field []byte, at db.Millis, cond condition, now db.Millis) (reply int, err error) {
	if !h.Has(field) {
		return noField, nil
	}
	old, has := h.Deadline(field)
	switch {
	case !cond.met(at, old, has):
		return notMet, nil
	case at <= now:
		h.Delete(field)
		return fieldGone, nil
	}
	return deadlineSet, h.SetDeadline(field, at)
}

// effect collects the fields that a command changed, for what it does to a hash on
// a replica.
type effect struct {
	c    *command.Call
	key  []byte
	argv [][]byte
	n    int
}

func newEffect(c *command.Call, key []byte) effect { return effect{c: c, key: key} }

func (e *effect) add(words ...[]byte) {
	e.argv = append(e.argv, words...)
	e.n++
}

// replicate names the command that has the effect, with words behind the key and
// the fields at the end.
func (e *effect) replicate(name []byte, words ...[]byte) {
	argv := append([][]byte{name, e.key}, words...)
	e.c.ReplicateAs(append(argv, e.argv...)...)
}

// removed tells that the fields are gone.
func (e *effect) removed(tx db.Txn) {
	if e.n > 0 {
		tx.Touched(e.key, db.ClassHash, "hdel")
		tx.Dirty(int64(e.n - 1))
		e.replicate(wordHDel)
	}
}

// expire tells that the fields expire at an instant, or are gone because it has
// passed.
func (e *effect) expire(tx db.Txn, at db.Millis) {
	switch {
	case e.n == 0:
	case at <= tx.Due():
		e.removed(tx)
	default:
		tx.Touched(e.key, db.ClassHash, "hexpire")
		tx.Dirty(int64(e.n - 1))
		e.replicate(wordHPExpireAt, e.c.Digits(int64(at)), wordFields, e.c.Digits(int64(e.n)))
	}
}

// ttlSpec: HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME key FIELDS numfields field [field ...]
func ttlSpec(name string, u unit, absolute bool) *command.Spec {
	return readSpec(name, -5, command.Fast, command.KeyAccess, func(c *command.Call, v db.View) error {
		key, list := c.Args.Key(), fields(&c.Args, errNumFields)
		if err := c.Args.Done(); err != nil {
			return err
		}
		h, err := hash.Read(v, key)
		if err != nil {
			return err
		}
		from := v.Now()
		if absolute {
			from = 0
		}
		c.Reply.Array(len(list))
		for _, field := range list {
			at, timed := h.Deadline(field)
			switch {
			case timed: // rounded up
				c.Reply.Int((int64(at-from) + int64(u) - 1) / int64(u))
			case h.Has(field):
				c.Reply.Int(noDeadline)
			default:
				c.Reply.Int(noField)
			}
		}
		return nil
	})
}

// HPERSIST key FIELDS numfields field [field ...]
func hpersistSpec() *command.Spec { return writeSpec("hpersist", -5, 0, command.KeyUpdate, hpersist) }

func hpersist(c *command.Call, tx db.Txn) error {
	key, list := c.Args.Key(), fields(&c.Args, errNumFields)
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	c.Reply.Array(len(list))
	n := int64(0)
	for _, field := range list {
		switch {
		case h.ClearDeadline(field):
			n++
			c.Reply.Int(deadlineSet)
		case h.Has(field):
			c.Reply.Int(noDeadline)
		default:
			c.Reply.Int(noField)
		}
	}
	if n > 0 {
		tx.Touched(key, db.ClassHash, "hpersist")
		tx.Dirty(n - 1)
	}
	return nil
}

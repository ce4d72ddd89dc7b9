package generic

import (
	"heddle/db"
	"heddle/db/hash"
	"heddle/db/set"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// Members that expire, as KeyDB has them: fields of hashes, members of sets and
// sorted sets. What HEXPIRE does to a field is the same.

// expireMemberSpecs: EXPIREMEMBER key member delay [S | MS],
// EXPIREMEMBERAT | PEXPIREMEMBERAT key member time
func expireMemberSpecs() []*command.Spec {
	spec := func(name string, arity int, u expireUnit) *command.Spec {
		return &command.Spec{
			Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|command.KeyUpdate), Flags: command.Fast,
			ACL: command.CatKeyspace, Group: group,
			Write: func(c *command.Call, tx db.Txn) error { return expireMember(c, tx, u) },
		}
	}
	return []*command.Spec{
		spec("expiremember", -4, expireUnit{}),
		spec("expirememberat", 4, expireUnit{absolute: true}),
		spec("pexpirememberat", 4, expireUnit{millis: true, absolute: true}),
	}
}

const (
	errUnit       resp.Error = "ERR Invalid unit arg"
	errNotMembers resp.Error = "ERR object type is unsupported"
)

// timed is a collection whose members may have deadlines.
type timed interface {
	Has(member []byte) bool
	Deadline(member []byte) (at db.Millis, found bool)
	SetDeadline(member []byte, at db.Millis) error
	ClearDeadline(member []byte) bool
}

// collection is a timed of a type, and what belongs to the type.
type collection struct {
	timed
	class   db.Class
	remove  func(member []byte) (bool, error)
	removal string // the command that removes a member, and the event of that
	expire  string // the event that a member got a deadline
	persist string // and that it has none any more
}

// readTimed returns the collection at key for reading; nil when there is none.
func readTimed(v db.View, key []byte) (timed, error) {
	switch v.Type(key) {
	case db.TypeHash:
		h, err := hash.Read(v, key)
		return &h, err
	case db.TypeSet:
		s, err := set.Read(v, key)
		return &s, err
	case db.TypeZSet:
		z, err := zset.ReadFew(v, key)
		return &z, err
	}
	v.Probe(key)
	return nil, nil
}

// writeTimed returns the collection at key for change; none when there is no key.
// Keys of other types are an error.
func writeTimed(tx db.Txn, key []byte) (c collection, err error) {
	switch tx.Type(key) {
	case db.TypeNone:
	case db.TypeHash:
		var h hash.Hash
		h, err = hash.Write(tx, key)
		c = collection{&h, db.ClassHash, func(m []byte) (bool, error) { return h.Delete(m), nil }, "hdel", "hexpire", "hpersist"}
	case db.TypeSet:
		var s set.Set
		s, err = set.Write(tx, key)
		c = collection{&s, db.ClassSet, s.Delete, "srem", "expiremember", "persistmember"}
	case db.TypeZSet:
		var z zset.ZSet
		z, err = zset.WriteFew(tx, key)
		c = collection{&z, db.ClassZSet, z.Remove, "zrem", "expiremember", "persistmember"}
	default:
		err = errNotMembers
	}
	return c, err
}

func expireMember(c *command.Call, tx db.Txn, u expireUnit) error {
	key, member, when := c.Args.Key(), c.Args.Bytes(), c.Args.Bytes()
	if c.Args.More() {
		switch {
		case c.Args.Word("ms"):
			u.millis = true
		case !c.Args.Word("s"):
			c.Args.Reject(errUnit)
		}
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	at, err := expireTime(c, when, u, tx.Now())
	if err != nil {
		return err
	}
	m, err := writeTimed(tx, key)
	if err != nil {
		return err
	}
	if m.timed == nil || !m.Has(member) {
		c.Reply.Int(0)
		return nil
	}
	if err = m.expireAt(c, tx, key, member, at); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

// expireAt gives a member a deadline, or removes it if that has passed.
func (m *collection) expireAt(c *command.Call, tx db.Txn, key, member []byte, at db.Millis) error {
	if at <= tx.Due() {
		if _, err := m.remove(member); err != nil {
			return err
		}
		tx.Touched(key, m.class, m.removal)
		c.ReplicateAs([]byte(m.removal), key, member)
		return nil
	}
	if err := m.SetDeadline(member, at); err != nil {
		return err
	}
	tx.Touched(key, m.class, m.expire)
	c.ReplicateAs(wordPExpireMemberAt, key, member, c.Digits(int64(at)))
	return nil
}

// ttlMember answers TTL and PTTL of a member: -2 if there is none, -1 if it does not
// expire.
func ttlMember(c *command.Call, v db.View, key, member []byte, u expireUnit) error {
	m, err := readTimed(v, key)
	if err != nil {
		return err
	}
	switch at, expires := deadlineOf(m, member); {
	case expires:
		c.Reply.Int(u.span(at, v.Now()))
	case m != nil && m.Has(member):
		c.Reply.Int(-1)
	default:
		c.Reply.Int(-2)
	}
	return nil
}

func deadlineOf(m timed, member []byte) (db.Millis, bool) {
	if m == nil {
		return 0, false
	}
	return m.Deadline(member)
}

// persistMember makes a member stay. What has no members has none that expires.
func persistMember(c *command.Call, tx db.Txn, key, member []byte) error {
	m, err := writeTimed(tx, key)
	if err != nil && err != errNotMembers {
		return err
	}
	if m.timed == nil || !m.ClearDeadline(member) {
		c.Reply.Int(0)
		return nil
	}
	tx.Touched(key, m.class, m.persist)
	c.Reply.Int(1)
	return nil
}

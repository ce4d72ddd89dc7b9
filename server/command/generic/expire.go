package generic

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// An expireUnit says how a command gives a time: in which unit, and whether
// from now on or since 1970.
type expireUnit struct {
	millis   bool
	absolute bool
}

// expireSpecs: EXPIRE | PEXPIRE | EXPIREAT | PEXPIREAT key time [NX | XX | GT | LT],
// PERSIST key [member]
func expireSpecs() []*command.Spec {
	spec := func(name string, u expireUnit) *command.Spec {
		return &command.Spec{
			Name: name, Arity: -3, Keys: command.Key(1, command.KeyRW|command.KeyUpdate), Flags: command.Fast,
			ACL: command.CatKeyspace, Group: group,
			Write: func(c *command.Call, tx db.Txn) error { return expire(c, tx, u) },
		}
	}
	return []*command.Spec{
		spec("expire", expireUnit{}),
		spec("pexpire", expireUnit{millis: true}),
		spec("expireat", expireUnit{absolute: true}),
		spec("pexpireat", expireUnit{millis: true, absolute: true}),
		{
			Name: "persist", Arity: -2, Keys: command.Key(1, command.KeyRW|command.KeyUpdate), Flags: command.Fast,
			ACL: command.CatKeyspace, Group: group, Write: persist,
		},
	}
}

// Conditions of EXPIRE.
const (
	onlyWithout = 1 << iota // NX: the key has no time to live
	onlyWith                // XX: it has one
	onlyLater               // GT
	onlySooner              // LT
)

const (
	errConditions  resp.Error = "ERR NX and XX, GT or LT options at the same time are not compatible"
	errGTandLT     resp.Error = "ERR GT and LT options at the same time are not compatible"
	invalidTimeFmt            = "ERR invalid expire time in '%s' command"
)

func expire(c *command.Call, tx db.Txn, u expireUnit) error {
	key, when := c.Args.Key(), c.Args.Bytes()
	cond := expireConditions(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	at, err := expireTime(c, when, u, tx.Now())
	if err != nil {
		return err
	}
	now, found := tx.Expire(key)
	if !found || !conditionsHold(cond, now, at) {
		c.Reply.Int(0)
		return nil
	}
	if at <= tx.Due() {
		tx.Delete(key)
		tx.Touched(key, db.ClassGeneric, "del")
		c.ReplicateAs(wordDel, key)
	} else {
		tx.SetExpire(key, at)
		tx.Touched(key, db.ClassGeneric, "expire")
		c.ReplicateAs(wordPExpireAt, key, c.Digits(int64(at)))
	}
	c.Reply.Int(1)
	return nil
}

func expireConditions(a *command.Args) int {
	cond := 0
	for a.More() {
		switch {
		case a.Word("nx"):
			cond |= onlyWithout
		case a.Word("xx"):
			cond |= onlyWith
		case a.Word("gt"):
			cond |= onlyLater
		case a.Word("lt"):
			cond |= onlySooner
		default:
			a.Reject(command.Errorf("ERR Unsupported option %s", a.Peek()))
		}
	}
	switch {
	case cond&onlyWithout != 0 && cond&^onlyWithout != 0:
		a.Reject(errConditions)
	case cond&onlyLater != 0 && cond&onlySooner != 0:
		a.Reject(errGTandLT)
	}
	return cond
}

// expireTime reads a time and makes it an instant in milliseconds.
func expireTime(c *command.Call, arg []byte, u expireUnit, now db.Millis) (db.Expiry, error) {
	n, ok := command.ParseInt(arg)
	if !ok {
		return 0, resp.ErrNotInteger
	}
	if !u.millis {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, command.Errorf(invalidTimeFmt, c.Spec.FullName())
		}
		n *= 1000
	}
	if !u.absolute {
		if n > math.MaxInt64-int64(now) {
			return 0, command.Errorf(invalidTimeFmt, c.Spec.FullName())
		}
		n += int64(now)
	}
	return db.Expiry(n), nil
}

// conditionsHold reports whether a key that expires at now may expire at next
// instead. No time to live is later than any.
func conditionsHold(cond int, now, next db.Expiry) bool {
	without := now == db.NoExpiry
	switch {
	case cond&onlyWithout != 0 && !without,
		cond&onlyWith != 0 && without,
		cond&onlyLater != 0 && (without || next <= now),
		cond&onlySooner != 0 && !without && next >= now:
		return false
	}
	return true
}

func persist(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	if c.Args.Len() > 0 {
		member, err := oneMember(c)
		if err != nil {
			return err
		}
		return persistMember(c, tx, key, member)
	}
	at, found := tx.Expire(key)
	if !found || at == db.NoExpiry {
		c.Reply.Int(0)
		return nil
	}
	tx.SetExpire(key, db.NoExpiry)
	tx.Touched(key, db.ClassGeneric, "persist")
	c.Reply.Int(1)
	return nil
}

// oneMember returns the argument that is left, a member, and refuses more.
func oneMember(c *command.Call) ([]byte, error) {
	if c.Args.Len() > 1 {
		return nil, c.Spec.ErrArity()
	}
	return c.Args.Bytes(), nil
}

// ttlSpecs: TTL | PTTL key [member], EXPIRETIME | PEXPIRETIME key
func ttlSpecs() []*command.Spec {
	spec := func(name string, arity int, u expireUnit, tips ...string) *command.Spec {
		return &command.Spec{
			Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|command.KeyAccess), Flags: command.Fast,
			ACL: command.CatKeyspace, Group: group, Tips: tips,
			Read: func(c *command.Call, v db.View) error { return ttl(c, v, u) },
		}
	}
	return []*command.Spec{
		spec("ttl", -2, expireUnit{}, tipNondetermined),
		spec("pttl", -2, expireUnit{millis: true}, tipNondetermined),
		spec("expiretime", 2, expireUnit{absolute: true}),
		spec("pexpiretime", 2, expireUnit{millis: true, absolute: true}),
	}
}

func ttl(c *command.Call, v db.View, u expireUnit) error {
	key := c.Args.Key()
	if c.Args.Len() > 0 {
		member, err := oneMember(c)
		if err != nil {
			return err
		}
		return ttlMember(c, v, key, member, u)
	}
	if v.Probe(key) == db.TypeNone {
		c.Reply.Int(-2)
		return nil
	}
	at, _ := v.Expire(key)
	if at == db.NoExpiry {
		c.Reply.Int(-1)
		return nil
	}
	c.Reply.Int(u.span(at, v.Now()))
	return nil
}

// span is an instant as TTL and its kin answer with it: rounded to the nearest second.
func (u expireUnit) span(at, now db.Millis) int64 {
	n := int64(at)
	if !u.absolute {
		n = max(n-int64(now), 0)
	}
	if !u.millis {
		n = n/1000 + (n%1000+500)/1000
	}
	return n
}

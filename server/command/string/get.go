package str

import (
	"heddle/db"
	"heddle/server/command"
)

// GET key
func getSpec() *command.Spec {
	return &command.Spec{
		Name: "get", Arity: 2, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		Flags: command.Fast, ACL: command.CatString, Group: "string", Read: get,
	}
}

func get(c *command.Call, v db.View) error {
	_, err := replyCurrent(c, v, c.Args.Key())
	return err
}

// GETDEL key
func getdelSpec() *command.Spec {
	return &command.Spec{
		Name: "getdel", Arity: 2, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyDelete),
		Flags: command.Fast, ACL: command.CatString, Group: "string", Write: getdel,
	}
}

func getdel(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	found, err := replyCurrent(c, tx, key)
	if err != nil || !found {
		return err
	}
	tx.Delete(key)
	tx.Touched(key, db.ClassGeneric, "del")
	c.ReplicateAs(wordDel, key)
	return nil
}

// GETEX key [EX seconds | PX ms | EXAT time | PXAT ms-time | PERSIST]
func getexSpec() *command.Spec {
	spec := &command.Spec{
		Name: "getex", Arity: -2, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate),
		Flags: command.Fast, ACL: command.CatString, Group: "string", Write: getex,
	}
	spec.Keys[0].Notes = "RW and UPDATE because it changes the TTL"
	return spec
}

func getex(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	o := parseGetexOptions(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, found, err := tx.String(key)
	if err != nil {
		return err
	}
	if !found {
		c.Reply.Null()
		return nil
	}
	var at db.Expiry
	if o.unit != unitNone {
		if at, err = o.deadline(c, tx.Now()); err != nil {
			return err
		}
	}
	command.ReplyStr(c.Reply, &s)
	switch {
	case o.unit != unitNone:
		expireAt(c, tx, key, at, o.unit)
	case o.persist:
		persist(c, tx, key)
	}
	return nil
}

// expireAt gives key a new deadline. One named by its instant may have passed
// already: then the key goes.
func expireAt(c *command.Call, tx db.Txn, key []byte, at db.Expiry, u unit) {
	if u.absolute() && at <= tx.Due() {
		tx.Delete(key)
		tx.Touched(key, db.ClassGeneric, "del")
		c.ReplicateAs(wordDel, key)
		return
	}
	tx.SetExpire(key, at)
	tx.Touched(key, db.ClassGeneric, "expire")
	c.ReplicateAs(wordPExpireAt, key, c.Digits(int64(at)))
}

func persist(c *command.Call, tx db.Txn, key []byte) {
	if at, _ := tx.Expire(key); at == db.NoExpiry {
		return
	}
	tx.SetExpire(key, db.NoExpiry)
	tx.Touched(key, db.ClassGeneric, "persist")
	c.ReplicateAs(wordPersist, key)
}

// GETSET key value
func getsetSpec() *command.Spec {
	return &command.Spec{
		Name: "getset", Arity: 3, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatString, Group: "string", Write: getset,
	}
}

func getset(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	if _, err := replyCurrent(c, tx, key); err != nil {
		return err
	}
	return store(c, tx, key, 2, db.NoExpiry)
}

// MGET key [key ...]
func mgetSpec() *command.Spec {
	return &command.Spec{
		Name: "mget", Arity: -2, Keys: command.Range(1, -1, 1, command.KeyRO|command.KeyAccess),
		Flags: command.Fast, ACL: command.CatString, Group: "string", Read: mget,
		Tips: []string{"request_policy:multi_shard"},
	}
}

func mget(c *command.Call, v db.View) error {
	c.Reply.Array(c.Args.Len())
	for c.Args.More() {
		s, found, err := v.String(c.Args.Key())
		switch {
		case err != nil && err != db.ErrWrongType:
			return err
		case err != nil || !found:
			c.Reply.Null()
		default:
			command.ReplyStr(c.Reply, &s)
		}
	}
	return nil
}

// STRLEN key
func strlenSpec() *command.Spec {
	return &command.Spec{
		Name: "strlen", Arity: 2, Keys: command.Key(1, command.KeyRO),
		Flags: command.Fast, ACL: command.CatString, Group: "string", Read: strlen,
	}
}

func strlen(c *command.Call, v db.View) error {
	s, found, err := v.String(c.Args.Key())
	if err != nil {
		return err
	}
	replyLen(c, s, found)
	return nil
}

// GETRANGE key start end, also by its old name SUBSTR
func getrangeSpec(name string) *command.Spec {
	return &command.Spec{
		Name: name, Arity: 4, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatString, Group: "string", Read: getrange,
	}
}

func getrange(c *command.Call, v db.View) error {
	key, start, end := c.Args.Key(), c.Args.Int(), c.Args.Int()
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, found, err := v.String(key)
	if err != nil {
		return err
	}
	if !found {
		c.Reply.BulkString("")
		return nil
	}
	from, to := span(start, end, int64(command.StrLen(s)))
	command.ReplyStrPart(c.Reply, s, int(from), int(to))
	return nil
}

// span turns start and end as GETRANGE takes them (negative: from the back,
// end included) into a range from..to (exclusive) within n bytes.
func span(start, end, n int64) (from, to int64) {
	if start < 0 && end < 0 && start > end {
		return 0, 0
	}
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	if start > end {
		return 0, 0
	}
	return start, end + 1
}

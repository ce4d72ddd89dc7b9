package str

import (
	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// SET key value [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]
func setSpec() *command.Spec {
	spec := &command.Spec{
		Name: "set", Arity: -3, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate|command.KeyVariableFlags),
		Flags: command.DenyOOM | command.Quick, ACL: command.CatString, Group: "string", Write: set,
	}
	spec.Keys[0].Notes = "RW and ACCESS due to the optional `GET` argument"
	spec.VariableFlags = setKeyFlags
	return spec
}

// setKeyFlags: without GET the old value does not matter.
func setKeyFlags(argv [][]byte) command.KeyFlags {
	for _, arg := range argv[min(3, len(argv)):] {
		if command.EqualFold(arg, "get") {
			return command.KeyRW | command.KeyAccess | command.KeyUpdate
		}
	}
	return command.KeyOW | command.KeyUpdate
}

func set(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	c.Args.Skip(1)
	if c.Args.More() {
		return setWithOptions(c, tx, key)
	}
	if err := put(c, tx, key, 2, db.NoExpiry); err != nil {
		return err
	}
	tx.Touched(key, db.ClassString, "set")
	c.Reply.OK()
	return nil
}

func setWithOptions(c *command.Call, tx db.Txn, key []byte) error {
	o := parseSetOptions(&c.Args)
	err := c.Args.Done()
	if err != nil {
		return err
	}
	at := db.NoExpiry
	switch {
	case o.keep:
		at = db.KeepExpiry
	case o.unit != unitNone:
		if at, err = o.deadline(c, tx.Now()); err != nil {
			return err
		}
	}
	if o.get {
		if _, err = replyCurrent(c, tx, key); err != nil {
			return err
		}
	}
	if (o.nx || o.xx) && (tx.Type(key) != db.TypeNone) != o.xx {
		if !o.get {
			c.Reply.Null()
		}
		return nil
	}
	if err = store(c, tx, key, 2, at); err != nil {
		return err
	}
	if !o.get {
		c.Reply.OK()
	}
	return nil
}

// put sets key to argument number i, which may stand in memory that the
// keyspace can keep.
func put(c *command.Call, tx db.Txn, key []byte, i int, at db.Expiry) error {
	if b := c.TakeBig(i); b != nil {
		return tx.AdoptBig(key, b, at)
	}
	return tx.SetString(key, c.Args.Argv()[i], at)
}

// store sets key to argument number i, tells it, and names the effect: free of
// conditions, its time to live as an instant.
func store(c *command.Call, tx db.Txn, key []byte, i int, at db.Expiry) error {
	if err := put(c, tx, key, i, at); err != nil {
		return err
	}
	val := c.Args.Argv()[i]
	tx.Touched(key, db.ClassString, "set")
	switch at {
	case db.NoExpiry:
		c.ReplicateAs(wordSet, key, val)
	case db.KeepExpiry:
		c.ReplicateAs(wordSet, key, val, wordKeepTTL)
	default:
		tx.Event(db.ClassGeneric, "expire", key)
		c.ReplicateAs(wordSet, key, val, wordPXAt, c.Digits(int64(at)))
	}
	return nil
}

// SETEX key seconds value
func setexSpec() *command.Spec {
	return &command.Spec{
		Name: "setex", Arity: 4, Keys: command.Key(1, command.KeyOW|command.KeyUpdate),
		Flags: command.DenyOOM | command.Quick, ACL: command.CatString, Group: "string", Write: setex,
	}
}

func setex(c *command.Call, tx db.Txn) error { return setFor(c, tx, unitEX) }

// PSETEX key milliseconds value
func psetexSpec() *command.Spec {
	return &command.Spec{
		Name: "psetex", Arity: 4, Keys: command.Key(1, command.KeyOW|command.KeyUpdate),
		Flags: command.DenyOOM | command.Quick, ACL: command.CatString, Group: "string", Write: psetex,
	}
}

func psetex(c *command.Call, tx db.Txn) error { return setFor(c, tx, unitPX) }

func setFor(c *command.Call, tx db.Txn, u unit) error {
	key, n := c.Args.Key(), c.Args.Int()
	c.Args.Skip(1)
	if err := c.Args.Done(); err != nil {
		return err
	}
	at, err := deadline(c, n, u, tx.Now())
	if err != nil {
		return err
	}
	if err = store(c, tx, key, 3, at); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// SETNX key value
func setnxSpec() *command.Spec {
	return &command.Spec{
		Name: "setnx", Arity: 3, Keys: command.Key(1, command.KeyOW|command.KeyInsert),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatString, Group: "string", Write: setnx,
	}
}

func setnx(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	if tx.Type(key) != db.TypeNone {
		c.Reply.Int(0)
		return nil
	}
	if err := store(c, tx, key, 2, db.NoExpiry); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

// MSET key value [key value ...]
func msetSpec() *command.Spec {
	return &command.Spec{
		Name: "mset", Arity: -3, Keys: command.Range(1, -1, 2, command.KeyOW|command.KeyUpdate),
		Flags: command.DenyOOM, ACL: command.CatString, Group: "string", Write: mset,
		Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"},
	}
}

func mset(c *command.Call, tx db.Txn) error {
	if c.Args.Len()%2 != 0 {
		return c.Spec.ErrArity()
	}
	if err := storePairs(c, tx); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// MSETNX key value [key value ...]
func msetnxSpec() *command.Spec {
	return &command.Spec{
		Name: "msetnx", Arity: -3, Keys: command.Range(1, -1, 2, command.KeyOW|command.KeyInsert),
		Flags: command.DenyOOM, ACL: command.CatString, Group: "string", Write: msetnx,
	}
}

func msetnx(c *command.Call, tx db.Txn) error {
	pairs := c.Args.Rest()
	if len(pairs)%2 != 0 {
		return c.Spec.ErrArity()
	}
	for i := 0; i < len(pairs); i += 2 {
		if tx.Type(pairs[i]) != db.TypeNone {
			c.Reply.Int(0)
			return nil
		}
	}
	if err := storePairs(c, tx); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

func storePairs(c *command.Call, tx db.Txn) error {
	argv := c.Args.Argv()
	for i := 1; i < len(argv); i += 2 {
		if err := store(c, tx, argv[i], i+1, db.NoExpiry); err != nil {
			return err
		}
	}
	return nil
}

// SETRANGE key offset value
func setrangeSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "setrange", Arity: 4, Keys: command.Key(1, command.KeyRW|command.KeyUpdate),
		Flags: command.DenyOOM, ACL: command.CatString, Group: "string",
		Write: func(c *command.Call, tx db.Txn) error { return setrange(c, tx, maxBulk()) },
	}
}

const errOffset resp.Error = "ERR offset is out of range"

func setrange(c *command.Call, tx db.Txn, most int64) error {
	key, at, val := c.Args.Key(), c.Args.Int(), c.Args.Bytes()
	if err := c.Args.Done(); err != nil {
		return err
	}
	if at < 0 {
		return errOffset
	}
	if len(val) == 0 {
		s, found, err := tx.Current(key)
		if err != nil {
			return err
		}
		replyLen(c, s, found)
		return nil
	}
	if t := tx.Type(key); t != db.TypeNone && t != db.TypeString {
		return db.ErrWrongType
	}
	if err := tooLong(at, int64(len(val)), most); err != nil {
		return err
	}
	b, err := tx.Edit(key, int(at)+len(val))
	if err != nil {
		return err
	}
	copy(b[at:], val)
	tx.Touched(key, db.ClassString, "setrange")
	c.Reply.Int(int64(len(b)))
	return nil
}

func replyLen(c *command.Call, s db.Str, found bool) {
	n := 0
	if found {
		n = command.StrLen(s)
	}
	c.Reply.Int(int64(n))
}

// APPEND key value
func appendSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "append", Arity: 3, Keys: command.Key(1, command.KeyRW|command.KeyInsert),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatString, Group: "string",
		Write: func(c *command.Call, tx db.Txn) error { return appendTo(c, tx, maxBulk()) },
	}
}

func appendTo(c *command.Call, tx db.Txn, most int64) error {
	key, val := c.Args.Key(), c.Args.Bytes()
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	n := len(val)
	if found {
		if err = tooLong(int64(command.StrLen(s)), int64(len(val)), most); err != nil {
			return err
		}
		n, err = tx.Append(key, val)
	} else {
		err = tx.SetString(key, val, db.NoExpiry)
	}
	if err != nil {
		return err
	}
	tx.Touched(key, db.ClassString, "append")
	c.Reply.Int(int64(n))
	return nil
}

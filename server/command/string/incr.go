package str

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/longdouble"
)

func counterSpec(name string, arity int, write func(*command.Call, db.Txn) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatString, Group: "string", Write: write,
	}
}

// INCR key
func incrSpec() *command.Spec { return counterSpec("incr", 2, incr) }

func incr(c *command.Call, tx db.Txn) error { return add(c, tx, c.Args.Key(), 1) }

// DECR key
func decrSpec() *command.Spec { return counterSpec("decr", 2, decr) }

func decr(c *command.Call, tx db.Txn) error { return add(c, tx, c.Args.Key(), -1) }

// INCRBY key increment
func incrbySpec() *command.Spec { return counterSpec("incrby", 3, incrby) }

func incrby(c *command.Call, tx db.Txn) error {
	key, by := c.Args.Key(), c.Args.Int()
	if err := c.Args.Done(); err != nil {
		return err
	}
	return add(c, tx, key, by)
}

// DECRBY key decrement
func decrbySpec() *command.Spec { return counterSpec("decrby", 3, decrby) }

const errDecrOverflow resp.Error = "ERR decrement would overflow"

func decrby(c *command.Call, tx db.Txn) error {
	key, by := c.Args.Key(), c.Args.Int()
	if by == math.MinInt64 {
		c.Args.Reject(errDecrOverflow)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	return add(c, tx, key, -by)
}

func add(c *command.Call, tx db.Txn, key []byte, by int64) error {
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	n := s.N
	if found && !s.IsInt {
		var ok bool
		if n, ok = command.ParseInt(s.B); !ok {
			return resp.ErrNotInteger
		}
	}
	if by < 0 && n < math.MinInt64-by || by > 0 && n > math.MaxInt64-by {
		return resp.ErrOverflow
	}
	if err = tx.SetInt(key, n+by, db.KeepExpiry); err != nil {
		return err
	}
	tx.Touched(key, db.ClassString, "incrby")
	c.Reply.Int(n + by)
	return nil
}

// INCRBYFLOAT key increment
func incrbyfloatSpec() *command.Spec { return counterSpec("incrbyfloat", 3, incrbyfloat) }

const errInfinite resp.Error = "ERR increment would produce NaN or Infinity"

func incrbyfloat(c *command.Call, tx db.Txn) error {
	key, by := c.Args.Key(), c.Args.Bytes()
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	was, ok := longdouble.FromInt(s.N), true
	if found && !s.IsInt {
		was, ok = longdouble.Parse(s.B)
	}
	inc, ok2 := longdouble.Parse(by)
	if !ok || !ok2 {
		return resp.ErrNotFloat
	}
	now, ok := longdouble.Add(was, inc)
	if !ok || now.IsInf() {
		return errInfinite
	}
	var buf [64]byte
	text := c.Keep(now.Append(buf[:0]))
	if err = tx.SetText(key, text, db.KeepExpiry); err != nil {
		return err
	}
	tx.Touched(key, db.ClassString, "incrbyfloat")
	c.ReplicateAs(wordSet, key, text, wordKeepTTL)
	c.Reply.Bulk(text)
	return nil
}

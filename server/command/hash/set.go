package hashes

import (
	"math"

	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/longdouble"
)

// HSET key field value [field value ...]
func hsetSpec() *command.Spec {
	return writeSpec("hset", -4, command.DenyOOM, command.KeyUpdate, func(c *command.Call, tx db.Txn) error {
		n, err := set(c, tx)
		if err == nil {
			c.Reply.Int(int64(n))
		}
		return err
	})
}

// HMSET key field value [field value ...]
func hmsetSpec() *command.Spec {
	return writeSpec("hmset", -4, command.DenyOOM, command.KeyUpdate, func(c *command.Call, tx db.Txn) error {
		_, err := set(c, tx)
		if err == nil {
			c.Reply.OK()
		}
		return err
	})
}

// set gives fields values and returns how many are new.
func set(c *command.Call, tx db.Txn) (created int, err error) {
	key, pairs := c.Args.Key(), c.Args.Rest()
	if len(pairs)%2 != 0 {
		return 0, c.Spec.ErrArity()
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return 0, err
	}
	if len(pairs) == 2 {
		var is bool
		if is, err = h.Set(pairs[0], pairs[1]); err != nil {
			return 0, err
		}
		if is {
			created = 1
		}
		tx.Touched(key, db.ClassHash, "hset")
		return created, nil
	}
	if created, err = h.SetAll(pairs); err != nil {
		if h.Len() > 0 {
			tx.Touched(key, db.ClassHash, "hset") // some are set
		}
		return 0, err
	}
	tx.Touched(key, db.ClassHash, "hset")
	tx.Dirty(int64(len(pairs)/2 - 1))
	return created, nil
}

// HSETNX key field value
func hsetnxSpec() *command.Spec {
	return writeSpec("hsetnx", 4, command.DenyOOM, command.KeyInsert, hsetnx)
}

func hsetnx(c *command.Call, tx db.Txn) error {
	key, field, value := c.Args.Key(), c.Args.Bytes(), c.Args.Bytes()
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	if h.Has(field) {
		c.Reply.Int(0)
		return nil
	}
	if _, err = h.Set(field, value); err != nil {
		return err
	}
	tx.Touched(key, db.ClassHash, "hset")
	c.Reply.Int(1)
	return nil
}

// HINCRBY key field increment
func hincrbySpec() *command.Spec {
	return writeSpec("hincrby", 4, command.DenyOOM, command.KeyAccess|command.KeyUpdate, hincrby)
}

const (
	errNotInteger resp.Error = "ERR hash value is not an integer"
	errNotFloat   resp.Error = "ERR hash value is not a float"
	errInfinite   resp.Error = "ERR value is NaN or Infinity"
	errOverflow   resp.Error = "ERR increment would produce NaN or Infinity"
)

func hincrby(c *command.Call, tx db.Txn) error {
	key, field, by := c.Args.Key(), c.Args.Bytes(), c.Args.Int()
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	n := int64(0)
	if value, found := h.Get(field); found {
		if n, found = command.ParseInt(value); !found {
			return errNotInteger
		}
	}
	if by < 0 && n < math.MinInt64-by || by > 0 && n > math.MaxInt64-by {
		return resp.ErrOverflow
	}
	n += by
	if _, err = h.Update(field, c.Digits(n)); err != nil {
		return err
	}
	tx.Touched(key, db.ClassHash, "hincrby")
	c.Reply.Int(n)
	return nil
}

// HINCRBYFLOAT key field increment
func hincrbyfloatSpec() *command.Spec {
	return writeSpec("hincrbyfloat", 4, command.DenyOOM, command.KeyAccess|command.KeyUpdate, hincrbyfloat)
}

func hincrbyfloat(c *command.Call, tx db.Txn) error {
	key, field := c.Args.Key(), c.Args.Bytes()
	by, ok := longdouble.Parse(c.Args.Bytes())
	switch {
	case !ok:
		return resp.ErrNotFloat
	case by.IsInf():
		return errInfinite
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	was := longdouble.FromInt(0)
	if value, found := h.Get(field); found {
		if was, ok = longdouble.Parse(value); !ok {
			return errNotFloat
		}
	}
	now, ok := longdouble.Add(was, by)
	if !ok || now.IsInf() {
		return errOverflow
	}
	var buf [64]byte
	text := c.Keep(now.Append(buf[:0]))
	if _, err = h.Update(field, text); err != nil {
		return err
	}
	tx.Touched(key, db.ClassHash, "hincrbyfloat")
	c.Reply.Bulk(text)
	if _, timed := h.Deadline(field); timed { // HSET would take that away
		c.ReplicateAs(wordHSetEx, key, wordKeepTTL, wordFields, c.Digits(1), field, text)
	} else {
		c.ReplicateAs(wordHSet, key, field, text)
	}
	return nil
}

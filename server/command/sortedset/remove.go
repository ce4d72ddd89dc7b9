package sortedset

import (
	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// removeSpecs: ZREM key member [member ...], ZREMRANGEBYRANK key start stop,
// ZREMRANGEBYSCORE key min max, ZREMRANGEBYLEX key min max
func removeSpecs() []*command.Spec {
	return []*command.Spec{
		writing("zrem", -3, command.Fast, command.KeyDelete, zrem),
		writing("zremrangebyrank", 4, 0, command.KeyDelete, zremrangebyrank),
		writing("zremrangebyscore", 4, 0, command.KeyDelete, zremrangebyscore),
		writing("zremrangebylex", 4, 0, command.KeyDelete, zremrangebylex),
	}
}

func zrem(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	z, err := zset.WriteFew(tx, key)
	if err != nil {
		return err
	}
	n := int64(0)
	for _, m := range c.Args.Rest() {
		found := false
		if found, err = z.Remove(m); err != nil {
			break
		}
		if found {
			n++
		}
	}
	if n > 0 {
		tx.Touched(key, db.ClassZSet, "zrem")
		tx.Dirty(n - 1)
	}
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

func zremrangebyrank(c *command.Call, tx db.Txn) error {
	key, start, stop := c.Args.Key(), c.Args.Int(), c.Args.Int()
	if err := c.Args.Done(); err != nil {
		return err
	}
	z, err := zset.Write(tx, key)
	if err != nil {
		return err
	}
	from, to := ranks(start, stop, z.Len())
	return removeRange(c, tx, key, &z, from, to)
}

func zremrangebyscore(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	r, err := parseScores(c.Args.Bytes(), c.Args.Bytes())
	if err != nil {
		return err
	}
	z, err := zset.Write(tx, key)
	if err != nil {
		return err
	}
	from, to := z.ByScore(r)
	return removeRange(c, tx, key, &z, from, to)
}

func zremrangebylex(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	r, err := parseLex(c.Args.Bytes(), c.Args.Bytes())
	if err != nil {
		return err
	}
	z, err := zset.Write(tx, key)
	if err != nil {
		return err
	}
	from, to := z.ByLex(r, false)
	return removeRange(c, tx, key, &z, from, to)
}

// removeRange removes the members between two ranks and answers how many those were.
// The event has the name of the command.
func removeRange(c *command.Call, tx db.Txn, key []byte, z *zset.ZSet, from, to int) error {
	if err := dropRange(tx, key, z, from, to, c.Spec.Name); err != nil {
		return err
	}
	c.Reply.Int(int64(to - from))
	return nil
}

// dropRange removes the members between two ranks and tells it.
func dropRange(tx db.Txn, key []byte, z *zset.ZSet, from, to int, event string) error {
	if from >= to {
		return nil
	}
	if err := z.DropRange(from, to); err != nil {
		return err
	}
	tx.Touched(key, db.ClassZSet, event)
	tx.Dirty(int64(to-from) - 1)
	return nil
}

// Errors of counts.
const (
	errNumKeys resp.Error = "ERR numkeys should be greater than 0"
	errCount   resp.Error = "ERR count should be greater than 0"
)

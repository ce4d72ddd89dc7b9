package hashes

import (
	"heddle/db"
	"heddle/db/hash"
	"heddle/server/command"
)

// HDEL key field [field ...]
func hdelSpec() *command.Spec {
	return writeSpec("hdel", -3, 0, command.KeyDelete, hdel)
}

func hdel(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	n := int64(0)
	for c.Args.More() {
		if h.Delete(c.Args.Bytes()) {
			n++
		}
	}
	if n > 0 {
		tx.Touched(key, db.ClassHash, "hdel")
		tx.Dirty(n - 1)
	}
	c.Reply.Int(n)
	return nil
}

package hashes

import (
	"bytes"

	"heddle/db"
	"heddle/db/hash"
	"heddle/server/command"
)

// KEYDB.HRENAME key field new-name
func hrenameSpec() *command.Spec {
	return writeSpec("keydb.hrename", 4, 0, command.KeyUpdate, hrename)
}

// hrename gives a field another name; one that has that name is replaced. The
// deadline moves along. Unlike KeyDB's, it reaches replicas.
func hrename(c *command.Call, tx db.Txn) error {
	key, from, to := c.Args.Key(), c.Args.Bytes(), c.Args.Bytes()
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	value, found := h.Get(from)
	if !found {
		c.Reply.Int(0)
		return nil
	}
	if bytes.Equal(from, to) {
		c.Reply.Int(1)
		return nil
	}
	value = bytes.Clone(value)
	at, timed := h.Deadline(from)
	if _, err = h.Set(to, value); err == nil && timed {
		err = h.SetDeadline(to, at)
	}
	if err != nil {
		return err
	}
	h.Delete(from)
	tx.Touched(key, db.ClassHash, "hset")
	c.Reply.Int(1)
	return nil
}

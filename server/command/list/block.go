package lists

import (
	"bytes"
	"slices"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// first calls fn with keys in order until it has found something. Of a call that
// was parked the key that was written comes first, and a key that is no list is
// passed over.
func first(c *command.Call, keys [][]byte, fn func(key []byte) (bool, error)) (found bool, err error) {
	ready := c.Ready()
	if ready != nil && slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, ready) }) {
		if found, err = fn(ready); found || err != nil && err != db.ErrWrongType {
			return found, err
		}
	}
	for _, key := range keys {
		found, err = fn(key)
		if err == db.ErrWrongType && c.Resumed() {
			err = nil
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// blocking makes a command one that waits for lists.
func blocking(s *command.Spec) *command.Spec {
	s.Flags |= command.Blocking
	s.Awaits = db.TypeList
	s.OnTimeout = (*resp.Writer).NullArray
	return s
}

// BLPOP key [key ...] timeout, BRPOP
func blockingPopSpec(name string, front bool) *command.Spec {
	e := theEnd(front)
	return blocking(&command.Spec{
		Name: name, Arity: -3, Keys: command.Range(1, -2, 1, command.KeyRW|command.KeyAccess|command.KeyDelete),
		ACL: command.CatList, Group: group, Write: func(c *command.Call, tx db.Txn) error { return blockingPop(c, tx, e) },
	})
}

func blockingPop(c *command.Call, tx db.Txn, e end) error {
	argv := c.Args.Argv()
	last := command.NewArgs(argv[len(argv)-2:])
	timeout := last.Timeout(tx.Now())
	if err := last.Done(); err != nil {
		return err
	}
	found, err := first(c, argv[1:len(argv)-1], func(key []byte) (bool, error) {
		mark := c.Reply.Mark()
		c.Reply.Array(2)
		c.Reply.Bulk(key)
		found, err := popOne(c, tx, key, e)
		if !found {
			c.Reply.Rewind(mark)
			return false, err
		}
		c.ReplicateAs(e.effect(), key)
		return true, nil
	})
	if err != nil || found {
		return err
	}
	return c.Wait(timeout)
}

// BLMPOP timeout numkeys key [key ...] LEFT|RIGHT [COUNT count]
func blmpopSpec() *command.Spec {
	return blocking(&command.Spec{
		Name: "blmpop", Arity: -5, Keys: command.NumKeys(2, command.KeyRW|command.KeyAccess|command.KeyDelete),
		ACL: command.CatList, Group: group, Write: blmpop,
	})
}

func blmpop(c *command.Call, tx db.Txn) error {
	time := command.NewArgs(c.Args.Argv()[:2])
	c.Args.Skip(1)
	m := readMany(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	timeout := time.Timeout(tx.Now())
	if err := time.Done(); err != nil {
		return err
	}
	found, err := m.pop(c, tx)
	if err != nil || found {
		return err
	}
	return c.Wait(timeout)
}

// BLMOVE source destination LEFT|RIGHT LEFT|RIGHT timeout
func blmoveSpec() *command.Spec {
	return blockingMoveSpec("blmove", 6, func(c *command.Call, tx db.Txn) error {
		from, to := c.Args.Key(), c.Args.Key()
		out, in := side(&c.Args), side(&c.Args)
		timeout := c.Args.Timeout(tx.Now())
		if err := c.Args.Done(); err != nil {
			return err
		}
		argv := c.Args.Argv()
		c.ReplicateAs(wordLMove, from, to, argv[3], argv[4])
		return moveOrWait(c, tx, from, to, out, in, timeout)
	})
}

// BRPOPLPUSH source destination timeout
func brpoplpushSpec() *command.Spec {
	return blockingMoveSpec("brpoplpush", 4, func(c *command.Call, tx db.Txn) error {
		from, to := c.Args.Key(), c.Args.Key()
		timeout := c.Args.Timeout(tx.Now())
		if err := c.Args.Done(); err != nil {
			return err
		}
		c.ReplicateAs(wordRPopLPush, from, to)
		return moveOrWait(c, tx, from, to, theEnd(false), theEnd(true), timeout)
	})
}

func blockingMoveSpec(name string, arity int, write func(*command.Call, db.Txn) error) *command.Spec {
	s := blocking(&command.Spec{
		Name: name, Arity: arity, Keys: moveKeys(), Flags: command.DenyOOM,
		ACL: command.CatList, Group: group, Write: write,
	})
	s.OnDenied = (*resp.Writer).Null // which is not how its timeout is answered
	return s
}

func moveOrWait(c *command.Call, tx db.Txn, from, to []byte, out, in end, timeout db.Millis) error {
	if c.Resumed() && tx.Type(from) != db.TypeList {
		return c.Wait(timeout)
	}
	found, err := move(c, tx, from, to, out, in)
	if err != nil || found {
		return err
	}
	return c.Wait(timeout)
}

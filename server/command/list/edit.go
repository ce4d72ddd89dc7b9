package lists

import (
	"heddle/db"
	"heddle/db/list"
	"heddle/server/command"
)

// LSET key index element
func lsetSpec() *command.Spec {
	return writeSpec("lset", 4, command.DenyOOM, command.KeyUpdate, func(c *command.Call, tx db.Txn) error {
		key := c.Args.Key()
		l, err := list.Write(tx, key)
		if err != nil {
			return err
		}
		if l.Len() == 0 {
			return errNoKey // whatever the index is
		}
		index, value := c.Args.Int(), c.Args.Bytes()
		if err := c.Args.Done(); err != nil {
			return err
		}
		i, in := position(index, l.Len())
		if !in {
			return errIndex
		}
		if err := l.Set(i, value); err != nil {
			return err
		}
		tx.Touched(key, db.ClassList, "lset")
		c.Reply.OK()
		return nil
	})
}

// LREM key count element
func lremSpec() *command.Spec {
	return writeSpec("lrem", 4, 0, command.KeyDelete, func(c *command.Call, tx db.Txn) error {
		key, count, value := c.Args.Key(), c.Args.Int(), c.Args.Bytes()
		if err := c.Args.Done(); err != nil {
			return err
		}
		l, err := list.Write(tx, key)
		if err != nil {
			return err
		}
		n, err := l.Remove(value, count)
		if err != nil {
			return err
		}
		if n > 0 {
			tx.Touched(key, db.ClassList, "lrem")
			tx.Dirty(int64(n - 1))
		}
		c.Reply.Int(int64(n))
		return nil
	})
}

// LTRIM key start stop
func ltrimSpec() *command.Spec {
	return writeSpec("ltrim", 4, 0, command.KeyDelete, func(c *command.Call, tx db.Txn) error {
		key, first, last := c.Args.Key(), c.Args.Int(), c.Args.Int()
		if err := c.Args.Done(); err != nil {
			return err
		}
		l, err := list.Write(tx, key)
		if err != nil {
			return err
		}
		if n := l.Len(); n > 0 {
			from, to := span(first, last, n)
			if err := l.Trim(from, to); err != nil {
				return err
			}
			tx.Touched(key, db.ClassList, "ltrim")
			tx.Dirty(int64(n-(to-from)) - 1)
		}
		c.Reply.OK()
		return nil
	})
}

package lists

import (
	"heddle/db"
	"heddle/db/list"
	"heddle/resp"
	"heddle/server/command"
)

// LPUSH key element [element ...], RPUSH; LPUSHX, RPUSHX only to a list that is
// there
func pushSpec(name string, front, only bool) *command.Spec {
	e := theEnd(front)
	return writeSpec(name, -3, command.Fast|command.DenyOOM, command.KeyInsert, func(c *command.Call, tx db.Txn) error {
		return push(c, tx, e, only)
	})
}

func push(c *command.Call, tx db.Txn, e end, only bool) error {
	key, values := c.Args.Key(), c.Args.Rest()
	l, err := list.Write(tx, key)
	if err != nil {
		return err
	}
	if only && l.Len() == 0 {
		c.Reply.Int(0)
		return nil
	}
	if err := l.Push(e.front, values...); err != nil {
		return err
	}
	n := l.Len()
	tx.Touched(key, db.ClassList, e.push)
	tx.Dirty(int64(len(values) - 1))
	c.Reply.Int(int64(n))
	return nil
}

// LINSERT key BEFORE|AFTER pivot element
func linsertSpec() *command.Spec {
	return writeSpec("linsert", 5, command.DenyOOM, command.KeyInsert, linsert)
}

func linsert(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	before := c.Args.Word("before")
	if !before && !c.Args.Word("after") {
		c.Args.Reject(resp.ErrSyntax)
	}
	pivot, value := c.Args.Bytes(), c.Args.Bytes()
	if err := c.Args.Done(); err != nil {
		return err
	}
	l, err := list.Write(tx, key)
	if err != nil {
		return err
	}
	if l.Len() == 0 {
		c.Reply.Int(0)
		return nil
	}
	i := l.Find(pivot)
	if i < 0 {
		c.Reply.Int(-1)
		return nil
	}
	if !before {
		i++
	}
	if err := l.Insert(i, value); err != nil {
		return err
	}
	n := l.Len()
	tx.Touched(key, db.ClassList, "linsert")
	c.Reply.Int(int64(n))
	return nil
}

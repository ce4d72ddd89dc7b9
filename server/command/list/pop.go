package lists

import (
	"math"

	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/resp"
	"heddle/server/command"
)

// LPOP key [count], RPOP
func popSpec(name string, front bool) *command.Spec {
	e := theEnd(front)
	return writeSpec(name, -2, command.Fast, command.KeyAccess|command.KeyDelete, func(c *command.Call, tx db.Txn) error {
		key := c.Args.Key()
		if c.Args.More() {
			return popMany(c, tx, key, e)
		}
		found, err := popOne(c, tx, key, e)
		if err == nil && !found {
			c.Reply.Null()
		}
		return err
	})
}

// popOne pops an element and writes it; found says whether there was one.
func popOne(c *command.Call, tx db.Txn, key []byte, e end) (found bool, err error) {
	l, err := list.Write(tx, key)
	if err != nil || l.Len() == 0 {
		return false, err
	}
	i := 0
	if !e.front {
		i = l.Len() - 1
	}
	var buf listpack.Scratch
	reply(c.Reply, l.At(i), &buf)
	if err := l.Delete(i, 1); err != nil {
		return false, err
	}
	tx.Touched(key, db.ClassList, e.pop)
	return true, nil
}

func popMany(c *command.Call, tx db.Txn, key []byte, e end) error {
	if c.Args.Len() > 1 {
		return c.Spec.ErrArity()
	}
	count := c.Args.IntRange(0, math.MaxInt64, resp.ErrNotPositive)
	if err := c.Args.Done(); err != nil {
		return err
	}
	l, err := list.Write(tx, key)
	switch {
	case err != nil:
		return err
	case l.Len() == 0:
		c.Reply.NullArray()
		return nil
	}
	_, err = popCount(c, tx, key, &l, count, e)
	return err
}

// popCount pops up to count elements and writes them as an array.
func popCount(c *command.Call, tx db.Txn, key []byte, l *list.List, count int64, e end) (int, error) {
	n := int(min(count, int64(l.Len())))
	c.Reply.Array(n)
	if n == 0 {
		return 0, nil
	}
	from := 0
	if e.front {
		replyRange(c.Reply, l, 0, n)
	} else {
		from = l.Len() - n
		replyBack(c.Reply, l, n)
	}
	if err := l.Delete(from, n); err != nil {
		return 0, err
	}
	tx.Touched(key, db.ClassList, e.pop)
	tx.Dirty(int64(n - 1))
	return n, nil
}

// LMPOP numkeys key [key ...] LEFT|RIGHT [COUNT count]
func lmpopSpec() *command.Spec {
	return &command.Spec{
		Name: "lmpop", Arity: -4, Keys: command.NumKeys(1, command.KeyRW|command.KeyAccess|command.KeyDelete),
		ACL: command.CatList, Group: group, Write: lmpop,
	}
}

func lmpop(c *command.Call, tx db.Txn) error {
	m := readMany(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	found, err := m.pop(c, tx)
	if err == nil && !found {
		c.Reply.NullArray()
	}
	return err
}

// many is what LMPOP and BLMPOP are told.
type many struct {
	keys  [][]byte
	end   end
	count int64
}

// readMany reads numkeys key [key ...] LEFT|RIGHT [COUNT count].
func readMany(a *command.Args) (m many) {
	n := a.IntRange(1, math.MaxInt64, errNumKeys)
	if a.Err() != nil {
		return m
	}
	if n >= int64(a.Len()) {
		a.Reject(resp.ErrSyntax)
		return m
	}
	at := len(a.Argv()) - a.Len()
	m.keys = a.Argv()[at : at+int(n)]
	a.Skip(int(n))
	m.end = side(a)
	m.count = 1
	if a.Word("count") {
		m.count = a.IntRange(1, math.MaxInt64, errCount)
	}
	return m
}

// pop pops from the first list that has elements and writes its key with them.
func (m *many) pop(c *command.Call, tx db.Txn) (found bool, err error) {
	return first(c, m.keys, func(key []byte) (bool, error) {
		l, err := list.Write(tx, key)
		if err != nil || l.Len() == 0 {
			return false, err
		}
		c.Reply.Array(2)
		c.Reply.Bulk(key)
		n, err := popCount(c, tx, key, &l, m.count, m.end)
		c.ReplicateAs(m.end.effect(), key, c.Digits(int64(n)))
		return true, err
	})
}

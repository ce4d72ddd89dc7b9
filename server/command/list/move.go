package lists

import (
	"bytes"

	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/server/command"
)

// moveKeys are the key specs of the commands that take from one list and give
// to another.
func moveKeys() []command.KeySpec {
	return []command.KeySpec{
		{Begin: 1, Step: 1, Flags: command.KeyRW | command.KeyAccess | command.KeyDelete},
		{Begin: 2, Step: 1, Flags: command.KeyRW | command.KeyInsert},
	}
}

// LMOVE source destination LEFT|RIGHT LEFT|RIGHT
func lmoveSpec() *command.Spec {
	return &command.Spec{
		Name: "lmove", Arity: 5, Keys: moveKeys(), Flags: command.DenyOOM,
		ACL: command.CatList, Group: group, Write: func(c *command.Call, tx db.Txn) error {
			from, to := c.Args.Key(), c.Args.Key()
			out, in := side(&c.Args), side(&c.Args)
			if err := c.Args.Done(); err != nil {
				return err
			}
			return moveOrNull(c, tx, from, to, out, in)
		},
	}
}

// RPOPLPUSH source destination
func rpoplpushSpec() *command.Spec {
	return &command.Spec{
		Name: "rpoplpush", Arity: 3, Keys: moveKeys(), Flags: command.DenyOOM,
		ACL: command.CatList, Group: group, Write: func(c *command.Call, tx db.Txn) error {
			return moveOrNull(c, tx, c.Args.Key(), c.Args.Key(), theEnd(false), theEnd(true))
		},
	}
}

func moveOrNull(c *command.Call, tx db.Txn, from, to []byte, out, in end) error {
	found, err := move(c, tx, from, to, out, in)
	if err == nil && !found {
		c.Reply.Null()
	}
	return err
}

// move takes an element from one list, gives it to another, and writes it;
// found says whether there was one.
func move(c *command.Call, tx db.Txn, from, to []byte, out, in end) (found bool, err error) {
	l, err := list.Write(tx, from)
	if err != nil || l.Len() == 0 {
		return false, err
	}
	i := 0
	if !out.front {
		i = l.Len() - 1
	}
	var buf listpack.Scratch
	if bytes.Equal(from, to) {
		reply(c.Reply, l.At(i), &buf)
		if out.front != in.front {
			err = l.Rotate(out.front)
		}
	} else {
		err = moveTo(c, tx, &l, i, to, in.front)
	}
	if err != nil {
		return false, err
	}
	tx.Touched(to, db.ClassList, in.push)
	tx.Touched(from, db.ClassList, out.pop)
	tx.Dirty(-1) // it is one change
	return true, nil
}

// moveTo moves element i of a list to another one.
func moveTo(c *command.Call, tx db.Txn, l *list.List, i int, to []byte, front bool) error {
	dst, err := list.Write(tx, to)
	if err != nil {
		return err
	}
	// What can fail comes before what changes the lists.
	if err := l.Own(); err != nil {
		return err
	}
	var buf listpack.Scratch
	e := l.At(i)
	reply(c.Reply, e, &buf)
	if err := dst.PushEntry(front, e); err != nil {
		return err
	}
	return l.Delete(i, 1)
}

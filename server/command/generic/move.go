package generic

import (
	"bytes"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// moveSpecs: RENAME key newkey, RENAMENX key newkey,
// COPY source destination [DB index] [REPLACE], MOVE key index
func moveSpecs() []*command.Spec {
	from := command.KeySpec{Begin: 1, Step: 1, Flags: command.KeyRW | command.KeyAccess | command.KeyDelete}
	to := command.KeySpec{Begin: 2, Step: 1, Flags: command.KeyOW | command.KeyUpdate}
	fresh := to
	fresh.Flags = command.KeyOW | command.KeyInsert
	source := command.KeySpec{Begin: 1, Step: 1, Flags: command.KeyRO | command.KeyAccess}
	return []*command.Spec{{
		Name: "rename", Arity: 3, Keys: []command.KeySpec{from, to},
		ACL: command.CatKeyspace, Group: group, Write: renameKey,
	}, {
		Name: "renamenx", Arity: 3, Keys: []command.KeySpec{from, fresh}, Flags: command.Fast,
		ACL: command.CatKeyspace, Group: group, Write: renameKeyNX,
	}, {
		Name: "copy", Arity: -3, Keys: []command.KeySpec{source, to}, Flags: command.DenyOOM,
		ACL: command.CatKeyspace, Group: group, Write: copyKey,
	}, {
		Name: "move", Arity: 3, Flags: command.Fast,
		Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate),
		ACL:  command.CatKeyspace, Group: group, Write: moveKey,
	}}
}

func renameKey(c *command.Call, tx db.Txn) error {
	from, to := c.Args.Key(), c.Args.Key()
	if tx.Type(from) == db.TypeNone {
		return resp.ErrNoKey
	}
	if err := renameTo(tx, from, to); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

func renameKeyNX(c *command.Call, tx db.Txn) error {
	from, to := c.Args.Key(), c.Args.Key()
	if tx.Type(from) == db.TypeNone {
		return resp.ErrNoKey
	}
	if tx.Type(to) != db.TypeNone {
		c.Reply.Int(0)
		return nil
	}
	if err := renameTo(tx, from, to); err != nil {
		return err
	}
	c.Reply.Int(1)
	return nil
}

// renameTo moves a key that is there. To its own name is no change.
func renameTo(tx db.Txn, from, to []byte) error {
	if bytes.Equal(from, to) {
		return nil
	}
	if _, err := tx.Rename(from, to); err != nil {
		return err
	}
	tx.Touched(from, db.ClassGeneric, "rename_from")
	tx.Touched(to, db.ClassGeneric, "rename_to")
	tx.Dirty(-1) // one change, though two keys were touched
	return nil
}

const errNot32Bits resp.Error = "ERR value is out of range, value must between -2147483648 and 2147483647"

// databaseIndex reads a database that tx knows.
func databaseIndex(a *command.Args, tx db.Txn) int {
	n := a.Int()
	if n != int64(int32(n)) {
		a.Reject(errNot32Bits)
	}
	if a.Err() == nil && (n < 0 || n >= int64(tx.Databases())) {
		a.Reject(resp.ErrDBIndex)
		return 0
	}
	return int(n)
}

func copyKey(c *command.Call, tx db.Txn) error {
	from, to := c.Args.Key(), c.Args.Key()
	index, replace := tx.DB(), false
	for c.Args.More() {
		switch {
		case c.Args.Word("replace"):
			replace = true
		case c.Args.Len() > 1 && c.Args.Word("db"):
			index = databaseIndex(&c.Args, tx)
		default:
			c.Args.Reject(resp.ErrSyntax)
		}
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	if index == tx.DB() && bytes.Equal(from, to) {
		return resp.ErrSameObject
	}
	if !tx.Exists(from) {
		c.Reply.Int(0)
		return nil
	}
	dst := tx.In(index)
	if !replace && dst.Type(to) != db.TypeNone {
		c.Reply.Int(0)
		return nil
	}
	if _, err := tx.Copy(from, index, to); err != nil {
		return err
	}
	dst.Touched(to, db.ClassGeneric, "copy_to")
	c.Reply.Int(1)
	return nil
}

func moveKey(c *command.Call, tx db.Txn) error {
	key, index := c.Args.Key(), databaseIndex(&c.Args, tx)
	if err := c.Args.Done(); err != nil {
		return err
	}
	if index == tx.DB() {
		return resp.ErrSameObject
	}
	dst := tx.In(index)
	if tx.Type(key) == db.TypeNone || dst.Type(key) != db.TypeNone {
		c.Reply.Int(0)
		return nil
	}
	if _, err := tx.Copy(key, index, key); err != nil {
		return err
	}
	tx.Delete(key)
	tx.Touched(key, db.ClassGeneric, "move_from")
	dst.Touched(key, db.ClassGeneric, "move_to")
	tx.Dirty(-1) // one change, though two keys were touched
	c.Reply.Int(1)
	return nil
}

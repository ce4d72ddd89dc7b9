package cmdtest

import (
	"slices"

	"heddle/db"
	"heddle/server/command"
)

// Lists is a family of one command, RPUSH: enough for others to meet a key that
// is no string.
func Lists() command.Family {
	return command.Family{Name: "list", Specs: []*command.Spec{{
		Name: "rpush", Arity: -3, Keys: command.Key(1, command.KeyRW|command.KeyInsert),
		Flags: command.Fast | command.DenyOOM, Group: "list", Write: rpush,
	}}}
}

// list is a list made of a slice.
type list struct{ items []string }

func (l *list) Len() int         { return len(l.items) }
func (l *list) Clone() db.Object { return &list{slices.Clone(l.items)} }
func (l *list) MemSize() int64   { return int64(len(l.items)) * 64 }
func (l *list) Encoding() string { return "listpack" }

func rpush(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	o, err := tx.EditObject(key, db.TypeList)
	if err != nil {
		return err
	}
	l, ok := o.(*list)
	if !ok {
		l = &list{}
		if err := tx.PutObject(key, db.TypeList, l, db.NoExpiry); err != nil {
			return err
		}
	}
	for c.Args.More() {
		l.items = append(l.items, string(c.Args.Bytes()))
	}
	tx.Touched(key, db.ClassList, "rpush")
	c.Reply.Int(int64(l.Len()))
	return nil
}

package generic

import (
	"heddle/db"
	"heddle/server/command"
)

// deleteSpecs: DEL key [key ...], UNLINK key [key ...], EXPDEL key [key ...]
//
// UNLINK is DEL here: what a deleted value occupied goes back in constant time
// (a block) or to the collector (a large collection), never under the lock.
func deleteSpecs() []*command.Spec {
	del := command.Spec{
		Name: "del", Arity: -2, Keys: command.Range(1, -1, 1, command.KeyRM|command.KeyDelete),
		ACL: command.CatKeyspace, Group: group, Tips: []string{tipMultiShard, tipSum}, Write: del,
	}
	unlink, expdel := del, del
	unlink.Name, unlink.Flags = "unlink", command.Fast
	expdel.Name, expdel.Tips = "expdel", nil
	return []*command.Spec{&del, &unlink, &expdel}
}

// del has an effect for each key that was there.
func del(c *command.Call, tx db.Txn) error {
	keys := c.Args.Rest()
	n := int64(0)
	for _, key := range keys {
		if tx.Delete(key) {
			tx.Touched(key, db.ClassGeneric, "del")
			n++
			if len(keys) > 1 {
				c.ReplicateAs(wordDel, key)
			}
		}
	}
	c.Reply.Int(n)
	return nil
}

// existsSpecs: EXISTS key [key ...], KEYDB.MEXISTS key [key ...],
// TOUCH key [key ...], TYPE key
func existsSpecs() []*command.Spec {
	exists := command.Spec{
		Name: "exists", Arity: -2, Keys: command.Range(1, -1, 1, command.KeyRO), Flags: command.Fast,
		ACL: command.CatKeyspace, Group: group, Tips: []string{tipMultiShard, tipSum}, Read: exists,
	}
	touch, mexists := exists, exists
	touch.Name, touch.Read = "touch", touchKeys
	mexists.Name, mexists.Read, mexists.Tips = "keydb.mexists", mexistsKeys, nil
	return []*command.Spec{&exists, &touch, &mexists, {
		Name: "type", Arity: 2, Keys: command.Key(1, command.KeyRO), Flags: command.Fast,
		ACL: command.CatKeyspace, Group: group, Read: typeOf,
	}}
}

func exists(c *command.Call, v db.View) error {
	n := int64(0)
	for _, key := range c.Args.Rest() {
		if v.Probe(key) != db.TypeNone {
			n++
		}
	}
	c.Reply.Int(n)
	return nil
}

func touchKeys(c *command.Call, v db.View) error {
	n := int64(0)
	for _, key := range c.Args.Rest() {
		if v.Exists(key) {
			n++
		}
	}
	c.Reply.Int(n)
	return nil
}

// mexistsKeys answers with a boolean for each key.
func mexistsKeys(c *command.Call, v db.View) error {
	keys := c.Args.Rest()
	c.Reply.Array(len(keys))
	for _, key := range keys {
		c.Reply.Bool(v.Probe(key) != db.TypeNone)
	}
	return nil
}

func typeOf(c *command.Call, v db.View) error {
	c.Reply.Simple(v.Probe(c.Args.Key()).String())
	return nil
}

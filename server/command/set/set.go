// Package sets holds the set commands: members added, removed, moved, drawn at
// random, and what sets have in common. (The folder is named after the group; "set" is
// the package of the type.)
package sets

import (
	"heddle/db"
	"heddle/db/set"
	"heddle/resp"
	"heddle/server/command"
)

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	return command.Family{Name: group, Specs: []*command.Spec{
		saddSpec(), sremSpec(), scardSpec(), sismemberSpec(), smismemberSpec(), smembersSpec(),
		smoveSpec(), sscanSpec(), spopSpec(), srandmemberSpec(),
		combineSpec("sinter", inter), combineSpec("sunion", union), combineSpec("sdiff", diff),
		storeSpec("sinterstore", inter), storeSpec("sunionstore", union), storeSpec("sdiffstore", diff),
		sintercardSpec(),
	}}
}

const group = "set"

// Names that effects are written with.
var (
	wordDel  = []byte("DEL")
	wordSAdd = []byte("SADD")
	wordSRem = []byte("SREM")
)

// SADD key member [member ...]
func saddSpec() *command.Spec {
	return &command.Spec{
		Name: "sadd", Arity: -3, Keys: command.Key(1, command.KeyRW|command.KeyInsert),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatSet, Group: group, Write: sadd,
	}
}

func sadd(c *command.Call, tx db.Txn) error {
	key, list := c.Args.Key(), c.Args.Rest()
	s, err := set.Write(tx, key)
	if err != nil {
		return err
	}
	if err = s.Expect(list[0], len(list)); err != nil {
		return err
	}
	n := int64(0)
	for i, m := range list {
		added, err := s.Add(m)
		if err != nil {
			stopped(c, tx, "sadd", n, i)
			return err
		}
		if added {
			n++
		}
	}
	changed(tx, key, "sadd", n)
	c.Reply.Int(n)
	return nil
}

// changed tells that n members of a set came or went, if any did.
func changed(tx db.Txn, key []byte, event string, n int64) {
	if n > 0 {
		tx.Touched(key, db.ClassSet, event)
		tx.Dirty(n - 1)
	}
}

// stopped is changed of SADD or SREM when memory ran out before member i: what came
// before it has happened.
func stopped(c *command.Call, tx db.Txn, event string, n int64, i int) {
	argv := c.Args.Argv()
	changed(tx, argv[1], event, n)
	c.ReplicateAs(argv[:2+i]...)
}

// SREM key member [member ...]
func sremSpec() *command.Spec {
	return &command.Spec{
		Name: "srem", Arity: -3, Keys: command.Key(1, command.KeyRW|command.KeyDelete),
		Flags: command.Fast, ACL: command.CatSet, Group: group, Write: srem,
	}
}

func srem(c *command.Call, tx db.Txn) error {
	key, list := c.Args.Key(), c.Args.Rest()
	s, err := set.Write(tx, key)
	if err != nil {
		return err
	}
	n := int64(0)
	for i, m := range list {
		deleted, err := s.Delete(m)
		if err != nil {
			stopped(c, tx, "srem", n, i)
			return err
		}
		if deleted {
			n++
		}
	}
	changed(tx, key, "srem", n)
	c.Reply.Int(n)
	return nil
}

// readSpec describes a command that reads one set.
func readSpec(name string, arity int, flags command.Flags, key command.KeyFlags, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|key),
		Flags: flags, ACL: command.CatSet, Group: group, Read: read,
	}
}

// SCARD key
func scardSpec() *command.Spec { return readSpec("scard", 2, command.Fast, 0, scard) }

func scard(c *command.Call, v db.View) error {
	s, err := set.Read(v, c.Args.Key())
	if err != nil {
		return err
	}
	c.Reply.Int(int64(s.Len()))
	return nil
}

// SISMEMBER key member
func sismemberSpec() *command.Spec { return readSpec("sismember", 3, command.Fast, 0, sismember) }

func sismember(c *command.Call, v db.View) error {
	s, err := set.Read(v, c.Args.Key())
	if err != nil {
		return err
	}
	replyIs(c.Reply, s.Has(c.Args.Bytes()))
	return nil
}

func replyIs(w *resp.Writer, yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	w.Int(n)
}

// SMISMEMBER key member [member ...]
func smismemberSpec() *command.Spec {
	return readSpec("smismember", -3, command.Fast, command.KeyAccess, smismember)
}

func smismember(c *command.Call, v db.View) error {
	key, list := c.Args.Key(), c.Args.Rest()
	s, err := set.Read(v, key)
	if err != nil {
		return err
	}
	c.Reply.Array(len(list))
	for _, m := range list {
		replyIs(c.Reply, s.Has(m))
	}
	return nil
}

// SMEMBERS key
func smembersSpec() *command.Spec {
	spec := readSpec("smembers", 2, 0, command.KeyAccess, smembers)
	spec.Tips = []string{"nondeterministic_output_order"}
	return spec
}

func smembers(c *command.Call, v db.View) error {
	s, err := set.ReadToDraw(v, c.Args.Key())
	if err != nil {
		return err
	}
	p := s.Whole()
	c.Reply.Set(p.Len())
	replyPart(c, &p)
	return nil
}

// SMOVE source destination member
func smoveSpec() *command.Spec {
	return &command.Spec{
		Name: "smove", Arity: 4,
		Keys: []command.KeySpec{
			{Begin: 1, Step: 1, Flags: command.KeyRW | command.KeyAccess | command.KeyDelete},
			{Begin: 2, Step: 1, Flags: command.KeyRW | command.KeyInsert},
		},
		Flags: command.Fast, ACL: command.CatSet, Group: group, Write: smove,
	}
}

func smove(c *command.Call, tx db.Txn) error {
	from, to, m := c.Args.Key(), c.Args.Key(), c.Args.Bytes()
	src, err := set.Write(tx, from)
	if err != nil {
		return err
	}
	if tx.Type(from) == db.TypeNone {
		c.Reply.Int(0)
		return nil
	}
	if string(from) == string(to) {
		replyIs(c.Reply, src.Has(m))
		return nil
	}
	dst, err := set.Write(tx, to)
	if err != nil {
		return err
	}
	if !src.Has(m) {
		c.Reply.Int(0)
		return nil
	}
	return move(c, tx, from, to, &src, &dst, m)
}

// move moves a member that is there. What may fail comes first, that is adding, but for
// a new set, which comes to be when the member has left the old one.
func move(c *command.Call, tx db.Txn, from, to []byte, src, dst *set.Set, m []byte) error {
	fresh := tx.Type(to) == db.TypeNone
	added := false
	var err error
	if !fresh {
		if added, err = dst.Add(m); err != nil {
			return err
		}
	}
	if _, err = src.Delete(m); err != nil {
		if added {
			_, _ = dst.Delete(m) // takes no memory
			tx.Touched(to, db.ClassSet, "")
		}
		return err
	}
	tx.Touched(from, db.ClassSet, "srem")
	c.ReplicateAs(wordSRem, from, m)
	if fresh {
		if added, err = dst.Add(m); err != nil {
			return takeBack(c, tx, from, m, err)
		}
	}
	if added {
		tx.Touched(to, db.ClassSet, "sadd")
		c.ReplicateAs(wordSAdd, to, m)
	}
	c.Reply.Int(1)
	return nil
}

// takeBack puts a member back that could not be moved for err.
func takeBack(c *command.Call, tx db.Txn, key, m []byte, err error) error {
	s, again := set.Write(tx, key)
	if again == nil {
		if _, again = s.Add(m); again == nil {
			tx.Touched(key, db.ClassSet, "sadd")
			c.ReplicateAs(wordSAdd, key, m)
		}
	}
	return err
}

// SSCAN key cursor [MATCH pattern] [COUNT count]
func sscanSpec() *command.Spec {
	spec := readSpec("sscan", -3, 0, command.KeyAccess, sscan)
	spec.Tips = []string{"nondeterministic_output"}
	return spec
}

func sscan(c *command.Call, v db.View) error {
	key, cursor := c.Args.Key(), c.Args.Cursor()
	if err := c.Args.Err(); err != nil {
		return err
	}
	s, err := set.Read(v, key)
	if err != nil {
		return err
	}
	var found resp.Writer
	if s.Len() == 0 {
		command.ReplyScan(c.Reply, 0, 0, &found)
		return nil
	}
	o := c.Args.ScanOptions(false)
	if err = c.Args.Done(); err != nil {
		return err
	}
	n := 0
	next := s.Scan(cursor, o.Count, func(m []byte) {
		if o.Matches(m) {
			found.Bulk(m)
			n++
		}
	})
	command.ReplyScan(c.Reply, next, n, &found)
	return nil
}

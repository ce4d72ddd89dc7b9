package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errAdded      resp.Error = "ERR entries_added must be positive"
	errMaxDeleted resp.Error = "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
	errBelowTop   resp.Error = "ERR The ID specified in XSETID is smaller than the target stream top item"
	errFewAdded   resp.Error = "ERR The entries_added specified in XSETID is smaller than the target stream length"
)

// XDEL key id [id ...]
func xdelSpec() *command.Spec { return writeSpec("xdel", -3, command.Fast, command.KeyDelete, xdel) }

func xdel(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key := a.Key()
	s, err := stream.Edit(tx, key)
	if err != nil {
		return err
	}
	if s == nil {
		c.Reply.Int(0)
		return nil
	}
	ids := a.Rest()
	if err := checkIDs(ids); err != nil {
		return err
	}

	n := int64(0)
	for _, b := range ids {
		if id, _ := strictID(b, 0); s.Delete(id) {
			n++
		}
	}
	if n > 0 {
		tx.Touched(key, db.ClassStream, "xdel")
		tx.Dirty(n - 1)
	}
	c.Reply.Int(n)
	return nil
}

// checkIDs looks whether all arguments are IDs, so that nothing is changed before a
// mistake is found. They are read again when they are used, rather than kept.
func checkIDs(args [][]byte) error {
	for _, b := range args {
		if _, ok := strictID(b, 0); !ok {
			return errID
		}
	}
	return nil
}

// XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]
func xsetidSpec() *command.Spec {
	return writeSpec("xsetid", -3, command.Fast|command.DenyOOM, command.KeyUpdate, xsetid)
}

func xsetid(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, id := a.Key(), argID(a)
	added, deleted := int64(-1), stream.ID{}
	for a.More() && a.Len() >= 2 {
		switch {
		case a.Word("entriesadded"):
			if added = a.Int(); added < 0 {
				a.Reject(errAdded)
			}
		case a.Word("maxdeletedid"):
			if deleted = argID(a); id.Before(deleted) {
				a.Reject(errMaxDeleted)
			}
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	if err := a.Done(); err != nil {
		return err
	}

	s, err := stream.Edit(tx, key)
	switch {
	case err != nil:
		return err
	case s == nil:
		return resp.ErrNoKey
	}
	if top, ok := s.Top(); ok {
		switch {
		case id.Before(top):
			return errBelowTop
		case added >= 0 && int64(s.Len()) > added:
			return errFewAdded
		}
	}

	s.SetLastID(id)
	if added >= 0 {
		s.SetAdded(uint64(added))
	}
	if !deleted.IsZero() {
		s.SetMaxDeleted(deleted)
	}
	tx.Adjusted(key, 1)
	tell(tx, "xsetid", key)
	c.Reply.OK()
	return nil
}

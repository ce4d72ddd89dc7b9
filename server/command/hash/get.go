package hashes

import (
	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
)

// HGET key field
func hgetSpec() *command.Spec {
	return readSpec("hget", 3, command.Fast, command.KeyAccess, func(c *command.Call, v db.View) error {
		h, err := hash.Read(v, c.Args.Key())
		if err == nil {
			replyGet(c.Reply, &h, c.Args.Bytes())
		}
		return err
	})
}

// replyGet writes the value of a field, or null.
func replyGet(w *resp.Writer, h *hash.Hash, field []byte) bool {
	value, found := h.Get(field)
	switch {
	case !found:
		w.Null()
	case len(value) > db.PackedMax:
		w.BulkExternal(h.Lasting(field), nil) // it never changes: no need to copy it
	default:
		w.Bulk(value)
	}
	return found
}

// HMGET key field [field ...]
func hmgetSpec() *command.Spec {
	return readSpec("hmget", -3, command.Fast, command.KeyAccess, func(c *command.Call, v db.View) error {
		h, err := hash.Read(v, c.Args.Key())
		if err != nil {
			return err
		}
		c.Reply.Array(c.Args.Len())
		for c.Args.More() {
			replyGet(c.Reply, &h, c.Args.Bytes())
		}
		return nil
	})
}

// HLEN key
func hlenSpec() *command.Spec {
	return readSpec("hlen", 2, command.Fast, 0, func(c *command.Call, v db.View) error {
		h, err := hash.Read(v, c.Args.Key())
		if err == nil {
			c.Reply.Int(int64(h.Len()))
		}
		return err
	})
}

// HSTRLEN key field
func hstrlenSpec() *command.Spec {
	return readSpec("hstrlen", 3, command.Fast, 0, func(c *command.Call, v db.View) error {
		h, err := hash.Read(v, c.Args.Key())
		if err == nil {
			value, _ := h.Get(c.Args.Bytes())
			c.Reply.Int(int64(len(value)))
		}
		return err
	})
}

// HEXISTS key field
func hexistsSpec() *command.Spec {
	return readSpec("hexists", 3, command.Fast, 0, func(c *command.Call, v db.View) error {
		h, err := hash.Read(v, c.Args.Key())
		if err == nil {
			n := int64(0)
			if h.Has(c.Args.Bytes()) {
				n = 1
			}
			c.Reply.Int(n)
		}
		return err
	})
}

const tipNoOrder = "nondeterministic_output_order"

// wholeSpec describes a command that answers with all fields, values, or both.
func wholeSpec(name string, p parts) *command.Spec {
	spec := readSpec(name, 2, 0, command.KeyAccess, func(c *command.Call, v db.View) error {
		h, err := hash.ReadToDraw(v, c.Args.Key())
		if err != nil {
			return err
		}
		if p == partField|partValue {
			c.Reply.Map(h.Len())
		} else {
			c.Reply.Array(h.Len())
		}
		replyAll(c.Reply, &h, p)
		return nil
	})
	spec.Tips = []string{tipNoOrder}
	return spec
}

// HGETALL key
func hgetallSpec() *command.Spec { return wholeSpec("hgetall", partField|partValue) }

// HKEYS key
func hkeysSpec() *command.Spec { return wholeSpec("hkeys", partField) }

// HVALS key
func hvalsSpec() *command.Spec { return wholeSpec("hvals", partValue) }

const tipNondetermined = "nondeterministic_output"

// HSCAN key cursor [MATCH pattern] [COUNT count]
func hscanSpec() *command.Spec {
	spec := readSpec("hscan", -3, 0, command.KeyAccess, hscan)
	spec.Tips = []string{tipNondetermined}
	return spec
}

func hscan(c *command.Call, v db.View) error {
	key, cursor := c.Args.Key(), c.Args.Cursor()
	if err := c.Args.Err(); err != nil {
		return err
	}
	h, err := hash.Read(v, key)
	if err != nil {
		return err
	}
	if h.Len() == 0 {
		command.ReplyScan(c.Reply, 0, 0, &resp.Writer{})
		return nil
	}
	o := c.Args.ScanOptions(false)
	if err = c.Args.Done(); err != nil {
		return err
	}
	var found resp.Writer
	n := 0
	next := h.Scan(cursor, o.Count, func(field, value []byte) {
		if o.Matches(field) {
			found.Bulk(field)
			found.Bulk(value)
			n += 2
		}
	})
	command.ReplyScan(c.Reply, next, n, &found)
	return nil
}

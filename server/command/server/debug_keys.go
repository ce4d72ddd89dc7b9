package admin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

func sortedNames(table map[string]debugCommand) []string {
	return slices.Sorted(maps.Keys(table))
}

// debugPopulate makes keys prefix:0, prefix:1 and so on, those that are there
// stay as they are. Nothing goes to the oplog.
func debugPopulate(c *command.Call, s command.Session) error {
	count := c.Args.IntRange(0, 1<<40, resp.ErrNotPositive)
	prefix, size := []byte("key"), int64(0)
	if c.Args.More() {
		prefix = slices.Clone(c.Args.Bytes())
	}
	if c.Args.More() {
		size = c.Args.IntRange(0, 512<<20, resp.ErrNotPositive)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	c.ReplicateNothing()
	for i := range count {
		key := strconv.AppendInt(append(slices.Clone(prefix), ':'), i, 10)
		value := fmt.Appendf(nil, "value:%d", i)
		if size > 0 {
			sized := make([]byte, size)
			copy(sized, value)
			value = sized
		}
		if err := s.Locked(key, func(tx db.Txn) error { return populateOne(tx, key, value) }); err != nil {
			return err
		}
	}
	c.Reply.OK()
	return nil
}

func populateOne(tx db.Txn, key, value []byte) error {
	if tx.Type(key) != db.TypeNone {
		return nil
	}
	if err := tx.SetString(key, value, db.NoExpiry); err != nil {
		return err
	}
	tx.Touched(key, db.ClassString, "")
	tx.Dirty(-1)
	return nil
}

func debugSDSLen(c *command.Call, s command.Session) error {
	key := c.Args.Key()
	return s.Locked(key, func(tx db.Txn) error {
		m, found := tx.Meta(key)
		switch {
		case !found:
			return resp.ErrNoKey
		case m.Type != db.TypeString || m.Encoding == "int":
			return resp.Error("ERR Not an sds encoded string.")
		}
		c.Reply.Simple(fmt.Sprintf(
			"key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, val_sds_len:%d, val_sds_avail:0, val_zmalloc: %d",
			len(key), len(key), m.Len, max(m.Size-int64(len(key)), 0)))
		return nil
	})
}

func debugProtocol(c *command.Call, _ command.Session) error {
	w := c.Reply
	switch command.Lower(c.Args.Bytes()) {
	case "string":
		w.BulkString("Hello World")
	case "integer":
		w.Int(12345)
	case "double":
		w.Double(3.141)
	case "null":
		w.Null()
	case "array":
		w.Array(3)
		numbers(w, 3)
	case "set":
		w.Set(3)
		numbers(w, 3)
	case "map":
		w.Map(3)
		for i := range int64(3) {
			w.Int(i)
			w.Bool(i == 1)
		}
	case "attrib":
		if w.Proto() == 3 {
			w.Attribute(1)
			w.BulkString("key-popularity")
			w.Array(2)
			w.BulkString("key:123")
			w.Int(90)
		}
		w.BulkString("Some real reply following the attribute")
	case "push":
		if w.Proto() == 2 {
			return resp.Error("ERR RESP2 is not supported by this command")
		}
		w.Push(2)
		w.BulkString("server-cpu-usage")
		w.Int(42)
		w.BulkString("Some real reply following the push reply")
	case "true":
		w.Bool(true)
	case "false":
		w.Bool(false)
	case "verbatim":
		w.Verbatim("txt", []byte("This is a verbatim\nstring"))
	case "bignum":
		w.BigNumber("1234567999999999999999999999999999999")
	default:
		return resp.Error("ERR Wrong protocol type name. Please use one of the following: " +
			"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
	return nil
}

func numbers(w *resp.Writer, n int64) {
	for i := range n {
		w.Int(i)
	}
}

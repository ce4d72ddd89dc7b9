package admin

import (
	"fmt"
	"slices"
	"strings"

	"heddle/config"
	"heddle/db"
	"heddle/db/list"
	"heddle/resp"
	"heddle/server/command"
)

// form looks at the key that is the next argument, which must have one of the
// encodings; else the error is the reply. logged, if not nil, collects lines for the log.
func (f *family) form(c *command.Call, s command.Session, wrong resp.Error, encodings []string, logged func(it *db.Item, tx db.Txn) []string) error {
	key := c.Args.Key()
	var lines []string
	err := s.Locked(key, func(tx db.Txn) error {
		m, found := tx.Meta(key)
		switch {
		case !found:
			return resp.ErrNoKey
		case !slices.Contains(encodings, m.Encoding):
			return wrong
		}
		it, _, err := item(tx, key)
		if err == nil {
			lines = logged(&it, tx)
		}
		return err
	})
	for _, line := range lines {
		f.d.Server.Log(line)
	}
	return err
}

// debugListpack logs the elements of a collection that is called a listpack.
func (f *family) debugListpack(c *command.Call, s command.Session) error {
	err := f.form(c, s, "ERR Not a listpack encoded object.", []string{"listpack", "listpackex"}, func(it *db.Item, tx db.Txn) []string {
		lines := []string{fmt.Sprintf("{%v of %d, %d bytes}", it.Type, it.Coll.Len(), len(it.Coll.Packed))}
		note := func(part []byte) { lines = append(lines, fmt.Sprintf("  %q", part)) }
		if it.Type == db.TypeList {
			l := list.Of(&it.Coll)
			for i := l.Iter(0); i.Next(); {
				note(i.Entry().Append(nil))
			}
		}
		eachPart(it, tx.Now(), note, func(score float64) { lines = append(lines, fmt.Sprint("  ", score)) })
		return lines
	})
	if err == nil {
		c.Reply.Simple("Listpack structure printed on stdout")
	}
	return err
}

// debugQuicklist logs the nodes of a list that is called a quicklist.
func (f *family) debugQuicklist(c *command.Call, s command.Session) error {
	err := f.form(c, s, "ERR Not a quicklist encoded object.", []string{"quicklist"}, func(it *db.Item, tx db.Txn) []string {
		n := quicklist(it, tx.Limits())
		lines := []string{fmt.Sprintf("{list of %d,%v}", n.total, n)}
		for i := range n.sizes {
			lines = append(lines, fmt.Sprintf("  {node %d: %d elements, %d bytes}", i, n.items[i], n.sizes[i]))
		}
		return lines
	})
	if err == nil {
		c.Reply.Simple("Quicklist structure printed on stdout")
	}
	return err
}

// debugHTStatsKey describes a large collection. There is no table of chains to tell
// of; the figures that say how large it would be are those of Redis.
func (f *family) debugHTStatsKey(c *command.Call, s command.Session) error {
	var text strings.Builder
	const wrong = "ERR The value stored at the specified key is not represented using an hash table"
	err := f.form(c, s, wrong, []string{"hashtable", "skiplist"}, func(it *db.Item, _ db.Txn) []string {
		n, size := it.Coll.Len(), 4
		for size < n {
			size *= 2
		}
		fmt.Fprintf(&text, "Hash table 0 stats (main hash table):\n table size: %d\n number of elements: %d\n bytes: %d\n", size, n, it.Coll.MemSize())
		return nil
	})
	if err == nil {
		c.Reply.Verbatim("txt", []byte(text.String()))
	}
	return err
}

// debugPackedThreshold sets from which size on an element of a list is a node of its own.
func (f *family) debugPackedThreshold(c *command.Call, _ command.Session) error {
	n, ok := config.ParseMemory(string(c.Args.Bytes()))
	if !ok || n < 0 || n > 4<<30 {
		return resp.Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
	}
	f.d.Server.SetPackedThreshold(n)
	c.Reply.OK()
	return nil
}

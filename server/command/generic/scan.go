package generic

import (
	"bytes"

	"heddle/db"
	"heddle/db/glob"
	"heddle/resp"
	"heddle/server/command"
)

// scanSpecs: SCAN cursor [MATCH pattern] [COUNT count] [TYPE type],
// KEYS pattern, RANDOMKEY
func scanSpecs() []*command.Spec {
	return []*command.Spec{{
		Name: "scan", Arity: -2, Flags: command.Reads, ACL: command.CatKeyspace, Group: group,
		Tips:    []string{tipNondetermined, "request_policy:special", "response_policy:special"},
		Control: scan,
	}, {
		Name: "keys", Arity: 2, Flags: command.Reads, ACL: command.CatKeyspace | command.CatDangerous, Group: group,
		Tips: []string{tipAllShards, tipNoOrder}, Control: keys,
	}, {
		Name: "randomkey", Arity: 1, Flags: command.Reads, ACL: command.CatKeyspace, Group: group,
		Tips: []string{tipAllShards, "response_policy:special", tipNondetermined}, Control: randomKey,
	}}
}

func scan(c *command.Call, s command.Session) error {
	cursor, o := c.Args.Cursor(), c.Args.ScanOptions(true)
	if err := c.Args.Done(); err != nil {
		return err
	}
	var found resp.Writer
	n := 0
	next := s.Keyspace().Scan(s.DB(), cursor, o.Count, func(key []byte, t db.Type) {
		if (o.Type == "" || o.Type == t.String()) && o.Matches(key) {
			found.Bulk(key)
			n++
		}
	})
	command.ReplyScan(c.Reply, next, n, &found)
	return nil
}

// keysAside is from how many keys on KEYS leaves its worker's thread: walking
// fewer takes less than a millisecond.
const keysAside = 10_000

// keys walks the keyspace in a snapshot: nothing is locked meanwhile.
func keys(c *command.Call, s command.Session) error {
	pattern := bytes.Clone(c.Args.Bytes())
	if glob.MatchesAll(pattern) {
		pattern = nil
	}
	ks, from := s.Keyspace(), s.DB()
	if ks.Len(from) >= keysAside {
		return c.Aside(func(w *resp.Writer) { list(w, ks, from, pattern) })
	}
	list(c.Reply, ks, from, pattern)
	return nil
}

// list collects what matches before it answers, since the number comes first.
func list(w *resp.Writer, ks db.Whole, from int, pattern []byte) {
	var found resp.Writer
	n := 0
	ks.Each(from, func(key []byte, _ db.Type) bool {
		if pattern == nil || glob.Match(pattern, key) {
			found.Bulk(key)
			n++
		}
		return true
	})
	w.Array(n)
	w.Raw(found.Bytes())
}

func randomKey(c *command.Call, s command.Session) error {
	key, ok := s.Keyspace().RandomKey(s.DB(), nil)
	if !ok {
		c.Reply.Null()
		return nil
	}
	c.Reply.Bulk(key)
	return nil
}

package generic

import (
	"bytes"
	"math"
	"strconv"

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

const errCursor resp.Error = "ERR invalid cursor"

// scanOptions are what SCAN filters by.
type scanOptions struct {
	pattern []byte
	count   int64
	kind    string
}

func scan(c *command.Call, s command.Session) error {
	cursor, ok := parseCursor(c.Args.Bytes())
	if !ok {
		return errCursor
	}
	o := readScanOptions(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	var found resp.Writer
	n := 0
	next := s.Keyspace().Scan(s.DB(), cursor, int(o.count), func(key []byte, t db.Type) {
		if o.admits(key, t) {
			found.Bulk(key)
			n++
		}
	})
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatUint(next, 10))
	c.Reply.Array(n)
	c.Reply.Raw(found.Bytes())
	return nil
}

func readScanOptions(a *command.Args) scanOptions {
	o := scanOptions{count: 10}
	for a.More() {
		switch {
		case a.Len() < 2:
			a.Reject(resp.ErrSyntax)
		case a.Word("match"):
			if o.pattern = a.Bytes(); glob.MatchesAll(o.pattern) {
				o.pattern = nil
			}
		case a.Word("count"):
			if o.count = a.Int(); o.count < 1 {
				a.Reject(resp.ErrSyntax)
			}
			// More keys than there can be, but what an int holds on all machines.
			o.count = min(o.count, math.MaxInt32)
		case a.Word("type"):
			o.kind = command.Lower(a.Bytes())
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

func (o *scanOptions) admits(key []byte, t db.Type) bool {
	if o.kind != "" && o.kind != t.String() {
		return false
	}
	return o.pattern == nil || glob.Match(o.pattern, key)
}

// parseCursor reads a cursor as C's strtoul does, which Redis reads it with: a
// sign is accepted, no digits at all are zero, and a zero byte ends the text.
func parseCursor(b []byte) (uint64, bool) {
	b, _, _ = bytes.Cut(b, []byte{0})
	if len(b) == 0 {
		return 0, true
	}
	digits := b
	if b[0] == '-' || b[0] == '+' {
		digits = b[1:]
	}
	if len(digits) == 0 || digits[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, false
	}
	if b[0] == '-' {
		n = -n
	}
	return n, true
}

// keysAside is from how many keys on KEYS leaves its worker's thread: walking
// fewer takes less than a millisecond.
const keysAside = 10_000

// keys walks the keyspace in a snapshot: nothing is locked meanwhile.
func keys(c *command.Call, s command.Session) error {
	o := scanOptions{pattern: bytes.Clone(c.Args.Bytes())}
	if glob.MatchesAll(o.pattern) {
		o.pattern = nil
	}
	ks, from := s.Keyspace(), s.DB()
	if ks.Len(from) >= keysAside {
		return c.Aside(func(w *resp.Writer) { o.list(w, ks, from) })
	}
	o.list(c.Reply, ks, from)
	return nil
}

// list collects what matches before it answers, since the number comes first.
func (o *scanOptions) list(w *resp.Writer, ks db.Whole, from int) {
	var found resp.Writer
	n := 0
	ks.Each(from, func(key []byte, t db.Type) bool {
		if o.admits(key, t) {
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

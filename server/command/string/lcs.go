package str

import (
	"math/bits"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// LCS key1 key2 [LEN] [IDX] [MINMATCHLEN n] [WITHMATCHLEN]
func lcsSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "lcs", Arity: -3, Keys: command.Range(1, 2, 1, command.KeyRO|command.KeyAccess),
		ACL: command.CatString, Group: "string",
		Read: func(c *command.Call, v db.View) error { return lcs(c, v, maxBulk()) },
	}
}

const (
	errLCSType   resp.Error = "ERR The specified keys must contain string values"
	errLCSOption resp.Error = "ERR If you want both the length and indexes, please just use IDX."
	errLCSMemory resp.Error = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

type lcsOptions struct {
	length, ranges, matchLen bool
	minMatch                 int64
}

func lcs(c *command.Call, v db.View, most int64) error {
	a, _, errA := v.String(c.Args.Key())
	b, _, errB := v.String(c.Args.Key())
	if errA != nil || errB != nil {
		return errLCSType
	}
	o := parseLCSOptions(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	if o.ranges && o.length {
		return errLCSOption
	}
	var tmpA, tmpB [20]byte
	x, y := command.StrBytes(a, tmpA[:0]), command.StrBytes(b, tmpB[:0])
	// Redis fills a table of 32-bit numbers and refuses what makes it larger
	// than a string may be. Ours is 32 times smaller, the limit is the same.
	if int64(len(x)+1) > most/4/int64(len(y)+1) {
		return errLCSMemory
	}
	switch t := newLCSTable(x, y); {
	case o.ranges:
		replyRanges(c.Reply, t, &o)
	case o.length:
		c.Reply.Int(int64(t.length()))
	default:
		c.Reply.Bulk(t.common())
	}
	return nil
}

func parseLCSOptions(a *command.Args) (o lcsOptions) {
	for a.More() {
		switch {
		case a.Word("idx"):
			o.ranges = true
		case a.Word("len"):
			o.length = true
		case a.Word("withmatchlen"):
			o.matchLen = true
		case a.Len() > 1 && a.Word("minmatchlen"):
			o.minMatch = max(a.Int(), 0)
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

// lcsTable holds what the usual table of common lengths L(i,j), of a's first i
// and b's first j bytes, says, in one bit a cell: whether L(i,j) > L(i,j-1).
// A row follows from the one above it by an addition and a few logical
// operations on whole words (Hyyro 2004), 64 cells at a time.
type lcsTable struct {
	a, b  []byte
	words int
	rows  []uint64 // row i at (i-1)*words; a bit is 0 where the length grows
}

func newLCSTable(a, b []byte) *lcsTable {
	t := &lcsTable{a: a, b: b, words: (len(b) + 63) / 64}
	t.rows = make([]uint64, len(a)*t.words)
	where := positions(b, t.words)
	above := make([]uint64, t.words)
	for i := range above {
		above[i] = ^uint64(0)
	}
	for i, c := range a {
		row := t.rows[i*t.words : (i+1)*t.words]
		nextRow(row, above, where[c])
		above = row
	}
	return t
}

// positions returns for each byte in b the bit set of where it stands.
func positions(b []byte, words int) (where [256][]uint64) {
	for j, c := range b {
		if where[c] == nil {
			where[c] = make([]uint64, words)
		}
		where[c][j/64] |= 1 << (j % 64)
	}
	return where
}

func nextRow(row, above, match []uint64) {
	if match == nil {
		copy(row, above)
		return
	}
	var carry uint64
	for w, v := range above {
		m := match[w]
		var sum uint64
		sum, carry = bits.Add64(v, v&m, carry)
		row[w] = sum | v&^m
	}
}

// grows reports whether L(i,j) > L(i,j-1).
func (t *lcsTable) grows(i, j int) bool {
	j--
	return t.rows[(i-1)*t.words+j/64]>>(j%64)&1 == 0
}

// length returns the length of the longest common subsequence.
func (t *lcsTable) length() int {
	if len(t.a) == 0 {
		return 0
	}
	n := len(t.b)
	for _, w := range t.rows[(len(t.a)-1)*t.words:] {
		n -= bits.OnesCount64(w)
	}
	if tail := len(t.b) % 64; tail != 0 {
		n += bits.OnesCount64(t.rows[len(t.rows)-1] >> tail)
	}
	return n
}

// walk goes back from the end of both strings to the beginning of one and calls
// fn with the indexes of each common byte. Where both ways are as good it gives
// up b's byte, as Redis does.
func (t *lcsTable) walk(fn func(i, j int)) {
	i, j := len(t.a), len(t.b)
	for i > 0 && j > 0 {
		switch {
		case t.a[i-1] == t.b[j-1]:
			i, j = i-1, j-1
			fn(i, j)
		case t.grows(i, j):
			// The length comes from the row above: it cannot also have grown
			// from there, the bytes being different.
			i--
		default:
			j--
		}
	}
}

// common returns the longest common subsequence.
func (t *lcsTable) common() []byte {
	out := make([]byte, t.length())
	n := len(out)
	t.walk(func(i, _ int) {
		n--
		out[n] = t.a[i]
	})
	return out
}

// lcsRange is a run of common bytes, at a and b in the two strings.
type lcsRange struct{ a, b, n int }

// ranges returns the runs of at least minMatch bytes, the last first.
func (t *lcsTable) ranges(minMatch int64) []lcsRange {
	var out []lcsRange
	var cur lcsRange
	flush := func() {
		if cur.n > 0 && int64(cur.n) >= minMatch {
			out = append(out, cur)
		}
	}
	t.walk(func(i, j int) {
		if cur.n > 0 && cur.a == i+1 && cur.b == j+1 {
			cur = lcsRange{i, j, cur.n + 1}
			return
		}
		flush()
		cur = lcsRange{i, j, 1}
	})
	flush()
	return out
}

func replyRanges(w *resp.Writer, t *lcsTable, o *lcsOptions) {
	ranges := t.ranges(o.minMatch)
	w.Map(2)
	w.BulkString("matches")
	w.Array(len(ranges))
	for _, r := range ranges {
		if o.matchLen {
			w.Array(3)
		} else {
			w.Array(2)
		}
		replyRange(w, r.a, r.n)
		replyRange(w, r.b, r.n)
		if o.matchLen {
			w.Int(int64(r.n))
		}
	}
	w.BulkString("len")
	w.Int(int64(t.length()))
}

func replyRange(w *resp.Writer, from, n int) {
	w.Array(2)
	w.Int(int64(from))
	w.Int(int64(from + n - 1))
}

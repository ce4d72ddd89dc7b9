package command

import (
	"bytes"
	"math"
	"strconv"

	"heddle/db/glob"
	"heddle/resp"
)

const errCursor resp.Error = "ERR invalid cursor"

// ScanOptions are what SCAN, HSCAN, SSCAN and ZSCAN take behind the cursor.
type ScanOptions struct {
	Count   int    // about how many elements to visit, at least 1
	Type    string // lower case, "" for any
	pattern []byte // nil: any
}

// Cursor returns the next argument, the cursor of SCAN and its kin. It is read as C's
// strtoul does, which Redis reads it with: a sign is accepted, no digits at all are
// zero, and a zero byte ends the text.
func (a *Args) Cursor() uint64 {
	b := a.Bytes()
	if a.err != nil {
		return 0
	}
	n, ok := parseCursor(b)
	if !ok {
		a.err = errCursor
	}
	return n
}

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

// ScanOptions reads the options of SCAN from the rest of the arguments:
// [MATCH pattern] [COUNT count], and [TYPE type] if types is set.
func (a *Args) ScanOptions(types bool) ScanOptions {
	o := ScanOptions{Count: 10}
	for a.More() {
		switch {
		case a.Len() < 2:
			a.Reject(resp.ErrSyntax)
		case a.Word("match"):
			if o.pattern = a.Bytes(); glob.MatchesAll(o.pattern) {
				o.pattern = nil
			}
		case a.Word("count"):
			n := a.Int()
			if n < 1 {
				a.Reject(resp.ErrSyntax)
			}
			// More elements than there can be, but what an int holds on all machines.
			o.Count = int(min(n, math.MaxInt32))
		case types && a.Word("type"):
			o.Type = Lower(a.Bytes())
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

// Matches reports whether the pattern fits.
func (o *ScanOptions) Matches(b []byte) bool { return o.pattern == nil || glob.Match(o.pattern, b) }

// ReplyScan writes the reply of SCAN: the cursor to go on with, and n elements, which
// were written to found.
func ReplyScan(w *resp.Writer, next uint64, n int, found *resp.Writer) {
	w.Array(2)
	w.BulkString(strconv.FormatUint(next, 10))
	w.Array(n)
	w.Raw(found.Bytes())
}

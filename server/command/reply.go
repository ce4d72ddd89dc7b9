package command

import (
	"math/bits"
	"strconv"

	"heddle/db"
	"heddle/resp"
)

// copyBelow is the length up to which a part of a large value is copied into
// the reply: a piece of its own in the connection's list of buffers, with a
// reference to give back, costs more than moving that many bytes.
const copyBelow = 4 << 10

// ReplyStr writes a string value as a bulk string. A large value stays where
// it is: the reply holds a reference until its bytes have left.
func ReplyStr(w *resp.Writer, s *db.Str) {
	switch {
	case s.IsInt:
		w.BulkInt(s.N)
	case s.Big != nil:
		s.Big.Retain()
		w.BulkExternal(s.B, s.Big)
	default:
		w.Bulk(s.B)
	}
}

// ReplyStrPart writes the bytes from..to (exclusive) of a string value, like
// ReplyStr without copying what is large.
func ReplyStrPart(w *resp.Writer, s db.Str, from, to int) {
	if s.Big != nil && to-from >= copyBelow {
		s.Big.Retain()
		w.BulkExternal(s.B[from:to], s.Big)
		return
	}
	var tmp [20]byte
	w.Bulk(StrBytes(s, tmp[:0])[from:to])
}

// StrBytes returns the bytes of a string value; those of an integer are
// written into tmp, whose capacity should be 20.
func StrBytes(s db.Str, tmp []byte) []byte {
	if s.IsInt {
		return strconv.AppendInt(tmp[:0], s.N, 10)
	}
	return s.B
}

// StrLen returns the length of a string value in bytes.
func StrLen(s db.Str) int {
	if !s.IsInt {
		return len(s.B)
	}
	n, u := 0, uint64(s.N)
	if s.N < 0 {
		n, u = 1, -u
	}
	return n + decimalDigits(u)
}

// powers10 holds 10^i: a number below powers10[i] has at most i digits.
var powers10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

func decimalDigits(u uint64) int {
	// 1233/4096 is a little more than log10(2).
	n := bits.Len64(u) * 1233 >> 12
	if n < len(powers10) && u >= powers10[n] {
		n++
	}
	return max(n, 1)
}

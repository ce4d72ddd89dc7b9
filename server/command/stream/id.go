package streams

import (
	"bytes"
	"math"

	"heddle/db/stream"
	"heddle/server/command"
)

// IDs are read as Redis reads them: what stands behind a zero byte does not count, and
// numbers that are not in their usual spelling are read once more as C's strtoull does.

// maxIDText is the most bytes that an ID may be spelled with.
const maxIDText = 127

// cText returns b up to its first zero byte.
func cText(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// strictID reads "ms-seq" or "ms", whose seq is missing then.
func strictID(b []byte, missing uint64) (id stream.ID, ok bool) {
	if len(b) > maxIDText {
		return id, false
	}
	ms, seq, both := bytes.Cut(cText(b), []byte{'-'})
	id.Seq = missing
	if id.Ms, ok = number(ms); ok && both {
		id.Seq, ok = number(seq)
	}
	return id, ok
}

// looseID is strictID that knows - and + as the first and the last ID.
func looseID(b []byte, missing uint64) (stream.ID, bool) {
	if len(b) <= maxIDText {
		switch string(cText(b)) {
		case "-":
			return stream.ID{}, true
		case "+":
			return stream.MaxID, true
		}
	}
	return strictID(b, missing)
}

// number reads an unsigned number.
func number(b []byte) (uint64, bool) {
	if n, ok := command.ParseInt(b); ok {
		return uint64(n), n >= 0
	}
	return strtoull(b)
}

// strtoull reads an unsigned number as C does: blanks in front, a sign, and a negative
// one is taken modulo 2^64.
func strtoull(b []byte) (uint64, bool) {
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := false
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		n = -n
	}
	return n, true
}

// argID reads the next argument as an ID.
func argID(a *command.Args) stream.ID {
	b := a.Bytes()
	if a.Err() != nil {
		return stream.ID{}
	}
	id, ok := strictID(b, 0)
	if !ok {
		a.Reject(errID)
	}
	return id
}

// parseBound reads an end of a range, which a bracket in front excludes.
func parseBound(b []byte, missing uint64) (id stream.ID, exclusive bool, err error) {
	ok := false
	if len(b) > 1 && b[0] == '(' {
		exclusive = true
		id, ok = strictID(b[1:], missing)
	} else {
		id, ok = looseID(b, missing)
	}
	if !ok {
		return id, false, errID
	}
	return id, exclusive, nil
}

// parseStart reads the first ID of a range, parseEnd the last.
func parseStart(b []byte) (stream.ID, error) {
	id, exclusive, err := parseBound(b, 0)
	if err == nil && exclusive {
		if id, exclusive = id.Next(); !exclusive {
			return id, errStartOfRange
		}
	}
	return id, err
}

// parseEnd is described at parseStart.
func parseEnd(b []byte) (stream.ID, error) {
	id, exclusive, err := parseBound(b, math.MaxUint64)
	if err == nil && exclusive {
		if id, exclusive = id.Prev(); !exclusive {
			return id, errEndOfRange
		}
	}
	return id, err
}

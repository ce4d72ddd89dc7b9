package stream

import (
	"math"
	"strconv"
)

// ID is the identifier of an entry: a time in milliseconds and a number within it. The
// entries of a stream stand in the order of their IDs. The zero ID is before all entries.
type ID struct{ Ms, Seq uint64 }

// MaxID is the last ID there can be.
var MaxID = ID{math.MaxUint64, math.MaxUint64}

// Compare returns a negative number, zero or a positive number as a is before, equal to or after b.
func (a ID) Compare(b ID) int {
	switch {
	case a.Ms < b.Ms:
		return -1
	case a.Ms > b.Ms:
		return 1
	case a.Seq < b.Seq:
		return -1
	case a.Seq > b.Seq:
		return 1
	}
	return 0
}

// Before reports whether a is smaller than b.
func (a ID) Before(b ID) bool { return a.Ms < b.Ms || a.Ms == b.Ms && a.Seq < b.Seq }

// IsZero reports whether the ID is 0-0, which no entry has.
func (a ID) IsZero() bool { return a == ID{} }

// Next returns the ID behind a; false when a is the last.
func (a ID) Next() (ID, bool) {
	switch {
	case a.Seq < math.MaxUint64:
		return ID{a.Ms, a.Seq + 1}, true
	case a.Ms < math.MaxUint64:
		return ID{a.Ms + 1, 0}, true
	}
	return a, false
}

// Prev returns the ID in front of a; false when a is the first.
func (a ID) Prev() (ID, bool) {
	switch {
	case a.Seq > 0:
		return ID{a.Ms, a.Seq - 1}, true
	case a.Ms > 0:
		return ID{a.Ms - 1, math.MaxUint64}, true
	}
	return a, false
}

// Append appends the ID as it is written, "ms-seq", to dst.
func (a ID) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, a.Ms, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, a.Seq, 10)
}

// IDSize is the most bytes that a written ID has.
const IDSize = 41

// String returns the ID as it is written.
func (a ID) String() string { return string(a.Append(nil)) }

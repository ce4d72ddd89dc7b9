// Package intset keeps small sets of integers as sorted arrays within plain
// bytes.
//
// An intset is a header of HeaderSize bytes and the members in ascending order,
// little endian, each as wide as the widest of them needs:
//
//	number of members, 16 bits | bytes a member: 2, 4 or 8 | members ...
//
// A member is found by halving. To add one, the members above it move up, which
// is what makes this a form for small sets; in return a member takes two bytes
// where a hash table takes a dozen. The width only grows: taking it back when the
// wide members leave would make every removal look at both ends, and sets that
// had one wide member tend to have others.
//
// The bytes usually live in memory that somebody else manages, so adding is cut
// in two: Room says how the bytes must be stretched, and when that is done, Put
// writes the member; removing is Hole, the cut, and Removed. Insert and Remove do
// all of it where the bytes are a slice of one's own.
//
// Rejected: the difference to the member before instead of the member. Most sets
// of ids would halve again, but finding a member would mean reading all before
// it.
//
// Limits: MaxLen members. Nothing here checks bounds of what was damaged; bytes
// from elsewhere must pass Check first.
package intset

import (
	"encoding/binary"
	"errors"
	"math"
)

// HeaderSize is the number of bytes before the first member.
const HeaderSize = 3

// MaxLen is the number of members that the header can count.
const MaxLen = math.MaxUint16

// Len returns the number of members. Empty bytes are an empty set.
func Len(b []byte) int {
	if len(b) < HeaderSize {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b))
}

// Width returns the bytes that each member takes: 2, 4 or 8.
func Width(b []byte) int { return int(b[2]) }

// WidthOf returns the least width that can hold v.
func WidthOf(v int64) int {
	switch {
	case v == int64(int16(v)):
		return 2
	case v == int64(int32(v)):
		return 4
	}
	return 8
}

// Size returns the bytes that n members of a width take.
func Size(n, width int) int { return HeaderSize + n*width }

// At returns member i, counted from the smallest.
func At(b []byte, i int) int64 { return load(b, Width(b), i) }

// load returns the member at place i of members of a width.
func load(b []byte, width, i int) int64 {
	at := HeaderSize + i*width
	switch width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b[at:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b[at:])))
	}
	return int64(binary.LittleEndian.Uint64(b[at:]))
}

// store is the other direction.
func store(b []byte, width, i int, v int64) {
	at := HeaderSize + i*width
	switch width {
	case 2:
		binary.LittleEndian.PutUint16(b[at:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(b[at:], uint64(v))
	}
}

// Search looks for v: its place if it is there, else the place where it belongs.
func Search(b []byte, v int64) (i int, found bool) {
	n := Len(b)
	if n == 0 {
		return 0, false
	}
	width := Width(b)
	if WidthOf(v) > width {
		if v < 0 {
			return 0, false
		}
		return n, false
	}
	// Sets often grow at their end.
	if last := load(b, width, n-1); v >= last {
		if v == last {
			return n - 1, true
		}
		return n, false
	}
	lo, hi := 0, n-1
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if load(b, width, mid) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, load(b, width, lo) == v
}

// Has reports whether v is a member.
func Has(b []byte, v int64) bool {
	_, found := Search(b, v)
	return found
}

// Room says how b must be stretched before Put can add v at the place that Search
// gave: ins bytes go in at offset at. What they hold does not matter, but bytes of
// an empty set that were not there before must be zero.
func Room(b []byte, i int, v int64) (at, ins int) {
	if len(b) < HeaderSize {
		return 0, HeaderSize + WidthOf(v)
	}
	n, width := Len(b), Width(b)
	if wide := WidthOf(v); wide > width {
		return len(b), Size(n+1, wide) - len(b)
	}
	return HeaderSize + i*width, width
}

// Put adds v at place i to bytes that were stretched as Room said.
func Put(b []byte, i int, v int64) {
	n, width := Len(b), Width(b)
	if wide := WidthOf(v); wide > width {
		widen(b, n, width, wide, i)
		width = wide
	}
	store(b, width, i, v)
	setLen(b, n+1)
}

// widen rewrites n members in a greater width, from the end on, since they
// spread upwards; a gap is left at place gap, which is either end.
func widen(b []byte, n, from, to, gap int) {
	shift := 0
	if gap == 0 {
		shift = 1
	}
	for i := n - 1; i >= 0; i-- {
		store(b, to, i+shift, load(b, from, i))
	}
	b[2] = byte(to)
}

// Hole says which bytes must be cut out of b to remove member i: del of them at
// offset at. Removed must follow.
func Hole(b []byte, i int) (at, del int) {
	width := Width(b)
	return HeaderSize + i*width, width
}

// Removed counts a member less, after its bytes were cut out.
func Removed(b []byte) { setLen(b, Len(b)-1) }

func setLen(b []byte, n int) { binary.LittleEndian.PutUint16(b, uint16(n)) }

// Insert adds v to a set that is a slice of the caller's, which may be nil, and
// reports whether it is new.
func Insert(b []byte, v int64) ([]byte, bool) {
	i, found := Search(b, v)
	if found {
		return b, false
	}
	at, ins := Room(b, i, v)
	old := len(b)
	for range ins {
		b = append(b, 0)
	}
	copy(b[at+ins:], b[at:old])
	Put(b, i, v)
	return b, true
}

// Remove removes v from a set that is a slice of the caller's and reports whether
// it was there.
func Remove(b []byte, v int64) ([]byte, bool) {
	i, found := Search(b, v)
	if !found {
		return b, false
	}
	at, del := Hole(b, i)
	b = append(b[:at], b[at+del:]...)
	Removed(b)
	return b, true
}

// Check reports what is wrong with bytes that claim to be an intset.
func Check(b []byte) error {
	if len(b) < HeaderSize {
		return errors.New("intset: too short for a header")
	}
	n, width := Len(b), Width(b)
	if width != 2 && width != 4 && width != 8 {
		return errors.New("intset: no such width")
	}
	if len(b) != Size(n, width) {
		return errors.New("intset: not as long as its members are")
	}
	for i := 1; i < n; i++ {
		if load(b, width, i-1) >= load(b, width, i) {
			return errors.New("intset: members out of order")
		}
	}
	return nil
}

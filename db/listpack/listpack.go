// Package listpack packs short strings and integers behind each other in a
// few bytes each: the form in which small collections, and the blocks of large
// ones, keep their elements.
package listpack

import "encoding/binary"

// A packed value is two bytes of count (little endian, as the type counts:
// elements, members, fields) and then entries, each of which tells its own
// length in front. Nothing ends it: its length is that of the slice.
//
// The first byte of an entry says what it is:
//
//	00..6f  the integer 0..111
//	70..7f  the integer 4208..1052783; 4 bits here, 16 in the next 2 bytes
//	80..97  a string of 4..27 letters and digits, '-' and '_', 6 bits each
//	98..af  a string of 4..27 characters of lower-case text, 6 bits each
//	b0..bf  a string of 8..23 ASCII characters, 7 bits each
//	c0..df  a string of 0..31 bytes as they are
//	e0..ef  the integer 112..4207; 4 bits here, 8 in the next byte
//	f0      an integer -1..-256 in one byte
//	f1..f6  an integer in 2, 3, 4, 5, 6, 8 bytes, little endian
//	f7..f9  a string as it is, its length in the next 1, 2, 4 bytes
//	fa..fc  as 80, 98, b0 with the number of characters in the next byte, up to 64
//
// The spelling is canonical: a string has exactly one, which depends on
// nothing but the string, so that equal strings are equal bytes and a search
// compares bytes without unpacking. A string that is the decimal spelling of a
// 64-bit integer always is that integer.
//
// This is Redis' listpack in idea (entries that tell their length, integers as
// integers) but not in bytes. Two things differ. There is no back length behind
// an entry, which saves a byte each; the few who walk backwards collect offsets
// first. And most of what is stored in practice (names, numbers of things,
// tokens, UUIDs, dates) needs no 8 bits a character: "field:12" takes 7 bytes
// here and 10 in Redis. That is where most of the saving is, and packing costs
// about a nanosecond a character. Longer strings than 64 characters are left as
// they are: their header is nothing beside them and copying them is quick.
//
// Rejected: sharing prefixes with the entry before. It saves more on
// "field:1", "field:2", but an entry could only be read from the start of the
// block, and changing one means changing its neighbour.

// Header is how many bytes of count a packed value begins with: the offset of
// its first entry.
const Header = 2

// MaxCount is the largest count that the header holds.
const MaxCount = 1<<16 - 1

// Count returns the count in the header of packed value p.
func Count(p []byte) int { return int(binary.LittleEndian.Uint16(p)) }

// SetCount writes the count into the header of p.
func SetCount(p []byte, n int) { binary.LittleEndian.PutUint16(p, uint16(n)) }

// At returns the entry of p at offset at. The next one begins at at+len(e).
// The entry is a part of p. At panics when there is no whole entry.
func At(p []byte, at int) Entry {
	n := int(entrySizes[p[at]])
	if n == 0 {
		n = longSize(p[at:])
	}
	return Entry(p[at : at+n : at+n])
}

// Next returns the offset behind the entry of p at offset at.
func Next(p []byte, at int) int {
	if n := int(entrySizes[p[at]]); n != 0 {
		return at + n
	}
	return at + longSize(p[at:])
}

// Skip returns the offset of the entry that stands n entries behind the one at
// offset at. It may be len(p), behind the last.
func Skip(p []byte, at, n int) int {
	for ; n > 0; n-- {
		size := int(entrySizes[p[at]])
		if size == 0 {
			size = longSize(p[at:])
		}
		at += size
	}
	return at
}

// Find returns the offset of the first entry of p equal to v, looking at the
// entry at offset at and then at every one behind skip others (1 for the fields
// of pairs); -1 when there is none.
func Find(p []byte, at int, v *Value, skip int) int {
	size := v.Size()
	word, mask := v.prefix()
	for at < len(p) {
		if at+8 <= len(p) {
			if (binary.LittleEndian.Uint64(p[at:])^word)&mask == 0 && (size <= 8 || v.is(p[at:])) {
				return at
			}
		} else if p[at] == v.head[0] && v.is(p[at:]) {
			return at
		}
		at = Next(p, at)
		for i := 0; i < skip; i++ {
			at = Next(p, at)
		}
	}
	return -1
}

// Offsets appends the offsets of the entries of p from offset at on to dst, for
// walking backwards. p must not be longer than 64 KB.
func Offsets(dst []uint16, p []byte, at int) []uint16 {
	for at < len(p) {
		dst = append(dst, uint16(at))
		at = Next(p, at)
	}
	return dst
}

package rdb

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Long strings are compressed in the format of liblzf. A compressed text is a
// sequence of runs and copies:
//
//	000nnnnn, n+1 bytes          a run: these bytes
//	nnnooooo oooooooo            a copy: n+2 bytes from o+1 before, n is 1 to 6
//	111ooooo nnnnnnnn oooooooo   a copy: n+9 bytes from o+1 before
//
// A copy may reach into what it is writing itself. The compressor remembers
// where each group of three bytes was seen last, in a table of fixed size, and
// looks for nothing better: it is the price that Redis pays too, and a search
// for longer copies would take several times as long for a tenth less.
const (
	lzfRun      = 32      // bytes of a run at most
	lzfWindow   = 1 << 13 // how far back a copy reaches at most
	lzfCopy     = 264     // bytes of a copy at most: 255 and 9
	lzfTableLog = 14      // the table has up to so many bits of slots
	lzfMinimum  = 20      // strings of at most so many bytes are not compressed
)

var errLZF = errors.New("broken LZF data")

// compressor compresses strings one after another. Its table is as large as the
// longest string needs, and not cleared between them: what it holds of earlier
// strings lies below base.
type compressor struct {
	table []uint32
	shift uint // of a hash, to be a slot
	base  uint32
}

// ready makes the table large enough for a string of n bytes, and gives the
// string its base.
func (c *compressor) ready(n int) {
	if size := min(bits.Len(uint(n)), lzfTableLog); len(c.table) < 1<<size {
		c.table, c.shift, c.base = make([]uint32, 1<<size), uint(32-size), 0
	}
	if c.base > 1<<31-1<<30 {
		clear(c.table)
		c.base = 0
	}
}

// compress appends s compressed to dst. It gives up, and returns dst as it was
// and false, when the outcome would take more than limit bytes.
func (c *compressor) compress(dst, s []byte, limit int) ([]byte, bool) {
	start := len(dst)
	if len(s) < 4 || len(s) > 1<<30 {
		return dst, false
	}
	c.ready(len(s))
	base := c.base + 1 // so that a zero in the table is nothing
	c.base += uint32(len(s)) + 1
	literal, at := 0, 0
	for at+3 <= len(s) {
		slot := &c.table[lzfHash(s, at)>>c.shift]
		before := int(int64(*slot) - int64(base))
		*slot = base + uint32(at)
		if before < 0 || at-before > lzfWindow || s[before] != s[at] || s[before+1] != s[at+1] || s[before+2] != s[at+2] {
			at++
			if skip := at - literal; skip > 256 {
				at += skip >> 8 // it does not seem to be compressible
			}
			continue
		}
		n := matchLength(s, before, at)
		dst = appendRuns(dst, s[literal:at])
		dst = appendCopy(dst, at-before-1, n)
		if len(dst)-start > limit {
			return dst[:start], false
		}
		// Remember the last group that the copy covers whole, so that
		// repetitions of odd lengths are met again.
		if end := at + n; n > 3 && end+1 <= len(s) {
			c.table[lzfHash(s, end-2)>>c.shift] = base + uint32(end-2)
		}
		at += n
		literal = at
	}
	dst = appendRuns(dst, s[literal:])
	if len(dst)-start > limit {
		return dst[:start], false
	}
	return dst, true
}

// lzfHash is the hash of the three bytes at s[at:]; its upper bits are the slot.
func lzfHash(s []byte, at int) uint32 {
	v := uint32(s[at])<<16 | uint32(s[at+1])<<8 | uint32(s[at+2])
	return v * 0x9e3779b1
}

// matchLength says how many bytes at s[at:] are equal to those at s[before:],
// as many as one copy takes at most.
func matchLength(s []byte, before, at int) int {
	n, most := 3, min(len(s)-at, lzfCopy)
	for n+8 <= most && binary.LittleEndian.Uint64(s[before+n:]) == binary.LittleEndian.Uint64(s[at+n:]) {
		n += 8
	}
	for n < most && s[before+n] == s[at+n] {
		n++
	}
	return n
}

func appendRuns(dst, s []byte) []byte {
	for len(s) > 0 {
		n := min(len(s), lzfRun)
		dst = append(append(dst, byte(n-1)), s[:n]...)
		s = s[n:]
	}
	return dst
}

func appendCopy(dst []byte, back, n int) []byte {
	if n < 9 {
		return append(dst, byte((n-2)<<5|back>>8), byte(back))
	}
	return append(dst, byte(7<<5|back>>8), byte(n-9), byte(back))
}

// decompress appends the plain text of s to dst; it must be of exactly size
// bytes. Whoever calls it has looked whether s can hold so much (lzfMaxSize).
func decompress(dst, s []byte, size int) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(s); {
		c := int(s[i])
		i++
		if c < lzfRun {
			if i+c+1 > len(s) || len(dst)-start+c+1 > size {
				return dst[:start], errLZF
			}
			dst = append(dst, s[i:i+c+1]...)
			i += c + 1
			continue
		}
		n := c >> 5
		if n == 7 {
			if i >= len(s) {
				return dst[:start], errLZF
			}
			n += int(s[i])
			i++
		}
		if i >= len(s) {
			return dst[:start], errLZF
		}
		from := len(dst) - ((c&31)<<8 | int(s[i])) - 1
		i++
		if from < start || len(dst)-start+n+2 > size {
			return dst[:start], errLZF
		}
		dst = appendWithin(dst, from, n+2)
	}
	if len(dst)-start != size {
		return dst[:start], errLZF
	}
	return dst, nil
}

// appendWithin appends n bytes from dst[from:], of which the last may be bytes
// that it has appended itself.
func appendWithin(dst []byte, from, n int) []byte {
	for n > 0 {
		part := min(n, len(dst)-from)
		dst = append(dst, dst[from:from+part]...)
		n -= part
	}
	return dst
}

// lzfMaxSize says how long the plain text of n compressed bytes can be at most.
func lzfMaxSize(n uint64) uint64 { return n/3*lzfCopy + lzfCopy }

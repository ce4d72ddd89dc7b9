package bitmap

import (
	"encoding/binary"
	"math/bits"
)

// count returns the number of bits set in b, four words at a time.
func count(b []byte) (n int64) {
	for len(b) >= 32 {
		n += int64(bits.OnesCount64(word(b, 0)) + bits.OnesCount64(word(b, 8)) +
			bits.OnesCount64(word(b, 16)) + bits.OnesCount64(word(b, 24)))
		b = b[32:]
	}
	for len(b) >= 8 {
		n += int64(bits.OnesCount64(word(b, 0)))
		b = b[8:]
	}
	for _, c := range b {
		n += int64(bits.OnesCount8(c))
	}
	return n
}

// countBits returns the number of bits set from bit from to bit to, inclusive.
func countBits(b []byte, from, to int64) int64 {
	first, last := from>>3, to>>3
	n := count(b[first : last+1])
	n -= int64(bits.OnesCount8(b[first] &^ (0xff >> (from & 7))))
	n -= int64(bits.OnesCount8(b[last] & (0x7f >> (to & 7))))
	return n
}

// find returns the first bit equal to bit from bit from to bit to, inclusive;
// false when all are different.
func find(b []byte, bit byte, from, to int64) (int64, bool) {
	skip := byte(0xff) // what a byte without such a bit looks like
	if bit == 1 {
		skip = 0
	}
	first, last := from>>3, to>>3
	for i := first; i <= last; i++ {
		c := b[i] ^ skip // the bits looked for are 1 now
		if i == first {
			c &= 0xff >> (from & 7)
		}
		if i == last {
			c &^= 0x7f >> (to & 7)
		}
		if c != 0 {
			return i<<3 + int64(bits.LeadingZeros8(c)), true
		}
		if i+1 < last {
			i += skipEqual(b[i+1:last], skip)
		}
	}
	return 0, false
}

// skipEqual returns how many bytes of b, in whole words, equal c.
func skipEqual(b []byte, c byte) (n int64) {
	all := uint64(c) * 0x0101010101010101
	for len(b) >= 32 {
		d := (word(b, 0) ^ all) | (word(b, 8) ^ all) | (word(b, 16) ^ all) | (word(b, 24) ^ all)
		if d != 0 {
			break
		}
		n, b = n+32, b[32:]
	}
	for len(b) >= 8 && word(b, 0) == all {
		n, b = n+8, b[8:]
	}
	return n
}

// and makes dst &= src; src is as long as dst or, where shorter, goes on with
// zeros.
func and(dst, src []byte) {
	clear(dst[min(len(src), len(dst)):])
	dst = dst[:min(len(src), len(dst))]
	for len(dst) >= 32 && len(src) >= 32 {
		put(dst, word(dst, 0)&word(src, 0), word(dst, 8)&word(src, 8), word(dst, 16)&word(src, 16), word(dst, 24)&word(src, 24))
		dst, src = dst[32:], src[32:]
	}
	for i := range dst {
		dst[i] &= src[i]
	}
}

// or makes dst |= src, src being at most as long as dst.
func or(dst, src []byte) {
	dst = dst[:len(src)]
	for len(dst) >= 32 && len(src) >= 32 {
		put(dst, word(dst, 0)|word(src, 0), word(dst, 8)|word(src, 8), word(dst, 16)|word(src, 16), word(dst, 24)|word(src, 24))
		dst, src = dst[32:], src[32:]
	}
	for i := range dst {
		dst[i] |= src[i]
	}
}

// not makes dst the complement of src, both of one length, perhaps the same.
func not(dst, src []byte) {
	for len(dst) >= 32 && len(src) >= 32 {
		put(dst, ^word(src, 0), ^word(src, 8), ^word(src, 16), ^word(src, 24))
		dst, src = dst[32:], src[32:]
	}
	for i := range dst {
		dst[i] = ^src[i]
	}
}

func word(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at : at+8]) }

func put(b []byte, w0, w1, w2, w3 uint64) {
	_ = b[31]
	binary.LittleEndian.PutUint64(b, w0)
	binary.LittleEndian.PutUint64(b[8:], w1)
	binary.LittleEndian.PutUint64(b[16:], w2)
	binary.LittleEndian.PutUint64(b[24:], w3)
}

// shiftUp makes dst the little-endian number src times 2^n, cut to dst's
// length.
func shiftUp(dst, src []byte, n int) {
	skip, s := min(n/8, len(dst)), uint(n%8)
	clear(dst[:skip])
	dst = dst[skip:]
	carry := byte(0) // what the last byte shifts into the next
	i := 0
	for ; i+8 <= len(src) && i+8 <= len(dst); i += 8 {
		w := word(src, i)
		binary.LittleEndian.PutUint64(dst[i:], w<<s|uint64(carry))
		carry = byte(w >> 56 >> (8 - s))
	}
	for ; i < len(dst); i++ {
		c := byte(0)
		if i < len(src) {
			c = src[i]
		}
		dst[i], carry = c<<s|carry, c>>(8-s)
	}
}

// shiftDown makes dst the little-endian number src divided by 2^n, cut to
// dst's length.
func shiftDown(dst, src []byte, n int) {
	src = src[min(n/8, len(src)):]
	s := uint(n % 8)
	i := 0
	for ; i+8 < len(src) && i+8 <= len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], word(src, i)>>s|uint64(src[i+8])<<(64-s))
	}
	for ; i < len(dst); i++ {
		c, next := byte(0), byte(0)
		if i < len(src) {
			c = src[i]
		}
		if i+1 < len(src) {
			next = src[i+1]
		}
		dst[i] = c>>s | next<<(8-s)
	}
}

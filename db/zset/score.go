package zset

import (
	"encoding/binary"
	"math"

	"heddle/db/listpack"
)

// Scores in a packed sorted set. What is an integer is one. Anything else is a short
// string whose first byte says how it is to be read:
//
//	01..06  a decimal fraction: the integer in the other bytes (little endian, as few
//	        as will do) divided by 10 to the power of the first byte; 12.34 is 02 d2 04
//	09..0e  the same, 8 more, with a minus
//	00      the rest is as below, for numbers whose first byte means something here
//	        or a digit in decimal (a string of digits would come back as another integer)
//	else    the bits of the float, big endian, less the zero bytes at the end;
//	        0.5 is 3f e0, 0.1 3f b9 99 99 99 99 99 9a
//
// A fraction is used only where dividing gives exactly the float, as the nearest float to
// a decimal does. So prices and averages take 3 or 4 bytes, and all others 9.
const (
	minusTag     = 8
	maxPower     = 6
	maxFractions = 1 << 40 // more digits gain nothing
)

var powers = [maxPower + 1]float64{1, 10, 100, 1000, 1e4, 1e5, 1e6}

// scoreText is where the spelling of a score stands.
type scoreText [9]byte

// setScore makes v the entry of a score.
func setScore(v *listpack.Value, text *scoreText, s float64) {
	if n := int64(s); float64(n) == s && n != math.MaxInt64 {
		v.SetInt(n) // as in Redis, -0 becomes 0
		return
	}
	if n := fraction(text, s); n > 0 {
		v.SetShort(text[:n])
		return
	}
	at := 0
	if c := byte(math.Float64bits(s) >> 56); c < 0x10 || c == '-' || '0' <= c && c <= '9' {
		text[0], at = 0, 1
	}
	binary.BigEndian.PutUint64(text[at:], math.Float64bits(s))
	n := at + 8
	for text[n-1] == 0 {
		n--
	}
	v.SetShort(text[:n])
}

// fraction spells s as a decimal fraction if that is exact and short; it returns the
// length, or 0.
func fraction(text *scoreText, s float64) int {
	abs := math.Abs(s)
	if abs >= maxFractions {
		return 0
	}
	for p := 1; p <= maxPower; p++ {
		m := math.Round(abs * powers[p])
		if m >= maxFractions {
			return 0
		}
		if m/powers[p] != abs || m == 0 {
			continue
		}
		text[0] = byte(p)
		if s < 0 {
			text[0] += minusTag
		}
		n := 1
		for x := uint64(m); x > 0; x >>= 8 {
			text[n] = byte(x)
			n++
		}
		return n
	}
	return 0
}

// readScore returns the score that an entry is. Any entry may be given.
func readScore(e listpack.Entry) float64 {
	if n, ok := e.Int(); ok {
		return float64(n)
	}
	var buf listpack.Scratch
	b := e.Bytes(&buf)
	if len(b) == 0 {
		return 0
	}
	tag := b[0]
	if p := tag &^ minusTag; tag < 2*minusTag && p > 0 && p <= maxPower && len(b) <= 8 {
		x := uint64(0)
		for i := len(b) - 1; i > 0; i-- {
			x = x<<8 | uint64(b[i])
		}
		f := float64(x) / powers[p]
		if tag&minusTag != 0 {
			return -f
		}
		return f
	}
	if tag == 0 {
		b = b[1:]
	}
	var x uint64
	for i := range min(len(b), 8) {
		x |= uint64(b[i]) << (56 - 8*i)
	}
	return math.Float64frombits(x)
}

package longdouble

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// maxLen is how long a number's text may be, as in Redis.
const maxLen = 5*1024 - 1

// Parse reads the whole of b as strtold does (decimal or hexadecimal, with or
// without exponent, "inf", "infinity"), correctly rounded. Refused are NaN,
// spaces in front, and what is too large or too small for a long double.
func Parse(b []byte) (Float, bool) {
	if len(b) == 0 || len(b) > maxLen {
		return Float{}, false
	}
	neg := false
	if b[0] == '-' || b[0] == '+' {
		neg, b = b[0] == '-', b[1:]
	}
	switch {
	case hasFold(b, "inf"):
		return Float{neg: neg, inf: true}, len(b) == 3 || len(b) == 8 && hasFold(b, "infinity")
	case hasFold(b, "0x"):
		return parseHex(b[2:], neg)
	}
	return parseDecimal(b, neg)
}

// hasFold reports whether b begins with the lower-case word in any case.
func hasFold(b []byte, lower string) bool {
	if len(b) < len(lower) {
		return false
	}
	for i := range lower {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// scan is a number cut in its parts: digits (a point removed) and an exponent
// which counts the places after the point as negative.
type scan struct {
	hi, lo uint64 // the leading digits, as far as they fit
	kept   int    // how many of the significant digits are in hi, lo
	digits int    // significant digits, zeros in front not counted
	exp    int    // exponent from the text, less the digits behind the point
}

// scanDigits reads digits of the given base with at most one point among them
// and returns what follows; false when there is no digit.
func (s *scan) scanDigits(b []byte, base uint64, room int) ([]byte, bool) {
	seen, point := false, false
	i := 0
	for ; i < len(b); i++ {
		if b[i] == '.' && !point {
			point = true
			continue
		}
		d := digit(b[i])
		if d >= base {
			break
		}
		seen = true
		if point {
			s.exp--
		}
		if d == 0 && s.digits == 0 {
			continue
		}
		s.digits++
		if s.kept < room {
			s.push(base, d)
		}
	}
	return b[i:], seen
}

// push adds a digit.
func (s *scan) push(base, d uint64) {
	var carry uint64
	high, low := bits.Mul64(s.lo, base)
	s.lo, carry = bits.Add64(low, d, 0)
	s.hi = s.hi*base + high + carry
	s.kept++
}

func digit(c byte) uint64 {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0')
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 255
}

// exponent reads all of b as a signed decimal number, held within +-100000,
// which is beyond what any mantissa of maxLen digits can bring back.
func exponent(b []byte) (int, bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg, b = b[0] == '-', b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), 100_000)
	}
	if neg {
		n = -n
	}
	return n, true
}

// rest reads the exponent, if any, behind the letter.
func (s *scan) rest(b []byte, letter byte) bool {
	if len(b) == 0 {
		return true
	}
	if b[0]|0x20 != letter {
		return false
	}
	e, ok := exponent(b[1:])
	s.exp += e
	return ok
}

func parseHex(b []byte, neg bool) (Float, bool) {
	var s scan
	tail, ok := s.scanDigits(b, 16, 1)
	if !ok {
		return Float{}, false
	}
	s.exp *= 4 // a digit has four bits, an exponent counts one
	if !s.rest(tail, 'p') {
		return Float{}, false
	}
	if s.digits == 0 {
		return Float{neg: neg}, true
	}
	return roundInt(neg, wholeNumber(b[:len(b)-len(tail)], 16), s.exp, false)
}

func parseDecimal(b []byte, neg bool) (Float, bool) {
	var s scan
	tail, ok := s.scanDigits(b, 10, 38)
	if !ok || !s.rest(tail, 'e') {
		return Float{}, false
	}
	switch {
	case s.digits == 0:
		return Float{neg: neg}, true
	case s.digits == s.kept && s.exp >= -27 && s.exp <= 27:
		return s.short(neg), true
	}
	return long(b[:len(b)-len(tail)], s, neg)
}

// inRange refuses what became infinite or zero though it was neither.
func inRange(f Float) (Float, bool) { return f, !f.inf && f.mant != 0 }

// powers5 holds 5^i as far as they fit a word.
var powers5 = [28]uint64{1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
	244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
	19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
	59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125}

// short returns the number for exponents up to 27 either way: 5^27 fits a word,
// so that the product or quotient is exact but for the last rounding.
func (s *scan) short(neg bool) Float {
	if s.exp < 0 {
		return s.quotient(neg)
	}
	m := powers5[s.exp]
	h0, l0 := bits.Mul64(s.lo, m)
	h1, l1 := bits.Mul64(s.hi, m)
	mid, carry := bits.Add64(h0, l1, 0)
	if top := h1 + carry; top != 0 {
		return round(neg, top, mid, s.exp+64, l0 != 0)
	}
	return round(neg, mid, l0, s.exp, false)
}

// quotient divides by 10^-exp word by word: both numbers are shifted up until
// their top bits are set, so that the first word of the quotient is 0 or 1.
func (s *scan) quotient(neg bool) Float {
	hi, lo, d := s.hi, s.lo, powers5[-s.exp]
	exp := s.exp
	if hi == 0 {
		hi, lo, exp = lo, 0, exp-64
	}
	n, nd := uint(bits.LeadingZeros64(hi)), uint(bits.LeadingZeros64(d))
	hi, lo, d = hi<<n|lo>>(64-n), lo<<n, d<<nd
	exp += int(nd) - int(n) - 64
	q0, r := bits.Div64(0, hi, d)
	q1, r := bits.Div64(r, lo, d)
	q2, r := bits.Div64(r, 0, d)
	sticky := r != 0
	if q0 != 0 {
		q1, q2, sticky, exp = 1<<63|q1>>1, q1<<63|q2>>1, sticky || q2&1 == 1, exp+1
	}
	return round(neg, q1, q2, exp, sticky)
}

// long is short for any number of digits and any exponent, by exact integers.
func long(text []byte, s scan, neg bool) (Float, bool) {
	if top := s.digits + s.exp; top > 5000 || top < -5000 {
		return Float{}, false
	}
	num := wholeNumber(text, 10)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(s.exp, -s.exp))), nil)
	exp, sticky := 0, false
	if s.exp >= 0 {
		num.Mul(num, ten)
	} else {
		exp = min(num.BitLen()-ten.BitLen()-130, 0)
		num.Lsh(num, uint(-exp))
		_, rest := num.QuoRem(num, ten, new(big.Int))
		sticky = rest.Sign() != 0
	}
	return roundInt(neg, num, exp, sticky)
}

// wholeNumber reads all digits in text, leaving out the point.
func wholeNumber(text []byte, base int) *big.Int {
	digits := make([]byte, 0, len(text))
	for _, c := range text {
		if c != '.' {
			digits = append(digits, c)
		}
	}
	n, _ := new(big.Int).SetString(string(digits), base)
	return n
}

// roundInt rounds num * 2^exp; num is changed.
func roundInt(neg bool, num *big.Int, exp int, sticky bool) (Float, bool) {
	if cut := num.BitLen() - 128; cut > 0 {
		sticky = sticky || num.TrailingZeroBits() < uint(cut)
		num.Rsh(num, uint(cut))
		exp += cut
	}
	var words [16]byte
	num.FillBytes(words[:])
	hi, lo := binary.BigEndian.Uint64(words[:8]), binary.BigEndian.Uint64(words[8:])
	return inRange(round(neg, hi, lo, exp, sticky))
}

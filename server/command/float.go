package command

import (
	"bytes"
	"math"
	"strconv"
)

// ParseFloat reads the whole of b as C's strtod does, as Redis reads scores and
// coordinates: decimal and hexadecimal, "inf" and "infinity" in any case. No blanks, no
// NaN, and nothing that is too large for a float or too small but not zero.
func ParseFloat(b []byte) (float64, bool) {
	f, lost, ok := parseFloat(b)
	return f, ok && !lost
}

// ParseFloatLoose is ParseFloat as Redis reads the ends of a range of scores: blanks may
// stand in front, a zero byte ends the text, none at all is 0, and what does not fit a
// float becomes infinite or 0.
func ParseFloatLoose(b []byte) (float64, bool) {
	b, _, _ = bytes.Cut(b, []byte{0})
	if len(b) == 0 {
		return 0, true
	}
	for len(b) > 0 && (b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r') {
		b = b[1:]
	}
	f, _, ok := parseFloat(b)
	return f, ok
}

// parseFloat also tells whether the number was too large or too small.
func parseFloat(b []byte) (f float64, lost, ok bool) {
	if n, ok := ParseInt(b); ok && len(b) <= 15 {
		return float64(n), false, true
	}
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	if bytes.IndexByte(digits, '_') >= 0 {
		return 0, false, false // a separator in Go, not in C
	}
	hex := len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x'
	mantissa := digits
	if hex {
		mantissa = digits[2:]
	}
	if i := bytes.IndexAny(mantissa, exponentMarks(hex)); i >= 0 {
		mantissa = mantissa[:i]
	} else if hex { // Go wants the exponent
		b = append(bytes.Clone(b), "p0"...)
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && (!math.IsInf(f, 0) || err.(*strconv.NumError).Err != strconv.ErrRange) || f != f {
		return 0, false, false
	}
	lost = err != nil || f == 0 && len(bytes.Trim(mantissa, "0.")) > 0
	return f, lost, true
}

// exponentMarks are the letters that an exponent begins with.
func exponentMarks(hex bool) string {
	if hex {
		return "pP"
	}
	return "eE"
}

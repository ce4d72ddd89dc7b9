// Package longdouble does the arithmetic of INCRBYFLOAT and HINCRBYFLOAT as
// Redis does it on x86-64: in C's long double, a binary float with a mantissa
// of 64 bits, printed with 17 decimals less their trailing zeros. A float64
// would give other digits, and so do the general routines of math/big at twenty
// times the price; they serve here where numbers are longer than a machine word.
package longdouble

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// The binary exponents (of the leading bit) that a long double has room for.
const (
	maxExp = 16383  // above it: infinity
	minExp = -16445 // the smallest number that is not zero, a denormal
)

// Float is a long double other than NaN. The zero value is 0.
// Its magnitude is mant * 2^exp; the top bit of mant is set unless it is zero.
type Float struct {
	mant uint64
	exp  int
	neg  bool
	inf  bool
}

// FromInt returns n, exactly.
func FromInt(n int64) Float {
	neg, u := n < 0, uint64(n)
	if neg {
		u = -u
	}
	return normal(neg, u, 0)
}

// IsInf reports whether f is an infinity.
func (f Float) IsInf() bool { return f.inf }

// normal returns mant * 2^exp.
func normal(neg bool, mant uint64, exp int) Float {
	if mant == 0 {
		return Float{neg: neg}
	}
	n := bits.LeadingZeros64(mant)
	return bounded(Float{mant: mant << n, exp: exp - n, neg: neg})
}

// bounded turns what is too large into an infinity, what is too small into 0.
// Denormals keep all their bits: neither a sum with them nor 17 decimals show
// the difference.
func bounded(f Float) Float {
	top := f.exp + 63
	switch {
	case top > maxExp:
		return Float{neg: f.neg, inf: true}
	case top < minExp-1, top == minExp-1 && f.mant == 1<<63:
		return Float{neg: f.neg}
	}
	return f
}

// round returns the 128-bit number hi:lo, times 2^exp, rounded to nearest and
// to even; sticky tells that there is more than 0 behind it.
func round(neg bool, hi, lo uint64, exp int, sticky bool) Float {
	if hi == 0 {
		if lo == 0 || !sticky {
			return normal(neg, lo, exp)
		}
		hi, lo, exp = lo, 0, exp-64
	}
	if n := uint(bits.LeadingZeros64(hi)); n > 0 {
		hi, lo, exp = hi<<n|lo>>(64-n), lo<<n, exp-int(n)
	}
	exp += 64
	const half = 1 << 63
	if lo > half || lo == half && (sticky || hi&1 == 1) {
		if hi++; hi == 0 {
			hi, exp = half, exp+1
		}
	}
	return bounded(Float{mant: hi, exp: exp, neg: neg})
}

// Add returns a+b, and false when that is not a number (inf-inf).
func Add(a, b Float) (Float, bool) {
	switch {
	case a.inf && b.inf:
		return a, a.neg == b.neg
	case a.inf || b.mant == 0 && !b.inf:
		if a.mant == 0 && !a.inf {
			a.neg = a.neg && b.neg
		}
		return a, true
	case b.inf || a.mant == 0:
		return b, true
	}
	if a.exp < b.exp || a.exp == b.exp && a.mant < b.mant {
		a, b = b, a
	}
	if a.neg == b.neg {
		return sum(a, b), true
	}
	return difference(a, b), true
}

// below returns the mantissa of b as the two words that follow the binary
// point of a mantissa `shift` places higher, and whether bits were lost.
func below(mant uint64, shift int) (hi, lo uint64, sticky bool) {
	switch {
	case shift == 0:
		return mant, 0, false
	case shift < 64:
		return mant >> shift, mant << (64 - shift), false
	case shift < 128:
		return 0, mant >> (shift - 64), mant<<(128-shift) != 0
	}
	return 0, 0, true
}

// sum adds magnitudes; a is the larger.
func sum(a, b Float) Float {
	hi, lo, sticky := below(b.mant, a.exp-b.exp)
	hi, carry := bits.Add64(a.mant, hi, 0)
	if carry == 0 {
		return round(a.neg, hi, lo, a.exp-64, sticky)
	}
	sticky = sticky || lo&1 == 1
	return round(a.neg, 1<<63|hi>>1, hi<<63|lo>>1, a.exp-63, sticky)
}

// difference subtracts b's magnitude from a's, which is the larger.
func difference(a, b Float) Float {
	hi, lo, sticky := below(b.mant, a.exp-b.exp)
	var borrow uint64
	if sticky {
		borrow = 1 // the exact result is a bit more than this, so still sticky
	}
	lo, borrow = bits.Sub64(0, lo, borrow)
	hi, _ = bits.Sub64(a.mant, hi, borrow)
	if hi|lo == 0 {
		return Float{}
	}
	return round(a.neg, hi, lo, a.exp-64, sticky)
}

// Scale returns f * n.
func Scale(f Float, n uint64) Float {
	if f.inf || f.mant == 0 {
		return f
	}
	hi, lo := bits.Mul64(f.mant, n)
	return round(f.neg, hi, lo, f.exp, false)
}

// Ceil returns the least integer that is not below f. What does not fit is the
// nearest that does, and false.
func (f Float) Ceil() (n int64, ok bool) {
	limit := uint64(math.MaxInt64)
	if f.neg {
		limit++
	}
	var whole uint64
	switch s := -f.exp; {
	case f.mant == 0 && !f.inf:
		return 0, true
	case f.inf || s <= 0: // its top bit alone is 2^63
		if whole, ok = 1<<63, !f.inf && f.neg && f.exp == 0 && f.mant == 1<<63; ok {
			return math.MinInt64, true
		}
		whole = limit
	case s >= 64:
		if !f.neg {
			whole = 1
		}
		ok = true
	default:
		if whole, ok = f.mant>>s, true; f.mant&(1<<s-1) != 0 && !f.neg {
			whole++
		}
	}
	if whole > limit {
		whole, ok = limit, false
	}
	if f.neg {
		return -int64(whole), ok
	}
	return int64(whole), ok
}

// Append appends f in decimal, with at most 17 digits behind the point, no
// trailing zeros, no exponent. f must not be an infinity.
func (f Float) Append(dst []byte) []byte {
	if f.exp > 0 {
		if f.neg {
			dst = append(dst, '-')
		}
		n := new(big.Int).SetUint64(f.mant)
		return n.Lsh(n, uint(f.exp)).Append(dst, 10)
	}
	whole, frac := f.decimal()
	if f.neg && whole|frac != 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, whole, 10)
	if frac == 0 {
		return dst
	}
	at := len(dst)
	dst = strconv.AppendUint(dst, frac+one17, 10)
	dst[at] = '.' // the leading 1 kept the zeros behind the point
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

const one17 = 100_000_000_000_000_000 // 10^17

// decimal returns the whole part and the fraction times 10^17, rounded to even.
func (f Float) decimal() (whole, frac uint64) {
	s := uint(-f.exp)
	if s >= 128 {
		return 0, 0
	}
	fraction := f.mant
	if s < 64 {
		whole, fraction = f.mant>>s, f.mant&(1<<s-1)
	}
	hi, lo := bits.Mul64(fraction, one17)
	var rest uint64 // what is cut off
	if s <= 64 {
		rest, frac = lo<<(64-s), hi<<(64-s)|lo>>s
	} else {
		rest, frac = hi<<(128-s), hi>>(s-64)
		if lo != 0 {
			rest |= 1
		}
	}
	const half = 1 << 63
	if rest > half || rest == half && frac&1 == 1 {
		frac++
	}
	if frac == one17 {
		whole, frac = whole+1, 0
	}
	return whole, frac
}

package listpack

import "math"

// Number returns the 64-bit integer of which s is the decimal spelling; no
// other spelling counts (no plus, no leading zeros, no -0, no spaces).
func Number(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > 20 || s[0] > '9' {
		return 0, false
	}
	i, negative := 0, false
	if s[0] == '-' {
		if len(s) == 1 {
			return 0, false
		}
		i, negative = 1, true
	}
	if s[i] == '0' {
		return 0, len(s) == 1
	}
	var n uint64
	for _, c := range s[i:] {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		if n > math.MaxUint64/10-1 && n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// digits is the length of the decimal spelling of n.
func digits(n int64) int {
	count, u := 1, uint64(n)
	if n < 0 {
		count, u = 2, -u
	}
	for u >= 10 {
		u /= 10
		count++
	}
	return count
}

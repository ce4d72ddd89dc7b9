// Package glob matches strings against patterns with *, ?, [a-z], [^x] and
// backslash, byte by byte, as KEYS, SCAN, CONFIG GET and PSUBSCRIBE do.
//
// Redis tries every suffix of the string for each star, recursively, so that a
// pattern of many stars takes exponential time or deep recursion. Here only the
// last star is ever tried again: a star that was passed needs no second thought,
// since the one behind it can make up for any choice. That bounds the work by
// len(pattern) * len(s), without recursion.
package glob

// maxStars is how many stars, with something behind them, a pattern may have:
// beyond it nothing matches. We could go on, but Redis gives up there.
const maxStars = 1000

// Match reports whether s matches pattern. The empty string is a special case
// in Redis: only the empty pattern and a lone star match it.
func Match(pattern, s []byte) bool { return match(pattern, s, false) }

// MatchFold is Match that ignores the case of ASCII letters.
func MatchFold(pattern, s []byte) bool { return match(pattern, s, true) }

// MatchesAll reports whether pattern is a lone star.
func MatchesAll(pattern []byte) bool { return len(pattern) == 1 && pattern[0] == '*' }

func match(pattern, s []byte, fold bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0 || MatchesAll(pattern)
	}
	p, i, stars := 0, 0, 0
	starP, starI := -1, 0 // what to try again: pattern behind the last star, place in s
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			if p < len(pattern) && pattern[p] != '*' {
				stars++
			}
			if stars > maxStars {
				return false
			}
			starP, starI = p, i
			continue
		}
		if p < len(pattern) {
			if next, ok := matchOne(pattern, p, s[i], fold); ok {
				p = next
				i++
				continue
			}
		}
		if starP < 0 {
			return false
		}
		starI++
		p, i = starP, starI
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches c against the element of pattern at p, which is no star, and
// returns the place behind that element.
func matchOne(pattern []byte, p int, c byte, fold bool) (int, bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, c, fold)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, lower(pattern[p], fold) == lower(c, fold)
}

// matchClass matches c against the class whose inside begins at p. A class that
// is not closed ends with the pattern.
func matchClass(pattern []byte, p int, c byte, fold bool) (int, bool) {
	negated := p < len(pattern) && pattern[p] == '^'
	if negated {
		p++
	}
	c = lower(c, fold)
	found := false
	for p < len(pattern) && pattern[p] != ']' {
		next, ok := inRange(pattern, p, c, fold)
		p, found = next, found || ok
	}
	if p < len(pattern) {
		p++
	}
	return p, found != negated
}

// inRange matches c, lowered if fold, against the byte or range at p of a class.
func inRange(pattern []byte, p int, c byte, fold bool) (int, bool) {
	if pattern[p] == '\\' && p+1 < len(pattern) {
		// Compared as it stands, even without regard to case.
		return p + 2, pattern[p+1] == c
	}
	low := lower(pattern[p], fold)
	if p+2 >= len(pattern) || pattern[p+1] != '-' {
		return p + 1, low == c
	}
	high := lower(pattern[p+2], fold)
	return p + 3, min(low, high) <= c && c <= max(low, high)
}

func lower(c byte, fold bool) byte {
	if fold && 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

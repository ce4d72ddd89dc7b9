package config

// globMatch matches a pattern against a lower-case name as CONFIG GET does:
// * ? [a-c] [^a] and \ to quote, letters regardless of case. Only the last
// star is ever tried again, so that no pattern takes more than len*len steps.
func globMatch(pattern, name string) bool {
	star, from := "", ""
	starred := false
	for {
		switch {
		case pattern != "" && pattern[0] == '*':
			pattern = pattern[1:]
			star, from, starred = pattern, name, true
			continue
		case pattern == "" && name == "":
			return true
		case pattern != "" && name != "":
			if rest, ok := matchByte(pattern, name[0]); ok {
				pattern, name = rest, name[1:]
				continue
			}
		}
		if !starred || from == "" {
			return false
		}
		from = from[1:]
		pattern, name = star, from
	}
}

// matchByte matches the first element of pattern against c and returns what
// follows it.
func matchByte(pattern string, c byte) (rest string, ok bool) {
	switch p := lower(pattern[0]); {
	case p == '?':
		return pattern[1:], true
	case p == '[':
		return matchClass(pattern[1:], c)
	case p == '\\' && len(pattern) > 1:
		return pattern[2:], lower(pattern[1]) == c
	default:
		return pattern[1:], p == c
	}
}

// matchClass matches c against the class whose inside pattern begins with, and
// returns what follows the class.
func matchClass(pattern string, c byte) (rest string, ok bool) {
	not := pattern != "" && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	hit := false
	for pattern != "" && pattern[0] != ']' {
		lo := lower(pattern[0])
		if lo == '\\' && len(pattern) > 1 {
			pattern = pattern[1:]
			lo = lower(pattern[0])
		}
		hi := lo
		if len(pattern) >= 3 && pattern[1] == '-' {
			hi = lower(pattern[2])
			pattern = pattern[2:]
		}
		pattern = pattern[1:]
		hit = hit || min(lo, hi) <= c && c <= max(lo, hi)
	}
	if pattern != "" {
		pattern = pattern[1:]
	}
	return pattern, hit != not
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

package aof

import "strings"

// splitWords cuts a line as Redis' configuration files and manifests are cut: at blanks, with "..." that knows
// escapes and '...' that knows \' alone, each of which may begin within a word but ends one. ok is false if a quote
// is not closed or something follows it.
func splitWords(line string) (words []string, ok bool) {
	for {
		line = strings.TrimLeft(line, blanks)
		if line == "" {
			return words, true
		}
		var word strings.Builder
		rest, ok := takeWord(line, &word)
		if !ok {
			return nil, false
		}
		words, line = append(words, word.String()), rest
	}
}

const blanks = " \t\n\v\f\r"

func takeWord(line string, word *strings.Builder) (rest string, ok bool) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\n', '\r', '\t', 0:
			return line[i+1:], true
		case '"', '\'':
			rest, ok = takeQuoted(line[i+1:], c, word)
			if !ok || rest != "" && strings.IndexByte(blanks, rest[0]) < 0 {
				return "", false
			}
			return rest, true
		default:
			word.WriteByte(c)
		}
	}
	return "", true
}

// takeQuoted reads up to the closing quote and returns what is behind it.
func takeQuoted(s string, quote byte, word *strings.Builder) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == quote {
			return s[i+1:], true
		}
		if c != '\\' || i+1 == len(s) || quote == '\'' && s[i+1] != '\'' {
			word.WriteByte(c)
			continue
		}
		i++
		if s[i] == 'x' && quote == '"' && i+2 < len(s) && hexValue(s[i+1]) >= 0 && hexValue(s[i+2]) >= 0 {
			word.WriteByte(byte(hexValue(s[i+1])<<4 | hexValue(s[i+2])))
			i += 2
			continue
		}
		word.WriteByte(unescape(s[i]))
	}
	return "", false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

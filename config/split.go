package config

import "strings"

// SplitArgs splits a line into words as Redis splits configuration lines and
// inline commands: blanks separate; "..." knows \n \r \t \a \b \xHH and
// escaped characters, '...' only \'; a quote may begin within a word but must
// end one. ok is false when quotes do not match.
func SplitArgs(line string) (words []string, ok bool) {
	for {
		line = strings.TrimLeft(line, blanks)
		if line == "" {
			return words, true
		}
		word, rest, ok := splitWord(line)
		if !ok {
			return nil, false
		}
		words, line = append(words, word), rest
	}
}

const blanks = " \t\n\v\f\r"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// splitWord takes one word off a line that does not begin with a blank.
func splitWord(line string) (word, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case isBlank(c) || c == 0:
			return b.String(), line[i+1:], true
		case c == '"' || c == '\'':
			n := unquote(&b, line[i:])
			if n == 0 || i+n < len(line) && !isBlank(line[i+n]) {
				return "", "", false
			}
			return b.String(), line[i+n:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", true
}

// unquote appends what stands between the quotes that s begins with and
// returns the length of all of it; 0 when the closing quote is missing.
func unquote(b *strings.Builder, s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case quote == '\'':
			if s[i+1] == '\'' {
				i++
			}
			b.WriteByte(s[i])
		case s[i+1] == 'x' && i+3 < len(s) && isHex(s[i+2]) && isHex(s[i+3]):
			b.WriteByte(hexVal(s[i+2])<<4 | hexVal(s[i+3]))
			i += 3
		default:
			i++
			b.WriteByte(unescape(s[i]))
		}
	}
	return 0
}

func unescape(c byte) byte {
	if i := strings.IndexByte("nrtba", c); i >= 0 {
		return "\n\r\t\b\a"[i]
	}
	return c
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f'
}

func hexVal(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

const hexDigits = "0123456789abcdef"

// Quote writes a word so that SplitArgs reads it back: always in double quotes.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case strings.IndexByte("\n\r\t\b\a", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("nrtba"[strings.IndexByte("\n\r\t\b\a", c)])
		case c < ' ' || c > '~':
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

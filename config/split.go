package config

import (
	"strings"

	"heddle/resp"
)

// SplitArgs splits a line of configuration into words; ok is false when quotes
// do not match.
func SplitArgs(line string) (words []string, ok bool) {
	split, ok := resp.SplitWords([]byte(line), nil)
	if !ok {
		return nil, false
	}
	for _, w := range split {
		words = append(words, string(w))
	}
	return words, true
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

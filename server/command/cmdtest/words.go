package cmdtest

import (
	"errors"
	"strconv"
	"strings"
)

// Words splits a line into words as redis-cli does: blanks separate, "double
// quotes" know \n \r \t \a \b \xhh and \" \\, 'single quotes' only \'.
func Words(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return words, nil
		}
		word, rest, err := word(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
}

var errQuotes = errors.New("unbalanced quotes")

func word(line string) (string, string, error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; ch {
		case ' ', '\t':
			return b.String(), line[i:], nil
		case '"', '\'':
			n, err := quoted(&b, line[i+1:], ch)
			if err != nil {
				return "", "", err
			}
			i += n
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
				return "", "", errQuotes
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), "", nil
}

// quoted reads up to the closing quote and returns how far that is.
func quoted(b *strings.Builder, s string, quote byte) (int, error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1, nil
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case quote == '\'':
			if s[i+1] == '\'' {
				i++
			}
			b.WriteByte(s[i])
		default:
			i += escape(b, s[i+1:])
		}
	}
	return 0, errQuotes
}

// escape reads what follows a backslash and returns its length.
func escape(b *strings.Builder, s string) int {
	if s[0] == 'x' && len(s) > 2 {
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			b.WriteByte(byte(n))
			return 3
		}
	}
	switch s[0] {
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'a':
		b.WriteByte('\a')
	case 'b':
		b.WriteByte('\b')
	default:
		b.WriteByte(s[0])
	}
	return 1
}

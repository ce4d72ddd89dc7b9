package resp

import "bytes"

// inline takes a line of words. A word may hold parts in double quotes, with
// escapes \n \r \t \b \a \xHH, and in single quotes, with \' only; a closing
// quote must end the word.
func (r *Reader) inline(in []byte, argv [][]byte) ([][]byte, int, error) {
	end, err := r.line(in, 0, '\n', ErrTooBigInline)
	if end < 0 {
		return argv, 0, err
	}
	n := end + 1
	if end > 0 && in[end-1] == '\r' {
		end--
	}
	line := in[:end]
	if bytes.ContainsAny(line, `"'`) {
		line = bytes.Clone(line) // in may be parsed again: it stays as it is
	}
	argv, ok := SplitWords(line, argv)
	if !ok {
		return argv[:0], 0, ErrUnbalanced
	}
	r.finish()
	return argv, n, nil
}

// SplitWords appends the words of line to argv, unquoting them in place; ok is
// false when quotes do not match. A zero byte ends the line, as it does to Redis.
// Configuration files are lines of the same words.
func SplitWords(line []byte, argv [][]byte) (_ [][]byte, ok bool) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	for p := 0; ; {
		for p < len(line) && isSpace(line[p]) {
			p++
		}
		if p == len(line) {
			return argv, true
		}
		word, next, ok := takeWord(line, p)
		if !ok {
			return argv, false
		}
		argv, p = append(argv, word), next
	}
}

// takeWord unquotes the word at p into the space it takes and returns it with
// the place behind it.
func takeWord(line []byte, p int) (word []byte, next int, ok bool) {
	start, to := p, p
	for p < len(line) {
		switch c := line[p]; c {
		case ' ', '\n', '\r', '\t':
			return line[start:to:to], p, true
		case '"', '\'':
			if to, p, ok = unquote(line, to, p); !ok {
				return nil, 0, false
			}
			return line[start:to:to], p, true
		default:
			line[to] = c
			to, p = to+1, p+1
		}
	}
	return line[start:to:to], p, true
}

// unquote moves what stands between the quote at p and its partner down to to.
// It returns the ends of both, and false when the partner is missing or more
// of a word follows it.
func unquote(line []byte, to, p int) (newTo, next int, ok bool) {
	quote := line[p]
	for p++; p < len(line); p++ {
		c := line[p]
		switch {
		case c == quote:
			return to, p + 1, p+1 == len(line) || isSpace(line[p+1])
		case c == '\\' && quote == '"' && p+1 < len(line):
			c, p = escape(line, p+1)
		case c == '\\' && quote == '\'' && p+1 < len(line) && line[p+1] == '\'':
			c, p = '\'', p+1
		}
		line[to] = c
		to++
	}
	return 0, 0, false
}

// escape returns the byte that the escape whose letter stands at p means, and
// the place of its last letter.
func escape(line []byte, p int) (byte, int) {
	switch c := line[p]; c {
	case 'n':
		return '\n', p
	case 'r':
		return '\r', p
	case 't':
		return '\t', p
	case 'b':
		return '\b', p
	case 'a':
		return '\a', p
	case 'x':
		if p+2 < len(line) {
			hi, lo := unhex(line[p+1]), unhex(line[p+2])
			if hi < 16 && lo < 16 {
				return hi<<4 | lo, p + 2
			}
		}
		return c, p
	default:
		return c, p
	}
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

package cmdtest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"heddle/server/dispatch"
)

// Reply is what a command answered.
type Reply struct {
	t   testing.TB
	cmd string
	raw string
}

// Raw returns the bytes.
func (r *Reply) Raw() string { return r.raw }

// Text returns the reply as redis-cli shows it.
func (r *Reply) Text() string { return Format(r.raw) }

// Want checks the bytes of the reply.
func (r *Reply) Want(raw string) {
	r.t.Helper()
	if r.raw != raw {
		r.t.Errorf("%s: got %q, want %q", r.cmd, r.raw, raw)
	}
}

// WantText checks the reply as redis-cli shows it.
func (r *Reply) WantText(text string) {
	r.t.Helper()
	if got := r.Text(); got != text {
		r.t.Errorf("%s: got\n%s\nwant\n%s", r.cmd, got, text)
	}
}

// OK checks that the reply is +OK.
func (r *Reply) OK() {
	r.t.Helper()
	r.Want("+OK\r\n")
}

// WantError checks that the reply is an error of that text.
func (r *Reply) WantError(text string) {
	r.t.Helper()
	r.Want("-" + text + "\r\n")
}

// Int returns the integer that the reply is.
func (r *Reply) Int() int64 {
	r.t.Helper()
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(r.raw, ":"), "\r\n"), 10, 64)
	if err != nil {
		r.t.Fatalf("%s: got %q, want an integer", r.cmd, r.raw)
	}
	return n
}

// Format shows replies as redis-cli does, one below the other.
func Format(raw string) string {
	f := formatter{in: raw}
	var lines []string
	for f.in != "" {
		lines = append(lines, f.reply("")...)
	}
	return strings.Join(lines, "\n")
}

type formatter struct{ in string }

// line takes the next line; what is cut short shows as such.
func (f *formatter) line() string {
	line, rest, ok := strings.Cut(f.in, "\r\n")
	if !ok {
		rest, line = "", line+" (cut short)"
	}
	f.in = rest
	return line
}

func (f *formatter) reply(indent string) []string {
	line := f.line()
	if line == "" {
		return []string{"(empty line)"}
	}
	kind, rest := line[0], line[1:]
	n, _ := strconv.Atoi(rest)
	switch kind {
	case '+':
		return []string{rest}
	case '-':
		return []string{"(error) " + rest}
	case ':':
		return []string{"(integer) " + rest}
	case ',':
		return []string{"(double) " + rest}
	case '(':
		return []string{"(bignum) " + rest}
	case '#':
		return []string{map[string]string{"t": "(true)", "f": "(false)"}[rest]}
	case '_':
		return []string{"(nil)"}
	case '$', '=':
		return []string{f.bulk(kind, n)}
	case '*':
		return f.list(indent, "array", ") ", n)
	case '~':
		return f.list(indent, "set", "~ ", n)
	case '>':
		return f.list(indent, "push", "> ", n)
	case '%':
		return f.dict(indent, n)
	}
	return []string{"(not a reply) " + line}
}

func (f *formatter) bulk(kind byte, n int) string {
	if n < 0 {
		return "(nil)"
	}
	if n+2 > len(f.in) {
		f.in = ""
		return "(cut short)"
	}
	body := f.in[:n]
	f.in = f.in[n+2:]
	text := string(dispatch.AppendQuoted(nil, []byte(body)))
	if kind == '=' {
		return "(verbatim) " + text
	}
	return text
}

func (f *formatter) list(indent, what, mark string, n int) []string {
	switch {
	case n < 0:
		return []string{"(nil array)"}
	case n == 0:
		return []string{"(empty " + what + ")"}
	}
	var out []string
	width := len(strconv.Itoa(n))
	for i := range n {
		head := fmt.Sprintf("%*d%s", width, i+1, mark)
		out = append(out, nest(head, f.reply(indent))...)
	}
	return out
}

func (f *formatter) dict(indent string, n int) []string {
	if n == 0 {
		return []string{"(empty map)"}
	}
	var out []string
	width := len(strconv.Itoa(n))
	for i := range n {
		key := strings.Join(f.reply(indent), " ")
		head := fmt.Sprintf("%*d# %s => ", width, i+1, key)
		out = append(out, nest(head, f.reply(indent))...)
	}
	return out
}

// nest puts head before the first line and indents the others as far.
func nest(head string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if i == 0 {
			out[i] = head + l
		} else {
			out[i] = strings.Repeat(" ", len(head)) + l
		}
	}
	return out
}

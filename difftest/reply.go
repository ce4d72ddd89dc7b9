package difftest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
)

// Reply is a reply as it came: its bytes and, once parsed, its parts.
type Reply struct {
	Raw   []byte
	Kind  byte   // the first byte
	Text  []byte // a simple string, error, number, or the bytes of a bulk
	Elems []Reply
	Null  bool
}

// readReply reads one reply of any protocol version.
func readReply(r *bufio.Reader) (Reply, error) {
	raw, err := appendReply(nil, r)
	if err != nil {
		return Reply{Raw: raw}, err
	}
	reply, _ := parseReply(raw)
	return reply, nil
}

// appendReply appends the bytes of one reply to dst.
func appendReply(dst []byte, r *bufio.Reader) ([]byte, error) {
	at := len(dst)
	var err error
	if dst, err = appendLine(dst, r); err != nil {
		return dst, err
	}
	line := dst[at:]
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return dst, fmt.Errorf("not a reply: %q", line)
	}
	switch line[0] {
	case '+', '-', ':', '_', ',', '#', '(':
		return dst, nil
	}
	n, numErr := strconv.Atoi(string(line[1 : len(line)-2]))
	count := 0
	switch line[0] {
	case '$', '=', '!':
		if numErr != nil || n < -1 {
			return dst, fmt.Errorf("bad length: %q", line)
		}
		if n >= 0 {
			at := len(dst)
			dst = slices.Grow(dst, n+2)[:at+n+2]
			_, err = io.ReadFull(r, dst[at:])
		}
		return dst, err
	case '*', '~', '>':
		count = n
	case '%':
		count = 2 * n
	case '|':
		count = 2*n + 1 // the reply that the attribute is about follows it
	default:
		return dst, fmt.Errorf("not a reply: %q", line)
	}
	if numErr != nil || n < -1 {
		return dst, fmt.Errorf("bad count: %q", line)
	}
	for range max(count, 0) {
		if dst, err = appendReply(dst, r); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendLine appends the bytes up to a line's end.
func appendLine(dst []byte, r *bufio.Reader) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		dst = append(dst, part...)
		if err != bufio.ErrBufferFull {
			return dst, err
		}
	}
}

// parseReply takes apart what appendReply read, and returns what follows it.
func parseReply(raw []byte) (Reply, []byte) {
	end := bytes.IndexByte(raw, '\n') + 1
	reply := Reply{Kind: raw[0], Text: raw[1 : end-2]}
	n, _ := strconv.Atoi(string(reply.Text))
	rest, count := raw[end:], 0
	switch raw[0] {
	case '$', '=', '!':
		if reply.Null = n < 0; !reply.Null {
			reply.Text, rest = rest[:n], rest[n+2:]
		}
	case '*', '~', '>':
		reply.Null = n < 0
		count = n
	case '%':
		count = 2 * n
	case '|':
		count = 2*n + 1
	case '_':
		reply.Null = true
	}
	for range max(count, 0) {
		var e Reply
		e, rest = parseReply(rest)
		reply.Elems = append(reply.Elems, e)
	}
	reply.Raw = raw[:len(raw)-len(rest)]
	return reply, rest
}

// sorted returns the elements' bytes in order.
func (r Reply) sorted() []string {
	list := make([]string, len(r.Elems))
	for i, e := range r.Elems {
		list[i] = string(e.Raw)
	}
	sort.Strings(list)
	return list
}

// sortedPairs returns the bytes of each two elements in order.
func (r Reply) sortedPairs() []string {
	var list []string
	for i := 0; i+1 < len(r.Elems); i += 2 {
		list = append(list, string(r.Elems[i].Raw)+string(r.Elems[i+1].Raw))
	}
	sort.Strings(list)
	return list
}

// int returns the reply's integer, if it is one.
func (r Reply) int() (int64, bool) {
	if r.Kind != ':' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(r.Text), 10, 64)
	return n, err == nil
}

package resp

import (
	"bytes"
	"strconv"
)

// Replies counts the replies written since m; -1 when what was written is not a
// sequence of whole replies. Checked builds and tests use it. An attribute
// belongs to the reply behind it. A Stream is taken for the rest of what it is part of.
func (w *Writer) Replies(m Mark) int {
	s := replyScanner{w: w, at: m.buf, ext: m.ext}
	n := 0
	for s.at < len(w.buf) {
		if !s.reply() {
			return -1
		}
		n++
	}
	return n
}

// replyScanner walks over replies in a writer's buffer.
type replyScanner struct {
	w   *Writer
	at  int
	ext int
}

// reply moves behind one reply; false when there is none whole.
func (s *replyScanner) reply() bool {
	end := bytes.Index(s.w.buf[s.at:], []byte("\r\n"))
	if end < 1 {
		return false
	}
	kind, head := s.w.buf[s.at], s.w.buf[s.at+1:s.at+end]
	s.at += end + 2
	switch kind {
	case '+', '-', ':', '_', '#', ',', '(':
		return true
	}
	n, err := strconv.Atoi(string(head))
	if err != nil {
		return false
	}
	switch kind {
	case '$', '=', '!':
		return n < 0 || s.body(n)
	case '*', '~', '>':
		return s.replies(n)
	case '%':
		return s.replies(2 * n)
	case '|':
		return s.replies(2*n + 1)
	}
	return false
}

func (s *replyScanner) replies(n int) bool {
	for range n {
		if s.stream() {
			return true
		}
		if !s.reply() {
			return false
		}
	}
	return true
}

// stream moves behind a Stream, if there is one.
func (s *replyScanner) stream() bool {
	if s.ext < len(s.w.ext) && s.w.ext[s.ext].At == s.at && s.w.ext[s.ext].Stream != nil {
		s.ext++
		return true
	}
	return false
}

// body moves behind the n bytes of a bulk string and its line end.
func (s *replyScanner) body(n int) bool {
	if s.ext < len(s.w.ext) && s.w.ext[s.ext].At == s.at {
		n -= len(s.w.ext[s.ext].Data)
		s.ext++
	}
	if n < 0 || s.at+n+2 > len(s.w.buf) || string(s.w.buf[s.at+n:s.at+n+2]) != "\r\n" {
		return false
	}
	s.at += n + 2
	return true
}

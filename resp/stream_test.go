package resp

import (
	"bytes"
	"fmt"
	"testing"
)

// numbers is a stream of integers, some at a time.
type numbers struct {
	from, to, step int
	released       *counter
}

func (s *numbers) Next(w *Writer) bool {
	for range s.step {
		if s.from == s.to {
			return false
		}
		if s.from%3 == 0 {
			w.BulkExternal(fmt.Append(nil, s.from), s.released)
		} else {
			w.Double(float64(s.from))
		}
		s.from++
	}
	return s.from < s.to
}

func (s *numbers) Held() int64 { return 0 }

func (s *numbers) Release() { s.released.Release() }

func TestStream(t *testing.T) {
	var released counter
	w := NewWriter(nil)
	w.SetProto(3)
	m := w.Mark()
	w.Array(7)
	w.Stream(&numbers{0, 7, 2, &released})
	if !w.Wrote(m) || w.Len() != StreamLen+len("*7\r\n") || w.Made() != len("*7\r\n") {
		t.Errorf("with a stream there are %d bytes, %d made", w.Len(), w.Made())
	}
	w.SetProto(2) // what was begun goes on as it was
	w.Double(1)
	const want = "*7\r\n$1\r\n0\r\n,1\r\n,2\r\n$1\r\n3\r\n,4\r\n,5\r\n$1\r\n6\r\n$1\r\n1\r\n"
	other := NewWriter([]byte("+OK\r\n"))
	other.Take(w)
	if w.Len() != 0 || other.Len() != StreamLen+len("+OK\r\n*7\r\n$1\r\n1\r\n") {
		t.Errorf("after Take there are %d bytes here, %d there", w.Len(), other.Len())
	}
	if got := other.Flatten([]byte("x")); string(got) != "x+OK\r\n"+want || other.Len() != 0 || other.Made() != 0 {
		t.Errorf("got %q", got)
	}
	if released != 1+3 {
		t.Errorf("%d releases", released)
	}
	other.Int(1)
	m = other.Mark()
	other.Array(2)
	other.Stream(&numbers{0, 2, 1, &released})
	other.Rewind(m)
	if released != 5 || other.Len() != 4 || !bytes.Equal(other.Flatten(nil), []byte(":1\r\n")) {
		t.Errorf("a stream that is taken back: %d releases, %d bytes left", released, other.Len())
	}
}

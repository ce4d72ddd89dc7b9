package listpack

import (
	"strconv"
	"testing"
)

// What was added is always said to be there; what was not, as seldom as promised.
func TestSeen(t *testing.T) {
	var s Seen
	for _, c := range []struct{ n, most int }{{100, 10}, {512, 80}} {
		s.Reset()
		for i := range c.n {
			s.Add([]byte("member:" + strconv.Itoa(i)))
		}
		for i := range c.n {
			if !s.Add([]byte("member:" + strconv.Itoa(i))) {
				t.Fatalf("of %d strings, %d is forgotten", c.n, i)
			}
		}
		wrong := 0
		for i := range 1000 {
			other := s // the filter stays as full as it is
			if other.Add([]byte("other:" + strconv.Itoa(i))) {
				wrong++
			}
		}
		if wrong > c.most {
			t.Errorf("with %d strings, %d of 1000 others are taken for one of them", c.n, wrong)
		}
	}
	s.Reset()
	if s.Add([]byte("member:1")) {
		t.Error("a string is remembered after Reset")
	}
}

package set

import (
	"fmt"
	"testing"
)

// TestScanOverPop: members that are there from the first call of SSCAN to the last are
// visited, though nearly all others are popped in between.
func TestScanOverPop(t *testing.T) {
	const n = 5000
	for _, count := range []int{10, 3000, 4500} {
		r := newRig(t, 1, 0)
		r.do(true, func(s *Set) {
			for i := range n {
				if _, err := s.Add(fmt.Appendf(nil, "member:%d", i)); err != nil {
					t.Fatal(err)
				}
			}
		})
		seen := map[string]bool{}
		note := func(m []byte) { seen[string(m)] = true }
		cursor := uint64(0)
		r.do(false, func(s *Set) { cursor = s.Scan(0, n/2, note) })
		r.do(true, func(s *Set) {
			if _, err := s.PopMany(count, r.tx); err != nil {
				t.Fatal(err)
			}
		})
		r.do(false, func(s *Set) {
			for cursor != 0 {
				cursor = s.Scan(cursor, 100, note)
			}
			s.Each(func(m []byte) bool {
				if !seen[string(m)] {
					t.Errorf("%d popped: %s was not visited", count, m)
					return false
				}
				return true
			})
		})
	}
}

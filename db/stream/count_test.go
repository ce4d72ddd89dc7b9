package stream

import (
	"fmt"
	"testing"
)

// TestCountFar counts in a stream of many chunks of blocks, from both of its ends.
func TestCountFar(t *testing.T) {
	const n = 2000
	s := New()
	for i := range uint64(n) {
		s.Append(ID{i + 1, 0}, [][]byte{[]byte("n"), fmt.Append(nil, i)}, Limits{NodeEntries: 1})
	}
	gone := map[uint64]bool{}
	for i := uint64(3); i < n; i += 7 {
		s.Delete(ID{i, 0})
		gone[i] = true
	}
	for from := uint64(0); from <= n+1; from += 13 {
		for to := from; to <= n+1; to += 31 {
			want := 0
			for i := max(from, 1); i <= min(to, n); i++ {
				if !gone[i] {
					want++
				}
			}
			if got := s.Count(ID{from, 0}, ID{to, 0}); got != want {
				t.Fatalf("%d entries from %d to %d, want %d", got, from, to, want)
			}
		}
	}
}

package generic

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestArrange compares with sorting all.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compare := func(a, b weighed) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	}
	for range 3000 {
		all := make([]weighed, r.IntN(300))
		most, way := 1+r.Uint64N(500), r.IntN(3)
		for i := range all {
			all[i] = weighed{r.Uint64N(most), i}
			if way == 1 {
				all[i].key = uint64(i)
			}
		}
		from := r.IntN(len(all) + 1)
		to := from + r.IntN(len(all)-from+1)
		want := slices.SortedFunc(slices.Values(all), compare)
		arrange(all, from, to, compare)
		if !slices.Equal(all[from:to], want[from:to]) {
			t.Fatalf("from %d to %d of %d: %v, want %v", from, to, len(all), all[from:to], want[from:to])
		}
		slices.SortFunc(all, compare)
		if !slices.Equal(all, want) {
			t.Fatal("some have gone")
		}
	}
}

// TestArrangeWork wants a few of many to be found without sorting the others.
func TestArrangeWork(t *testing.T) {
	const n = 1 << 16
	r, count := rand.New(rand.NewPCG(3, 4)), 0
	all := make([]weighed, n)
	for i := range all {
		all[i] = weighed{r.Uint64(), i}
	}
	arrange(all, n/2, n/2+10, func(a, b weighed) int {
		count++
		return cmp.Compare(a.key, b.key)
	})
	if count > 10*n {
		t.Errorf("%d comparisons for ten of %d", count, n)
	}
}

// TestSortOrder compares the order of weights and texts with the plain rule.
func TestSortOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := []string{"", "a", "a\x00", "ab", "abcdefgh", "abcdefgh\x00", "abcdefghi", "abcdefgz", "b", "\xff", "\xff\xff"}
	scores := []string{"0", "-0", "1", "-1", "1e300", "-1e300", "0.5", "inf", "-inf", "3", ""}
	for range 500 {
		s := &sorting{desc: r.IntN(2) == 0, alpha: r.IntN(2) == 0}
		for range r.IntN(40) {
			list := scores
			if s.alpha {
				list = texts
			}
			s.elements = append(s.elements, []byte(list[r.IntN(len(list))]))
		}
		s.offset, s.many = int64(r.IntN(10)), int64(r.IntN(12)-1)
		s.limit(len(s.elements))
		want := slices.Clone(s.elements)
		slices.SortStableFunc(want, func(a, b []byte) int {
			c := bytes.Compare(a, b)
			if !s.alpha {
				f, _ := number(a)
				g, _ := number(b)
				c = cmp.Or(cmp.Compare(f, g), c)
			}
			if s.desc {
				return -c
			}
			return c
		})
		if err := s.sort(); err != nil {
			t.Fatal(err)
		}
		if got := s.elements[s.from:s.to]; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want[s.from:s.to]) {
			t.Fatalf("alpha %v, desc %v, %d to %d: %q, want %q", s.alpha, s.desc, s.from, s.to, got, want)
		}
	}
	if a, b := compareTexts(nil, []byte{}), compareTexts([]byte{}, nil); a != -1 || b != 1 || compareTexts(nil, nil) != 0 {
		t.Error("nothing is not less than an empty text")
	}
}

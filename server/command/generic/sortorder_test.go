package generic

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	lists "heddle/server/command/list"
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
		arrange(all, from, to, maxCuts, compare)
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
	arrange(all, n/2, n/2+10, maxCuts, func(a, b weighed) int {
		count++
		return cmp.Compare(a.key, b.key)
	})
	if count > 10*n {
		t.Errorf("%d comparisons for ten of %d", count, n)
	}
}

// TestArrangeBadly has the order made up while it is asked for, so that whatever is chosen to
// cut at is nearly the least (McIlroy, A Killer Adversary for Quicksort).
func TestArrangeBadly(t *testing.T) {
	const n, gas = 20000, math.MaxInt
	all, value := make([]weighed, n), make([]int, n)
	for i := range all {
		all[i].at, value[i] = i, gas
	}
	solid, candidate, count := 0, 0, 0
	arrange(all, 0, n/4-1, maxCuts, func(a, b weighed) int {
		count++
		if x, y := a.at, b.at; value[x] == gas && value[y] == gas {
			if x != candidate {
				x = y
			}
			value[x], solid = solid, solid+1
		}
		switch {
		case value[a.at] == gas:
			candidate = a.at
		case value[b.at] == gas:
			candidate = b.at
		}
		return cmp.Compare(value[a.at], value[b.at])
	})
	if most := 4 * maxCuts * n; count > most {
		t.Errorf("%d comparisons, more than %d", count, most)
	}
}

// TestSortLarge wants elements too large for the room of many to have memory of their own:
// else all that is copied when the room grows is kept.
func TestSortLarge(t *testing.T) {
	e := cmdtest.New(t, lists.Family())
	for range 200 {
		e.Do("rpush l " + strings.Repeat("x", 20000))
	}
	ks := e.Keyspace
	tx, set := ks.NewTx(), ks.AllShards()
	ks.Lock(set)
	defer ks.Unlock(set)
	tx.Begin(0, e.Now(), set, false)
	defer tx.End()
	s := &sorting{v: tx}
	if err := s.load([]byte("l")); err != nil || len(s.elements) != 200 {
		t.Fatal(err, len(s.elements))
	}
	if cap(s.room) > roomSize {
		t.Errorf("a room of %d bytes", cap(s.room))
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

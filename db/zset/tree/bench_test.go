package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// million makes a tree of a million entries in random order.
func million(b testing.TB) (tr *Tree, scores []float64, members [][]byte) {
	b.Helper()
	const n = 1_000_000
	tr = New()
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		scores = append(scores, rng.Float64()*1e6)
		members = append(members, fmt.Appendf(nil, "member:%06d", i))
		tr.Insert(scores[i], members[i])
	}
	return tr, scores, members
}

func BenchmarkInsert(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	tr := New()
	var m [16]byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tr.Insert(rng.Float64(), fmt.Appendf(m[:0], "member:%08d", i))
	}
}

func BenchmarkMillion(b *testing.B) {
	tr, scores, members := million(b)
	rng := rand.New(rand.NewPCG(2, 2))
	b.Run("rank", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i := rng.IntN(len(scores))
			tr.Rank(At(scores[i], members[i]))
		}
	})
	b.Run("range10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := tr.Seek(rng.IntN(len(scores)))
			for k := 0; k < 10 && c.Valid(); k++ {
				_ = c.Member()
				c.Next()
			}
		}
	})
	b.Run("move", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i := rng.IntN(len(scores))
			s := rng.Float64() * 1e6
			tr.Move(scores[i], members[i], s)
			scores[i] = s
		}
	})
	b.Run("nudge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i := rng.IntN(len(scores))
			tr.Move(scores[i], members[i], scores[i]+1)
			scores[i]++
		}
	})
	b.Run("moveCloned", func(b *testing.B) {
		b.ReportAllocs()
		var worst []time.Duration
		var clone *Tree
		for i := 0; b.Loop(); i++ {
			if i%100_000 == 0 {
				clone = tr.Clone()
			}
			i := rng.IntN(len(scores))
			s := rng.Float64() * 1e6
			start := time.Now()
			tr.Move(scores[i], members[i], s)
			worst = append(worst, time.Since(start))
			scores[i] = s
		}
		slices.Sort(worst)
		b.ReportMetric(float64(worst[len(worst)*999/1000].Nanoseconds()), "p99.9-ns")
		_ = clone
	})
}

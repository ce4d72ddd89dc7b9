package set

import (
	"fmt"
	"testing"

	"heddle/db"
)

// BenchmarkPopMany takes half of a million members at random.
func BenchmarkPopMany(b *testing.B) {
	full := newObject(asTable)
	for i := range 1_000_000 {
		full.table.Add(fmt.Append(nil, "member:", i))
	}
	for b.Loop() {
		s := Set{obj: full.clone(), limits: &db.Limits{}}
		if _, err := s.PopMany(500_000, fixed{}); err != nil {
			b.Fatal(err)
		}
	}
}

type fixed struct{}

func (fixed) Rand() uint64 { return 1 << 40 }

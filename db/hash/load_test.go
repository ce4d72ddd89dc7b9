package hash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/db"
)

// TestBuilder fills hashes as files do, with fields that come twice, and compares what is
// stored with the model.
func TestBuilder(t *testing.T) {
	var b Builder
	r := rand.New(rand.NewPCG(7, 9))
	var worlds []*world
	for i := range 9 {
		worlds = append(worlds, newWorld(t, []int64{8, 100, 512}[i%3], []int64{10, 64, 20000}[i/3]))
	}
	for round := range 300 {
		w, n := worlds[round%9], r.IntN(300)
		limits := w.ks.Settings().Limits
		b.Reset(&limits, uint64(n))
		m := map[string]field{}
		for i := range n {
			name := fmt.Sprint("field:", r.IntN(400))
			f := field{value: strings.Repeat("v", r.IntN(20)*r.IntN(8))}
			if round%5 == 0 && r.IntN(100) == 0 {
				f.at = w.now + 1000
			}
			_, there := m[name]
			if there && b.h.obj != nil {
				continue // such a Builder is of no more use afterwards
			}
			if b.Add([]byte(name), []byte(f.value), f.at) == there {
				t.Fatalf("round %d: the %dth, %q, is there: %v", round, i, name, !there)
			}
			if !there {
				m[name] = f
			}
		}
		if b.Len() != len(m) {
			t.Fatalf("%d fields, want %d", b.Len(), len(m))
		}
		if n == 0 {
			continue
		}
		w.do(func(tx db.Txn) {
			var err error
			if c := b.Coll(); c.Object != nil {
				err = tx.PutObject(key, db.TypeHash, c.Object, db.NoExpiry)
			} else {
				err = tx.PutPacked(key, db.TypeHash, c.Packing, c.Packed, db.NoExpiry)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		w.compare(t, m)
	}
}

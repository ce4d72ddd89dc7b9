package list

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestClonesInParallel reads clones in other goroutines, without locks, while
// the list they come from is changed.
func TestClonesInParallel(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	m := &model{t: t, o: newObject(nil, false)}
	var wg sync.WaitGroup
	for i := range 1500 {
		m.step(r, i%500 < 400)
		if i%50 != 49 {
			continue
		}
		c, want := m.o.clone(), slices.Clone(m.want)
		wg.Add(1)
		go func() {
			defer wg.Done()
			if got := slice(t, c); !slices.Equal(got, want) {
				t.Errorf("a clone of %d elements has %d", len(want), len(got))
			}
			if c.Len() != len(want) || c.MemSize() <= 0 {
				t.Errorf("a clone says %d elements of %d", c.Len(), len(want))
			}
		}()
	}
	wg.Wait()
	m.verify()
}

// FuzzObject makes the changes that bytes tell of, beside a slice.
func FuzzObject(f *testing.F) {
	f.Add(uint64(1), []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Add(uint64(2), []byte("grow grow grow cut cut"))
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := &model{t: t, o: newObject(nil, false)}
		var before *Object
		var want []string
		for _, op := range ops {
			if op == 0xff {
				before, want = m.o.clone(), slices.Clone(m.want)
				continue
			}
			for range 1 + int(op>>3) {
				m.step(r, op&4 != 0)
			}
			m.verify()
		}
		if !slices.Equal(slice(t, m.o), m.want) || before != nil && !slices.Equal(slice(t, before), want) {
			t.Fatal("not the same in the end")
		}
	})
}

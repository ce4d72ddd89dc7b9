package members

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

type source struct{ r *rand.Rand }

func (s source) Rand() uint64 { return s.r.Uint64() }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 1))} }

// model is a table beside a map that does the same.
type model struct {
	t *Table
	m map[string]string
}

func newModel(k Kind) *model { return &model{New(k), map[string]string{}} }

func word(v string) uint64 { return Uint64([]byte(v)) }

func (m *model) clone() *model {
	c := &model{m.t.Clone(), make(map[string]string, len(m.m))}
	for k, v := range m.m {
		c.m[k] = v
	}
	return c
}

func (m *model) set(t testing.TB, key, value string) {
	t.Helper()
	old, had := m.m[key]
	switch m.t.kind {
	case None:
		if m.t.Add([]byte(key)) == had {
			t.Fatalf("Add(%q) says %v", key, !had)
		}
		value = ""
	case Word:
		w, found := m.t.SetWord([]byte(key), word(value))
		if found != had || had && w != word(old) {
			t.Fatalf("SetWord(%q) gives %d, %v; want %q", key, w, found, old)
		}
		value = value[:8]
	case Bytes:
		if m.t.Set([]byte(key), []byte(value)) == had {
			t.Fatalf("Set(%q) says %v", key, !had)
		}
	}
	m.m[key] = value
}

func (m *model) remove(t testing.TB, key string) {
	t.Helper()
	old, had := m.m[key]
	if m.t.kind == Word {
		w, found := m.t.TakeWord([]byte(key))
		if found != had || had && w != word(old) {
			t.Fatalf("TakeWord(%q) gives %d, %v; want %q", key, w, found, old)
		}
	} else if m.t.Delete([]byte(key)) != had {
		t.Fatalf("Delete(%q) says %v", key, !had)
	}
	delete(m.m, key)
}

func (m *model) get(t testing.TB, key string) {
	t.Helper()
	want, had := m.m[key]
	var got string
	var found bool
	switch m.t.kind {
	case None:
		found = m.t.Has([]byte(key))
	case Word:
		var w uint64
		if w, found = m.t.Word([]byte(key)); found {
			got = string(binary.LittleEndian.AppendUint64(nil, w))
		}
	case Bytes:
		var b []byte
		b, found = m.t.Get([]byte(key))
		got = string(b)
	}
	if found != had || got != want || m.t.Has([]byte(key)) != had {
		t.Fatalf("%q is %q, %v; want %q, %v", key, got, found, want, had)
	}
}

// filter removes each member with probability share.
func (m *model) filter(t testing.TB, r *rand.Rand, share float64) {
	t.Helper()
	all := m.t.Clone()
	it := all.Iter()
	m.t.Filter(func(k, v []byte) bool {
		if !it.Next() || string(it.Member()) != string(k) || string(it.Value()) != string(v) {
			t.Fatalf("Filter asks for %q: %q, Iter gives %q: %q", k, v, it.Member(), it.Value())
		}
		if r.Float64() >= share {
			return false
		}
		delete(m.m, string(k))
		return true
	})
	if it.Next() {
		t.Fatalf("Filter did not ask for %q", it.Member())
	}
	if share == 1 && (m.t.rootBits != 0 || m.t.root[0].bits != 0 || m.t.mem > 1000) {
		t.Fatalf("an empty table has %d bytes, %d+%d bits", m.t.mem, m.t.rootBits, m.t.root[0].bits)
	}
}

func (m *model) check(t testing.TB) {
	t.Helper()
	if err := m.t.Check(); err != nil {
		t.Fatal(err)
	}
	if m.t.Len() != len(m.m) {
		t.Fatalf("Len %d, want %d", m.t.Len(), len(m.m))
	}
	seen := 0
	m.t.Each(func(k, v []byte) bool {
		if want, ok := m.m[string(k)]; !ok || want != string(v) {
			t.Fatalf("Each gives %q: %q, want %q, %v", k, v, want, ok)
		}
		seen++
		return true
	})
	if seen != len(m.m) {
		t.Fatalf("Each visits %d, want %d", seen, len(m.m))
	}
	for cursor, seen := uint64(0), map[string]bool{}; ; {
		cursor = m.t.Scan(cursor, 7, func(k, v []byte) {
			if want, ok := m.m[string(k)]; !ok || want != string(v) || seen[string(k)] {
				t.Fatalf("Scan gives %q: %q, want %q, %v", k, v, want, ok)
			}
			seen[string(k)] = true
		})
		if cursor == 0 {
			if len(seen) != len(m.m) {
				t.Fatalf("Scan visits %d, want %d", len(seen), len(m.m))
			}
			return
		}
	}
}

func TestModel(t *testing.T) {
	masks := map[string]uint64{"strong": ^uint64(0), "top bits": 0xF3 << 56, "low bits": 0xFFF, "both": 7<<61 | 1<<40 | 3}
	for name, mask := range masks {
		for k := None; k <= Bytes; k++ {
			t.Run(fmt.Sprint(name, " ", k), func(t *testing.T) {
				for seed := range uint64(4) {
					run(t, k, mask, seed)
				}
			})
		}
	}
}

// run does random things to a table and its clones.
func run(t *testing.T, k Kind, mask, seed uint64) {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	m := newModel(k)
	m.t.mask = mask
	all := []*model{m}
	keys := 20 << (3 * seed)
	if mask != ^uint64(0) {
		keys = min(keys, 2000)
	}
	for i := range 30000 {
		m := all[r.IntN(len(all))]
		key := randomKey(r, keys)
		grow := 2 + i/5000%3*3 // more is added, then more is removed
		switch x := r.IntN(12); {
		case x < grow:
			m.set(t, key, randomValue(r))
		case x < 10:
			m.remove(t, key)
		default:
			m.get(t, key)
		}
		if r.IntN(3000) == 0 {
			all = append(all, m.clone())
		}
		if r.IntN(1500) == 0 {
			m.check(t)
		}
		if r.IntN(5000) == 0 {
			m.filter(t, r, []float64{0.02, 0.5, 0.97, 1}[r.IntN(4)])
			m.check(t)
		}
	}
	for _, m := range all {
		m.check(t)
		for key := range m.m {
			m.remove(t, key)
		}
		m.check(t)
		if m.t.rootBits != 0 || m.t.root[0].bits != 0 || m.t.mem > 1000 {
			t.Fatalf("an empty table has %d bytes, %d+%d bits", m.t.mem, m.t.rootBits, m.t.root[0].bits)
		}
	}
}

func randomKey(r *rand.Rand, n int) string {
	key := fmt.Sprint(r.IntN(n))
	switch key[len(key)-1] {
	case '0':
		return key[:len(key)-1]
	case '1':
		return key + strings.Repeat("x", 250)
	case '2':
		if len(key) < 4 {
			return key + strings.Repeat("large", 500)
		}
	}
	return key
}

func randomValue(r *rand.Rand) string {
	n := 8 + r.IntN(30)
	switch r.IntN(50) {
	case 0:
		n = 8 + r.IntN(1000)
	case 1:
		n = 5000
	case 2:
		n = 8
	}
	return strings.Repeat(string(rune('a'+r.IntN(26))), n)
}

func TestRandomIsUniform(t *testing.T) {
	for _, n := range []int{1, 7, 100, 3000} {
		m := newModel(None)
		for i := range 4 * n {
			m.set(t, fmt.Sprint(i), "")
		}
		for i := range 3 * n {
			m.remove(t, fmt.Sprint(i))
		}
		r, hits := newSource(uint64(n)), map[string]int{}
		const each = 200
		for range each * n {
			k, _ := m.t.Random(r)
			hits[string(k)]++
		}
		chi := 0.0
		for k := range m.m {
			d := float64(hits[k] - each)
			chi += d * d / each
		}
		// The mean is n-1, the deviation sqrt(2n).
		if d := chi - float64(n); d*d > 2*float64(n)*36 {
			t.Errorf("%d members: chi square %f", n, chi)
		}
	}
}

// TestScanSurvives: a member that stays is visited exactly once whatever comes
// and goes meanwhile.
func TestScanSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		m := newModel(Bytes)
		stay := map[string]int{}
		for i := range 1 + r.IntN(3000) {
			key := fmt.Sprint("stay", i)
			stay[key] = 0
			m.set(t, key, randomValue(r))
		}
		for cursor, first := uint64(0), true; first || cursor != 0; first = false {
			n := 0
			count := 1 + r.IntN(40)
			cursor = m.t.Scan(cursor, count, func(k, _ []byte) {
				n++
				if _, ok := stay[string(k)]; ok {
					stay[string(k)]++
				}
			})
			if n != count && cursor != 0 {
				t.Fatalf("count %d visits %d", count, n)
			}
			for range r.IntN(200) {
				if key := fmt.Sprint("go", r.IntN(5000)); r.IntN(3) > 0 {
					m.remove(t, key)
				} else {
					m.set(t, key, randomValue(r))
				}
			}
		}
		for key, n := range stay {
			if n != 1 {
				t.Fatalf("%q was visited %d times", key, n)
			}
		}
	}
}

func TestSizePerMember(t *testing.T) {
	tab := New(None)
	for i := range 300_000 {
		tab.Add(fmt.Appendf(nil, "%016d", i))
	}
	per := float64(tab.MemSize()) / 300_000
	t.Logf("%.1f bytes a member of 16", per)
	if per > 30 {
		t.Errorf("%.1f bytes a member of 16", per)
	}
}

func TestNoAllocs(t *testing.T) {
	tab, words := New(Bytes), New(Word)
	key, value, r := []byte("key"), []byte("value"), newSource(1)
	for i := range 10000 {
		key := fmt.Append(nil, i)
		tab.Set(key, value)
		words.SetWord(key, 1)
	}
	tab.Set(key, value)
	n := uint64(0)
	f := func(name string, fn func()) {
		t.Helper()
		if got := testing.AllocsPerRun(100, fn); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
	f("Get", func() { tab.Get(key) })
	f("Set", func() { tab.Set(key, value) })
	f("Set of another length", func() { n++; tab.Set(key, value[:n%5]) })
	f("SetWord", func() { n++; words.SetWord(key, n) })
	f("Delete", func() { n++; tab.Delete(key); tab.Set(key, value) })
	f("Random", func() { tab.Random(r) })
	f("Scan", func() { n = tab.Scan(n, 10, func(_, _ []byte) {}) })
	f("Each", func() { tab.Each(func(_, _ []byte) bool { return true }) })
}

func benchKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "member:%09d", i)
	}
	return keys
}

func BenchmarkTable(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		keys := benchKeys(n)
		r := rand.New(rand.NewPCG(1, 1))
		r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		value := []byte("some value 1234")
		full := New(Bytes)
		for _, k := range keys {
			full.Set(k, value)
		}
		run := func(name string, fn func(i int)) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					fn(i % n)
				}
			})
		}
		run("get", func(i int) { full.Get(keys[i]) })
		run("set", func(i int) { full.Set(keys[i], value) })
		run("set-delete", func(i int) { full.Delete(keys[i]); full.Set(keys[i], value) })
		var t *Table
		run("add", func(i int) {
			if i == 0 {
				t = New(None)
			}
			t.Add(keys[i])
		})
		s := newSource(1)
		run("random", func(int) { full.Random(s) })
		cursor := uint64(0)
		run("scan10", func(int) { cursor = full.Scan(cursor, 10, func(_, _ []byte) {}) })
	}
}

// TestFilterTakesNoMemory: a table from which some members go does not grow by it.
func TestFilterTakesNoMemory(t *testing.T) {
	for _, share := range []float64{0.01, 0.04, 0.2, 0.5} {
		tab, r := New(None), rand.New(rand.NewPCG(1, 2))
		for i := range 200_000 {
			tab.Add(fmt.Append(nil, "member:", i))
		}
		before := tab.MemSize()
		tab.Filter(func(_, _ []byte) bool { return r.Float64() < share })
		if after := tab.MemSize(); after > before {
			t.Errorf("%v of the members go: %d bytes, %d before", share, after, before)
		}
		if err := tab.Check(); err != nil {
			t.Error(err)
		}
	}
}

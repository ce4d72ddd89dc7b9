package members

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"heddle/db"
)

func (d *Deadlines) check(t testing.TB, want map[string]db.Millis) {
	t.Helper()
	if d.Len() != len(want) {
		t.Fatalf("%d deadlines, want %d", d.Len(), len(want))
	}
	if err := d.t.Check(); err != nil {
		t.Fatal(err)
	}
	d.Each(func(m []byte, at db.Millis) bool {
		if want[string(m)] != at {
			t.Fatalf("%q is due at %d, want %d", m, at, want[string(m)])
		}
		return true
	})
	mem, n, last := int64(0), 0, pair{}
	for _, node := range d.o.nodes {
		mem += nodeMem + orderFan*pointerSize
		if len(node.leaves) == 0 || len(node.leaves) > orderFan {
			t.Fatalf("a node of %d leaves", len(node.leaves))
		}
		before := n
		for _, l := range node.leaves {
			mem += leafMem + int64(cap(l.pairs))*pairSize
			if len(l.pairs) == 0 || len(l.pairs) > orderFan {
				t.Fatalf("a leaf of %d pairs", len(l.pairs))
			}
			for _, p := range l.pairs {
				if p.less(last) {
					t.Fatalf("%v behind %v", p, last)
				}
				last = p
				n++
			}
		}
		if node.n != n-before {
			t.Fatalf("a node of %d pairs counts %d", n-before, node.n)
		}
	}
	if n != len(want) || mem != d.o.mem {
		t.Fatalf("%d pairs in %d bytes; want %d, %d", n, d.o.mem, len(want), mem)
	}
}

func TestDeadlines(t *testing.T) {
	type model struct {
		d *Deadlines
		m map[string]db.Millis
	}
	for seed := range uint64(8) {
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 3))
		all := []*model{{NewDeadlines(), map[string]db.Millis{}}}
		if seed%2 == 1 {
			all[0].d.t.mask = 0xF0 << 56
		}
		keys := 50 << (2 * (seed / 2))
		for i := range 20000 {
			m := all[r.IntN(len(all))]
			key := fmt.Sprint(r.IntN(keys))
			switch x := r.IntN(10); {
			case x < 3+i/4000%2*4:
				at := db.Millis(1 + r.IntN(500))
				if r.IntN(2) == 0 {
					at = db.Millis(1000 + i)
				}
				m.d.Set([]byte(key), at)
				m.m[key] = at
			case x < 9:
				_, had := m.m[key]
				if m.d.Delete([]byte(key)) != had {
					t.Fatalf("Delete says %v", !had)
				}
				delete(m.m, key)
			default:
				due(t, m.d, m.m, db.Millis(r.IntN(i+1)), 1+r.IntN(5))
			}
			if r.IntN(2000) == 0 {
				all = append(all, &model{m.d.Clone(), maps.Clone(m.m)})
			}
			if r.IntN(1000) == 0 {
				m.d.check(t, m.m)
			}
		}
		for _, m := range all {
			m.d.check(t, m.m)
			for m.d.Len() > 0 {
				due(t, m.d, m.m, m.d.Next(), 100)
			}
			m.d.check(t, m.m)
		}
	}
}

// due lets deadlines pass and compares with the model.
func due(t *testing.T, d *Deadlines, m map[string]db.Millis, now db.Millis, limit int) {
	t.Helper()
	last, n, all := db.Millis(0), 0, 0
	for _, at := range m {
		if at <= now {
			all++
		}
	}
	if d.DueBy(now) != all {
		t.Fatalf("DueBy says %d, want %d", d.DueBy(now), all)
	}
	if n := len(m); d.AllDue(n, now) != (n > 0 && all == n) || d.AllDue(n+1, now) || d.AnyDue(now) != (all > 0) {
		t.Fatalf("%d of %d are due; all: %v, any: %v", all, n, d.AllDue(n, now), d.AnyDue(now))
	}
	got := d.Due(now, limit, func(member []byte) {
		at, ok := m[string(member)]
		if !ok || at > now || at < last {
			t.Fatalf("%q of %d is due at %d, after one of %d", member, at, now, last)
		}
		delete(m, string(member))
		last = at
		n++
	})
	if got != n {
		t.Fatalf("Due says %d, calls %d times", got, n)
	}
	for key, at := range m {
		if n < limit && at <= now || at < last {
			t.Fatalf("%q of %d was left at %d", key, at, now)
		}
	}
}

func TestNoDeadlines(t *testing.T) {
	var d *Deadlines
	if _, found := d.Get(nil); found || d.Len() != 0 || d.MemSize() != 0 || d.Clone() != nil || d.Next() != 0 ||
		d.Passed(nil, 1) || d.Delete(nil) || d.Due(1, 1, nil) != 0 || d.DueBy(9) != 0 || d.AllDue(0, 9) || d.AnyDue(9) || !d.Each(nil) {
		t.Error("nil has deadlines")
	}
}

func BenchmarkDeadlines(b *testing.B) {
	keys := benchKeys(100_000)
	d := NewDeadlines()
	b.ReportAllocs()
	for i := range b.N {
		d.Set(keys[i%len(keys)], db.Millis(i+1))
	}
	b.ReportMetric(float64(d.MemSize())/float64(d.Len()), "B/member")
}

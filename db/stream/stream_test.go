package stream

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/db/listpack"
)

// model is a stream as simple as can be: nodes are lists of entries, the deleted ones
// included, with the size that Redis would give them.
type model struct {
	nodes   []*modelNode
	last    ID
	added   uint64
	deleted ID
}

type modelNode struct {
	names   []string
	entries []modelEntry
	size    int
}

type modelEntry struct {
	id    ID
	pairs []string
	dead  bool
}

func (n *modelNode) live() (live int) {
	for _, e := range n.entries {
		if !e.dead {
			live++
		}
	}
	return live
}

func rsize(s string) int { return listpack.RedisSize([]byte(s)) }
func isize(n int) int    { return listpack.RedisIntSize(int64(n)) }

func (m *model) add(id ID, pairs []string, l Limits) {
	total := 0
	var names []string
	for i, s := range pairs {
		total += len(s)
		if i%2 == 0 {
			names = append(names, s)
		}
	}
	limit := l.NodeBytes
	if limit == 0 {
		limit = 1 << 30
	}
	var n *modelNode
	if len(m.nodes) > 0 {
		n = m.nodes[len(m.nodes)-1]
		live, all := n.live(), len(n.entries)
		if int64(n.size+isize(live)+isize(all-live)+total) >= limit || l.NodeEntries > 0 && int64(all) >= l.NodeEntries {
			n = nil
		}
	}
	if n == nil {
		n = &modelNode{names: names, size: 7 + isize(len(names)) + 2}
		for _, s := range names {
			n.size += rsize(s)
		}
		m.nodes = append(m.nodes, n)
	}
	first := id
	if len(n.entries) > 0 {
		first = n.entries[0].id
	}
	n.size += 2 + listpack.RedisIntSize(int64(id.Ms-first.Ms)) + listpack.RedisIntSize(int64(id.Seq-first.Seq))
	shared := slices.Equal(names, n.names)
	if shared {
		n.size += isize(len(names) + 3)
	} else {
		n.size += isize(len(names)) + isize(2*len(names)+4)
	}
	for i, s := range pairs {
		if !shared || i%2 == 1 {
			n.size += rsize(s)
		}
	}
	n.entries = append(n.entries, modelEntry{id: id, pairs: pairs})
	m.last = id
	m.added++
}

func (m *model) remove(id ID) bool {
	for i, n := range m.nodes {
		for j := range n.entries {
			e := &n.entries[j]
			if e.id != id || e.dead {
				continue
			}
			e.dead = true
			if m.deleted.Before(id) {
				m.deleted = id
			}
			if n.live() == 0 {
				m.nodes = slices.Delete(m.nodes, i, i+1)
			}
			return true
		}
	}
	return false
}

func (m *model) live() (list []modelEntry) {
	for _, n := range m.nodes {
		for _, e := range n.entries {
			if !e.dead {
				list = append(list, e)
			}
		}
	}
	return list
}

func (m *model) trim(t Trim) (gone int64) {
	length := int64(len(m.live()))
	for len(m.nodes) > 0 {
		n := m.nodes[0]
		live := int64(n.live())
		if !t.ByID && length <= t.MaxLen || t.Approximate && t.Limit > 0 && gone+live > t.Limit {
			break
		}
		if t.ByID && n.entries[len(n.entries)-1].id.Before(t.MinID) || !t.ByID && length-live >= t.MaxLen {
			m.nodes = m.nodes[1:]
			gone, length = gone+live, length-live
			continue
		}
		for i := range n.entries {
			e := &n.entries[i]
			if t.Approximate || t.ByID && !e.id.Before(t.MinID) || !t.ByID && length <= t.MaxLen {
				break
			}
			if !e.dead {
				e.dead = true
				gone, length = gone+1, length-1
			}
		}
		break
	}
	return gone
}

func bytesOf(pairs []string) (out [][]byte) {
	for _, s := range pairs {
		out = append(out, []byte(s))
	}
	return out
}

func textOf(e *Entry) (pairs []string) {
	var a, b listpack.Scratch
	for e.Len() > 0 {
		name, value := e.Pair()
		pairs = append(pairs, string(name.Bytes(&a)), string(value.Bytes(&b)))
	}
	return pairs
}

// compare holds a stream against the model.
func compare(t *testing.T, s *Stream, m *model, r *rand.Rand) {
	anew := *s
	anew.radix = nil
	if got, want := s.RadixNodes(), anew.RadixNodes(); got != want {
		t.Fatalf("%d nodes in the radix tree, %d when counted anew", got, want)
	}
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	want := m.live()
	if s.Len() != len(want) || s.LastID() != m.last || s.Added() != m.added || s.MaxDeleted() != m.deleted || s.Nodes() != len(m.nodes) {
		t.Fatalf("len %d, last %v, added %d, deleted %v, nodes %d; want %d %v %d %v %d", s.Len(), s.LastID(), s.Added(), s.MaxDeleted(), s.Nodes(),
			len(want), m.last, m.added, m.deleted, len(m.nodes))
	}
	from, to := ID{}, MaxID
	if len(want) > 0 && r.IntN(3) > 0 {
		from, to = want[r.IntN(len(want))].id, want[r.IntN(len(want))].id
		if r.IntN(2) == 0 {
			from, _ = from.Next()
		}
		if r.IntN(2) == 0 {
			to, _ = to.Prev()
		}
	}
	var in []modelEntry
	for _, e := range want {
		if !e.id.Before(from) && !to.Before(e.id) {
			in = append(in, e)
		}
	}
	if n := s.Count(from, to); n != len(in) {
		t.Fatalf("%v..%v has %d entries, not %d", from, to, n, len(in))
	}
	it := s.Range(from, to)
	for i := range in {
		e, ok := it.Next()
		if !ok || e.ID != in[i].id {
			t.Fatalf("%v..%v, entry %d: %v %v, want %v", from, to, i, e.ID, ok, in[i].id)
		}
		if got := textOf(&e); !slices.Equal(got, in[i].pairs) {
			t.Fatalf("%v: %q, want %q", e.ID, got, in[i].pairs)
		}
	}
	if e, ok := it.Next(); ok {
		t.Fatalf("%v behind the end %v", e.ID, to)
	}
	back := s.RangeReverse(from, to)
	for i := len(in) - 1; i >= 0; i-- {
		e, ok := back.Next()
		if !ok || e.ID != in[i].id || !slices.Equal(textOf(&e), in[i].pairs) {
			t.Fatalf("backwards %v..%v, entry %d: %v %v, want %v", from, to, i, e.ID, ok, in[i].id)
		}
	}
	if e, ok := back.Next(); ok {
		t.Fatalf("%v before the start %v", e.ID, from)
	}
	top, ok := s.Top()
	if ok != (len(want) > 0) || ok && top != want[len(want)-1].id {
		t.Fatalf("top %v %v", top, ok)
	}
	for range 3 {
		if len(want) > 0 {
			w := want[r.IntN(len(want))]
			if e, ok := s.Get(w.id); !ok || !slices.Equal(textOf(&e), w.pairs) {
				t.Fatalf("get %v: %v", w.id, ok)
			}
		}
	}
}

func (m *model) clone() *model {
	dup := *m
	dup.nodes = nil
	for _, n := range m.nodes {
		c := *n
		c.entries = slices.Clone(n.entries)
		dup.nodes = append(dup.nodes, &c)
	}
	return &dup
}

func randomPairs(r *rand.Rand) (pairs []string) {
	if r.IntN(3) > 0 {
		return []string{"field", fmt.Sprint(r.IntN(100000)), "other", "value" + fmt.Sprint(r.IntN(1000))}
	}
	for range 1 + r.IntN(5) {
		value := make([]byte, r.IntN(80))
		for i := range value {
			value[i] = byte(r.IntN(256))
		}
		if r.IntN(60) == 0 {
			value = make([]byte, r.IntN(9000))
		}
		pairs = append(pairs, fmt.Sprintf("f%d", r.IntN(3)), string(value))
	}
	return pairs
}

// nextID draws an ID behind last, often with the smallest steps.
func nextID(r *rand.Rand, last ID) (ID, bool) {
	switch r.IntN(40) {
	case 0:
		return ID{last.Ms + uint64(r.IntN(1<<30)), r.Uint64()}, last.Ms < math.MaxUint64/2
	case 1:
		return ID{last.Ms, last.Seq + r.Uint64()>>uint(r.IntN(64))}, last.Seq < math.MaxUint64/2
	case 2, 3, 4, 5, 6, 7, 8:
		return ID{last.Ms + 1 + uint64(r.IntN(2000)), uint64(r.IntN(3))}, last.Ms < math.MaxUint64-3000
	}
	return last.Next()
}

func TestModel(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playModel(t, seed) })
	}
}

func playModel(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	limits := []Limits{{4096, 100}, {0, 0}, {0, 5}, {300, 0}, {20000, 0}, {4096, 1}, {0, 3000}, {1, 1}}
	l := limits[r.IntN(len(limits))]
	s, m := New(), &model{}
	type pair struct {
		s *Stream
		m *model
	}
	var clones []pair
	for step := range 120 {
		switch op := r.IntN(12); {
		case op < 6:
			for range r.IntN(60) {
				if id, ok := nextID(r, m.last); ok && m.last.Before(id) {
					pairs := randomPairs(r)
					s.Append(id, bytesOf(pairs), l)
					m.add(id, pairs, l)
				}
			}
		case op < 9:
			all := m.live()
			for range r.IntN(50) {
				if len(all) == 0 {
					break
				}
				at := r.IntN(len(all))
				if r.IntN(2) == 0 {
					at = len(all) - 1 - min(r.IntN(5), len(all)-1)
				}
				id := all[at].id
				if got, want := s.Delete(id), m.remove(id); got != want {
					t.Fatalf("delete %v: %v", id, got)
				}
				if r.IntN(2) == 0 {
					all = slices.Delete(all, at, at+1)
				}
			}
		case op < 10:
			trim := Trim{ByID: r.IntN(2) == 0, Approximate: r.IntN(2) == 0, MaxLen: int64(r.IntN(len(m.live()) + 5)), Limit: int64(r.IntN(300) * r.IntN(2))}
			if all := m.live(); len(all) > 0 {
				trim.MinID = all[r.IntN(len(all))/(1+r.IntN(4))].id
			}
			if r.IntN(3) == 0 && len(m.nodes) > 0 { // a deleted one, maybe
				n := m.nodes[0].entries
				trim.MinID = n[len(n)-1].id
			}
			if r.IntN(20) == 0 {
				trim.MinID = MaxID
			}
			if got, want := s.TrimTo(trim), m.trim(trim); got != want {
				t.Fatalf("step %d: trim %+v: %d, want %d", step, trim, got, want)
			}
		case op < 11:
			clones = append(clones, pair{s.Clone().(*Stream), m.clone()})
		default:
			if len(clones) > 0 { // go on with a clone
				i := r.IntN(len(clones))
				clones[i].s, s = s, clones[i].s
				clones[i].m, m = m, clones[i].m
			}
		}
		compare(t, s, m, r)
	}
	for _, c := range clones {
		compare(t, c.s, c.m, r)
	}
}

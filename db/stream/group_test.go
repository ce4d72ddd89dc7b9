package stream

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// groupModel is a group as simple as can be.
type groupModel struct {
	consumers map[string]bool
	pending   map[ID]pendingModel
}

type pendingModel struct {
	consumer    string
	time, count int64
}

func (m *groupModel) clone() *groupModel {
	return &groupModel{maps.Clone(m.consumers), maps.Clone(m.pending)}
}

func (m *groupModel) ids(consumer string) (list []ID) {
	for id, p := range m.pending {
		if consumer == "" || p.consumer == consumer {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, ID.Compare)
	return list
}

func compareGroup(t *testing.T, s *Stream, name string, m *groupModel) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	g := s.Group([]byte(name))
	if (g == nil) != (m == nil) {
		t.Fatalf("group %s: %v, want %v", name, g != nil, m != nil)
	}
	if g == nil {
		return
	}
	if g.Len() != len(m.pending) || g.Consumers() != len(m.consumers) {
		t.Fatalf("%d pending, %d consumers; want %d, %d", g.Len(), g.Consumers(), len(m.pending), len(m.consumers))
	}
	ids := m.ids("")
	it := g.PendingRange(ID{}, MaxID)
	for _, id := range ids {
		p := it.Next()
		if p == nil || p.ID != id {
			t.Fatalf("pending %v, want %v", p, id)
		}
		if got, want := (pendingModel{g.NameOf(p), p.Time, p.Count}), m.pending[id]; got != want {
			t.Fatalf("%v is %v, want %v", id, got, want)
		}
	}
	if it.Next() != nil {
		t.Fatal("more pending")
	}
	if len(ids) > 0 {
		if first, last := g.Bounds(); first != ids[0] || last != ids[len(ids)-1] {
			t.Fatalf("bounds %v..%v", first, last)
		}
	}
	var names []string
	g.EachConsumer(func(c *Consumer) bool {
		names = append(names, c.Name)
		own := m.ids(c.Name)
		if c.Len() != len(own) {
			t.Fatalf("%s holds %d, want %d", c.Name, c.Len(), len(own))
		}
		it := c.HeldRange(ID{}, MaxID)
		for _, id := range own {
			if got, ok := it.Next(); !ok || got != id {
				t.Fatalf("%s holds %v, want %v", c.Name, got, id)
			}
		}
		return true
	})
	if want := slices.Sorted(maps.Keys(m.consumers)); !slices.Equal(names, want) {
		t.Fatalf("consumers %q, want %q", names, want)
	}
}

func TestGroups(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playGroups(t, seed) })
	}
}

type groupsPair struct {
	s *Stream
	m map[string]*groupModel
}

func (p groupsPair) compare(t *testing.T) {
	t.Helper()
	var names []string
	p.s.EachGroup(func(name string, _ *Group) bool {
		names = append(names, name)
		return true
	})
	if want := slices.Sorted(maps.Keys(p.m)); !slices.Equal(names, want) {
		t.Fatalf("groups %q, want %q", names, want)
	}
	for _, name := range names {
		compareGroup(t, p.s, name, p.m[name])
	}
}

func (p groupsPair) clone() groupsPair {
	m := map[string]*groupModel{}
	for name, g := range p.m {
		m[name] = g.clone()
	}
	return groupsPair{p.s.Clone().(*Stream), m}
}

func playGroups(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	now := groupsPair{New(), map[string]*groupModel{}}
	var clones []groupsPair
	spread := 1 + r.IntN(3000) // how far IDs lie apart
	names := 1 + r.IntN(400)   // of consumers
	for step := range 60 {
		name := fmt.Sprintf("g%d", r.IntN(3))
		m, g := now.m[name], now.s.EditGroup([]byte(name))
		switch op := r.IntN(14); {
		case m == nil || op == 0:
			if created := now.s.CreateGroup([]byte(name), ID{1, 1}, 5); created != (m == nil) {
				t.Fatalf("create: %v", created)
			}
			if m == nil {
				now.m[name] = &groupModel{map[string]bool{}, map[ID]pendingModel{}}
			}
		case op == 1 && r.IntN(4) == 0:
			if !now.s.DestroyGroup([]byte(name)) {
				t.Fatal("destroy")
			}
			delete(now.m, name)
		case op == 2:
			clones = append(clones, now.clone())
		case op == 3 && len(clones) > 0:
			i := r.IntN(len(clones))
			clones[i], now = now, clones[i]
		case op == 4:
			consumer := fmt.Sprintf("c%d", r.IntN(names))
			held, ok := now.s.DeleteConsumer(g, []byte(consumer))
			if own := m.ids(consumer); ok != m.consumers[consumer] || ok && held != len(own) {
				t.Fatalf("delete consumer: %d %v, want %d", held, ok, len(own))
			} else if ok {
				for _, id := range own {
					delete(m.pending, id)
				}
				delete(m.consumers, consumer)
			}
		default:
			playPending(t, r, now.s, g, m, op, names, spread)
		}
		if step%4 == 0 {
			now.compare(t)
		}
	}
	for _, c := range clones {
		c.compare(t)
	}
}

// playPending delivers, claims, acknowledges entries of a group.
func playPending(t *testing.T, r *rand.Rand, s *Stream, g *Group, m *groupModel, op, names, spread int) {
	t.Helper()
	all := m.ids("")
	next := ID{1, 0}
	if len(all) > 0 {
		next = all[len(all)-1]
	}
	for range r.IntN(200) {
		id := ID{1 + uint64(r.IntN(spread)), uint64(r.IntN(3))}
		if op < 9 {
			id = ID{next.Ms + 1, 0}
			next = id
		} else if op > 11 && len(all) > 0 {
			id = all[r.IntN(len(all))]
			if r.IntN(4) == 0 {
				id = all[0]
				all = all[1:]
			}
		}
		old, was := m.pending[id]
		switch {
		case op > 11:
			if got := s.Ack(g, id); got != was {
				t.Fatalf("ack %v: %v", id, got)
			}
			delete(m.pending, id)
		case op == 11:
			old.time, old.count = int64(r.IntN(1000)), int64(r.IntN(10))
			if got := s.Again(g, id, old.time, old.count); got != was {
				t.Fatalf("again %v: %v", id, got)
			}
			if was {
				m.pending[id] = old
			}
		default:
			consumer := fmt.Sprintf("c%d", r.IntN(names))
			number, created := s.CreateConsumer(g, []byte(consumer), 7)
			if created == m.consumers[consumer] {
				t.Fatalf("create %s: %v", consumer, created)
			}
			m.consumers[consumer] = true
			s.Deliver(g, id, number, int64(r.IntN(50)))
			m.pending[id] = pendingModel{consumer, g.Pending(id).Time, 1}
		}
	}
}

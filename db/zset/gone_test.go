package zset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/db"
)

// timedScore is what the model of TestGhosts knows of a member.
type timedScore struct {
	score float64
	at    db.Millis // 0: it stays
}

// ghosts is a large set beside a map, clones of it that must stay as they were, and what
// the engine would do.
type ghosts struct {
	t   *testing.T
	rng *rand.Rand
	o   *Object
	m   map[string]timedScore
	now db.Millis
}

func (g *ghosts) member() string {
	n := g.rng.IntN(6000)
	if n%20 == 0 {
		return strings.Repeat(fmt.Sprint("long:", n, "."), 90)
	}
	return fmt.Sprint("member:", n)
}

func (g *ghosts) put() {
	m, score := g.member(), float64(g.rng.IntN(300))
	z := Computed(g.o)
	z.tx = unlimited{}
	old, found := z.Find([]byte(m))
	was, has := g.m[m]
	if found != has || old != was.score {
		g.t.Fatalf("%.30q is %v %v, want %v %v", m, old, found, was.score, has)
	}
	if err := z.Put(score); err != nil {
		g.t.Fatal(err)
	}
	at := was.at
	switch g.rng.IntN(6) {
	case 0:
		at = g.now + 1 + db.Millis(g.rng.IntN(3000))
		if err := z.SetDeadline([]byte(m), at); err != nil {
			g.t.Fatal(err)
		}
	case 1:
		if z.ClearDeadline([]byte(m)) != (at != 0) {
			g.t.Fatalf("ClearDeadline says %v", at == 0)
		}
		at = 0
	}
	g.m[m] = timedScore{score, at}
}

func (g *ghosts) cut() {
	z := Computed(g.o)
	n := z.Len()
	if n < 3*cutFrom {
		return
	}
	from := g.rng.IntN(n / 2)
	to := from + cutFrom + g.rng.IntN(n/2-cutFrom)
	z.Each(from, to, false, func(m []byte, _ float64) bool {
		delete(g.m, string(m))
		return true
	})
	if err := z.DropRange(from, to); err != nil {
		g.t.Fatal(err)
	}
	if g.o.Backlog() < to-from {
		g.t.Fatalf("%d of %d are to be worked off", g.o.Backlog(), to-from)
	}
}

// expire has members go whose time has come; each is told of.
func (g *ghosts) expire() {
	g.now += db.Millis(g.rng.IntN(100))
	due := map[string]bool{}
	for m, x := range g.m {
		if x.at != 0 && x.at <= g.now {
			due[m] = true
		}
	}
	told := 0
	n := g.o.ExpireDue(g.now, 1<<30, func(m []byte) {
		told++
		if !due[string(m)] {
			g.t.Fatalf("%.30q expires", m)
		}
		delete(g.m, string(m))
	})
	if n != told || told != len(due) {
		g.t.Fatalf("%d members expire, %d are told of, want %d", n, told, len(due))
	}
}

// same compares an Object with the model.
func (g *ghosts) same(o *Object, m map[string]timedScore) {
	g.t.Helper()
	scores := map[string]float64{}
	z := Computed(o)
	for member, x := range m {
		scores[member] = x.score
		if at, timed := z.Deadline([]byte(member)); timed != (x.at != 0) || at != x.at {
			g.t.Fatalf("%.30q expires at %v %v, want %v", member, at, timed, x.at)
		}
	}
	compareWith(g.t, &z, scores)
	for range 100 {
		member := g.member()
		if x, has := m[member]; z.Has([]byte(member)) != has {
			g.t.Fatalf("%.30q is there: %v", member, !has)
		} else if at, timed := z.Deadline([]byte(member)); timed != (has && x.at != 0) || at != x.at {
			g.t.Fatalf("%.30q expires at %v %v, want %v", member, at, timed, x.at)
		}
	}
}

type unlimited struct{ db.Txn }

func (unlimited) Limits() *db.Limits { return &db.Limits{} }

// TestGhosts cuts large ranges out of sets, and puts members in again before those that are
// gone have been worked off.
func TestGhosts(t *testing.T) {
	type kept struct {
		o *Object
		m map[string]timedScore
	}
	for range 4 {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		g := &ghosts{t, rand.New(rand.NewPCG(seed, 1)), NewObject(), map[string]timedScore{}, now}
		var clones []kept
		for range 30_000 {
			switch n := g.rng.IntN(3000); {
			case n < 5:
				g.cut()
			case n < 8:
				clones = append(clones, kept{g.o.clone(), maps.Clone(g.m)})
			case n < 12 && len(clones) > 0:
				g.same(clones[0].o, clones[0].m)
				clones = clones[1:]
			case n < 20:
				g.expire()
			case n < 60:
				g.o.Tidy(g.rng.IntN(100))
			case n < 65:
				g.same(g.o, g.m)
			case n < 600:
				m := g.member()
				if _, has := g.m[m]; g.o.Delete([]byte(m)) != has {
					t.Fatalf("deleted %.30q: %v", m, !has)
				}
				delete(g.m, m)
			default:
				g.put()
			}
		}
		for _, c := range clones {
			g.same(c.o, c.m)
		}
		for g.o.Backlog() > 0 {
			g.o.Tidy(50)
		}
		g.same(g.o, g.m)
		if g.o.table.Len() != g.o.Len() || g.o.deadlines.Len() > g.o.Len() || g.o.gone.spans != nil {
			t.Errorf("%d in the table, %d with deadlines, of %d", g.o.table.Len(), g.o.deadlines.Len(), g.o.Len())
		}
	}
}

// TestGoneIsFreed: the memory of what is gone comes back by and by, and what is added
// without anybody's help does not let it pile up.
func TestGoneIsFreed(t *testing.T) {
	o := NewObject()
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			o.Set(fmt.Append(nil, "member:", i), float64(i))
		}
	}
	fill(0, 100_000)
	full := o.MemSize()
	most := full
	for i := range 10 {
		o.DeleteRange(20_000, 80_000)
		fill(100_000*(i+1), 100_000*(i+1)+60_000)
		most = max(most, o.MemSize())
	}
	if most > 3*full {
		t.Errorf("%d bytes at most, %d at first", most, full)
	}
	o.DeleteRange(20_000, 80_000)
	for o.Backlog() > 0 {
		o.Tidy(1000)
	}
	if n := o.MemSize(); n > full*6/10 {
		t.Errorf("%d bytes are left of %d", n, full)
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
}

package tree

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// entry and model are the plainest sorted set: a sorted slice.
type entry struct {
	score  float64
	member string
}

type model []entry

func (e entry) compare(o entry) int {
	if c := cmp.Compare(e.score+0, o.score+0); c != 0 { // +0 makes -0 equal 0
		return c
	}
	return strings.Compare(e.member, o.member)
}

func (m model) find(e entry) (int, bool) { return slices.BinarySearchFunc(m, e, entry.compare) }

// same compares a tree with a model in every way there is to read one.
func same(t *testing.T, tr *Tree, m model) {
	t.Helper()
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
	if tr.Len() != len(m) {
		t.Fatalf("length %d, want %d", tr.Len(), len(m))
	}
	i := 0
	for c := tr.Seek(0); c.Valid(); c.Next() {
		if c.Rank() != i || math.Float64bits(c.Score()) != math.Float64bits(m[i].score) || string(c.Member()) != m[i].member {
			t.Fatalf("rank %d is %d (%v, %.30q), want (%v, %.30q)", i, c.Rank(), c.Score(), c.Member(), m[i].score, m[i].member)
		}
		i++
	}
	if i != len(m) {
		t.Fatalf("walked %d of %d", i, len(m))
	}
	for c := tr.Seek(len(m) - 1); c.Valid(); c.Prev() {
		i--
		if c.Rank() != i || string(c.Member()) != m[i].member {
			t.Fatalf("backwards, rank %d is %d %.30q", i, c.Rank(), c.Member())
		}
	}
	if i != 0 {
		t.Fatalf("backwards, %d left", i)
	}
}

// probe compares ranks of bounds around some entries.
func probe(t *testing.T, tr *Tree, m model, e entry) {
	t.Helper()
	first := func(f func(x entry) bool) int { return sort.Search(len(m), func(i int) bool { return f(m[i]) }) }
	f := func(what string, b Bound, want int) {
		t.Helper()
		if got := tr.Rank(b); got != want {
			t.Fatalf("rank of %s (%v, %.30q) is %d, want %d", what, e.score, e.member, got, want)
		}
	}
	at, found := m.find(e)
	f("at", At(e.score, []byte(e.member)), at)
	f("score", Score(e.score), first(func(x entry) bool { return x.score >= e.score }))
	f("score after", ScoreAfter(e.score), first(func(x entry) bool { return x.score > e.score }))
	if found != tr.Has(e.score, []byte(e.member)) {
		t.Fatalf("Has (%v, %.30q) is %v", e.score, e.member, !found)
	}
	if len(m) > 0 && m[0].score == m[len(m)-1].score {
		f("lex", Lex([]byte(e.member)), first(func(x entry) bool { return x.member >= e.member }))
		f("lex after", LexAfter([]byte(e.member)), first(func(x entry) bool { return x.member > e.member }))
	}
}

var specialScores = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.MaxFloat64, 1, 1 << 53, 1<<53 + 2}

// gen draws entries in one of several styles.
type gen struct {
	rng    *rand.Rand
	style  int
	serial int
}

func (g *gen) entry() entry {
	g.serial++
	switch g.style {
	case 0: // plain
		return entry{g.rng.Float64() * 1000, fmt.Sprintf("member:%06d", g.rng.IntN(1e6))}
	case 1: // all scores equal, short members with common prefixes
		return entry{7, strings.Repeat("ab", g.rng.IntN(4)) + fmt.Sprint(g.rng.IntN(3000))}
	case 2: // few scores, special ones
		return entry{specialScores[g.rng.IntN(len(specialScores))], fmt.Sprint(g.rng.IntN(2000))}
	case 3: // members of all lengths around the limits
		n := []int{0, 1, 126, 127, 128, 129, 300, 511, 512, 513, 514, 2000, 9000}[g.rng.IntN(13)]
		return entry{float64(g.rng.IntN(5)), strings.Repeat("x", n) + string(rune('a'+g.rng.IntN(26))) + fmt.Sprint(g.rng.IntN(30))}
	case 4: // in order
		return entry{float64(g.serial), fmt.Sprint(g.serial)}
	}
	return entry{float64(-g.serial), fmt.Sprint(g.serial)} // in the other order
}

const styles = 6

type world struct {
	t  *testing.T
	g  *gen
	tr *Tree
	m  model
}

func (w *world) insert() {
	e := w.g.entry()
	i, found := w.m.find(e)
	if got := w.tr.Insert(e.score, []byte(e.member)); got == found {
		w.t.Fatalf("inserting (%v, %.30q): %v", e.score, e.member, got)
	}
	if !found {
		w.m = slices.Insert(slices.Clip(w.m), i, e)
	}
}

func (w *world) pick() entry {
	if len(w.m) == 0 || w.g.rng.IntN(10) == 0 {
		return w.g.entry()
	}
	return w.m[w.g.rng.IntN(len(w.m))]
}

func (w *world) delete() {
	e := w.pick()
	i, found := w.m.find(e)
	if got := w.tr.Delete(e.score, []byte(e.member)); got != found {
		w.t.Fatalf("deleting (%v, %.30q): %v", e.score, e.member, got)
	}
	if found {
		w.m = slices.Delete(slices.Clone(w.m), i, i+1)
	}
}

func (w *world) move() {
	e := w.pick()
	to := e
	if w.g.rng.IntN(2) == 0 {
		to.score += w.g.rng.Float64() * 3
	} else {
		to.score = w.g.entry().score
	}
	i, found := w.m.find(e)
	if j, clash := w.m.find(to); clash && i != j || math.IsNaN(to.score) {
		return
	}
	if got := w.tr.Move(e.score, []byte(e.member), to.score); got != found {
		w.t.Fatalf("moving (%v, %.30q): %v", e.score, e.member, got)
	}
	if found {
		w.m = slices.Delete(slices.Clone(w.m), i, i+1)
		j, _ := w.m.find(to)
		w.m = slices.Insert(w.m, j, to)
	}
}

func (w *world) deleteRange() {
	from := w.g.rng.IntN(len(w.m)+1) - 1
	to := from + w.g.rng.IntN(1+min(len(w.m), 1<<w.g.rng.IntN(14)))
	var got model
	if w.g.rng.IntN(2) == 0 {
		w.cut(from, to)
		return
	}
	w.tr.DeleteRange(from, to, func(s float64, m []byte) { got = append(got, entry{s, string(m)}) })
	from, to = max(from, 0), max(0, min(to, len(w.m)))
	if from > to {
		return
	}
	if !slices.Equal(got, w.m[from:to]) {
		w.t.Fatalf("removed %d..%d: %d entries, or others", from, to, len(got))
	}
	w.m = slices.Delete(slices.Clone(w.m), from, to)
}

// cut is deleteRange by Cut, sometimes in two parts that are joined when some of the first
// has been taken.
func (w *world) cut(from, to int) {
	from, to = max(from, 0), max(0, min(to, len(w.m)))
	if from > to {
		return
	}
	var want model
	rest := w.tr.Cut(from, to)
	want = append(want, w.m[from:to]...)
	w.m = slices.Delete(slices.Clone(w.m), from, to)
	same(w.t, w.tr, w.m)
	if n := len(w.m); n > 0 && w.g.rng.IntN(2) == 0 {
		want = want[:len(want)-takeSome(w.t, &rest, want, w.g.rng.IntN(1+len(want)))]
		from = w.g.rng.IntN(n)
		to = from + w.g.rng.IntN(1+n-from)
		more := w.tr.Cut(from, to)
		rest = rest.Join(more)
		want = append(want, w.m[from:to]...)
		w.m = slices.Delete(slices.Clone(w.m), from, to)
		same(w.t, w.tr, w.m)
	}
	if rest.Len() != len(want) {
		w.t.Fatalf("%d entries were cut out, want %d", rest.Len(), len(want))
	}
	c := rest
	for _, r := range []*Rest{&rest, &c} {
		takeSome(w.t, r, want, len(want))
		if _, _, ok := r.Pop(); ok || r.MemSize() != 0 || r.Len() != 0 {
			w.t.Fatalf("%d entries, %d bytes are left of nothing", r.Len(), r.MemSize())
		}
	}
}

// takeSome takes n entries, which must be the last of want.
func takeSome(t *testing.T, r *Rest, want model, n int) int {
	t.Helper()
	for i := len(want) - 1; i >= len(want)-n; i-- {
		s, m, ok := r.Pop()
		if e := want[i]; !ok || s != e.score || string(m) != e.member {
			t.Fatalf("Pop gives (%v, %.30q) %v, want (%v, %.30q)", s, m, ok, e.score, e.member)
		}
	}
	return n
}

// TestAgainstSlice grows and shrinks trees in several styles, with clones that
// must stay as they were.
func TestAgainstSlice(t *testing.T) {
	seed := rand.Uint64()
	for style := range styles {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			t.Logf("seed %d", seed)
			w := &world{t: t, g: &gen{rng: rand.New(rand.NewPCG(seed, uint64(style))), style: style}, tr: New()}
			type kept struct {
				tr *Tree
				m  model
			}
			var clones []kept
			for step := range 30000 {
				growing := step/5000%2 == 0
				switch r := w.g.rng.IntN(100); {
				case r < 20:
					w.move()
				case growing && r < 80, !growing && r < 35:
					w.insert()
				case !growing && r == 99 && w.g.rng.IntN(10) == 0:
					w.deleteRange()
				default:
					w.delete()
				}
				if step%10 == 0 {
					probe(t, w.tr, w.m, w.pick())
				}
				switch w.g.rng.IntN(600) {
				case 0:
					c := kept{w.tr.Clone(), w.m}
					if w.g.rng.IntN(2) == 0 { // go on with the clone: both are alike
						w.tr, c.tr = c.tr, w.tr
					}
					clones = append(clones, c)
				case 1:
					same(t, w.tr, w.m)
				case 2:
					if len(clones) > 0 {
						i := w.g.rng.IntN(len(clones))
						same(t, clones[i].tr, clones[i].m)
						clones = slices.Delete(clones, i, i+1)
					}
				}
			}
			for _, c := range clones {
				same(t, c.tr, c.m)
			}
			if seed%2 == 0 {
				w.tr.DeleteRange(0, len(w.m), nil)
			} else {
				w.tr.Cut(0, len(w.m))
			}
			same(t, w.tr, nil)
			w.m = nil
			w.insert()
			same(t, w.tr, w.m)
		})
	}
}

func TestBuild(t *testing.T) {
	for style := range styles {
		g := &gen{rng: rand.New(rand.NewPCG(1, 2)), style: style}
		var m model
		for range 5000 {
			e := g.entry()
			m = append(m, e)
		}
		slices.SortFunc(m, entry.compare)
		m = slices.CompactFunc(m, func(a, b entry) bool { return a.compare(b) == 0 })
		i := 0
		tr := Build(func() (float64, []byte, bool) {
			if i == len(m) {
				return 0, nil, false
			}
			i++
			return m[i-1].score, []byte(m[i-1].member), true
		})
		same(t, tr, m)
	}
}

// TestLongMembersAreShared: a change beside a long member must not copy it, nor must a clone.
func TestLongMembersAreShared(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 64<<20)
	tr := New()
	tr.Insert(1, long)
	size := tr.MemSize()
	if size > 2000 {
		t.Errorf("a reference to a member of 64 MB takes %d", size)
	}
	n := testing.AllocsPerRun(10, func() {
		tr.Clone()
		tr.Insert(2, []byte("a"))
		tr.Move(1, long, 0.5)
		tr.Move(0.5, long, 1)
		tr.Delete(2, []byte("a"))
	})
	if n > 100 {
		t.Errorf("%v allocations", n)
	}
	tr.Delete(1, long)
	same(t, tr, nil)
	if s := tr.MemSize(); s > 1000 {
		t.Errorf("an empty tree takes %d", s)
	}
}

// TestDensity holds the bytes for an entry to what was promised.
func TestDensity(t *testing.T) {
	for name, score := range map[string]func(i int) float64{
		"random":    func(int) float64 { return rand.Float64() },
		"ascending": func(i int) float64 { return float64(i) },
		"equal":     func(int) float64 { return 0 },
	} {
		tr := New()
		const n = 200_000
		for i := range n {
			tr.Insert(score(i), fmt.Appendf(nil, "member:%06d", i))
		}
		per := float64(tr.MemSize()) / n
		t.Logf("%s: %.1f bytes an entry", name, per)
		if per > 29 {
			t.Errorf("%s: %.1f bytes an entry of 13 + 8", name, per)
		}
	}
}

// TestChurn holds a tree whose entries come and go to a bounded size.
func TestChurn(t *testing.T) {
	tr := New()
	const n = 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	scores := make([]float64, n)
	name := func(i int) []byte { return fmt.Appendf(nil, "member:%06d", i) }
	for i := range n {
		tr.Insert(0, name(i))
	}
	for range 300_000 {
		i := rng.IntN(n)
		s := rng.Float64()
		if !tr.Move(scores[i], name(i), s) {
			t.Fatal("lost")
		}
		scores[i] = s
	}
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
	per := float64(tr.MemSize()) / n
	t.Logf("%.1f bytes an entry", per)
	if per > 40 {
		t.Errorf("%.1f bytes an entry", per)
	}
}

// FuzzBlock gives any bytes to the check of a block; what passes must be readable.
func FuzzBlock(f *testing.F) {
	tr := New()
	for i := range 50 {
		tr.Insert(float64(i), []byte(strings.Repeat("m", i*3)+"x"))
	}
	f.Add(bytes.Clone(tr.root.kids[0].leaf.b))
	f.Add([]byte{1, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 18, 0, 1, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		l := leaf{b: bytes.Clone(b)}
		if l.check() != nil {
			return
		}
		at := At(1, []byte("m"))
		lex := Lex([]byte("m"))
		l.search(&at)
		l.search(&lex)
		n := l.len()
		sizes := 0
		for i := range n {
			sizes += len(l.member(i))
		}
		c := copyOf(&l, 0, n, 100)
		if err := c.check(); err != nil && c.live() <= maxBlock {
			t.Fatal(err)
		}
		l.remove(0, n)
		if l.len() != 0 {
			t.Fatal("not empty")
		}
		if sizes < 0 {
			t.Fatal("length")
		}
	})
}

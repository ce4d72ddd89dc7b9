package set

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/listpack"
)

const now db.Millis = 1_700_000_000_000

var key = []byte("k")

// rig is a keyspace of one shard, its transaction, and the plainest model of one set
// in it.
type rig struct {
	t         *testing.T
	ks        *db.Keyspace
	tx        *db.Tx
	rng       *rand.Rand
	now       db.Millis
	style     int
	limits    db.Limits
	m         map[string]bool
	encoding  string
	deadlines map[string]db.Millis
}

// styles are limits: Redis', small ones, large ones that lead beyond what a record
// holds, and such that make some form impossible.
var styles = []struct{ intset, entries, value int64 }{
	{512, 128, 64}, {4, 6, 10}, {5000, 5000, 300}, {0, 20, 64}, {20, 0, 64}, {3, 3, 0},
}

func newRig(t *testing.T, seed uint64, style int) *rig {
	t.Helper()
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ks.Check(); err != nil {
			t.Error(err)
		}
		ks.Close()
	})
	r := &rig{
		t: t, ks: ks, tx: ks.NewTx(), rng: rand.New(rand.NewPCG(seed, uint64(style))), now: now, style: style,
		m: map[string]bool{}, deadlines: map[string]db.Millis{},
	}
	s := ks.Settings()
	s.Limits.SetIntset, s.Limits.SetEntries, s.Limits.SetValue = styles[style].intset, styles[style].entries, styles[style].value
	ks.SetSettings(s)
	r.limits = s.Limits
	r.tx.Seed(seed)
	return r
}

// do runs fn as a command at key.
func (r *rig) do(write bool, fn func(s *Set)) {
	r.t.Helper()
	r.ks.Lock(r.ks.AllShards())
	r.tx.Begin(0, r.now, r.ks.AllShards(), write)
	var s Set
	var err error
	if write {
		s, err = Write(r.tx, key)
	} else {
		s, err = Read(r.tx, key)
	}
	r.must(err)
	fn(&s)
	if write {
		r.tx.Touched(key, db.ClassSet, "")
	}
	r.tx.End()
	r.ks.Unlock(r.ks.AllShards())
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// member draws integers of all widths and strings of all lengths.
func (r *rig) member() string {
	switch r.rng.IntN(12) {
	case 0:
		return strconv.FormatInt(int64(r.rng.Uint64())>>r.rng.IntN(64), 10)
	case 1:
		return strings.Repeat("m", r.rng.IntN(80))
	case 2:
		return "0" + strconv.Itoa(r.rng.IntN(50))
	case 3:
		if r.rng.IntN(10) == 0 {
			return strings.Repeat("long", 200+r.rng.IntN(500))
		}
		return "word:" + strconv.Itoa(r.rng.IntN(50))
	}
	return strconv.Itoa(r.rng.IntN(200) - 100)
}

func isInt(m string) bool {
	n, err := strconv.ParseInt(m, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == m
}

// encode is how Redis 7.2 goes from one encoding to the next when m comes to a set of
// n members before it, all of them integers of up to longest digits if an intset.
func (r *rig) encode(m string, n, longest int) {
	l := &r.limits
	if n == 0 && r.encoding == "" {
		switch {
		case isInt(m) && l.SetIntset >= 1:
			r.encoding = "intset"
		case l.SetEntries >= 1:
			r.encoding = "listpack"
		default:
			r.encoding = "hashtable"
		}
	}
	switch {
	case r.encoding == "intset" && isInt(m):
		if int64(n+1) > l.SetIntset {
			r.encoding = "hashtable"
		}
	case r.encoding == "intset":
		r.encoding = "hashtable"
		if int64(n) < l.SetEntries && int64(max(longest, len(m))) <= l.SetValue {
			r.encoding = "listpack"
		}
	case r.encoding == "listpack":
		if int64(n) >= l.SetEntries || int64(len(m)) > l.SetValue {
			r.encoding = "hashtable"
		}
	}
}

func (r *rig) longest() (n int) {
	for m := range r.m {
		n = max(n, len(m))
	}
	return n
}

func (r *rig) add() {
	r.t.Helper()
	m := r.member()
	r.do(true, func(s *Set) {
		added, err := s.Add([]byte(m))
		r.must(err)
		if added == r.m[m] {
			r.t.Fatalf("add %.40q: %v", m, added)
		}
		if added {
			r.encode(m, len(r.m), r.longest())
			r.m[m] = true
		}
	})
}

func (r *rig) delete() {
	r.t.Helper()
	m := r.someone()
	r.do(true, func(s *Set) {
		deleted, err := s.Delete([]byte(m))
		r.must(err)
		if deleted != r.m[m] {
			r.t.Fatalf("delete %.40q: %v", m, deleted)
		}
		r.forget(m)
	})
}

func (r *rig) forget(m string) {
	delete(r.m, m)
	delete(r.deadlines, m)
	if len(r.m) == 0 {
		r.encoding = ""
	}
}

// someone draws a member that is there, often.
func (r *rig) someone() string {
	if r.rng.IntN(4) > 0 {
		for m := range r.m {
			return m
		}
	}
	return r.member()
}

func (r *rig) pop() {
	r.t.Helper()
	if len(r.m) == 0 {
		return
	}
	r.do(true, func(s *Set) {
		m, err := s.Pop(r.tx, []byte("x"))
		r.must(err)
		if m[0] != 'x' || !r.m[string(m[1:])] {
			r.t.Fatalf("popped %.40q", m)
		}
		r.forget(string(m[1:]))
	})
}

func (r *rig) popMany() {
	r.t.Helper()
	n := len(r.m)
	if n < 2 {
		return
	}
	k := 1 + r.rng.IntN(n-1)
	if r.rng.IntN(3) == 0 {
		k = n - 1
	}
	var taken Part
	r.do(true, func(s *Set) {
		var err error
		taken, err = s.PopMany(k, r.tx)
		r.must(err)
	})
	if taken.Len() != k {
		r.t.Fatalf("%d taken of %d, want %d", taken.Len(), n, k)
	}
	for it := taken.Iter(new(listpack.Scratch)); it.Next(); k-- {
		if !r.m[string(it.Member())] {
			r.t.Fatalf("took %.40q", it.Member())
		}
		r.forget(string(it.Member()))
	}
	if k != 0 {
		r.t.Fatalf("%d members are not listed", k)
	}
	if taken.Len() >= 5*len(r.m) && r.encoding == "hashtable" && int64(len(r.m)) <= r.limits.SetEntries && int64(r.longest()) <= r.limits.SetValue {
		r.encoding = "listpack"
	}
}

func (r *rig) sample() {
	r.t.Helper()
	r.do(false, func(s *Set) {
		k := r.rng.IntN(len(r.m) + 1)
		p := s.Sample(k, r.tx)
		if p.Large() && r.rng.IntN(2) == 0 {
			p.Detach()
		}
		seen := map[string]bool{}
		for it := p.Iter(new(listpack.Scratch)); it.Next(); {
			m := string(it.Member())
			if !r.m[m] || seen[m] {
				r.t.Fatalf("%.40q: there %v, seen %v", m, r.m[m], seen[m])
			}
			seen[m] = true
		}
		if len(seen) != k || p.Len() != k {
			r.t.Fatalf("%d members, want %d", len(seen), k)
		}
	})
}

func (r *rig) setDeadline() {
	r.t.Helper()
	m := r.someone()
	r.do(true, func(s *Set) {
		if !s.Has([]byte(m)) {
			return
		}
		at := r.now + 1 + db.Millis(r.rng.IntN(1000))
		if r.rng.IntN(4) == 0 {
			had := s.ClearDeadline([]byte(m))
			if _, want := r.deadlines[m]; had != want {
				r.t.Fatalf("deadline of %.40q: %v", m, had)
			}
			delete(r.deadlines, m)
			return
		}
		r.must(s.SetDeadline([]byte(m), at))
		r.deadlines[m] = at
	})
}

// pass lets time go by, for readers and then for the writer.
func (r *rig) pass() {
	r.t.Helper()
	r.now += db.Millis(r.rng.IntN(200))
	for m, at := range r.deadlines {
		if at <= r.now {
			r.forget(m)
		}
	}
	r.check()
	r.do(true, func(s *Set) {
		if s.obj != nil {
			s.obj.ExpireDue(r.now, math.MaxInt, nil)
		}
	})
}

// check compares the whole set with the model.
func (r *rig) check() {
	r.t.Helper()
	r.do(false, func(s *Set) {
		r.compare(s)
		c := s.Clone()
		r.compare(&c)
		if len(r.m) == 0 {
			return
		}
		meta, found := r.tx.Meta(key)
		if !found || meta.Encoding != r.encoding {
			r.t.Fatalf("encoding %q, want %q; style %d, %d members", meta.Encoding, r.encoding, r.style, len(r.m))
		}
		if (r.encoding == "intset") != s.Integers() || (r.encoding == "hashtable") != s.Hashed() {
			r.t.Fatalf("%q, but %v, %v", r.encoding, s.Integers(), s.Hashed())
		}
		if s.obj != nil {
			r.must(s.obj.Check())
		}
		if m := string(s.Random(r.tx)); !r.m[m] {
			r.t.Fatalf("random %.40q", m)
		}
	})
}

func (r *rig) compare(s *Set) {
	r.t.Helper()
	if s.Len() != len(r.m) {
		r.t.Fatalf("%d members, want %d", s.Len(), len(r.m))
	}
	want := make([]string, 0, len(r.m))
	for m := range r.m {
		want = append(want, m)
		if !s.Has([]byte(m)) {
			r.t.Fatalf("%.40q is missing", m)
		}
		at, found := s.Deadline([]byte(m))
		if wantAt, wantFound := r.deadlines[m]; at != wantAt || found != wantFound {
			r.t.Fatalf("deadline of %.40q: %d %v, want %d %v", m, at, found, wantAt, wantFound)
		}
	}
	slices.Sort(want)
	var each, iter, scan []string
	s.Each(func(m []byte) bool { each = append(each, string(m)); return true })
	p := s.Whole()
	for it := p.Iter(new(listpack.Scratch)); it.Next(); {
		iter = append(iter, string(it.Member()))
	}
	if !slices.Equal(each, iter) {
		r.t.Fatal("two orders")
	}
	for cursor := uint64(0); ; {
		cursor = s.Scan(cursor, 3, func(m []byte) { scan = append(scan, string(m)) })
		if cursor == 0 {
			break
		}
	}
	for _, got := range [][]string{each, scan} {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			r.t.Fatalf("members %.200q, want %.200q", got, want)
		}
	}
	for range 5 {
		if m := r.member(); s.Has([]byte(m)) != r.m[m] {
			r.t.Fatalf("%.40q: %v", m, !r.m[m])
		}
	}
}

func TestAgainstMap(t *testing.T) {
	for style := range styles {
		for seed := range uint64(25) {
			t.Run(fmt.Sprintf("style %d seed %d", style, seed), func(t *testing.T) {
				r := newRig(t, seed, style)
				deadlines := seed%5 == 0
				grow := 1 + r.rng.IntN(12)
				for range 400 {
					switch n := r.rng.IntN(20); {
					case n < grow:
						r.add()
					case n < 14:
						r.delete()
					case n == 14:
						r.pop()
					case n == 15 && r.rng.IntN(4) == 0:
						r.popMany()
					case n == 16:
						r.sample()
					case n == 17 && deadlines:
						r.setDeadline()
					case n == 18 && deadlines:
						r.pass()
					case n == 19:
						grow = 1 + r.rng.IntN(14)
					}
					r.check()
				}
			})
		}
	}
}

// TestLarge takes members from sets of thousands in every way.
func TestLarge(t *testing.T) {
	for seed := range uint64(12) {
		r := newRig(t, seed, int(seed)%3)
		r.do(true, func(s *Set) {
			for i := range 3000 {
				m := strconv.Itoa(i * 7)
				if seed%2 == 0 {
					m = "member:" + m
				}
				_, err := s.Add([]byte(m))
				r.must(err)
				r.encode(m, i, 20)
				r.m[m] = true
			}
		})
		for len(r.m) > 1 {
			r.check()
			r.sample()
			if seed%3 == 0 {
				r.setDeadline()
			}
			r.popMany()
		}
		r.check()
	}
}

// TestSnapshot: what a snapshot sees stays as it was.
func TestSnapshot(t *testing.T) {
	for style := range styles {
		r := newRig(t, 7, style)
		for range 60 {
			r.add()
		}
		for range 20 {
			snap := r.ks.Snapshot(nil)
			old := map[string]bool{}
			for m := range r.m {
				old[m] = true
			}
			for range 30 {
				switch r.rng.IntN(4) {
				case 0:
					r.delete()
				case 1:
					r.popMany()
				default:
					r.add()
				}
			}
			r.check()
			snap.Each(0, func(it *db.Item) bool {
				s := Of(it.Coll, now)
				s.Each(func(m []byte) bool {
					if !old[string(m)] {
						t.Fatalf("%.40q is in the snapshot", m)
					}
					delete(old, string(m))
					return true
				})
				return true
			})
			if len(old) > 0 {
				t.Fatalf("%d members are not in the snapshot", len(old))
			}
			snap.Close()
		}
	}
}

// TestUniform: every member is as likely to be chosen as any other.
func TestUniform(t *testing.T) {
	const n, rounds = 40, 4000
	for style, choose := range map[string]func(s *Set, r *rig) Part{
		"few":    func(s *Set, r *rig) Part { return s.Sample(3, r.tx) },
		"many":   func(s *Set, r *rig) Part { return s.Sample(30, r.tx) },
		"one":    func(s *Set, r *rig) Part { return popped(s, r) },
		"pop 3":  func(s *Set, r *rig) Part { p, _ := s.PopMany(3, r.tx); return p },
		"pop 20": func(s *Set, r *rig) Part { p, _ := s.PopMany(20, r.tx); return p },
		"pop 37": func(s *Set, r *rig) Part { p, _ := s.PopMany(37, r.tx); return p },
	} {
		for limits := range 3 {
			t.Run(fmt.Sprint(style, limits), func(t *testing.T) {
				r := newRig(t, 11, limits)
				count, total := map[string]int{}, 0
				for range rounds {
					r.do(true, func(s *Set) {
						for i := range n {
							_, err := s.Add([]byte(fmt.Sprint("member", i)))
							r.must(err)
						}
						p := choose(s, r)
						for it := p.Iter(new(listpack.Scratch)); it.Next(); {
							count[string(it.Member())]++
							total++
						}
					})
				}
				mean := float64(total) / n
				for m, got := range count {
					if off := math.Abs(float64(got) - mean); off > 6*math.Sqrt(mean) {
						t.Errorf("%s was chosen %d times, of %.0f", m, got, mean)
					}
				}
			})
		}
	}
}

func popped(s *Set, r *rig) Part {
	m, err := s.Pop(r.tx, nil)
	r.must(err)
	one := NewUnion(&r.limits)
	_, _ = one.Add(m)
	return one.Whole()
}

// TestBuild collects results without a key and stores them.
func TestBuild(t *testing.T) {
	for style := range styles {
		for seed := range uint64(40) {
			t.Run(fmt.Sprintf("style %d seed %d", style, seed), func(t *testing.T) { build(newRig(t, seed, style), seed) })
		}
	}
}

func build(r *rig, seed uint64) {
	t := r.t
	union, inter := NewUnion(&r.limits), NewInter(&r.limits)
	ints, longest := seed%2 == 0, 0
	want := "intset"
	for range r.rng.IntN(50) + 1 {
		m := r.member()
		if ints {
			m = strconv.Itoa(r.rng.IntN(60))
		}
		r.encoding = want
		if !r.m[m] {
			r.encode(m, len(r.m), longest)
		}
		want, longest = r.encoding, max(longest, len(m))
		a, err := union.Add([]byte(m))
		b, err2 := inter.Add([]byte(m))
		if err != nil || err2 != nil || a == r.m[m] || a != b {
			t.Fatalf("%.40q: %v %v, %v %v, there %v", m, a, err, b, err2, r.m[m])
		}
		r.m[m] = true
	}
	if r.rng.IntN(3) == 0 {
		m := r.someone()
		if deleted, _ := union.Delete([]byte(m)); deleted {
			_, _ = inter.Delete([]byte(m))
			delete(r.m, m)
		}
	}
	if len(r.m) == 0 {
		return
	}
	inter.Narrow()
	all := int64(len(r.m)) <= r.limits.SetIntset
	for m := range r.m {
		all = all && isInt(m)
	}
	if inter.Integers() != all {
		t.Fatalf("all integers and few %v, but %v", all, inter.Integers())
	}
	for _, s := range []*Set{&union, &inter} {
		r.compare(s)
		r.do(true, func(*Set) { r.must(s.Store(r.tx, key)) })
		r.encoding = want
		if s == &inter {
			r.encoding = encodingOf(s)
		}
		r.check()
	}
}

func encodingOf(s *Set) string {
	switch {
	case s.Integers():
		return "intset"
	case s.Hashed():
		return "hashtable"
	}
	return "listpack"
}

// FuzzCheck: what passes Check can be read and changed.
func FuzzCheck(f *testing.F) {
	l := db.DefaultLimits()
	for _, list := range []string{"", "a", "a b c", "1 2 300000", "1 a 2"} {
		s := NewUnion(&l)
		for _, m := range strings.Fields(list) {
			_, _ = s.Add([]byte(m))
		}
		f.Add(s.packed, s.form == asIntset, "a")
	}
	f.Add([]byte{2, 0, 0xc1, 'a', 0xc1, 'a'}, false, "b")
	f.Fuzz(func(t *testing.T, p []byte, ints bool, member string) {
		packing, form := db.Listpack, asListpack
		if ints {
			packing, form = db.Intset, asIntset
		}
		if Check(packing, p) != nil || len(p) > db.PackedMax || len(member) > 100 {
			return
		}
		seen := map[string]bool{}
		s := Set{limits: &l, form: form, packed: p}
		s.Each(func(m []byte) bool {
			if seen[string(m)] || !s.Has([]byte(string(m))) {
				t.Fatalf("member %q", m)
			}
			seen[string(m)] = true
			return true
		})
		s = s.Clone()
		s.limits = &l
		added, err := s.Add([]byte(member))
		if err != nil || added == seen[member] || !s.Has([]byte(member)) || s.Len() < len(seen) {
			t.Fatalf("add %q: %v, %v", member, added, err)
		}
		deleted, err := s.Delete([]byte(member))
		if err != nil || !deleted || s.Has([]byte(member)) {
			t.Fatalf("delete %q: %v, %v", member, deleted, err)
		}
	})
}

package zset

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/listpack"
)

const now db.Millis = 1_700_000_000_000

// rig is a keyspace of one shard, its transaction, and the plainest model of one
// sorted set in it.
type rig struct {
	t      *testing.T
	ks     *db.Keyspace
	tx     *db.Tx
	rng    *rand.Rand
	style  int
	m      map[string]float64
	limits db.Limits
}

var key = []byte("k")

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
	r := &rig{t: t, ks: ks, tx: ks.NewTx(), rng: rand.New(rand.NewPCG(seed, uint64(style))), style: style, m: map[string]float64{}}
	s := ks.Settings()
	s.Limits.ZSetEntries, s.Limits.ZSetValue = []int64{128, 10, 5000, 0}[style%4], []int64{64, 20, 5000, 64}[style%4]
	ks.SetSettings(s)
	r.limits = s.Limits
	return r
}

// do runs fn as a command at key.
func (r *rig) do(write bool, fn func(z *ZSet)) {
	r.t.Helper()
	r.ks.Lock(r.ks.AllShards())
	r.tx.Begin(0, now, r.ks.AllShards(), write)
	var z ZSet
	var err error
	if write {
		z, err = Write(r.tx, key)
	} else {
		z, err = Read(r.tx, key)
	}
	r.must(err)
	fn(&z)
	if write {
		r.tx.Touched(key, db.ClassZSet, "")
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

type element struct {
	member string
	score  float64
}

func (e element) compare(o element) int {
	if c := cmp.Compare(e.score+0, o.score+0); c != 0 {
		return c
	}
	return strings.Compare(e.member, o.member)
}

func sorted(m map[string]float64) (list []element) {
	for member, score := range m {
		list = append(list, element{member, score})
	}
	slices.SortFunc(list, element.compare)
	return list
}

func (r *rig) member() []byte {
	switch r.rng.IntN(8) {
	case 0:
		return fmt.Appendf(nil, "%d", r.rng.IntN(300))
	case 1:
		return bytes.Repeat([]byte{byte('a' + r.rng.IntN(3))}, []int{0, 1, 19, 20, 21, 63, 64, 65, 200, 700}[r.rng.IntN(8+r.style%3)])
	}
	return fmt.Appendf(nil, "member:%d", r.rng.IntN(60<<(2*(r.style%4))))
}

var someScores = []float64{0, math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.MaxFloat64, 1 << 53, 1 << 62, -1 << 63, 1 << 63, 0.1, 12.34, -99.99, 1e-70, 1.5e300}

func (r *rig) score() float64 {
	switch r.rng.IntN(5) {
	case 0:
		return someScores[r.rng.IntN(len(someScores))]
	case 1:
		return float64(r.rng.IntN(20000)) / 100
	case 2:
		return r.rng.NormFloat64()
	}
	return float64(r.rng.IntN(20))
}

func (r *rig) put() {
	member, score := r.member(), r.score()
	r.do(true, func(z *ZSet) {
		old, found := z.Find(member)
		want, has := r.m[string(member)]
		if found != has || math.Float64bits(old) != math.Float64bits(want) {
			r.t.Fatalf("%.30q is %v %v, want %v %v", member, old, found, want, has)
		}
		r.must(z.Put(score))
		if s, found := z.Find(member); !found || math.Float64bits(s) != math.Float64bits(score) {
			r.t.Fatalf("put %v, found %v %v", score, s, found)
		}
		r.must(z.Put(score))
	})
	r.m[string(member)] = score
}

// putMany puts and drops some in a batch.
func (r *rig) putMany() {
	r.do(true, func(z *ZSet) {
		z.Batch(make([]byte, r.rng.IntN(20)))
		for range r.rng.IntN(12) {
			member := r.member()
			_, found := z.Find(member)
			if found && r.rng.IntN(4) == 0 {
				r.must(z.Drop())
				delete(r.m, string(member))
				continue
			}
			score := r.score()
			r.must(z.Put(score))
			r.m[string(member)] = score
		}
		r.must(z.Flush())
	})
}

func (r *rig) drop() {
	r.do(true, func(z *ZSet) {
		member := r.member()
		if n := z.Len(); n > 0 && r.rng.IntN(3) > 0 {
			z.Each(r.rng.IntN(n), n, false, func(m []byte, _ float64) bool {
				member = bytes.Clone(m)
				return false
			})
		}
		_, found := z.Find(member)
		if _, has := r.m[string(member)]; has != found {
			r.t.Fatalf("%.30q found %v", member, found)
		}
		r.must(z.Drop())
		r.must(z.Drop())
		delete(r.m, string(member))
	})
}

func (r *rig) dropRange() {
	r.do(true, func(z *ZSet) {
		list := sorted(r.m)
		from := r.rng.IntN(len(list) + 1)
		to := min(from+r.rng.IntN(4), len(list))
		if z.o != nil && r.rng.IntN(4) == 0 { // as where many go
			if to = min(from+r.rng.IntN(200), len(list)); from < to && to-from < len(list) {
				z.o.cut(from, to)
				for _, e := range list[from:to] {
					delete(r.m, e.member)
				}
				return
			}
		}
		var got []element
		z.Each(from, to, false, func(m []byte, s float64) bool {
			got = append(got, element{string(m), s})
			return true
		})
		r.must(z.DropRange(from, to))
		if !slices.Equal(got, list[from:to]) {
			r.t.Fatalf("dropped %v, want %v", got, list[from:to])
		}
		for _, e := range got {
			delete(r.m, e.member)
		}
	})
}

func (r *rig) compare() {
	r.do(false, func(z *ZSet) {
		compareWith(r.t, z, r.m)
		list := sorted(r.m)
		for range 10 {
			r.compareRanges(z, list)
		}
	})
}

// compareWith compares a sorted set with the model.
func compareWith(t *testing.T, z *ZSet, m map[string]float64) {
	t.Helper()
	list := sorted(m)
	if z.Len() != len(list) {
		t.Fatalf("length %d, want %d", z.Len(), len(list))
	}
	if z.p != nil {
		if err := Check(z.p); err != nil {
			t.Fatalf("%v: %q", err, z.p)
		}
	} else if z.o != nil {
		if err := z.o.Check(); err != nil {
			t.Fatal(err)
		}
	}
	var got []element
	collect := func(m []byte, s float64) bool { got = append(got, element{string(m), s}); return true }
	z.Each(0, z.Len(), false, collect)
	for i, e := range got {
		if e.member != list[i].member || math.Float64bits(e.score) != math.Float64bits(list[i].score) {
			t.Fatalf("rank %d is %v, want %v", i, e, list[i])
		}
	}
	got = got[:0]
	z.Each(0, z.Len(), true, collect)
	slices.Reverse(got)
	if len(got) != len(list) || !slices.EqualFunc(got, list, func(a, b element) bool { return a.compare(b) == 0 }) {
		t.Fatalf("backwards %v, want %v", got, list)
	}
	seen := map[string]float64{}
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		cursor = z.Scan(cursor, 7, func(m []byte, s float64) { seen[string(m)] = s })
	}
	if len(seen) != len(m) {
		t.Fatalf("scanned %d of %d", len(seen), len(m))
	}
}

// compareRanges compares ranks and ranges with the plainest search.
func (r *rig) compareRanges(z *ZSet, list []element) {
	member := r.member()
	rank, score, found := z.Rank(member)
	want, has := r.m[string(member)]
	if found != has || found && (list[rank].member != string(member) || score != want) {
		r.t.Fatalf("rank of %.30q is %d %v %v", member, rank, score, found)
	}
	q := ScoreRange{Min: r.score(), Max: r.score(), Above: r.rng.IntN(2) == 0, Below: r.rng.IntN(2) == 0}
	from, to := z.ByScore(q)
	n := 0
	for i, e := range list {
		inside := (e.score > q.Min || e.score == q.Min && !q.Above) && (e.score < q.Max || e.score == q.Max && !q.Below)
		if inside {
			n++
		}
		if inside != (i >= from && i < to) {
			r.t.Fatalf("%+v is %d..%d, but %v %v", q, from, to, e, inside)
		}
	}
	if n == 0 && (from != 0 || to != 0) {
		r.t.Fatalf("%+v is %d..%d, but empty", q, from, to)
	}
}

// TestAgainstModel changes a sorted set at random, under several limits, with
// snapshots that must stay as they were.
func TestAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	for style := range 8 {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			t.Logf("seed %d", seed)
			r := newRig(t, seed, style)
			var snap *db.Snapshot
			var then map[string]float64
			for step := range 6000 {
				switch n := r.rng.IntN(100); {
				case n < 50:
					r.put()
				case n < 52:
					r.putMany()
				case n < 92 || step%3000 < 1000:
					r.drop()
				case n < 97:
					r.dropRange()
				default:
					r.compare()
				}
				switch n := r.rng.IntN(200); {
				case n == 0 && snap == nil:
					snap, then = r.ks.Snapshot(nil), cloneMap(r.m)
				case n == 1 && snap != nil:
					checkSnapshot(t, snap, then)
					snap = nil
				case n < 8:
					r.do(true, func(z *ZSet) {
						if z.o != nil {
							z.o.Tidy(r.rng.IntN(100))
						}
					})
				case n == 8 && step%5 == 0:
					r.ks.Lock(r.ks.AllShards())
					r.tx.Begin(0, now, r.ks.AllShards(), true)
					r.tx.Delete(key)
					r.tx.End()
					r.ks.Unlock(r.ks.AllShards())
					r.m = map[string]float64{}
				}
			}
			if snap != nil {
				checkSnapshot(t, snap, then)
			}
			r.compare()
		})
	}
}

func cloneMap(m map[string]float64) map[string]float64 {
	c := make(map[string]float64, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func checkSnapshot(t *testing.T, snap *db.Snapshot, m map[string]float64) {
	t.Helper()
	found := false
	snap.Each(0, func(it *db.Item) bool {
		found = true
		z := Of(&it.Coll, now)
		compareWith(t, &z, m)
		return true
	})
	if found != (len(m) > 0) {
		t.Fatalf("the snapshot has the key: %v", found)
	}
	snap.Close()
}

// TestEncoding checks which name a set has by size and length of members.
func TestEncoding(t *testing.T) {
	r := newRig(t, 1, 1) // up to 10 members of 20 bytes
	want := func(name string) {
		t.Helper()
		r.do(false, func(*ZSet) {
			if m, _ := r.tx.Meta(key); m.Encoding != name {
				t.Errorf("encoding %s, want %s", m.Encoding, name)
			}
		})
	}
	put := func(member string, score float64) {
		r.do(true, func(z *ZSet) { z.Find([]byte(member)); r.must(z.Put(score)) })
	}
	for i := range 10 {
		put(fmt.Sprint("m", i), float64(i))
	}
	want("listpack")
	put("m5", 7)
	want("listpack")
	put("m10", 7)
	want("skiplist")
	r.do(true, func(z *ZSet) { r.must(z.DropRange(1, 100)) })
	want("skiplist")
	r.do(true, func(z *ZSet) { r.must(z.DropRange(0, 100)) })
	put("m", 1)
	want("listpack")
	put(strings.Repeat("m", 21), 1)
	want("skiplist")
	for n := range 3 {
		o := NewObject()
		for i := range 9 + n {
			o.Set(fmt.Append(nil, i), 1)
		}
		r.do(true, func(*ZSet) { r.must(Store(r.tx, key, o)) })
		want([]string{"listpack", "listpack", "skiplist"}[n])
	}
}

// TestLongListpack has limits that packed bytes cannot reach: the name stays.
func TestLongListpack(t *testing.T) {
	r := newRig(t, 1, 2)
	put := func(member string) { r.do(true, func(z *ZSet) { z.Find([]byte(member)); r.must(z.Put(1)) }) }
	for i := range 3000 {
		put(fmt.Sprint("member with some text ", i))
	}
	name := func() string {
		m := db.Meta{}
		r.do(false, func(*ZSet) { m, _ = r.tx.Meta(key) })
		return m.Encoding
	}
	if name() != "listpack" {
		t.Error(name())
	}
	put(strings.Repeat("x", 6000))
	if name() != "skiplist" {
		t.Error(name())
	}
}

func TestDeadlines(t *testing.T) {
	r := newRig(t, 1, 0)
	r.do(true, func(z *ZSet) {
		for i := range 20 {
			z.Find(fmt.Append(nil, i))
			r.must(z.Put(float64(i)))
			if i < 10 {
				r.must(z.SetDeadline(fmt.Append(nil, i), now+db.Millis(i)))
			}
		}
		z.ClearDeadline([]byte("9"))
		if at, found := z.Deadline([]byte("8")); !found || at != now+8 {
			t.Error(at, found)
		}
	})
	r.do(false, func(z *ZSet) {
		if z.Len() != 19 { // 0 is due at once
			t.Error(z.Len())
		}
		if _, _, found := z.Rank([]byte("0")); found {
			t.Error("a due member is seen")
		}
		if m, _ := r.tx.Meta(key); m.Encoding != "listpack" {
			t.Error(m.Encoding)
		}
	})
	snap := r.ks.Snapshot(nil)
	snap.Each(0, func(it *db.Item) bool {
		if z := Of(&it.Coll, now+5); z.Len() != 14 {
			t.Error(z.Len())
		}
		return true
	})
	snap.Close()
	r.do(true, func(z *ZSet) {
		var gone []string
		z.o.ExpireDue(now+6, 3, func(m []byte) { gone = append(gone, string(m)) })
		if !slices.Equal(gone, []string{"1", "2", "3"}) || z.o.NextDeadline() != now+4 {
			t.Error(gone, z.o.NextDeadline())
		}
		z.Find([]byte("4"))
		r.must(z.Drop())
		if z.o.NextDeadline() != now+5 || z.Len() != 15 {
			t.Error(z.o.NextDeadline(), z.Len())
		}
	})
}

// TestScores checks that a score comes back as it was from its packed spelling, and how long that is.
func TestScores(t *testing.T) {
	size := func(s float64) int {
		t.Helper()
		var v listpack.Value
		var text scoreText
		setScore(&v, &text, s)
		e := listpack.Entry(v.Append(nil))
		if got := readScore(e); math.Float64bits(got) != math.Float64bits(s+0) {
			t.Fatalf("%v (%x) comes back as %v from %x", s, math.Float64bits(s), got, []byte(e))
		}
		if n, ok := e.Int(); ok && float64(n) != s {
			t.Fatalf("%v is the integer %d", s, n)
		}
		return v.Size()
	}
	for s, want := range map[float64]int{0: 1, 100: 1, -1: 2, 0.5: 3, 12.34: 4, -99.99: 4, 0.1: 3, math.Inf(1): 3, 1 << 40: 7, math.Pi: 9} {
		if got := size(s); got != want {
			t.Errorf("%v takes %d bytes, want %d", s, got, want)
		}
	}
	for _, s := range someScores {
		size(s)
		size(-s)
	}
	for range 1_000_000 {
		s := math.Float64frombits(rand.Uint64())
		if s == s {
			size(s)
		}
		size(float64(rand.IntN(1e9)) / 1000)
		size(rand.NormFloat64())
	}
	for tag := range 256 { // bytes that other spellings begin with
		for range 1000 {
			x := uint64(tag)<<56 | rand.Uint64()>>8
			for i := range 8 {
				if rand.IntN(2) == 0 {
					x = x&^(0xff<<(8*i)) | uint64(0x30+rand.IntN(10))<<(8*i)
				}
			}
			if s := math.Float64frombits(x); s == s {
				size(s)
			}
		}
	}
}

// TestByLex compares ranges by bytes with the plainest search, packed and large.
func TestByLex(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	word := func() []byte {
		b := make([]byte, rng.IntN(4))
		for i := range b {
			b[i] = byte('a' + rng.IntN(3))
		}
		return b
	}
	o := NewObject()
	for range 60 {
		o.Set(word(), 1)
	}
	packed, large := ZSet{p: o.pack()}, ZSet{o: o}
	var all []string
	large.Each(0, o.Len(), false, func(m []byte, _ float64) bool { all = append(all, string(m)); return true })
	for range 20_000 {
		r := LexRange{LexBound{LexKind(rng.IntN(4)), word()}, LexBound{LexKind(rng.IntN(4)), word()}}
		low, high := string(r.Min.Member), string(r.Max.Member)
		var want []string
		for _, m := range all {
			above := r.Min.Kind == LexLowest || r.Min.Kind == LexInclusive && m >= low || r.Min.Kind == LexExclusive && m > low
			below := r.Max.Kind == LexHighest || r.Max.Kind == LexInclusive && m <= high || r.Max.Kind == LexExclusive && m < high
			if above && below {
				want = append(want, m)
			}
		}
		for _, z := range []*ZSet{&packed, &large} {
			for _, rev := range []bool{false, true} {
				if from, to := z.ByLex(r, rev); !slices.Equal(all[from:to], want) {
					t.Fatalf("%+v, packed %v, rev %v: %q, want %q", r, z.p != nil, rev, all[from:to], want)
				}
			}
		}
	}
}

// FuzzCheck gives any bytes to Check; what passes must be usable.
func FuzzCheck(f *testing.F) {
	o := NewObject()
	for i, s := range someScores {
		o.Set(fmt.Append(nil, "m", i), s)
	}
	f.Add(o.pack())
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, p []byte) {
		if Check(p) != nil {
			return
		}
		z := ZSet{p: bytes.Clone(p)}
		m := map[string]float64{}
		z.Each(0, z.Len(), false, func(member []byte, s float64) bool { m[string(member)] = s; return true })
		compareWith(t, &z, m)
		z.ByScore(ScoreRange{Min: -1, Max: 1})
		z.ByLex(LexRange{LexBound{LexInclusive, []byte("a")}, LexBound{LexHighest, nil}}, true)
		for member := range m {
			z.Rank([]byte(member))
		}
	})
}

package rdb_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/list"
	"heddle/db/set"
	"heddle/db/stream"
	"heddle/db/zset"
)

// now is the instant of the tests: far from deadlines of keys, which lie in the future of
// every server that loads what is written here.
const (
	now   db.Millis = 1_700_000_000_000
	later db.Millis = 4_102_444_800_000
)

// world is a keyspace that is filled at random.
type world struct {
	t   testing.TB
	ks  *db.Keyspace
	rng *rand.Rand
}

func newWorld(t testing.TB, seed uint64, o db.Options) *world {
	t.Helper()
	o.Arena.Reserve = 1 << 33
	ks, err := db.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	return &world{t, ks, rand.New(rand.NewPCG(seed, 1))}
}

// edit runs fn with a transaction in a database.
func (w *world) edit(database int, fn func(tx *db.Tx)) {
	w.ks.Lock(w.ks.AllShards())
	defer w.ks.Unlock(w.ks.AllShards())
	tx := w.ks.NewTx()
	tx.Begin(database, now, w.ks.AllShards(), true)
	defer tx.End()
	fn(tx)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// text is a random string: a number, words, or any bytes.
func (w *world) text(most int) []byte {
	n := w.rng.IntN(most + 1)
	switch w.rng.IntN(5) {
	case 0:
		return strconv.AppendInt(nil, int64(w.rng.Uint64())>>w.rng.IntN(64), 10)
	case 1:
		return bytes.Repeat([]byte{byte('a' + w.rng.IntN(26))}, n)
	case 2:
		return []byte(strings.Repeat(fmt.Sprintf("word%d ", w.rng.IntN(100)), n/6+1)[:n])
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return b
}

// size is how many elements a collection gets: mostly few, at times beyond all limits.
func (w *world) size() int { return 1 + w.rng.IntN([]int{3, 20, 140, 700, 3000}[w.rng.IntN(5)]) }

func (w *world) member() []byte {
	switch w.rng.IntN(6) {
	case 0:
		return w.text(300)
	case 1:
		return strconv.AppendInt(nil, int64(w.rng.IntN(100000)-50000), 10)
	}
	return fmt.Appendf(nil, "member:%d", w.rng.IntN(100000))
}

func (w *world) score() float64 {
	switch w.rng.IntN(6) {
	case 0:
		return math.Inf(1)
	case 1:
		return math.Inf(-1)
	case 2:
		return float64(w.rng.IntN(2000) - 1000)
	case 3:
		return w.rng.NormFloat64() * math.Pow(10, float64(w.rng.IntN(60)-30))
	case 4:
		return float64(int64(w.rng.Uint64()))
	}
	return float64(w.rng.IntN(10000)) / 100
}

// fill makes n keys in a database.
func (w *world) fill(database, n int) {
	for i := range n {
		key := fmt.Appendf(nil, "key:%d:%d", database, i)
		w.edit(database, func(tx *db.Tx) {
			w.value(tx, key)
			if w.rng.IntN(4) == 0 {
				tx.SetExpire(key, later+db.Millis(i))
			}
			tx.Touched(key, db.ClassGeneric, "made")
		})
	}
}

func (w *world) value(tx *db.Tx, key []byte) {
	switch w.rng.IntN(7) {
	case 0:
		w.must(tx.SetString(key, w.text(100), db.NoExpiry))
	case 1:
		w.must(tx.SetString(key, w.text(100000), db.NoExpiry))
	case 2:
		l, err := list.Write(tx, key)
		w.must(err)
		most := []int{20, 20, 500, 30000}[w.rng.IntN(4)]
		for range min(w.size(), 1_000_000/most) {
			w.must(l.Push(w.rng.IntN(2) == 0, w.text(most)))
		}
	case 3:
		s, err := set.Write(tx, key)
		w.must(err)
		integers := w.rng.IntN(2) == 0
		for range w.size() {
			m := w.member()
			if integers {
				m = strconv.AppendInt(nil, int64(w.rng.Uint64())>>(w.rng.IntN(4)*16), 10)
			}
			_, err := s.Add(m)
			w.must(err)
		}
	case 4:
		z, err := zset.Write(tx, key)
		w.must(err)
		for range w.size() {
			z.Find(w.member())
			w.must(z.Put(w.score()))
		}
	case 5:
		h, err := hash.Write(tx, key)
		w.must(err)
		for range w.size() {
			_, err := h.Set(w.member(), w.text([]int{10, 60, 400}[w.rng.IntN(3)]))
			w.must(err)
		}
	default:
		w.stream(tx, key)
	}
}

func (w *world) stream(tx *db.Tx, key []byte) {
	s, err := stream.Create(tx, key)
	w.must(err)
	limits := stream.LimitsOf(tx)
	id := stream.ID{Ms: uint64(w.rng.IntN(1000))}
	var ids []stream.ID
	for range w.size() {
		if w.rng.IntN(3) > 0 {
			id.Ms, id.Seq = id.Ms+uint64(w.rng.IntN(100000)), uint64(w.rng.IntN(3))
		}
		id.Seq++
		pairs := [][]byte{[]byte("name"), w.text(50), []byte("other"), w.text(20)}
		switch w.rng.IntN(8) {
		case 0:
			pairs[2] = w.member()
		case 1:
			pairs = pairs[:2]
		}
		s.Append(id, pairs, limits)
		ids = append(ids, id)
	}
	for _, id := range ids {
		if w.rng.IntN(10) == 0 {
			s.Delete(id)
		}
	}
	for g := range w.rng.IntN(3) {
		name := fmt.Appendf(nil, "group%d", g)
		s.CreateGroup(name, ids[w.rng.IntN(len(ids))], int64(w.rng.IntN(10))-1)
		group := s.EditGroup(name)
		for c := range w.rng.IntN(4) {
			n, _ := s.CreateConsumer(group, fmt.Appendf(nil, "consumer%d", c), int64(now))
			for _, id := range ids {
				if w.rng.IntN(5) == 0 {
					s.Deliver(group, id, n, int64(now))
				}
			}
		}
	}
}

// large makes collections of many elements, and a long string.
func (w *world) large(tx *db.Tx) {
	w.must(tx.SetString([]byte("large:string"), bytes.Repeat(w.text(300), 20000), db.NoExpiry))
	l, err := list.Write(tx, []byte("large:list"))
	w.must(err)
	s, err := set.Write(tx, []byte("large:set"))
	w.must(err)
	h, err := hash.Write(tx, []byte("large:hash"))
	w.must(err)
	z, err := zset.Write(tx, []byte("large:zset"))
	w.must(err)
	x, err := stream.Create(tx, []byte("large:stream"))
	w.must(err)
	for i := range 60000 {
		m := fmt.Appendf(nil, "element:%d", i)
		w.must(l.Push(false, m))
		_, err := s.Add(m)
		w.must(err)
		_, err = h.Set(m, w.text(30))
		w.must(err)
		z.Find(m)
		w.must(z.Put(float64(i) / 3))
		x.Append(stream.ID{Ms: uint64(i), Seq: 1}, [][]byte{[]byte("f"), m}, stream.LimitsOf(tx))
	}
	w.must(l.Push(true, bytes.Repeat([]byte("long"), 700000)))
	for _, k := range []string{"list", "set", "hash", "zset", "stream"} {
		tx.Touched([]byte("large:"+k), db.ClassGeneric, "made")
	}
}

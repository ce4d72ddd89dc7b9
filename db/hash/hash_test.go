package hash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/db"
)

const now db.Millis = 1_700_000_000_000

var key = []byte("key")

// world is a keyspace in which one command runs at a time.
type world struct {
	ks  *db.Keyspace
	tx  *db.Tx
	now db.Millis
}

func newWorld(t testing.TB, entries, value int64) *world {
	t.Helper()
	s := db.DefaultSettings()
	s.Limits.HashEntries, s.Limits.HashValue = entries, value
	ks, err := db.Open(db.Options{Shards: 1, Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ks.Check(); err != nil {
			t.Error(err)
		}
		ks.Close()
	})
	return &world{ks, ks.NewTx(), now}
}

func (w *world) do(fn func(tx db.Txn)) {
	all := w.ks.AllShards()
	w.ks.Lock(all)
	w.tx.Begin(0, w.now, all, true)
	fn(w.tx)
	w.tx.End()
	w.ks.Unlock(all)
}

// hash runs fn on the hash at key for change.
func (w *world) hash(t testing.TB, fn func(h *Hash)) {
	t.Helper()
	w.do(func(tx db.Txn) {
		h, err := Write(tx, key)
		if err != nil {
			t.Fatal(err)
		}
		fn(&h)
		tx.Touched(key, db.ClassHash, "")
	})
}

// field is what the model knows of a field.
type field struct {
	value string
	at    db.Millis // 0: none
}

func contents(h *Hash) map[string]field {
	m := map[string]field{}
	h.Each(func(f, v []byte) bool {
		at, _ := h.Deadline(f)
		m[string(f)] = field{string(v), at}
		return true
	})
	return m
}

func (w *world) compare(t testing.TB, m map[string]field) {
	t.Helper()
	w.do(func(tx db.Txn) {
		h, err := Read(tx, key)
		if err != nil {
			t.Fatal(err)
		}
		same(t, &h, m)
	})
}

// expire removes what has to be gone.
func expire(m map[string]field, now db.Millis) {
	for f, v := range m {
		if v.at != 0 && v.at <= now {
			delete(m, f)
		}
	}
}

func same(t testing.TB, h *Hash, m map[string]field) {
	t.Helper()
	if h.Len() != len(m) {
		t.Fatalf("%d fields, want %d", h.Len(), len(m))
	}
	got := contents(h)
	for f, v := range m {
		if got[f] != v {
			t.Fatalf("%q is %v, want %v", f, got[f], v)
		}
		if value, found := h.Get([]byte(f)); !found || string(value) != v.value || !h.Has([]byte(f)) {
			t.Fatalf("Get(%q) gives %q, %v", f, value, found)
		}
	}
	if len(got) != len(m) {
		t.Fatalf("Each visits %d, want %d", len(got), len(m))
	}
	seen := map[string]bool{}
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		cursor = h.Scan(cursor, 3, func(f, v []byte) {
			if m[string(f)].value != string(v) || seen[string(f)] {
				t.Fatalf("Scan gives %q: %q", f, v)
			}
			seen[string(f)] = true
		})
	}
	if len(seen) != len(m) {
		t.Fatalf("Scan visits %d, want %d", len(seen), len(m))
	}
}

// TestModel does random things to a hash with small limits, and keeps snapshots
// of it open.
func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 9))
		w := newWorld(t, []int64{8, 100, 512}[seed%3], []int64{10, 64, 20000}[seed/3%3])
		m := map[string]field{}
		type view struct {
			sn  *db.Snapshot
			m   map[string]field
			now db.Millis
		}
		var views []view
		for range 4000 {
			step(t, w, r, m, 5<<(seed%4*2))
			if r.IntN(100) == 0 {
				w.compare(t, m)
			}
			if r.IntN(20) == 0 {
				w.now += db.Millis(r.IntN(500))
				expire(m, w.now)
			}
			if r.IntN(300) == 0 {
				w.compare(t, m)
				c := map[string]field{}
				for f, v := range m {
					c[f] = v
				}
				views = append(views, view{w.ks.Snapshot(nil), c, w.now})
			}
			if len(views) > 2 || len(views) > 0 && r.IntN(500) == 0 {
				v := views[0]
				views = views[1:]
				n := 0
				v.sn.Each(0, func(it *db.Item) bool {
					h := Of(it.Coll, v.now)
					same(t, &h, v.m)
					n++
					return true
				})
				if (n == 1) != (len(v.m) > 0) {
					t.Fatalf("%d keys, %d fields", n, len(v.m))
				}
				v.sn.Close()
			}
			if r.IntN(700) == 0 {
				w.do(func(tx db.Txn) { tx.Delete(key) })
				clear(m)
			}
		}
		w.compare(t, m)
		for _, v := range views {
			v.sn.Close()
		}
	}
}

func step(t *testing.T, w *world, r *rand.Rand, m map[string]field, fields int) {
	t.Helper()
	name := fmt.Sprint("f", r.IntN(fields))
	if r.IntN(100) == 0 {
		name = strings.Repeat(name, 30)
	}
	value := fmt.Sprint(r.IntN(1e6))
	switch r.IntN(30) {
	case 0:
		value = strings.Repeat(value, 20)
	case 1:
		value = strings.Repeat(value, 2000)
	}
	old, had := m[name]
	w.hash(t, func(h *Hash) {
		switch x := r.IntN(20); {
		case x < 8:
			set, at := h.Set, db.Millis(0)
			if x < 4 {
				set, at = h.Update, old.at
			}
			created, err := set([]byte(name), []byte(value))
			if err != nil || created == had {
				t.Fatalf("Set(%q) says %v, %v", name, created, err)
			}
			m[name] = field{value, at}
		case x < 13:
			if h.Delete([]byte(name)) != had {
				t.Fatalf("Delete(%q) says %v", name, !had)
			}
			delete(m, name)
		case x < 15 && had:
			at := w.now + 1 + db.Millis(r.IntN(2000))
			if r.IntN(3) > 0 {
				if err := h.SetDeadline([]byte(name), at); err != nil {
					t.Fatal(err)
				}
				m[name] = field{old.value, at}
			} else if h.ClearDeadline([]byte(name)) != (old.at != 0) {
				t.Fatalf("ClearDeadline(%q) says %v", name, old.at == 0)
			} else {
				m[name] = field{old.value, 0}
			}
		case x < 16:
			setAll(t, h, r, m, fields)
		case len(m) > 0:
			f, v := h.Random(w.tx)
			if m[string(f)].value != string(v) {
				t.Fatalf("Random gives %q: %q", f, v)
			}
		}
	})
}

func setAll(t *testing.T, h *Hash, r *rand.Rand, m map[string]field, fields int) {
	t.Helper()
	var pairs [][]byte
	n := len(m)
	for range 1 + r.IntN(8) {
		f, v := fmt.Sprint("f", r.IntN(fields)), fmt.Sprint("v", r.IntN(100))
		pairs = append(pairs, []byte(f), []byte(v))
		m[f] = field{v, 0}
	}
	created, err := h.SetAll(pairs)
	if err != nil || created != len(m)-n {
		t.Fatalf("SetAll(%q) says %d, %v; want %d", pairs, created, err, len(m)-n)
	}
}

func TestEncoding(t *testing.T) {
	f := func(want string, fn func(h *Hash)) {
		t.Helper()
		w := newWorld(t, 4, 8)
		w.hash(t, fn)
		w.do(func(tx db.Txn) {
			if m, _ := tx.Meta(key); m.Encoding != want {
				t.Errorf("%q, want %q", m.Encoding, want)
			}
		})
	}
	set := func(h *Hash, n int, value string) {
		for i := range n {
			if _, err := h.Set(fmt.Append(nil, i), []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	f("listpack", func(h *Hash) { set(h, 4, "12345678") })
	f("hashtable", func(h *Hash) { set(h, 5, "a") })
	f("hashtable", func(h *Hash) { set(h, 1, "123456789") })
	f("hashtable", func(h *Hash) { set(h, 5, "a"); h.Delete([]byte("1")); h.Delete([]byte("2")) })
	timed := func(h *Hash) {
		if err := h.SetDeadline([]byte("0"), now+100); err != nil {
			t.Fatal(err)
		}
	}
	f("listpackex", func(h *Hash) { set(h, 2, "a"); timed(h) })
	f("listpackex", func(h *Hash) { set(h, 2, "a"); timed(h); h.ClearDeadline([]byte("0")) })
	f("hashtable", func(h *Hash) { set(h, 2, "a"); timed(h); set(h, 5, "a") })
	f("hashtable", func(h *Hash) { set(h, 5, "a"); timed(h) })
	f("listpack", func(h *Hash) {
		if _, err := h.SetAll(slices.Repeat([][]byte{[]byte("a"), []byte("b")}, 5)); err != nil || h.Len() != 1 {
			t.Error(h.Len(), err)
		}
	})
	w := newWorld(t, 1000, 1000)
	w.hash(t, func(h *Hash) { set(h, 100, strings.Repeat("+", 900)) })
	w.do(func(tx db.Txn) {
		if m, _ := tx.Meta(key); m.Encoding != "listpack" || m.Len != 100 {
			t.Errorf("a listpack of 90 KB is a %s", m.Encoding)
		}
	})
}

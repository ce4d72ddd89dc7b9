package list_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/list"
)

// open returns a keyspace of one shard that is checked when the test ends.
func open(t testing.TB, change func(*db.Settings)) *db.Keyspace {
	t.Helper()
	s := db.DefaultSettings()
	if change != nil {
		change(s)
	}
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
	return ks
}

// with runs fn in a transaction.
func with(ks *db.Keyspace, tx *db.Tx, fn func(tx *db.Tx)) {
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	tx.Begin(0, 1000, ks.AllShards(), true)
	defer tx.End()
	fn(tx)
}

// elements reads all of a list, by an iterator.
func elements(l *list.List) (out []string) {
	for it := l.Iter(0); it.Next(); {
		out = append(out, string(it.Entry().Append(nil)))
	}
	return out
}

func element(r *rand.Rand) string {
	switch r.IntN(10) {
	case 0:
		return strings.Repeat("long\xff", r.IntN(600))
	case 1, 2:
		return strconv.Itoa(r.IntN(1000))
	}
	return "value:" + strconv.Itoa(r.IntN(20))
}

// change makes one random change of a list and of its model.
func change(t *testing.T, r *rand.Rand, tx *db.Tx, key []byte, want []string, shrink bool) []string {
	l, err := list.Write(tx, key)
	if err != nil {
		t.Fatal(err)
	}
	n, s := l.Len(), element(r)
	if n != len(want) {
		t.Fatalf("%d elements, want %d", n, len(want))
	}
	op := r.IntN(9)
	switch {
	case n == 0:
		op = r.IntN(2)
	case shrink:
		op = 2 + r.IntN(5)
	}
	switch op {
	case 0:
		err = l.Push(true, []byte(s))
		want = slices.Insert(want, 0, s)
	case 1:
		values := [][]byte{[]byte(s)}
		for range r.IntN(10) {
			values = append(values, []byte(element(r)))
		}
		front := r.IntN(2) == 0
		err = l.Push(front, values...)
		for _, v := range values {
			if front {
				want = slices.Insert(want, 0, string(v))
			} else {
				want = append(want, string(v))
			}
		}
	case 2:
		i := r.IntN(n)
		err = l.Set(i, []byte(s))
		want[i] = s
	case 3, 4:
		i := []int{0, n - 1, r.IntN(n)}[r.IntN(3)]
		c := 1 + r.IntN(min(n-i, 20))
		err = l.Delete(i, c)
		want = slices.Delete(want, i, i+c)
	case 5:
		want = remove(t, r, &l, want, want[r.IntN(n)])
	case 6:
		front := r.IntN(2) == 0
		err = l.Rotate(front)
		if front {
			want = append(want[1:], want[0])
		} else {
			want = slices.Insert(want[:n-1], 0, want[n-1])
		}
	default:
		i := r.IntN(n)
		err = l.Insert(i, []byte(s))
		want = slices.Insert(want, i, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l.Len() != len(want) {
		t.Fatalf("operation %d leaves %d elements, want %d", op, l.Len(), len(want))
	}
	tx.Touched(key, db.ClassList, "")
	return want
}

func remove(t *testing.T, r *rand.Rand, l *list.List, want []string, s string) []string {
	count := int64(r.IntN(7) - 3)
	n, err := l.Remove([]byte(s), count)
	if err != nil {
		t.Fatal(err)
	}
	most := int(max(count, -count))
	if count == 0 {
		most = len(want)
	}
	if count < 0 {
		slices.Reverse(want)
	}
	gone := 0
	want = slices.DeleteFunc(want, func(e string) bool {
		if e == s && gone < most {
			gone++
			return true
		}
		return false
	})
	if count < 0 {
		slices.Reverse(want)
	}
	if n != gone {
		t.Fatalf("removed %d of %q, want %d", n, s, gone)
	}
	return want
}

// TestModel changes a list at random beside a slice, packed and large, with
// snapshots open, under several limits.
func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		ks := open(t, func(s *db.Settings) { s.Limits.ListSize = []int64{-2, -1, 5, 128}[seed%4] })
		tx, key := ks.NewTx(), []byte("list")
		var want, frozen []string
		var snap *db.Snapshot
		for i := range 2500 {
			with(ks, tx, func(tx *db.Tx) {
				want = change(t, r, tx, key, want, i%800 > 500)
				l, err := list.Read(tx, key)
				if err != nil || !slices.Equal(elements(&l), want) {
					t.Fatalf("seed %d, step %d: the list differs: %v", seed, i, err)
				}
				checkMeta(t, tx, key, want)
				s := element(r)
				if got := l.Find([]byte(s)); got != slices.Index(want, s) {
					t.Fatalf("seed %d, step %d: %.20q found at %d, want %d", seed, i, s, got, slices.Index(want, s))
				}
			})
			switch {
			case snap == nil && r.IntN(40) == 0:
				snap, frozen = ks.Snapshot(nil), slices.Clone(want)
			case snap != nil && r.IntN(60) == 0:
				checkSnapshot(t, snap, frozen)
				snap = nil
			}
		}
		if snap != nil {
			snap.Close()
		}
	}
}

func checkMeta(t *testing.T, tx *db.Tx, key []byte, want []string) {
	t.Helper()
	m, found := tx.Meta(key)
	if found != (len(want) > 0) || found && m.Len != len(want) {
		t.Fatalf("the key: %v, %d elements, want %d", found, m.Len, len(want))
	}
}

func checkSnapshot(t *testing.T, s *db.Snapshot, want []string) {
	t.Helper()
	defer s.Close()
	var got []string
	s.Each(0, func(it *db.Item) bool {
		l := list.Of(&it.Coll)
		got = elements(&l)
		return true
	})
	if !slices.Equal(got, want) {
		t.Fatalf("a snapshot has %d elements, want %d", len(got), len(want))
	}
}

// TestNames follows OBJECT ENCODING over Redis' limits.
func TestNames(t *testing.T) {
	x := strings.Repeat("x", 4096)
	f := func(limit int64, want string, steps ...string) {
		t.Helper()
		ks := open(t, func(s *db.Settings) { s.Limits.ListSize = limit })
		tx, key := ks.NewTx(), []byte("list")
		with(ks, tx, func(tx *db.Tx) {
			for _, s := range steps {
				l, err := list.Write(tx, key)
				if err != nil {
					t.Fatal(err)
				}
				op, arg, _ := strings.Cut(s, " ")
				switch op {
				case "push":
					err = l.Push(false, []byte(arg))
				case "pop":
					err = l.Delete(l.Len()-1, 1)
				case "trim":
					err = l.Delete(1, l.Len()-1)
				case "set":
					err = l.Set(0, []byte(arg))
				case "insert":
					err = l.Insert(0, []byte(arg))
				case "remove":
					_, err = l.Remove([]byte(arg), 0)
				}
				if err != nil {
					t.Fatal(err)
				}
				tx.Touched(key, db.ClassList, "")
			}
			if m, _ := tx.Meta(key); m.Encoding != want {
				t.Errorf("%d: %.60q is %s, want %s", limit, steps, m.Encoding, want)
			}
		})
	}
	f(3, "listpack", "push a", "push b", "push c")
	f(3, "quicklist", "push a", "push b", "push c", "push d")
	f(3, "quicklist", "push a", "push b", "push c", "insert d")
	f(3, "quicklist", "push a", "push b", "push c", "push d", "pop", "pop")
	f(3, "listpack", "push a", "push b", "push c", "push d", "pop", "pop", "pop")
	f(3, "listpack", "push a", "push a", "push a", "push d", "remove a")
	f(3, "listpack", "push a", "push b", "push c", "push d", "trim")
	f(0, "listpack", "push a")
	f(0, "quicklist", "push a", "push b")
	f(100, "quicklist", "push "+x, "push "+x)
	f(-1, "quicklist", "push a", "push "+x)
	f(-1, "quicklist", "push a", "set "+x)
	f(-1, "listpack", "push a", "push "+x, "pop")
	f(-1, "listpack", "push "+x, "push a", "push b", "set x")
	f(-1, "listpack", "push a", "push b", "push "+x, "trim")
	f(-2, "listpack", "push a", "push "+x)
	f(-2, "quicklist", "push a", "push "+x, "push "+x)
	f(-5, "listpack", "push a", "push "+x, "push "+x, "push "+x, "push "+x, "push "+x)
}

// TestNameByBytes: a list of short elements is a quicklist from 8 KB on, as
// Redis counts them.
func TestNameByBytes(t *testing.T) {
	ks := open(t, nil)
	tx, key, bytes := ks.NewTx(), []byte("list"), 7
	with(ks, tx, func(tx *db.Tx) {
		for i := range 1500 {
			s := "v:" + strconv.Itoa(i)
			l, _ := list.Write(tx, key)
			if err := l.Push(i%2 == 0, []byte(s)); err != nil {
				t.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "")
			want := "listpack"
			if i > 0 && bytes+len(s) > 8192 {
				want = "quicklist"
			}
			if m, _ := tx.Meta(key); m.Encoding != want {
				t.Fatalf("%d elements of %d bytes: %s", i+1, bytes, m.Encoding)
			}
			bytes += len(s) + 2
		}
	})
}

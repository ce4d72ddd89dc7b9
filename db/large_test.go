package db

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// largeTest grows and shrinks a keyspace of many keys beside a map.
type largeTest struct {
	t    *testing.T
	ks   *Keyspace
	tx   *Tx
	want map[string]string
	rnd  *rand.Rand
}

// TestLarge lets tables split and merge while snapshots are open, and memory be
// compacted while none is.
func TestLarge(t *testing.T) {
	ks := open(t, Options{Shards: 1, Databases: 1})
	l := &largeTest{t, ks, ks.NewTx(), map[string]string{}, rand.New(rand.NewPCG(rand.Uint64(), 1))}
	rounds := 6
	if raceEnabled {
		rounds = 2
	}
	for round := range rounds {
		l.change(12_000, 8)
		sn, want := ks.Snapshot(nil), maps.Clone(l.want)
		l.change(8000, 5-round)
		later, wantLater := ks.Snapshot(nil), maps.Clone(l.want)
		l.change(8000, round)
		l.compare(sn, want)
		sn.Close()
		l.change(4000, 1)
		l.compare(later, wantLater)
		later.Close()
		l.change(20_000, 1)
		for ks.Compact(500, 10) {
			ks.Shrink()
			ks.Age()
			l.change(10, 5)
		}
		if err := ks.Check(); err != nil {
			t.Fatal(err)
		}
		l.compareNow()
	}
	if ks.Stats().Moved == 0 {
		t.Error("no record was moved")
	}
}

// change makes n changes, of which tenth in ten store and the others delete.
func (l *largeTest) change(n, tenth int) {
	const batch = 20
	for i := 0; i < n; i += batch {
		with(l.ks, l.tx, 0, 1, func(tx *Tx) {
			for range batch {
				l.changeOne(tx, tenth)
			}
		})
	}
}

func (l *largeTest) changeOne(tx *Tx, tenth int) {
	k := fmt.Sprint("key:", l.rnd.IntN(20_000))
	if l.rnd.IntN(10) >= tenth {
		tx.Delete([]byte(k))
		delete(l.want, k)
		return
	}
	if l.rnd.IntN(10) == 0 {
		tx.Append([]byte(k), []byte("+"))
		l.want[k] += "+"
		return
	}
	v := fmt.Sprintf("%*d", 90+l.rnd.IntN(10), l.rnd.Uint64())
	tx.SetString([]byte(k), []byte(v), NoExpiry)
	l.want[k] = v
}

func (l *largeTest) compare(sn *Snapshot, want map[string]string) {
	l.t.Helper()
	n := 0
	sn.Each(0, func(it *Item) bool {
		n++
		if v := text(it.Str); v != want[string(it.Key)] {
			l.t.Fatalf("snapshot: %q is %q, want %q", it.Key, v, want[string(it.Key)])
		}
		return true
	})
	if n != len(want) || sn.Len(0) != n {
		l.t.Fatalf("snapshot has %d keys and says %d, want %d", n, sn.Len(0), len(want))
	}
}

func (l *largeTest) compareNow() {
	l.t.Helper()
	with(l.ks, l.tx, 0, 1, func(tx *Tx) {
		for k, v := range l.want {
			if s, ok, err := tx.String([]byte(k)); !ok || err != nil || text(s) != v {
				l.t.Fatalf("%q is %q, want %q", k, text(s), v)
			}
		}
		if n := tx.Whole().Len(0); n != int64(len(l.want)) {
			l.t.Fatalf("%d keys, want %d", n, len(l.want))
		}
	})
}

// TestScanGuarantee deletes and adds keys during a scan: those that stay are
// all visited.
func TestScanGuarantee(t *testing.T) {
	ks := open(t, Options{Shards: 8})
	tx := ks.NewTx()
	const stay = 5000
	with(ks, tx, 0, 1, func(tx *Tx) {
		for i := range 2 * stay {
			tx.SetInt(fmt.Append(nil, i), 1, NoExpiry)
		}
	})
	for _, grow := range []bool{true, false} {
		seen := map[string]bool{}
		w := ks.Whole(1)
		cursor, i := w.Scan(0, 0, 10, func(k []byte, _ Type) { seen[string(k)] = true }), 0
		for cursor != 0 {
			with(ks, tx, 0, 1, func(tx *Tx) {
				for range 20 {
					if grow {
						tx.SetInt(fmt.Append(nil, 2*stay+i), 1, NoExpiry)
					} else {
						tx.Delete(fmt.Append(nil, stay+i))
					}
					i++
				}
			})
			ks.Shrink()
			cursor = w.Scan(0, cursor, 10, func(k []byte, _ Type) { seen[string(k)] = true })
		}
		for k := range stay {
			if !seen[fmt.Sprint(k)] {
				t.Fatalf("grow %v: key %d was not visited", grow, k)
			}
		}
	}
}

package db

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestReleaseUnderChanges: while snapshots are released shard by shard, in any order and beside
// others, keys change in all ways, databases are swapped and emptied: what is not released yet
// stays as it was, and in the end nothing is kept.
func TestReleaseUnderChanges(t *testing.T) {
	ks := open(t, Options{Shards: 4, Databases: 3})
	tx, rnd := ks.NewTx(), rand.New(rand.NewPCG(rand.Uint64(), 8))
	type held struct {
		sn   *Snapshot
		want []map[string]string // by shard
	}
	see := func(sn *Snapshot, shard int) map[string]string {
		m := map[string]string{}
		r := sn.Reader()
		defer r.End()
		for db := range sn.Databases() {
			r.Each(shard, db, func(it *Item) bool {
				v := fmt.Sprint(it.Expire, it.Str.IsInt, it.Str.N, len(it.Str.B))
				if n := len(it.Str.B); n > 0 {
					v += string(it.Str.B[:1]) + string(it.Str.B[n-1:])
				}
				if o, ok := it.Coll.Object.(*toy); ok {
					v = fmt.Sprint(it.Expire, o.items)
				}
				m[fmt.Sprint(db, " ", string(it.Key))] = v
				return true
			})
		}
		return m
	}
	var all []*held
	check := func(h *held, shard int) {
		got := see(h.sn, shard)
		if len(got) != len(h.want[shard]) {
			t.Fatalf("shard %d has %d keys, %d before", shard, len(got), len(h.want[shard]))
		}
		for k, v := range h.want[shard] {
			if got[k] != v {
				t.Fatalf("%s is %q, was %q", k, got[k], v)
			}
		}
	}
	key := func() []byte { return fmt.Append(nil, "k", rnd.IntN(60)) }
	for step := range 20_000 {
		with(ks, tx, rnd.IntN(3), 1, func(tx *Tx) {
			k := key()
			switch rnd.IntN(13) {
			case 0, 1:
				b := make([]byte, rnd.IntN(3)*rnd.IntN(BigMin))
				for i := range b {
					b[i] = byte('a' + step%26)
				}
				tx.SetRaw(k, b, [...]Expiry{NoExpiry, 1000}[rnd.IntN(2)])
			case 2:
				tx.SetExpire(k, Expiry(1000+rnd.IntN(100)))
			case 3:
				tx.Rename(k, key())
			case 4:
				tx.Copy(k, rnd.IntN(3), key())
			case 5:
				if b, err := tx.Edit(k, rnd.IntN(2*BigMin)); err == nil && len(b) > 0 {
					b[0], b[len(b)-1] = byte('A'+step%26), byte('A'+step%26)
				}
			case 6:
				tx.PutObject(k, TypeSet, &toy{items: []string{string(k), "item"}}, NoExpiry)
			case 7:
				if c, found, err := tx.EditCollection(k, TypeSet); found && err == nil {
					if o := c.Object.(*toy); len(o.items) < 20 {
						o.items = append(append([]string{}, o.items...), fmt.Sprint(step))
						tx.Touched(k, ClassSet, "")
					}
				}
			case 8, 9:
				tx.Delete(k)
			case 10:
				tx.SetString(k, fmt.Append(nil, step), KeepExpiry)
			case 11:
				if rnd.IntN(50) == 0 {
					tx.Whole().Swap(rnd.IntN(3), rnd.IntN(3))
				}
			default:
				if rnd.IntN(100) == 0 {
					tx.Whole().Flush(rnd.IntN(3), rnd.IntN(2) == 0)
				}
			}
		})
		if rnd.IntN(30) == 0 && len(all) < 3 {
			h := &held{sn: ks.Snapshot(nil)}
			for i := range h.sn.Shards() {
				h.want = append(h.want, see(h.sn, i))
			}
			all = append(all, h)
		}
		if i := rnd.IntN(30); i < len(all) {
			h := all[i]
			shard := rnd.IntN(h.sn.Shards())
			if h.want[shard] != nil && rnd.IntN(4) > 0 {
				check(h, shard)
				r := h.sn.Reader()
				r.Release(shard)
				r.End()
				h.want[shard] = nil
			} else if rnd.IntN(4) == 0 {
				for shard, w := range h.want {
					if w != nil {
						check(h, shard)
					}
				}
				h.sn.Close()
				all = append(all[:i], all[i+1:]...)
			}
		}
		if rnd.IntN(50) == 0 {
			ks.Age()
			ks.Compact(1000, 100)
		}
		if rnd.IntN(1000) == 0 {
			if err := ks.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, h := range all {
		h.sn.Close()
	}
	ks.lazy.wait()
	if n := ks.kept.Load(); n != 0 {
		t.Errorf("%d bytes are kept for no snapshot", n)
	}
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
}

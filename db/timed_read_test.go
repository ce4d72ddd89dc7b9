package db

import "testing"

// TestTimedRead: who reads a collection takes the members that are due out of it, once,
// unless writes are paused.
func TestTimedRead(t *testing.T) {
	var gone []string
	ks := open(t, Options{Shards: 1, Databases: 1, Hooks: Hooks{
		MemberExpired: func(_ int, _ Type, _, member []byte) { gone = append(gone, string(member)) },
	}})
	tx, k, now := ks.NewTx(), []byte("k"), Millis(1_700_000_000_000)
	with(ks, tx, 0, now, func(tx *Tx) {
		tx.PutObject(k, TypeSet, timedToy{"a": now + 10, "b": now + 20}, NoExpiry)
		tx.Touched(k, ClassSet, "sadd")
	})
	read := func(now Millis, want string, found bool) {
		t.Helper()
		ks.Lock(ks.AllShards())
		defer ks.Unlock(ks.AllShards())
		tx.Begin(0, now, ks.AllShards(), false)
		defer tx.End()
		c, ok, err := tx.Collection(k, TypeSet)
		o, _ := c.Object.(timedToy)
		if ok != found || err != nil || o.String() != want {
			t.Errorf("%v, %v, %v; want %s", ok, err, o, want)
		}
	}
	both := timedToy{"a": now + 10, "b": now + 20}.String()
	read(now+9, both, true)
	ks.Freeze(true)
	read(now+15, both, true)
	ks.Freeze(false)
	sn := ks.Snapshot(nil)
	read(now+15, timedToy{"b": now + 20}.String(), true)
	sn.Each(0, func(it *Item) bool {
		if got := it.Coll.Object.(timedToy).String(); got != both {
			t.Errorf("the snapshot shows %s", got)
		}
		return true
	})
	sn.Close()
	read(now+20, "", false)
	if len(gone) != 2 || ks.Whole(now).Len(0) != 0 {
		t.Errorf("%q went", gone)
	}
}

// TestClearDuePaused: while writes are paused nothing is cleared, nor is it waited for.
func TestClearDuePaused(t *testing.T) {
	ks := open(t, Options{Shards: 1, Databases: 1})
	tx, k, now := ks.NewTx(), []byte("k"), Millis(1_700_000_000_000)
	with(ks, tx, 0, now, func(tx *Tx) {
		tx.PutObject(k, TypeSet, timedToy{"a": now + 10, "b": 0}, NoExpiry)
		tx.Touched(k, ClassSet, "sadd")
	})
	for _, paused := range []bool{true, false} {
		ks.Freeze(paused)
		ks.ClearDue(0, ks.Hash(k), now+15)
		sn, want := ks.Snapshot(nil), 1
		if paused {
			want = 2
		}
		sn.Each(0, func(it *Item) bool {
			if got := it.Coll.Object.Len(); got != want {
				t.Errorf("paused %v: %d members, want %d", paused, got, want)
			}
			return true
		})
		sn.Close()
	}
}

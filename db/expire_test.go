package db

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestExpireCycle checks that keys go within a second after their deadline
// without being looked at, whatever the deadline, and never before.
func TestExpireCycle(t *testing.T) {
	ks := open(t, Options{Shards: 4})
	tx := ks.NewTx()
	start := Millis(1_700_000_000_123)
	deadlines := map[string]Millis{}
	spans := []Millis{1000, 40_000, 3_000_000, 3_600_000 * 50, 86_400_000 * 200, 86_400_000 * 365 * 20}
	with(ks, tx, 0, start, func(tx *Tx) {
		for i := range 3000 {
			k := fmt.Sprint(i)
			at := start + Millis(rand.Int64N(int64(spans[i%len(spans)])))
			tx.SetString([]byte(k), []byte(k), at)
			deadlines[k] = at
		}
	})
	check := func(now Millis) {
		ks.ExpireCycle(now, 1<<30)
		for k, at := range deadlines {
			s := &ks.shards[ks.ShardOf(ks.Hash([]byte(k)))]
			if has := s.has(0, []byte(k)); has != (now <= at) && now > at+1000 || !has && now <= at {
				t.Fatalf("at %d: key due at %d: there %v", now, at, has)
			}
		}
	}
	for now := start; now < start+spans[len(spans)-1]+2000; {
		check(now)
		now += 1 + Millis(rand.Int64N(int64(now-start)/4+500))
	}
	check(start + 1<<45)
	if n := ks.Whole(0).Len(0); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// TestTimers checks that deadlines that change do not fill the expiry index.
func TestTimers(t *testing.T) {
	ks := open(t, Options{Shards: 1, Databases: 1})
	tx := ks.NewTx()
	now := Millis(1_700_000_000_000)
	f := func(what string, change func(tx *Tx, key []byte, i int), most int64) {
		t.Helper()
		with(ks, tx, 0, now, func(tx *Tx) { tx.Whole().Flush(0, false) })
		for i := range 20_000 {
			with(ks, tx, 0, now, func(tx *Tx) { change(tx, fmt.Append(nil, i%100), i) })
			if i%100 == 0 {
				ks.ExpireCycle(now, 1000)
			}
		}
		if n := ks.shards[0].at(0).Load().wheel.entries; n > most {
			t.Errorf("%s: %d entries", what, n)
		}
	}
	f("later and later", func(tx *Tx, k []byte, i int) { tx.SetString(k, k, now+Millis(1e6+i)) }, 100)
	f("later, without a change of the value", func(tx *Tx, k []byte, i int) {
		if !tx.SetExpire(k, now+Millis(1e6+i)) {
			tx.SetString(k, k, now+1e6)
		}
	}, 100)
	f("earlier and earlier", func(tx *Tx, k []byte, i int) { tx.SetString(k, k, now+Millis(1e6-i)) }, 3000)
	f("set and removed", func(tx *Tx, k []byte, i int) {
		tx.SetString(k, k, now+1e6)
		tx.SetExpire(k, NoExpiry)
	}, 3000)
}

func TestKeepExpired(t *testing.T) {
	ks := open(t, Options{})
	s := ks.Settings()
	s.KeepExpired = true
	ks.SetSettings(s)
	tx := ks.NewTx()
	k := []byte("k")
	with(ks, tx, 0, 1, func(tx *Tx) { tx.SetString(k, k, 100) })
	ks.ExpireCycle(10_000, 100)
	if ks.Whole(10_000).Len(0) != 1 {
		t.Error("an expired key went, though active expiry is off")
	}
	with(ks, tx, 0, 10_000, func(tx *Tx) {
		if tx.Exists(k) {
			t.Error("an expired key is seen")
		}
	})
	if st := ks.Stats(); st.Expired != 1 || ks.Whole(10_000).Len(0) != 0 {
		t.Errorf("%+v", st)
	}
}

func TestExpiredHooks(t *testing.T) {
	var log []string
	ks := open(t, Options{Hooks: Hooks{
		Event:   func(db int, c Class, event string, key []byte) { log = append(log, event+" "+string(key)) },
		Expired: func(db int, key []byte) { log = append(log, "hook "+string(key)) },
	}})
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) { tx.SetString([]byte("abc"), []byte("x"), 100) })
	ks.ExpireCycle(10_000, 100)
	if fmt.Sprint(log) != "[new abc hook abc expired abc]" {
		t.Errorf("%q", log)
	}
}

func TestAvgTTL(t *testing.T) {
	ks := open(t, Options{})
	now := Millis(1_700_000_000_000)
	with(ks, ks.NewTx(), 0, now, func(tx *Tx) {
		for i := range 100 {
			tx.SetInt(fmt.Append(nil, i), 1, now+Millis(1000*i))
		}
		tx.SetInt([]byte("x"), 1, NoExpiry)
	})
	w := ks.Whole(now)
	if w.AvgTTL(0) != 49500 || w.Expires(0) != 100 || w.Len(0) != 101 || w.AvgTTL(1) != 0 {
		t.Error(w.AvgTTL(0), w.Expires(0), w.Len(0))
	}
}

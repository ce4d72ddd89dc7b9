package db

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// timedWorld is a keyspace of one shard.
func timedWorld(t *testing.T) (*Keyspace, *Tx) {
	t.Helper()
	ks, err := Open(Options{Shards: 1, Databases: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	return ks, ks.NewTx()
}

// TestClockSetBack sets the clock back by an hour: keys that get a deadline then expire in
// time all the same, and so do those from before.
func TestClockSetBack(t *testing.T) {
	ks, tx := timedWorld(t)
	now := Millis(1_700_000_000_000)
	set := func(key string, at Expiry) {
		with(ks, tx, 0, now, func(tx *Tx) { tx.SetString([]byte(key), []byte("x"), at) })
	}
	left := func(want int64) {
		t.Helper()
		for range 4 {
			ks.ExpireCycle(now, 1<<20)
		}
		if r := ks.Report(now, false); len(r.Databases) != 1 || r.Databases[0].Keys != want {
			t.Errorf("%+v, want %d keys", r.Databases, want)
		}
	}
	set("never", NoExpiry)
	for i := range 5000 {
		set(fmt.Sprint("before", i), now+10_000)
	}
	left(5001)
	now -= 3_600_000
	for i := range 5000 {
		set(fmt.Sprint("after", i), now+5000)
	}
	left(10001)
	if n := ks.shards[0].at(0).Load().wheel.tick; n > int64(now)>>tickShift {
		t.Errorf("the index is %d ticks ahead", n-int64(now)>>tickShift)
	}
	now += 6000
	left(5001)
	now += 3_605_000
	left(1)
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
}

// TestKeptIndexIsBounded sets deadlines again and again while nothing may expire.
func TestKeptIndexIsBounded(t *testing.T) {
	ks, tx := timedWorld(t)
	ks.ChangeSettings(func(s *Settings) { s.KeepExpired = true })
	now := Millis(1_700_000_000_000)
	for round := range 100 {
		for i := range 500 {
			with(ks, tx, 0, now, func(tx *Tx) {
				tx.SetString(fmt.Append(nil, "k", round&1, i), []byte("x"), now+Millis(1000+i))
				tx.Delete(fmt.Append(nil, "k", 1-round&1, i))
			})
		}
		now += 100
		ks.ExpireCycle(now, 1<<20)
		ks.ExpireCycle(now, 1<<20)
	}
	d := ks.shards[0].at(0).Load()
	if most := 2*d.expires + staleSlack + 1000; d.wheel.entries > most || d.expires != 500 {
		t.Errorf("%d entries for %d keys with a deadline", d.wheel.entries, d.expires)
	}
	if n := ks.Report(now+10_000, false).Databases[0].Behind; n != 500 {
		t.Errorf("%d keys are overdue, want 500", n)
	}
	if n := ks.Report(now-100_000, false).Databases[0].Behind; n != 0 {
		t.Errorf("%d keys are overdue, want none", n)
	}
}

// TestSampleFindsTheFew evicts the only keys with a deadline among many without, while the
// index is full of entries that lead nowhere.
func TestSampleFindsTheFew(t *testing.T) {
	ks, tx := timedWorld(t)
	now := Millis(1_700_000_000_000)
	for i := range 20_000 {
		with(ks, tx, 0, now, func(tx *Tx) { tx.SetString(fmt.Append(nil, "plain", i), []byte("x"), NoExpiry) })
	}
	for i := range 1000 {
		with(ks, tx, 0, now, func(tx *Tx) {
			tx.SetString(fmt.Append(nil, "gone", i), []byte("x"), now+100_000)
			tx.Delete(fmt.Append(nil, "gone", i))
		})
	}
	for i := range 3 {
		with(ks, tx, 0, now, func(tx *Tx) { tx.SetString(fmt.Append(nil, "timed", i), []byte("x"), now+100_000) })
	}
	// A key whose entry was lost.
	d := ks.shards[0].at(0).Load()
	cfg := ks.Settings()
	cfg.Policy, cfg.MaxMemory = VolatileLRU, 1
	ks.ChangeSettings(func(s *Settings) { *s = cfg })
	if r := ks.Evict(now, 2); r.Keys != 2 {
		t.Errorf("%d keys were evicted, want 2", r.Keys)
	}
	d.wheel.drop()
	found := 0
	for range 20_000 {
		if r := ks.Evict(now, 1); r.Keys == 1 {
			found++
			break
		}
	}
	if found != 1 || d.expires != 0 {
		t.Errorf("the key without an entry is not found: %d, %d left", found, d.expires)
	}
}

func TestLongWaits(t *testing.T) {
	var clock atomic.Int64
	ks, err := Open(Options{Shards: 1, Mono: clock.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer ks.Close()
	wait := func(d int64) {
		ks.Lock(1)
		var wg sync.WaitGroup
		wg.Go(func() {
			ks.Lock(1)
			ks.Unlock(1)
		})
		time.Sleep(20 * time.Millisecond) // it waits now
		clock.Add(d)
		ks.Unlock(1)
		wg.Wait()
	}
	wait(longWait - 1)
	if n := ks.LongWaits(); n != 0 {
		t.Errorf("%d long waits, want none", n)
	}
	wait(longWait)
	if n := ks.LongWaits(); n > 1 {
		t.Errorf("%d long waits, want 1", n)
	}
}

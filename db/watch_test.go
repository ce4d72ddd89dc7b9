package db

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWatch follows Redis 7: what makes EXEC fail, and what does not.
func TestWatch(t *testing.T) {
	const now = Millis(1_700_000_000_000)
	var (
		k     = []byte("k")
		set   = func(at Expiry) func(*Tx) { return func(tx *Tx) { tx.SetString(k, []byte("v"), at) } }
		write = func(tx *Tx) { tx.SetInt(k, 1, KeepExpiry); tx.Touched(k, ClassString, "set") }
		del   = func(tx *Tx) {
			if tx.Delete(k) {
				tx.Touched(k, ClassGeneric, "del")
			}
		}
		read  = func(tx *Tx) { tx.String(k) }
		flush = func(tx *Tx) { tx.Whole().Flush(0, false) }
		swap  = func(tx *Tx) { tx.Whole().Swap(0, 1) }
		none  = func(*Tx) {}
	)
	f := func(name string, before, after func(*Tx), later Millis, want bool) {
		t.Helper()
		ks := open(t, Options{})
		tx := ks.NewTx()
		with(ks, tx, 0, now-1000, before)
		var w Watcher
		ks.Watch(&w, 0, k, now)
		ks.Watch(&w, 0, k, now)
		with(ks, tx, 0, now+later, after)
		if got := w.DirtyAt(now + later); got != want {
			t.Errorf("%s: dirty %v, want %v", name, got, want)
		}
		ks.Unwatch(&w)
		if w.DirtyAt(now+later) || len(w.entries) > 0 || ks.shards[ks.ShardOf(ks.Hash(k))].watched.used {
			t.Errorf("%s: something is left after UNWATCH", name)
		}
	}
	f("nothing", set(NoExpiry), none, 0, false)
	f("read", set(NoExpiry), read, 0, false)
	f("write", set(NoExpiry), write, 0, true)
	f("create", none, write, 0, true)
	f("delete", set(NoExpiry), del, 0, true)
	f("delete nothing", none, del, 0, false)
	f("other key", none, func(tx *Tx) {
		tx.SetInt([]byte("other"), 1, NoExpiry)
		tx.Touched([]byte("other"), ClassString, "set")
	}, 0, false)
	f("other database", none, func(tx *Tx) { write(tx.In(1).(*Tx)) }, 0, false)
	f("expires later", set(now+100), none, 200, true)
	f("expires later, read", set(now+100), read, 200, true)
	f("not yet", set(now+100), none, 100, false)
	f("was expired", set(now-1), none, 200, false)
	f("was expired, goes", set(now-1), read, 200, false)
	f("was expired, comes back", set(now-1), write, 200, true)
	f("flush", set(NoExpiry), flush, 0, true)
	f("flush nothing", none, flush, 0, false)
	f("flush expired", set(now-1), flush, 0, false)
	f("swap away", set(NoExpiry), swap, 0, true)
	f("swap nothing", none, swap, 0, false)
	f("swap in", func(tx *Tx) { set(NoExpiry)(tx.In(1).(*Tx)) }, swap, 0, true)
	f("swap in expired", func(tx *Tx) { set(now - 1)(tx.In(1).(*Tx)) }, swap, 0, false)
	f("swap expired for expired", func(tx *Tx) { set(now - 1)(tx); set(now - 2)(tx.In(1).(*Tx)) }, swap, 0, false)
}

// noted is an Awaiter that notes what it is told.
type noted []string

func (n *noted) Ready(db int, _ uint64, key []byte) {
	*n = append(*n, strconv.Itoa(db)+" "+string(key))
}
func (n *noted) Replaced(db, _ int) { *n = append(*n, strconv.Itoa(db)) }

func TestAwait(t *testing.T) {
	var engine, own noted
	ks := open(t, Options{Shards: 1, Hooks: Hooks{Awaiter: &engine}})
	tx := ks.NewTx()
	f := func(change func(*Tx), wantEngine, wantOwn string) {
		t.Helper()
		engine, own = nil, nil
		with(ks, tx, 0, 100, change)
		if got := strings.Join(engine, ", "); got != wantEngine {
			t.Errorf("the engine's awaiter was told %q, want %q", got, wantEngine)
		}
		if got := strings.Join(own, ", "); got != wantOwn {
			t.Errorf("the transaction's awaiter was told %q, want %q", got, wantOwn)
		}
	}
	k := []byte("k")
	set := func(tx *Tx) {
		tx.SetInt(k, 1, 100)
		tx.Touched(k, ClassString, "set")
	}
	f(set, "", "")
	ks.LockShard(0)
	ks.AddAwaited(0, 2)
	ks.UnlockShard(0)
	f(set, "0 k", "")
	tx.SetAwaiter(&own)
	f(set, "", "0 k")
	f(func(tx *Tx) { set(tx.In(3).(*Tx)) }, "", "3 k")
	f(func(tx *Tx) { tx.Whole().Swap(0, 3) }, "", "0, 3")
	f(func(tx *Tx) { tx.Whole().Flush(3, false) }, "", "3")
	ks.Whole(0).Swap(0, 3)
	with(ks, tx, 3, 101, func(tx *Tx) { tx.Type(k) })
	if got := strings.Join(engine, ", "); got != "0, 3, 3 k" {
		t.Errorf("the engine's awaiter was told %q", got)
	}
	ks.LockShard(0)
	ks.AddAwaited(0, -2)
	ks.UnlockShard(0)
	f(set, "", "")
}

// TestWatchMany: the cost of a watched key does not depend on how many there are.
func TestWatchMany(t *testing.T) {
	const n = 100_000
	ks := open(t, Options{})
	var w Watcher
	start := time.Now()
	bytes := 0
	for i := range 2 * n {
		key := []byte(strconv.Itoa(i % n))
		ks.Watch(&w, i%n%16, key, 1)
		if i < n {
			bytes += len(key)
		}
	}
	ks.Watch(&w, 0, []byte("1"), 1) // it is watched in another database
	if len(w.entries) != n+1 || w.MemSize() != int64(bytes+1+(n+1)*watchSize) {
		t.Errorf("%d keys of %d bytes, want %d of %d", len(w.entries), w.MemSize(), n+1, bytes+1+(n+1)*watchSize)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("watching %d keys took %v", n, d)
	}
	ks.Unwatch(&w)
	if w.MemSize() != 0 || len(w.entries) > 0 {
		t.Error("something is left after UNWATCH")
	}
}

// TestToucherForgets: the room for one huge command is given back.
func TestToucherForgets(t *testing.T) {
	ks := open(t, Options{})
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) { tx.SetInt([]byte("k"), 1, NoExpiry) })
	touch := ks.NewToucher()
	for range 2 * keptTouched {
		touch.Add(0, []byte("k"))
	}
	touch.Run()
	if cap(touch.keys) > keptTouched {
		t.Errorf("room for %d keys is kept", cap(touch.keys))
	}
}

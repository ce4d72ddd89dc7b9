package db

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestBank moves amounts between accounts in 8 goroutines, each transaction
// under the locks of its keys only, while snapshots are read, keys expire,
// memory is compacted, and keys are touched without locks. In every snapshot
// the accounts add up to the same sum.
func TestBank(t *testing.T) {
	const accounts, movers = 500, 8
	ks := open(t, Options{Shards: 16})
	account := func(i int) []byte { return fmt.Appendf(nil, "account:%d", i) }
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) {
		for i := range accounts {
			tx.SetInt(account(i), 100, NoExpiry)
		}
	})
	var stop atomic.Bool
	var now atomic.Int64
	now.Store(1_700_000_000_000)
	var wg sync.WaitGroup
	loop := func(fn func(rnd *rand.Rand)) {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for !stop.Load() {
				fn(rnd)
			}
		})
	}
	for m := range movers {
		tx := ks.NewTx()
		loop(func(rnd *rand.Rand) {
			from, to := account(rnd.IntN(accounts)), account(rnd.IntN(accounts))
			noise := fmt.Appendf(nil, "noise:%d:%d", m, rnd.IntN(1000))
			var locks LockSet
			for _, k := range [][]byte{from, to, noise} {
				locks = locks.With(ks.ShardOf(ks.Hash(k)))
			}
			ks.Lock(locks)
			tx.Begin(0, Millis(now.Load()), locks, true)
			transfer(tx, from, to)
			tx.SetString(noise, make([]byte, rnd.IntN(200)), tx.Now()+Millis(rnd.IntN(3000)))
			tx.End()
			ks.Unlock(locks)
		})
	}
	loop(func(*rand.Rand) {
		now.Add(50)
		ks.ExpireCycle(Millis(now.Load()), 1000)
		ks.Compact(1000, 10)
		ks.Shrink()
	})
	loop(func(*rand.Rand) {
		touch := ks.NewToucher()
		for i := range 100 {
			touch.Add(0, account(i))
		}
		touch.Run()
	})
	snapshots := 0
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); snapshots++ {
		other := ks.Snapshot(nil)
		checkBank(t, ks, 100*accounts)
		other.Close()
	}
	stop.Store(true)
	wg.Wait()
	checkBank(t, ks, 100*accounts)
	t.Logf("%d snapshots", snapshots)
}

// transfer moves 1, keeping strings and integers in turn.
func transfer(tx *Tx, from, to []byte) {
	add := func(key []byte, n int64) {
		s, _, _ := tx.Current(key)
		if tx.Rand()%4 == 0 {
			tx.Edit(key, 0) // as bytes
			s, _, _ = tx.Current(key)
			v, _ := parseInt(s.B)
			s = Str{N: v, IsInt: true}
		}
		tx.SetInt(key, s.N+n, KeepExpiry)
		tx.Touched(key, ClassString, "incrby")
	}
	add(from, -1)
	add(to, 1)
}

func checkBank(t *testing.T, ks *Keyspace, want int64) {
	t.Helper()
	sn := ks.Snapshot(nil)
	defer sn.Close()
	var sum int64
	n := 0
	sn.Each(0, func(it *Item) bool {
		n++
		if string(it.Key[:min(len(it.Key), 8)]) == "account:" {
			sum += it.Str.N
		}
		return true
	})
	if sum != want || n != sn.Len(0) {
		t.Fatalf("snapshot: the sum is %d, want %d; %d keys of %d", sum, want, n, sn.Len(0))
	}
}

// TestBigRace lets readers keep values while writers change them.
func TestBigRace(t *testing.T) {
	ks := open(t, Options{})
	key := []byte("big")
	locks := LockSet(0).With(ks.ShardOf(ks.Hash(key)))
	var wg sync.WaitGroup
	for g := range 4 {
		tx := ks.NewTx()
		wg.Go(func() {
			for i := range 100 {
				if g < 2 {
					writeBig(ks, tx, locks, key, byte(i), i%3)
				} else {
					readBig(t, ks, tx, locks, key)
				}
			}
		})
	}
	wg.Wait()
}

// writeBig stores a value of equal bytes, in one of several ways.
func writeBig(ks *Keyspace, tx *Tx, locks LockSet, key []byte, c byte, way int) {
	ks.Lock(locks)
	defer ks.Unlock(locks)
	tx.Begin(0, 1, locks, true)
	defer tx.End()
	if way == 0 {
		b := ks.NewBig(3 * BigMin)
		for i := range b.Bytes() {
			b.Bytes()[i] = c
		}
		tx.AdoptBig(key, b, NoExpiry)
		return
	}
	b, _ := tx.Edit(key, 2*BigMin)
	for i := range b {
		b[i] = c
	}
}

// readBig keeps a value beyond the lock, and checks that it stays as it is.
func readBig(t *testing.T, ks *Keyspace, tx *Tx, locks LockSet, key []byte) {
	ks.Lock(locks)
	tx.Begin(0, 1, locks, false)
	s, ok, _ := tx.String(key)
	if ok {
		s.Big.Retain()
	}
	tx.End()
	ks.Unlock(locks)
	if !ok {
		return
	}
	defer s.Big.Release()
	for _, c := range s.Big.Bytes() {
		if c != s.Big.Bytes()[0] {
			t.Error("a value changed while it was held")
			return
		}
	}
}

// deaf is an Awaiter whom nothing concerns.
type deaf struct{}

func (deaf) Ready(int, uint64, []byte) {}
func (deaf) Replaced(int, int)         {}

// TestChaos runs everything at once; the check at the end recounts it all.
func TestChaos(t *testing.T) {
	cfg := *DefaultSettings()
	cfg.Policy, cfg.MaxMemory = AllKeysLFU, 3<<20
	hook := func(int, []byte) {}
	ks := open(t, Options{Shards: 8, Databases: 2, Settings: &cfg, Hooks: Hooks{
		Event: func(int, Class, string, []byte) {}, Awaiter: deaf{}, Expired: hook, Evicted: hook}})
	for i := range 8 {
		ks.LockShard(i)
		ks.AddAwaited(i, 1)
		ks.UnlockShard(i)
	}
	var now atomic.Int64
	now.Store(1_700_000_000_000)
	var wg sync.WaitGroup
	deadline := time.Now().Add(1500 * time.Millisecond)
	loop := func(fn func(rnd *rand.Rand)) {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for time.Now().Before(deadline) {
				fn(rnd)
			}
		})
	}
	for range 4 {
		tx := ks.NewTx()
		loop(func(rnd *rand.Rand) {
			a, b := fmt.Appendf(nil, "key:%d", rnd.IntN(5000)), fmt.Appendf(nil, "key:%d", rnd.IntN(5000))
			locks := LockSet(0).With(ks.ShardOf(ks.Hash(a))).With(ks.ShardOf(ks.Hash(b)))
			ks.Lock(locks)
			tx.Begin(rnd.IntN(2), Millis(now.Load()), locks, true)
			chaos(tx, rnd, a, b)
			tx.End()
			ks.Unlock(locks)
		})
	}
	loop(func(*rand.Rand) { ks.Evict(Millis(now.Load()), 100) })
	loop(func(*rand.Rand) { ks.ExpireCycle(Millis(now.Add(10)), 1000) })
	loop(func(*rand.Rand) { ks.Age(); ks.Compact(5000, 10); ks.Shrink(); ks.Report(Millis(now.Load()), false) })
	loop(func(rnd *rand.Rand) { watchChaos(ks, rnd, Millis(now.Load())) })
	loop(func(rnd *rand.Rand) {
		w := ks.Whole(Millis(now.Load()))
		switch rnd.IntN(20) {
		case 0:
			w.Flush(rnd.IntN(3)-1, rnd.IntN(2) == 0)
		case 1:
			w.Swap(0, 1)
		case 2:
			w.Each(0, func([]byte, Type) bool { return true })
		default:
			w.RandomKey(0, nil)
			w.Scan(0, rnd.Uint64(), 10, func([]byte, Type) {})
		}
	})
	wg.Wait()
	t.Logf("%+v", ks.Stats())
}

// chaos does one random thing to two keys.
func chaos(tx *Tx, rnd *rand.Rand, a, b []byte) {
	e := NoExpiry
	if rnd.IntN(2) == 0 {
		e = tx.Now() + Millis(rnd.IntN(2000))
	}
	switch rnd.IntN(12) {
	case 0:
		tx.Delete(a)
	case 1:
		tx.Rename(a, b)
	case 2:
		tx.Copy(a, rnd.IntN(2), b)
	case 3:
		tx.SetExpire(a, e)
	case 4:
		tx.Append(a, make([]byte, rnd.IntN(3000)))
	case 5:
		tx.PutObject(a, TypeList, &toy{items: []string{"x"}}, e)
	case 6:
		if c, found, err := tx.EditCollection(a, TypeList); found && err == nil {
			o := c.Object.(*toy)
			o.items = append(o.items, "y")[rnd.IntN(2):]
		}
	case 7:
		tx.SetString(a, make([]byte, BigMin+rnd.IntN(BigMin)), e)
	case 8:
		tx.String(a)
	default:
		tx.SetString(a, make([]byte, rnd.IntN(300)), e)
	}
	tx.Touched(a, ClassGeneric, "chaos")
	tx.Touched(b, ClassGeneric, "chaos")
}

func watchChaos(ks *Keyspace, rnd *rand.Rand, now Millis) {
	var w Watcher
	key := fmt.Appendf(nil, "key:%d", rnd.IntN(5000))
	ks.Watch(&w, 0, key, now)
	await := func(n int) {
		i := ks.ShardOf(ks.Hash(key))
		ks.LockShard(i)
		ks.AddAwaited(i, n)
		ks.UnlockShard(i)
	}
	await(1)
	w.DirtyAt(now)
	await(-1)
	ks.Unwatch(&w)
}

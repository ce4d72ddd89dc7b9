package db

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"heddle/db/invariants"
)

// benchKey writes key n, 15 bytes, into buf.
func benchKey(buf []byte, n uint64) []byte {
	const digits = "0123456789"
	copy(buf, "key:00000000000")
	for i := 14; n > 0; i-- {
		buf[i] = digits[n%10]
		n /= 10
	}
	return buf[:15]
}

// fill stores n keys with 32-byte values.
func fill(t testing.TB, ks *Keyspace, n int) {
	tx := ks.NewTx()
	var buf [16]byte
	val := make([]byte, 32)
	for i := range n {
		key := benchKey(buf[:], uint64(i))
		binary.LittleEndian.PutUint64(val, uint64(i)|1<<63)
		one(ks, tx, key, true, func() {
			if err := tx.SetString(key, val, NoExpiry); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// one runs a command of one key as dispatch does.
func one(ks *Keyspace, tx *Tx, key []byte, write bool, fn func()) {
	h := ks.Hash(key)
	set := LockSet(1) << uint(ks.ShardOf(h))
	ks.Lock(set)
	tx.Begin(0, 1_700_000_000_000, set, write)
	tx.Prime(key, h)
	fn()
	tx.End()
	ks.Unlock(set)
}

func get(ks *Keyspace, tx *Tx, key []byte) {
	h := ks.Hash(key)
	set := LockSet(1) << uint(ks.ShardOf(h))
	ks.Lock(set)
	tx.Begin(0, 1_700_000_000_000, set, false)
	tx.Prime(key, h)
	if _, ok, _ := tx.String(key); !ok {
		panic("absent")
	}
	tx.End()
	ks.Unlock(set)
}

func set(ks *Keyspace, tx *Tx, key, val []byte) {
	h := ks.Hash(key)
	set := LockSet(1) << uint(ks.ShardOf(h))
	ks.Lock(set)
	tx.Begin(0, 1_700_000_000_000, set, true)
	tx.Prime(key, h)
	if tx.SetString(key, val, NoExpiry) != nil {
		panic("out of memory")
	}
	tx.Touched(key, ClassString, "set")
	tx.End()
	ks.Unlock(set)
}

func incr(ks *Keyspace, tx *Tx, key []byte) {
	h := ks.Hash(key)
	set := LockSet(1) << uint(ks.ShardOf(h))
	ks.Lock(set)
	tx.Begin(0, 1_700_000_000_000, set, true)
	tx.Prime(key, h)
	s, _, _ := tx.Current(key)
	if tx.SetInt(key, s.N+1, KeepExpiry) != nil {
		panic("out of memory")
	}
	tx.Touched(key, ClassString, "incrby")
	tx.End()
	ks.Unlock(set)
}

// TestNoAllocations holds reading and overwriting a key free of allocations.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled || raceEnabled {
		t.Skip("checked builds allocate")
	}
	ks := open(t, Options{})
	fill(t, ks, 1000)
	tx := ks.NewTx()
	var buf [16]byte
	n := uint64(0)
	val := make([]byte, 32)
	with(ks, tx, 0, 0, func(tx *Tx) { tx.SetInt([]byte("counter"), 1, NoExpiry) })
	f := func(what string, fn func(key []byte)) {
		t.Helper()
		if a := testing.AllocsPerRun(1000, func() { fn(benchKey(buf[:], n%1000)); n++ }); a != 0 {
			t.Errorf("%s: %v allocations", what, a)
		}
	}
	touch := ks.NewToucher()
	counter := []byte("counter")
	f("GET", func(key []byte) { get(ks, tx, key) })
	f("SET", func(key []byte) { set(ks, tx, key, val) })
	f("SET EX", func(key []byte) {
		one(ks, tx, key, true, func() { tx.SetString(key, val, 1_700_000_100_000) })
	})
	f("INCR", func([]byte) { incr(ks, tx, counter) })
	f("touch", func(key []byte) { touch.Add(0, key); touch.Add(0, key); touch.Run() })
}

// run runs fn b.N times in each of n goroutines; the figure is per operation of all.
func run(b *testing.B, n int, fn func(g int, i uint64)) {
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() {
			for i := range b.N / n {
				fn(g, uint64(i))
			}
		})
	}
	wg.Wait()
}

// BenchmarkMixed runs GET, SET and INCR in turn on uniform keys, or all on one.
func BenchmarkMixed(b *testing.B) {
	for _, keys := range []uint64{1, 1000, 1_000_000} {
		ks := open(b, Options{})
		fill(b, ks, int(keys))
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("keys=%d/goroutines=%d", keys, n), func(b *testing.B) {
				mixed(b, ks, keys, n)
			})
		}
	}
}

func mixed(b *testing.B, ks *Keyspace, keys uint64, n int) {
	type worker struct {
		tx  *Tx
		rnd *rand.PCG
		buf [16]byte
		val [32]byte
		_   [64]byte
	}
	ws := make([]*worker, n)
	for i := range ws {
		ws[i] = &worker{tx: ks.NewTx(), rnd: rand.NewPCG(uint64(i), 2)}
		ws[i].val[0] = 'x'
	}
	run(b, n, func(g int, i uint64) {
		w := ws[g]
		key := benchKey(w.buf[:], w.rnd.Uint64()%keys)
		switch i % 3 {
		case 0:
			get(ks, w.tx, key)
		case 1:
			set(ks, w.tx, key, w.val[:])
		default:
			incr(ks, w.tx, key)
		}
	})
}

// BenchmarkOne measures single commands on keys that are in the cache.
func BenchmarkOne(b *testing.B) {
	ks := open(b, Options{})
	fill(b, ks, 1000)
	tx := ks.NewTx()
	var buf [16]byte
	val := make([]byte, 32)
	counter := []byte("counter")
	b.Run("GET", func(b *testing.B) {
		run(b, 1, func(_ int, i uint64) { get(ks, tx, benchKey(buf[:], i%1000)) })
	})
	b.Run("SET", func(b *testing.B) {
		run(b, 1, func(_ int, i uint64) { set(ks, tx, benchKey(buf[:], i%1000), val) })
	})
	b.Run("INCR", func(b *testing.B) {
		run(b, 1, func(int, uint64) { incr(ks, tx, counter) })
	})
}

// BenchmarkTransaction runs EXEC of 10 INCR over random keys, without anything
// around it: the worst case, because two of them nearly always share a shard.
func BenchmarkTransaction(b *testing.B) {
	const keys = 100_000
	ks := open(b, Options{})
	fill(b, ks, keys)
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("goroutines=%d", n), func(b *testing.B) {
			txs := []*transaction{newTransaction(ks, 1), newTransaction(ks, 2)}
			run(b, n, func(g int, _ uint64) { txs[g].run(keys) })
		})
	}
}

// transaction is 10 INCR.
type transaction struct {
	ks   *Keyspace
	tx   *Tx
	rnd  *rand.PCG
	bufs [10][16]byte
	keys [10][]byte
	_    [64]byte
}

func newTransaction(ks *Keyspace, seed uint64) *transaction {
	return &transaction{ks: ks, tx: ks.NewTx(), rnd: rand.NewPCG(seed, 1)}
}

func (t *transaction) run(keys uint64) {
	var locks LockSet
	for i := range t.keys {
		t.keys[i] = benchKey(t.bufs[i][:], t.rnd.Uint64()%keys)
		locks = locks.With(t.ks.ShardOf(t.ks.Hash(t.keys[i])))
	}
	t.ks.Lock(locks)
	t.tx.Begin(0, 1_700_000_000_000, locks, true)
	for _, key := range t.keys {
		s, _, _ := t.tx.Current(key)
		t.tx.SetInt(key, s.N+1, KeepExpiry)
		t.tx.Touched(key, ClassString, "incrby")
	}
	t.tx.End()
	t.ks.Unlock(locks)
}

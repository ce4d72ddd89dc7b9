package db

import (
	"fmt"
	"runtime"
	"testing"
)

// TestEvict checks for each policy that memory comes under the limit and that
// mostly the right keys go.
func TestEvict(t *testing.T) {
	const n = 6000
	now := Millis(1_700_000_000_000)
	// The first half of the keys is used less, and expires sooner.
	f := func(p Policy, timed bool, wantFirst int) {
		t.Helper()
		cfg := *DefaultSettings()
		cfg.Policy = p
		ks := open(t, Options{Settings: &cfg})
		tx := ks.NewTx()
		prepareEviction(ks, tx, n, timed, now)
		cfg.MaxMemory = ks.Used() * 3 / 4
		ks.SetSettings(cfg)
		r := ks.Evict(now+3_700_000, n)
		if r.Over || ks.Used() > cfg.MaxMemory || ks.Stats().Evicted != int64(r.Keys) {
			t.Errorf("%v: %+v", p, r)
		}
		first := n / 2
		ks.Whole(now).Scan(0, 0, 2*n, func(key []byte, _ Type) {
			var i int
			if fmt.Sscan(string(key[4:]), &i); i < n/2 {
				first--
			}
		})
		if first*100 < r.Keys*wantFirst {
			t.Errorf("%v: of %d keys %d were of the first half", p, r.Keys, first)
		}
	}
	f(AllKeysLRU, false, 95)
	f(AllKeysLFU, false, 95)
	f(AllKeysRandom, false, 40)
	f(VolatileLRU, true, 90)
	f(VolatileLFU, true, 90)
	f(VolatileRandom, true, 40)
	f(VolatileTTL, true, 90)
}

// prepareEviction stores keys of which the second half is used an hour later.
func prepareEviction(ks *Keyspace, tx *Tx, n int, timed bool, now Millis) {
	key := func(i int) []byte { return fmt.Append(nil, "key:", i) }
	with(ks, tx, 0, now, func(tx *Tx) {
		for i := range n {
			e := NoExpiry
			if timed {
				e = now + 1e8 + Millis(i)*1000
			}
			tx.SetString(key(i), make([]byte, 100), e)
		}
	})
	for j := range 10 {
		with(ks, tx, 0, now+3_600_000+Millis(j), func(tx *Tx) {
			for i := n / 2; i < n; i++ {
				tx.String(key(i))
			}
		})
	}
}

func TestEvictNothing(t *testing.T) {
	f := func(p Policy, timed bool) {
		t.Helper()
		cfg := *DefaultSettings()
		cfg.Policy, cfg.MaxMemory = p, 1
		ks := open(t, Options{Settings: &cfg})
		with(ks, ks.NewTx(), 0, 1, func(tx *Tx) { tx.SetInt([]byte("k"), 1, NoExpiry) })
		if r := ks.Evict(1, 10); !r.Over || r.Keys != 0 {
			t.Errorf("%v: %+v", p, r)
		}
	}
	f(NoEviction, false)
	f(VolatileLRU, false)
	f(VolatileTTL, false)
}

// TestEvictUnderSnapshot checks that eviction does not run away because a
// snapshot keeps what was evicted.
func TestEvictUnderSnapshot(t *testing.T) {
	cfg := *DefaultSettings()
	cfg.Policy = AllKeysLRU
	ks := open(t, Options{Settings: &cfg})
	fill(t, ks, 50_000)
	sn := ks.Snapshot(nil)
	cfg.MaxMemory = ks.evictable() * 9 / 10
	ks.SetSettings(cfg)
	r := ks.Evict(1_700_000_000_000, 1<<30)
	if r.Over || r.Keys > 10_000 {
		t.Errorf("%+v", r)
	}
	sn.Close()
	if ks.Used() > cfg.MaxMemory || ks.evictable() != ks.Used() {
		t.Errorf("used %d, evictable %d, limit %d", ks.Used(), ks.evictable(), cfg.MaxMemory)
	}
}

func TestLFU(t *testing.T) {
	cfg := *DefaultSettings()
	cfg.Policy = AllKeysLFU
	ks := open(t, Options{Settings: &cfg})
	tx := ks.NewTx()
	tx.Seed(1)
	k := []byte("k")
	now := Millis(1_700_000_000_000)
	freq := func() (f uint8) {
		with(ks, tx, 0, now, func(tx *Tx) { m, _ := tx.Meta(k); f = m.Freq })
		return f
	}
	with(ks, tx, 0, now, func(tx *Tx) { tx.SetInt(k, 1, NoExpiry) })
	if freq() != lfuInitial {
		t.Error("a new key has", freq())
	}
	for range 1000 {
		with(ks, tx, 0, now, func(tx *Tx) { tx.String(k) })
	}
	high := freq()
	if high < 12 || high > 25 {
		t.Error("after 1000 accesses:", high)
	}
	now += 3 * 60_000
	if freq() != high-3 {
		t.Errorf("three minutes later: %d, before %d", freq(), high)
	}
}

// TestLongKeys: nothing is kept of a long key that expired or was evicted.
func TestLongKeys(t *testing.T) {
	const size = 8 << 20
	var gone []int
	note := func(_ int, key []byte) { gone = append(gone, len(key)) }
	ks := open(t, Options{Hooks: Hooks{Expired: note, Evicted: note}})
	tx := ks.NewTx()
	long := func(i byte) []byte {
		k := make([]byte, size)
		k[0] = i
		return k
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range byte(6) {
		with(ks, tx, 0, 1, func(tx *Tx) { tx.SetInt(long(i), 1, 1000) })
	}
	ks.ExpireCycle(5000, 100)
	for i := range byte(6) {
		with(ks, tx, 0, 5000, func(tx *Tx) { tx.SetInt(long(i), 1, NoExpiry) })
	}
	ks.ChangeSettings(func(s *Settings) { s.MaxMemory, s.Policy = 2*size, AllKeysLRU })
	if r := ks.Evict(5000, 100); r.Over || r.Keys < 4 {
		t.Errorf("eviction: %+v", r)
	}
	if len(gone) < 10 || gone[0] != size || gone[9] != size {
		t.Errorf("keys that went: lengths %d", gone)
	}
	if after := heap(); after > before+size/2 {
		t.Errorf("%d bytes of Go's heap are kept", after-before)
	}
}

// TestEvictCollections: large collections count with what they take, packed ones with
// their records, and their memory is free again when they have gone.
func TestEvictCollections(t *testing.T) {
	ks := open(t, Options{})
	tx, now := ks.NewTx(), Millis(1_700_000_000_000)
	with(ks, tx, 0, now, func(tx *Tx) {
		for i := range 200 {
			o := &toy{}
			if err := tx.PutObject(fmt.Append(nil, "large:", i), TypeList, o, NoExpiry); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				o.items = append(o.items, "0123456789")
			}
			tx.Touched(fmt.Append(nil, "large:", i), ClassList, "rpush")
			b, _ := tx.Splice(fmt.Append(nil, "small:", i), TypeHash, Listpack, 0, 0, 4000)
			copy(b, "\x01\x00")
			tx.Touched(fmt.Append(nil, "small:", i), ClassHash, "hset")
		}
	})
	const large, small = 26_000, 4000
	if used := ks.Used(); used < 200*(large+small) || ks.Objects() != 200*large {
		t.Fatalf("%d bytes used, %d by objects", used, ks.Objects())
	}
	sn := ks.Snapshot(nil)
	with(ks, tx, 0, now, func(tx *Tx) {
		c, _, _ := tx.EditCollection([]byte("large:0"), TypeList)
		c.Object.(*toy).items[0] = "9876543210"
		tx.Touched([]byte("large:0"), ClassList, "lset")
	})
	if ks.Objects() != 200*large {
		t.Errorf("%d bytes used by objects, one of which a snapshot sees otherwise", ks.Objects())
	}
	limit := int64(100 * (large + small))
	ks.ChangeSettings(func(s *Settings) { s.MaxMemory, s.Policy = limit, AllKeysLRU })
	if !ks.Over() {
		t.Error("it is not over the limit")
	}
	if r := ks.Evict(now+1000, 1000); r.Over || ks.Over() || r.Keys < 100 || r.Keys > 300 {
		t.Errorf("%+v", r)
	}
	if used := ks.Used(); used < 200*(large+small) {
		t.Errorf("%d bytes used, though a snapshot needs all", used)
	}
	sn.Close()
	if used := ks.Used(); used > limit {
		t.Errorf("%d bytes used, the limit is %d", used, limit)
	}
}

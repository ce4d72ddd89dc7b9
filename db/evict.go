package db

import (
	"math"
	"sync"

	"heddle/db/table"
)

// Eviction removes keys when memory is over Settings.MaxMemory. As in Redis the
// best keys to go are estimated by sampling: a few random keys are looked at,
// the best candidates seen so far are kept in a small pool, and the best of the
// pool goes. Each sample is taken from one shard, so only that one is locked.

// poolSize is how many candidates are kept.
const poolSize = 16

// evictionPool holds candidates, the best one last. mu comes before the
// shards' locks.
type evictionPool struct {
	mu     sync.Mutex
	policy Policy // by which the scores are
	n      int
	items  [poolSize]candidate
}

// candidate is a key that may be evicted. Its key may be gone meanwhile.
type candidate struct {
	score uint64 // the higher, the sooner it goes
	shard int
	db    int
	hash  uint64 // of the key
}

// EvictResult says what Evict did.
type EvictResult struct {
	Keys int   // removed
	Over bool  // memory is still over the limit
	Used int64 // bytes in use afterwards, as far as eviction can do something about them
}

// Evict removes up to limit keys while memory is over Settings.MaxMemory.
func (ks *Keyspace) Evict(now Millis, limit int) (r EvictResult) {
	cfg := ks.settings.Load()
	if r.Used = ks.evictable(); cfg.MaxMemory == 0 || r.Used <= cfg.MaxMemory || ks.frozen.Load() {
		return r
	}
	r.Over = true
	if cfg.Policy == NoEviction {
		return r
	}
	p := &ks.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.policy != cfg.Policy {
		p.policy, p.n = cfg.Policy, 0
	}
	for r.Keys < limit {
		if !ks.evictOne(cfg, now) {
			return r
		}
		r.Keys++
		if r.Used = ks.evictable(); r.Used <= cfg.MaxMemory {
			r.Over = false
			return r
		}
	}
	return r
}

// evictable is Used without what is kept only for open snapshots: evicting
// more keys would not bring that back sooner.
func (ks *Keyspace) evictable() int64 { return ks.Used() - ks.kept.Load() }

// Kept returns the bytes that only open snapshots need, a part of Used.
func (ks *Keyspace) Kept() int64 { return ks.kept.Load() }

const (
	// nearSlack is more than what arena.Heap.UsedNear may be late by.
	nearSlack = MaxShards * (8 << 10)
	// exactBelow is the limit under which Over adds up what every shard uses when
	// it is near: it would be late by too large a part of it otherwise.
	exactBelow = 64 << 20
)

// Over reports whether memory is over Settings.MaxMemory. Every command asks, so
// it is quick: it may be late by 4 KB a shard.
func (ks *Keyspace) Over() bool {
	limit := ks.settings.Load().MaxMemory
	if limit == 0 || ks.frozen.Load() {
		return false
	}
	near := ks.heap.UsedNear() + ks.objects.Load() + ks.overhead.Load() - ks.kept.Load()
	if limit < exactBelow && near > limit-nearSlack {
		return ks.evictable() > limit
	}
	return near > limit
}

// evictOne removes one key; false when there is none that the policy allows.
func (ks *Keyspace) evictOne(cfg *Settings, now Millis) bool {
	p := &ks.pool
	for tries := 0; tries < 8; tries++ {
		if !ks.sample(cfg, now) && p.n == 0 {
			return false
		}
		for p.n > 0 {
			p.n--
			if ks.evictKey(&p.items[p.n], cfg) {
				return true
			}
		}
	}
	return false
}

// sample looks at keys of the first shard that has some, from a random one on,
// and puts candidates into the pool; false if there are none anywhere.
func (ks *Keyspace) sample(cfg *Settings, now Millis) bool {
	start := int(ks.random() % uint64(len(ks.shards)))
	for i := range ks.shards {
		id := (start + i) % len(ks.shards)
		s := ks.lockShard(id)
		n := 0
		for db := range s.ks.databases {
			if d := s.at(db).Load(); d != nil {
				n += s.sample(cfg, now, db, d)
			}
		}
		ks.unlockShard(id)
		if n > 0 {
			return true
		}
	}
	return false
}

// sample looks at some keys of a table and returns how many.
func (s *shard) sample(cfg *Settings, now Millis, db int, d *database) int {
	n := 0
	look := func(slot table.Slot) {
		n++
		s.consider(cfg, now, db, d, slot)
	}
	if !cfg.Policy.volatile() {
		d.table.Sample(s.ks.random(), cfg.Samples, look)
		return n
	}
	if d.expires == 0 {
		return 0
	}
	// Entries may lead nowhere, or not be in the index while it is rebuilt.
	wheels := [...]*wheel{&d.wheel, d.old}
	for tries := 4 * cfg.Samples; tries > 0 && n < cfg.Samples; tries-- {
		w := wheels[tries&1]
		if w == nil {
			w = &d.wheel
		}
		if hash, ok := w.pick(s.ks.random()); ok {
			if slot, _, ok := s.timed(d, hash); ok {
				look(slot)
			}
		}
	}
	if n == 0 {
		s.sampleTimed(d, look)
	}
	return n
}

const (
	// timedEntries is how many entries of the index sampleTimed looks at: more than lead
	// nowhere where few keys have a deadline.
	timedEntries = 4 * staleSlack
	// timedScans is how many steps it goes on in the table.
	timedScans = 256
)

// sampleTimed looks for one key with a deadline when random entries led to none: there are
// few, and many entries that lead nowhere or are due. Only if memory was out when a deadline
// was set can a key be without an entry; so the table is searched as well, a part each
// time, since it may be large and its shard is locked.
func (s *shard) sampleTimed(d *database, look func(table.Slot)) {
	found := false
	for _, w := range [...]*wheel{&d.wheel, d.old} {
		if w == nil || found {
			continue
		}
		w.some(timedEntries, func(hash uint64) bool {
			slot, _, ok := s.timed(d, hash)
			if found = ok; ok {
				look(slot)
			}
			return !ok
		})
	}
	for n := 0; !found && n < timedScans; n++ {
		d.searched = d.table.Scan(d.searched, func(slot table.Slot) {
			r := s.openRecord(d.table.Ref(slot))
			if !found && r.flags()&flagExpire != 0 {
				found = true
				look(slot)
			}
		})
	}
}

// consider puts a key into the pool if it is a better candidate than one there.
func (s *shard) consider(cfg *Settings, now Millis, db int, d *database, slot table.Slot) {
	rec := s.openRecord(d.table.Ref(slot))
	p := &s.ks.pool
	c := p.insert(cfg.score(d.table.Clock(slot), rec.expire(), now, s.ks.random))
	if c == nil {
		return
	}
	c.shard, c.db, c.hash = s.id, db, s.ks.Hash(rec.key())
}

// score says how willingly a key is evicted.
func (c *Settings) score(clock uint32, at Expiry, now Millis, random func() uint64) uint64 {
	switch c.Policy {
	case AllKeysLFU, VolatileLFU:
		return uint64(lfuMax - c.frequency(clock, now))
	case VolatileTTL:
		return math.MaxUint64 - uint64(at)
	case AllKeysRandom, VolatileRandom:
		return random()
	}
	return uint64(idleTime(clock, now))
}

// insert makes room for a candidate with a score; nil if all in the pool are better.
func (p *evictionPool) insert(score uint64) *candidate {
	i := 0
	for i < p.n && p.items[i].score < score {
		i++
	}
	if p.n < poolSize {
		copy(p.items[i+1:p.n+1], p.items[i:p.n])
		p.n++
	} else {
		if i == 0 {
			return nil
		}
		i--
		copy(p.items[:i], p.items[1:i+1])
	}
	p.items[i] = candidate{score: score}
	return &p.items[i]
}

// evictKey removes a candidate, if it is still there.
func (ks *Keyspace) evictKey(c *candidate, cfg *Settings) bool {
	s := ks.lockShard(c.shard)
	defer ks.unlockShard(c.shard)
	d := s.at(c.db).Load()
	if d == nil {
		return false
	}
	slot, ok := s.hashed(d, c.hash, cfg.Policy.volatile())
	if !ok {
		return false
	}
	if slot, ok = d.table.Prepare(slot); !ok {
		return false
	}
	s.counts.evicted++
	s.lose(c.db, d, slot, ClassEvicted, "evicted", ks.hooks.Evicted)
	return true
}

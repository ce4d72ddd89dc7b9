package db

import "heddle/db/table"

// A Toucher loads what a batch of commands will need into the processor's
// caches before the first of them runs: for all keys their slots, then their
// records, so that the cache misses of many keys overlap. It takes no lock and its
// results are thrown away: it is a hint. It is for commands of many keys; those of
// one key are prefetched one by one, see WillFind.
type Toucher struct {
	ks   *Keyspace
	keys []touched
	sink uint64

	_ [64]byte // keeps it off the cache line of another executor's
}

type touched struct {
	table *table.Table
	hash  uint64
}

// NewToucher returns a Toucher for one executor.
func (ks *Keyspace) NewToucher() *Toucher { return &Toucher{ks: ks} }

// Add puts a key on the list and returns its hash.
func (t *Toucher) Add(db int, key []byte) uint64 {
	hash := t.ks.Hash(key)
	if d := t.ks.at(db, hash).Load(); d != nil {
		t.keys = append(t.keys, touched{&d.table, hash})
	}
	return hash
}

// Run touches all keys on the list and empties it. A single key gains nothing
// and is left alone.
func (t *Toucher) Run() {
	if len(t.keys) > 1 {
		t.run()
	}
	if t.keys = t.keys[:0]; cap(t.keys) > keptTouched {
		t.keys = nil // a command had very many
	}
}

// keptTouched is how many keys a Toucher keeps room for.
const keptTouched = 1 << 14

func (t *Toucher) run() {
	var sum uint64
	for _, k := range t.keys {
		sum += k.table.TouchSlot(k.hash)
	}
	for _, k := range t.keys {
		sum += k.table.TouchRecord(k.hash)
	}
	t.sink = sum
}

// touchAll touches keys of one table, given by their hashes.
func touchAll(t *table.Table, hashes []uint64) (sum uint64) {
	for _, h := range hashes {
		sum += t.TouchSlot(h)
	}
	for _, h := range hashes {
		sum += t.TouchRecord(h)
	}
	return sum
}

// WillLock says that the shard of a key with this hash will be locked soon, but
// not at once: the cache line that every command writes is fetched meanwhile.
func (ks *Keyspace) WillLock(hash uint64) { prefetchWrite(&ks.shards[hash&ks.mask]) }

// WillFind says that the key with this hash will be looked for soon, but not at
// once; WillRead that it will be very soon, WillFind having been called a while
// before. What the lookup needs is fetched meanwhile.
func (ks *Keyspace) WillFind(db int, hash uint64) {
	if d := ks.at(db, hash).Load(); d != nil {
		d.table.PrefetchSlot(hash)
	}
}

// WillRead is described at WillFind.
func (ks *Keyspace) WillRead(db int, hash uint64) {
	if d := ks.at(db, hash).Load(); d != nil {
		d.table.PrefetchRecord(hash)
	}
}

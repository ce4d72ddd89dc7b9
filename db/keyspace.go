package db

import (
	"errors"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"heddle/db/arena"
	"heddle/db/table"
)

// MaxShards is the largest number of shards: a LockSet has a bit for each.
const MaxShards = 64

// Options say how a Keyspace is built.
type Options struct {
	Databases int // 16 if 0
	Shards    int // a power of two up to MaxShards; MaxShards if 0
	// Arena configures the memory below.
	Arena arena.Options
	// Settings are the first settings; DefaultSettings if nil.
	Settings *Settings
	Hooks    Hooks
	// Mono is a clock that only goes on, in nanoseconds, by which long waits for shards
	// are told. nil: they are not counted.
	Mono func() int64
}

// Hooks are told of what happens to keys, with the key's shard locked. They
// must not call back into the keyspace, and must not keep key. Any may be nil.
type Hooks struct {
	// Event is a keyspace event.
	Event func(db int, class Class, event string, key []byte)
	// Awaiter is told of keys that somebody waits for.
	Awaiter Awaiter
	// Expired and Evicted say that the engine itself removed key.
	Expired func(db int, key []byte)
	// MemberExpired says that the engine removed a member of the collection at key.
	MemberExpired func(db int, t Type, key, member []byte)
	Evicted       func(db int, key []byte)
}

// Keyspace holds all databases, cut into shards by the hash of the key; each
// shard is guarded by a mutex of its own.
type Keyspace struct {
	heap      *arena.Heap
	seed      maphash.Seed
	keys      keyring
	hooks     Hooks
	settings  atomic.Pointer[Settings]
	shards    []shard
	dbs       []atomic.Pointer[database] // see Keyspace.at
	mask      uint64
	databases int
	frozen    atomic.Bool // see Freeze
	mono      func() int64
	pacer     Pacer // of readers of snapshots; nil: none

	_ [64]byte // what is above is read by every command, what is below is written by some

	overhead  atomic.Int64
	objects   atomic.Int64 // bytes of large collections
	kept      atomic.Int64 // bytes that only snapshots need
	untidy    atomic.Int64 // keys that Tidy looks at
	rands     atomic.Uint64
	longWaits atomic.Int64
	pool      evictionPool
	lazy      lazyQueue
	compacted int          // the shard that Compact goes on with
	keyless   atomic.Int64 // changes by commands without keys
}

// Open makes an empty keyspace.
func Open(o Options) (*Keyspace, error) {
	if o.Databases == 0 {
		o.Databases = 16
	}
	if o.Shards == 0 {
		o.Shards = MaxShards
	}
	if o.Databases < 1 || o.Shards < 1 || o.Shards > MaxShards || bits.OnesCount(uint(o.Shards)) != 1 {
		return nil, errors.New("db: bad number of databases or shards")
	}
	heap, err := arena.NewHeap(o.Arena)
	if err != nil {
		return nil, err
	}
	ks := &Keyspace{heap: heap, seed: maphash.MakeSeed(), hooks: o.Hooks, mono: o.Mono,
		shards: make([]shard, o.Shards), mask: uint64(o.Shards - 1), databases: o.Databases}
	ks.dbs = make([]atomic.Pointer[database], o.Databases*o.Shards)
	ks.keys = keyring{heap: heap, hash: ks.Hash}
	ks.rands.Store(maphash.Bytes(ks.seed, nil))
	if o.Settings == nil {
		o.Settings = DefaultSettings()
	}
	ks.SetSettings(*o.Settings)
	for i := range ks.shards {
		ks.shards[i].open(ks, i)
	}
	return ks, nil
}

// Close gives all memory back. Nobody may use the keyspace, or a Big or
// Snapshot of it, afterwards.
func (ks *Keyspace) Close() {
	ks.lazy.wait()
	ks.heap.Close()
}

// Databases returns the number of databases.
func (ks *Keyspace) Databases() int { return ks.databases }

// Shards returns the number of shards.
func (ks *Keyspace) Shards() int { return len(ks.shards) }

// Freeze says whether the engine removes keys of its own accord. While it may
// not, as in CLIENT PAUSE, expired keys stay where they are, though readers do
// not see them, and nothing is evicted.
func (ks *Keyspace) Freeze(on bool) { ks.frozen.Store(on) }

// SetHooks replaces the hooks. Call it before the keyspace is used.
func (ks *Keyspace) SetHooks(h Hooks) { ks.hooks = h }

// Hash returns the hash of a key, seeded anew for each Keyspace.
func (ks *Keyspace) Hash(key []byte) uint64 { return maphash.Bytes(ks.seed, key) }

// ShardOf returns the shard of a key with this hash.
func (ks *Keyspace) ShardOf(hash uint64) int { return int(hash & ks.mask) }

// shard is one part of the keyspace: a share of every database, its memory,
// and the counters of what happens in it.
//
// What every command writes, the mutex and the counters, fills one cache line,
// which then is the only one that travels between two processors that use the
// shard in turn. What commands only read stands on the lines behind it. The
// size is a multiple of the line, so that this holds for all shards of a slice,
// and large enough that Go puts MaxShards of them at the start of a page.
type shard struct {
	mu     sync.Mutex
	counts counters

	ks     *Keyspace
	id     int
	arena  *arena.Arena
	epochs *table.Epochs

	handles handles
	watched watchTable
	retired retireList
	compact compactor
	sink    uint64 // of what was touched
	own     *Tx    // of the engine itself; nil until it is needed

	_ [224]byte
}

func (s *shard) open(ks *Keyspace, id int) {
	s.ks, s.id = ks, id
	s.arena = ks.heap.NewArena()
	s.handles.total, s.handles.kept = &ks.objects, &ks.kept
	s.epochs = table.NewEpochs(&ks.kept)
}

// at returns where the share of a database is kept in which a hash falls; nil is
// kept where there is none. All shards' are close together, and a share has its
// table in itself, since every lookup follows these pointers.
func (ks *Keyspace) at(db int, hash uint64) *atomic.Pointer[database] {
	return &ks.dbs[db*len(ks.shards)+int(hash&ks.mask)]
}

// at returns where the shard's share of a database is kept.
func (s *shard) at(db int) *atomic.Pointer[database] { return s.ks.at(db, uint64(s.id)) }

// database is a shard's share of one database. SWAPDB exchanges the pointers
// to it, so that its id stays with the data.
type database struct {
	table     table.Table
	expires   int64 // keys with a deadline
	deadlines int64 // sum of their deadlines, each relative to avgBase
	wheel     wheel
	old       *wheel   // the index before, while a new one is built
	cursor    uint64   // how far that is
	overdue   []uint64 // entries of the index whose collections have more members due
	untidy    []uint64 // hashes of keys that Tidy looks at
	merged    uint64   // how far Shrink is
	searched  uint64   // how far sampleTimed is
	id        int
}

// database returns the shard's share of database db, making it if need be.
func (s *shard) database(db int) *database {
	if d := s.at(db).Load(); d != nil {
		return d
	}
	return s.newDatabase(db)
}

func (s *shard) newDatabase(db int) *database {
	d := &database{id: db}
	d.table.Init(s.ks.heap, s.arena, &s.ks.keys, s.epochs)
	d.wheel.open(s.ks.heap, s.arena)
	s.at(db).Store(d)
	return d
}

// openRecord decodes the record at ref.
func (s *shard) openRecord(ref arena.Ref) record { return openRecord(s.ks.heap, ref) }

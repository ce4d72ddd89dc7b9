// Package db is the storage engine: a keyspace of sharded, off-heap records
// with expiry, eviction and snapshots without fork. It knows nothing of RESP
// or of the server.
package db

import "errors"

// Millis is an instant (Unix time) or a span in milliseconds.
type Millis int64

// Type is the type of a value, as TYPE names it.
type Type uint8

// The types.
const (
	TypeNone Type = iota
	TypeString
	TypeList
	TypeSet
	TypeZSet
	TypeHash
	TypeStream
)

// String returns the name that TYPE answers with.
func (t Type) String() string {
	return [...]string{"none", "string", "list", "set", "zset", "hash", "stream"}[t]
}

// Class groups keyspace events as notify-keyspace-events does.
type Class uint32

// The event classes, with the letter of notify-keyspace-events.
const (
	ClassGeneric Class = 1 << iota // g
	ClassString                    // $
	ClassList                      // l
	ClassSet                       // s
	ClassHash                      // h
	ClassZSet                      // z
	ClassExpired                   // x
	ClassEvicted                   // e
	ClassStream                    // t
	ClassMiss                      // m
	ClassNew                       // n
	ClassModule                    // d
)

// Errors of the storage engine. Dispatch turns each into its reply.
var (
	ErrWrongType   = errors.New("wrong type")
	ErrTooLong     = errors.New("string exceeds maximum allowed size")
	ErrOutOfMemory = errors.New("out of memory")
)

// Str is a string value as it is stored: bytes, or an integer that stands for
// its decimal spelling. B is borrowed: it is valid while the locks are held.
type Str struct {
	B     []byte
	N     int64
	IsInt bool
	Big   *Big // set when B is a large value that may be kept: see Big
}

// Big is a large value in memory of its own, shared by counting references, so
// that a reply can send it after the locks are given back and a writer replaces
// it only when nobody else holds it.
type Big struct{ bigState }

// Expiry says what becomes of a key's time to live when its value is replaced.
// Positive: expire at that Unix time in ms.
type Expiry = Millis

// Special values of Expiry.
const (
	NoExpiry   Expiry = -1 // none afterwards
	KeepExpiry Expiry = -2 // as before
)

// View is what a reading command sees: the databases, under the locks of the
// command's keys. Valid until the handler returns. A key whose time has come
// is never seen.
type View interface {
	DB() int
	// Databases is how many databases there are.
	Databases() int
	// Now is one instant for the whole command.
	Now() Millis
	// Due is the instant up to which deadlines have passed: Now, or the beginning of
	// time where what is due stays until it is deleted (see Tx.SetTimeless).
	Due() Millis
	Rand() uint64

	// String returns the string at key, or found=false, or ErrWrongType.
	// It counts as an access, and as a keyspace hit or miss.
	String(key []byte) (s Str, found bool, err error)
	// Type returns the key's type without counting an access; TypeNone if absent.
	Type(key []byte) Type
	// Probe is Type that counts as a hit or miss, but not as an access.
	Probe(key []byte) Type
	// Exists is Type that counts as an access and as a hit or miss.
	Exists(key []byte) bool
	// Expire returns when the key expires: NoExpiry if never; found=false if absent.
	// It counts neither as an access nor as a hit or miss.
	Expire(key []byte) (at Expiry, found bool)
	// Meta describes the key for OBJECT and DEBUG, without an access.
	Meta(key []byte) (m Meta, found bool)
	// Inspect is Meta that counts as a hit or miss, of which there is no event.
	Inspect(key []byte) (m Meta, found bool)
	// Collection returns the collection at key if it has type t, found=false if
	// there is none, or ErrWrongType. Counts as String does.
	Collection(key []byte, t Type) (c Coll, found bool, err error)
	// Clear returns the collection at key as CurrentCollection would, for those who cannot
	// pass over members whose time has come: there are none, but where writes are paused or
	// memory is out, and the command only reads. ErrWrongType, ErrOutOfMemory, or ErrDue,
	// which the handler returns before it has changed or answered anything: the command will
	// run again.
	Clear(key []byte, t Type) (c Coll, found bool, err error)
	// Item returns the key with its value, as a snapshot would. It counts as String does.
	// What it points to is valid until the key is changed.
	Item(key []byte) (it Item, found bool)
	// Limits returns the sizes at which collections change their encoding. They
	// hold for this command, and must not be changed.
	Limits() *Limits
}

// Meta describes how a key is stored.
type Meta struct {
	Type     Type
	Encoding string // as OBJECT ENCODING: int embstr raw listpack ...
	Len      int    // bytes of a string, elements of a collection
	Idle     Millis // since the last access (LRU policies)
	SmallInt bool   // an integer that Redis would share between keys
	LFU      bool   // the eviction policy counts accesses instead of idle time
	Freq     uint8  // logarithmic access counter (LFU policies)
	Clock    uint32 // the raw 24-bit access clock
	Size     int64  // bytes of memory, as MEMORY USAGE tells
	Ref      uint64 // where: a number for DEBUG OBJECT
	Expire   Expiry
}

// Txn is what a writing command sees. Nothing is undone: a handler changes
// nothing before all is checked.
type Txn interface {
	View

	// Current is String without counting a hit or miss, for commands that
	// read only in order to write.
	Current(key []byte) (s Str, found bool, err error)
	// SetString replaces whatever is at key by val, which is copied; the
	// encoding is chosen as Redis' SET does.
	SetString(key, val []byte, e Expiry) error
	// SetInt is SetString of an integer.
	SetInt(key []byte, n int64, e Expiry) error
	// SetText is SetString that never takes val for an integer, as INCRBYFLOAT
	// leaves its result.
	SetText(key, val []byte, e Expiry) error
	// SetRaw is SetString that keeps the bytes as they are (encoding raw), as
	// APPEND, SETRANGE, BITOP leave them.
	SetRaw(key, val []byte, e Expiry) error
	// NewBig returns memory for a value of size bytes, at least BigMin, whose
	// bytes may be anything; nil when memory is out. To be filled and given to
	// AdoptBig, or released.
	NewBig(size int) *Big
	// AdoptBig is SetString of a value that stands in memory of its own, which
	// is taken over with the caller's reference, also when it fails.
	AdoptBig(key []byte, b *Big, e Expiry) error
	// Edit returns the bytes of the string at key for change in place, grown
	// with zeros to at least size bytes, created if absent (encoding raw
	// afterwards). The time to live stays. ErrWrongType, ErrOutOfMemory.
	Edit(key []byte, size int) ([]byte, error)
	// Append adds to the string at key, creating it, and returns its new length.
	Append(key, suffix []byte) (int, error)

	// CurrentCollection is Collection without counting a hit or miss, for
	// commands that read only in order to write. What it returns is not to be changed.
	CurrentCollection(key []byte, t Type) (c Coll, found bool, err error)
	// EditCollection is CurrentCollection for change: an Object was cloned before
	// if a snapshot needs the old one. What is packed is only changed through
	// Splice. Some members whose time has come were removed, so that it may be absent;
	// others may be there, and are not to be seen: what finds one that the command is about
	// removes it, and calls MemberExpired.
	// ErrWrongType, ErrOutOfMemory.
	EditCollection(key []byte, t Type) (c Coll, found bool, err error)
	// Splice replaces del bytes, from byte at on, of the packed collection at key
	// by ins bytes whose content is undefined, and returns the whole of it, to be
	// written to until the next change of the key. If the key is absent, at and del
	// being 0, it makes one of type t and packing p with ins bytes; the key is there
	// from then on. The time to live stays. The whole must not be longer than
	// PackedMax. ErrWrongType, ErrOutOfMemory; then nothing has changed. It cannot
	// fail where it adds no bytes to what was changed since a snapshot began.
	Splice(key []byte, t Type, p Packing, at, del, ins int) ([]byte, error)
	// PutPacked stores a copy of b, at most PackedMax bytes, as a small collection
	// under key, replacing what is there.
	PutPacked(key []byte, t Type, p Packing, b []byte, e Expiry) error
	// PutObject stores a large collection under key, replacing what is there.
	PutObject(key []byte, t Type, o Object, e Expiry) error

	// MemberExpired says that a member of the collection at key whose time had come was
	// removed. The command goes on as if it had not been there.
	MemberExpired(key, member []byte)

	// Delete removes the key and reports whether it was there. It panics with
	// ErrOutOfMemory when that takes memory, because of a snapshot, and there is none.
	Delete(key []byte) bool
	// SetExpire sets the time to live (NoExpiry removes it); false if absent. It
	// panics with ErrOutOfMemory when that takes memory, and there is none.
	SetExpire(key []byte, at Expiry) bool
	// SetAccess sets the access clock of a key that is there, as RESTORE does. What the
	// eviction policy does not go by is ignored.
	SetAccess(key []byte, a Access)
	// Rename moves a value, its time to live and its access clock to another
	// key of this database, replacing what is there; false if from is absent.
	Rename(from, to []byte) (bool, error)
	// Copy copies a value and its time to live to key to of database db,
	// replacing what is there; false if from is absent.
	Copy(from []byte, db int, to []byte) (bool, error)
	// In returns the same transaction seen from another database.
	In(db int) Txn

	// Touched says that key was changed: the one place for the dirty count,
	// WATCH, wake-ups, keyspace events. A collection that became empty is removed,
	// unless it is a stream. An event of "" gives no keyspace event.
	Touched(key []byte, class Class, event string)
	// Adjusted counts n changes, and the size of the collection at key anew, where WATCH
	// and those who wait for the key have nothing to see: in the consumer groups of a
	// stream. There is no event. It comes after every such change that may alter the size.
	Adjusted(key []byte, n int64)
	// Wake lets those who wait for key look at it again, as Touched does.
	Wake(key []byte)
	// Dirty adds n changes to rdb_changes_since_last_save; Touched adds one itself.
	Dirty(n int64)
	// Event publishes a keyspace event of a key without marking a change.
	Event(class Class, event string, key []byte)
}

// Object is a large collection behind a handle in the record.
type Object interface {
	Len() int
	// Clone returns a copy that shares nodes, in constant time.
	Clone() Object
	// MemSize returns its size in bytes.
	MemSize() int64
	// Encoding is its name for OBJECT ENCODING.
	Encoding() string
	// shared has every kind embed Shared.
	shared() *Shared
}

// Whole is what commands about the whole keyspace use. From Session.Keyspace
// it locks for itself shard by shard; inside EXEC and AllShards commands the
// same calls run under the locks already held.
type Whole interface {
	Databases() int
	// Len counts the keys of a database, those not yet found expired included.
	Len(db int) int64
	// Expires counts the keys of a database that have a time to live.
	Expires(db int) int64
	// AvgTTL estimates the mean time to live of those in milliseconds.
	AvgTTL(db int) Millis
	// Scan visits keys, none whose time has come, from cursor on and returns the cursor to go on with (0
	// at the end). It visits at least count keys unless the end comes first.
	// Every key that is there from the first call to the last is visited.
	// fn must not keep key.
	Scan(db int, cursor uint64, count int, fn func(key []byte, t Type)) uint64
	// Each visits every key once, none whose time has come, as of one instant,
	// without holding locks while fn runs (a snapshot). fn returns false to stop.
	Each(db int, fn func(key []byte, t Type) bool)
	// Items visits the keys of all databases, one after the other, with their values, as
	// Each does. fn must not keep what it is given.
	Items(fn func(db int, it *Item) bool)
	// RandomKey appends a random key to dst; false when the database is empty
	// or the time of all its keys has come.
	RandomKey(db int, dst []byte) ([]byte, bool)
	// Used is how many bytes the whole keyspace has in use.
	Used() int64
	// Flush empties a database (-1: all) and returns how many keys there were.
	// async frees memory in the background.
	Flush(db int, async bool) int64
	// FlushLater is Flush(db, true); freed is closed when all is freed, which takes the
	// locks of shards: wait for it without them.
	FlushLater(db int) (n int64, freed <-chan struct{})
	// Swap exchanges two databases.
	Swap(a, b int)
}

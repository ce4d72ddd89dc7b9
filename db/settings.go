package db

import "math/rand/v2"

// Settings may be changed while the keyspace is used.
type Settings struct {
	MaxMemory    int64 // bytes; 0: no limit
	Policy       Policy
	Samples      int // maxmemory-samples
	LFULogFactor int
	LFUDecayTime int  // minutes
	KeepExpired  bool // DEBUG SET-ACTIVE-EXPIRE 0: expired keys go only on access
	Limits       Limits
}

// Limits are the sizes at which collections change their encoding, as the directives
// of the same names have them.
type Limits struct {
	HashEntries int64 // hash-max-listpack-entries: fields
	HashValue   int64 // hash-max-listpack-value: bytes of a field or value
	ListSize    int64 // list-max-listpack-size: elements of a node, or -1 to -5 for 4 to 64 KB
	ListDepth   int64 // list-compress-depth: nodes at each end that are not compressed, 0: none is
	SetIntset   int64 // set-max-intset-entries: integers
	SetEntries  int64 // set-max-listpack-entries: members
	SetValue    int64 // set-max-listpack-value: bytes of a member
	ZSetEntries int64 // zset-max-listpack-entries: members
	ZSetValue   int64 // zset-max-listpack-value: bytes of a member

	HLLSparseBytes    int64 // hll-sparse-max-bytes
	StreamNodeBytes   int64 // stream-node-max-bytes, 0: no limit
	StreamNodeEntries int64 // stream-node-max-entries, 0: no limit

	// DumpVersion and DumpCompress are no limits, but what DUMP goes by beside these:
	// the version of a payload (0: as the value needs), and whether strings are
	// compressed.
	DumpVersion  int
	DumpCompress bool
	// SkipChecksum has checksums of payloads and files not looked at, for tests of what
	// comes behind them (DEBUG SET-SKIP-CHECKSUM-VALIDATION).
	SkipChecksum bool

	// QuicklistPackedThreshold is the size in bytes from which on an element of a
	// list is a node of its own; 0: as Redis chooses. DEBUG sets it.
	QuicklistPackedThreshold int64
}

// DefaultSettings returns Redis' defaults.
func DefaultSettings() *Settings {
	return &Settings{Policy: NoEviction, Samples: 5, LFULogFactor: 10, LFUDecayTime: 1, Limits: DefaultLimits()}
}

// DefaultLimits returns the limits of Redis' own redis.conf.
func DefaultLimits() Limits {
	return Limits{
		HashEntries: 512, HashValue: 64, ListSize: -2,
		SetIntset: 512, SetEntries: 128, SetValue: 64,
		ZSetEntries: 128, ZSetValue: 64,
		HLLSparseBytes: 3000, StreamNodeBytes: 4096, StreamNodeEntries: 100, DumpCompress: true,
	}
}

// Settings returns a copy of the settings in force.
func (ks *Keyspace) Settings() Settings { return *ks.settings.Load() }

// SetSettings replaces the settings.
func (ks *Keyspace) SetSettings(s Settings) {
	s.Samples = max(s.Samples, 1)
	ks.settings.Store(&s)
}

// MaxMemory returns the limit in force, 0 if there is none.
func (ks *Keyspace) MaxMemory() int64 { return ks.settings.Load().MaxMemory }

// Policy says which keys go when memory is out.
type Policy uint8

// The policies of maxmemory-policy.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
)

// String returns the policy's name in the configuration.
func (p Policy) String() string {
	return [...]string{"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random",
		"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}[p]
}

// ParsePolicy finds a policy by name.
func ParsePolicy(name string) (Policy, bool) {
	for p := NoEviction; p <= VolatileTTL; p++ {
		if p.String() == name {
			return p, true
		}
	}
	return NoEviction, false
}

// lfu reports whether access clocks hold frequencies.
func (p Policy) lfu() bool { return p == AllKeysLFU || p == VolatileLFU }

// smallInt reports whether Redis would keep an integer as one of the objects
// that all keys share: those below 10000, unless eviction needs a clock a key.
func (c *Settings) smallInt(n int64) bool {
	clocks := c.Policy == AllKeysLRU || c.Policy == VolatileLRU || c.Policy.lfu()
	return n >= 0 && n < 10000 && !(c.MaxMemory > 0 && clocks)
}

// volatile reports whether only keys with a deadline go.
func (p Policy) volatile() bool { return p >= VolatileLRU }

// The access clock of a key is a 24-bit number. Under most policies it is the
// second of the last access; under LFU policies 16 bits are the minute of the
// last decrement and 8 bits a logarithmic counter of accesses, as in Redis.
const (
	clockMask  = 1<<24 - 1
	minuteMask = 1<<16 - 1
	lfuInitial = 5 // counter of a new key, so that it is not evicted at once
	lfuMax     = 255
)

// lruClock is the clock of an access at an instant.
func lruClock(now Millis) uint32 { return uint32(now/1000) & clockMask }

// idleTime is the time since the access that an LRU clock tells of.
func idleTime(clock uint32, now Millis) Millis {
	return Millis((lruClock(now)-clock)&clockMask) * 1000
}

func lfuMinute(now Millis) uint32 { return uint32(now/60000) & minuteMask }

// born is the clock of a new key.
func (c *Settings) born(now Millis) uint32 {
	if c.Policy.lfu() {
		return lfuMinute(now)<<8 | lfuInitial
	}
	return lruClock(now)
}

// touched is what a clock becomes by an access.
func (c *Settings) touched(clock uint32, now Millis, rnd *rand.PCG) uint32 {
	if !c.Policy.lfu() {
		return lruClock(now)
	}
	n := uint32(c.frequency(clock, now))
	if n < lfuMax {
		above := max(int(n)-lfuInitial, 0)
		// One access in above*factor+1 counts.
		if rnd.Uint64()%uint64(above*c.LFULogFactor+1) == 0 {
			n++
		}
	}
	return lfuMinute(now)<<8 | n
}

// frequency is the counter of an LFU clock, less one for each decay time since.
func (c *Settings) frequency(clock uint32, now Millis) uint8 {
	n := clock & lfuMax
	if c.LFUDecayTime <= 0 {
		return uint8(n)
	}
	gone := ((lfuMinute(now) - clock>>8) & minuteMask) / uint32(c.LFUDecayTime)
	return uint8(n - min(n, gone))
}

// Access says what an access clock tells at an instant under the policy in force.
func (c *Settings) Access(clock uint32, now Millis) Access {
	if c.Policy.lfu() {
		return Access{Idle: -1, Freq: int(c.frequency(clock, now))}
	}
	return Access{Idle: idleTime(clock, now), Freq: -1}
}

// LRU and LFU report whether the policy goes by idle time or by frequency.
func (p Policy) LRU() bool { return p == AllKeysLRU || p == VolatileLRU }

// LFU is described at LRU.
func (p Policy) LFU() bool { return p.lfu() }

// ChangeSettings changes some of the settings.
func (ks *Keyspace) ChangeSettings(change func(*Settings)) {
	for {
		old := ks.settings.Load()
		next := *old
		change(&next)
		next.Samples = max(next.Samples, 1)
		if ks.settings.CompareAndSwap(old, &next) {
			return
		}
	}
}

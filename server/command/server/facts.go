package admin

// Facts are what INFO, MEMORY and ROLE tell besides what package stats counts.
// Sizes are bytes, instants Unix seconds unless a name says otherwise.
type Facts struct {
	Server      ServerFacts
	Clients     ClientFacts
	Memory      MemoryFacts
	Persistence PersistenceFacts
	Keys        KeyFacts
	Replication ReplicationFacts
	CPU         CPUFacts
	PubSub      PubSubFacts
	Databases   []DatabaseFacts // those that are not empty
	Tasks       []TaskFacts     // of cron
}

// ServerFacts are about the process.
type ServerFacts struct {
	Version          string // of Redis, whose behavior this is
	HeddleVersion    string
	GitSHA           string
	GitDirty         bool
	BuildID          string
	OS               string // "Linux 6.1.0 x86_64"
	Bits             int
	GoVersion        string
	ProcessID        int
	Supervised       string // no, upstart, systemd
	RunID            string
	Port             int
	NowMicros        int64
	UptimeSeconds    int64
	Hz, ConfiguredHz int
	LRUClock         int64
	Executable       string
	ConfigFile       string
	AvailabilityZone string
	Listeners        []ListenerFacts
}

// ListenerFacts describe where clients may connect.
type ListenerFacts struct {
	Name  string // tcp, unix
	Binds []string
	Port  int // 0 for none
}

// ClientFacts are about connections.
type ClientFacts struct {
	Migrating     int64 // connections to other servers that MIGRATE keeps
	Connected     int64
	Max           int64
	MaxInput      int64 // largest input buffer lately
	MaxOutput     int64 // largest output buffer lately
	Blocked       int64
	TimeoutTable  int64 // parked with a timeout
	BlockingKeys  int64 // keys that clients wait for
	BlockingGone  int64 // those whose deletion somebody waits for
	CurrentThread int   // of the client that asks
	PerThread     []int64
	Memory        int64 // of all connections
}

// MemoryFacts are about memory.
type MemoryFacts struct {
	Used            int64
	Peak            int64
	Startup         int64 // used when nothing was stored yet
	Overhead        int64 // of Used: what is no key and no value
	RSS             int64
	Allocated       int64 // in live blocks outside of Go's heap
	Active          int64 // in pages that hold such blocks
	Resident        int64 // committed outside of Go's heap
	GoHeap          int64
	TotalSystem     int64
	AvailableSystem int64
	Max             int64
	Policy          string
	NotEvictable    int64 // not counted against Max
	ClientsNormal   int64
	Allocator       string
	Compacting      bool
	LazyFreePending int64
	LazyFreed       int64
	Compacted       int64 // records moved out of sparse slabs
}

// PersistenceFacts are about what is saved.
type PersistenceFacts struct {
	Loading    bool
	Load       LoadFacts // of now
	Changes    int64     // since the last save
	LastSave   int64
	CurrentCOW int64 // copied because a snapshot is open
	PeakCOW    int64
	Percent    float64 // of the keys of the present save or rewrite
	SavedKeys  int64   // that are written
	TotalKeys  int64   // that there are to write
	Forks      int64   // snapshots begun for files
	ForkMicros int64   // that the last one took to begin
	Sanitized  int64   // payloads looked at deeply
	RDB        WorkFacts
	KeysLoaded int64 // of the last RDB file
	KeysGone   int64 // of it, expired
	AOF        WorkFacts
	AOFFile    AOFFacts
}

// WorkFacts are about saves, or about rewrites.
type WorkFacts struct {
	InProgress bool
	Scheduled  bool
	Failed     bool  // the last one
	Seconds    int64 // that it took; -1: there was none
	Current    int64 // seconds since the present one began; -1: there is none
	Count      int64 // begun since the start
	Failures   int64 // in a row
	COW        int64 // memory that the last one needed for its snapshot
}

// LoadFacts say how far a load is.
type LoadFacts struct {
	Start       int64 // Unix seconds
	Total, Read int64 // bytes
	Keys        int64
	Memory      int64 // that was in use when the file was made
}

// AOFFacts are about the append-only file.
type AOFFacts struct {
	Enabled     bool
	WriteFailed bool
	Size, Base  int64 // bytes now, and when it was rewritten
	Pending     bool  // the first rewrite is still to come
	Buffer      int64 // bytes that are not written yet
	Syncing     bool  // an fsync is under way
	Delayed     int64 // times that a write had to wait for one
}

// KeyFacts are what the keyspace counts.
type KeyFacts struct {
	Hits, Misses         int64
	Expired, Evicted     int64
	ExpiredMembers       int64   // of collections
	StalePercent         float64 // of the keys with a deadline, those whose time has come but which are still there
	ExpireTimeCapped     int64
	ExpireMillis         int64 // spent in expire cycles
	EvictionExceeded     int64 // ms over maxmemory, all times
	EvictionExceededNow  int64 // ms since maxmemory is exceeded
	OpenSnapshots        int64
	LongLockWaits        int64   // how often somebody waited for a shard for a millisecond or more
	LockWaiting          float64 // mean number of goroutines that waited for a mutex lately
	LockWaitingSinceBoot float64
}

// ReplicationFacts are about the replication stream.
type ReplicationFacts struct {
	ID          string
	Offset      int64
	BacklogSize int64
}

// PubSubFacts count what is subscribed to.
type PubSubFacts struct{ Channels, Patterns, ShardChannels int64 }

// CPUFacts are seconds of CPU time.
type CPUFacts struct {
	System, User                 float64
	SystemChildren, UserChildren float64
	SystemMain, UserMain         float64 // of the thread that asks
	Threads                      int     // workers
}

// DatabaseFacts describe a database.
type DatabaseFacts struct {
	Index   int
	Keys    int64
	Expires int64
	AvgTTL  int64 // ms
	// What finding keys and deadlines takes.
	TableBytes, ExpireBytes int64
}

// TaskFacts describe a task of cron.
type TaskFacts struct {
	Name  string
	Runs  int64
	Nanos int64
}

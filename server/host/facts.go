package host

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/server/command"
	admin "heddle/server/command/server"
	"heddle/server/process"
	"heddle/server/pubsub"
)

// Facts fills in what INFO, MEMORY and ROLE tell. held says that the caller has
// all shards locked.
func (h *Host) Facts(f *admin.Facts, held bool) {
	now := time.Now()
	report := h.Keyspace.Report(millis(now), held)
	usage := process.ReadUsage()
	h.serverFacts(&f.Server, now)
	h.clientFacts(&f.Clients)
	h.memoryFacts(&f.Memory, &report, usage)
	h.keyFacts(&f.Keys, &report, now)
	h.cpuFacts(&f.CPU, usage)
	h.persistenceFacts(&f.Persistence, held, report.Kept)
	f.Replication = admin.ReplicationFacts{ID: *h.replID.Load(), BacklogSize: h.Config.Bytes("repl-backlog-size")}
	for _, d := range report.Databases {
		f.Databases = append(f.Databases, admin.DatabaseFacts{
			Index: d.Index, Keys: d.Keys, Expires: d.Expires, AvgTTL: int64(d.AvgTTL), TableBytes: d.TableBytes, ExpireBytes: d.WheelBytes,
		})
	}
	hub := h.Engine.Hub()
	f.PubSub = admin.PubSubFacts{
		Channels: hub.Distinct(pubsub.Channel), Patterns: hub.Distinct(pubsub.Pattern), ShardChannels: hub.Distinct(pubsub.Shard),
	}
	f.Tasks = h.taskFacts()
}

func (h *Host) serverFacts(s *admin.ServerFacts, now time.Time) {
	exe, _ := os.Executable()
	*s = admin.ServerFacts{
		Version: config.RedisVersion, HeddleVersion: config.Version,
		GitSHA: h.Build.Commit, GitDirty: h.Build.Dirty, BuildID: h.Build.ID,
		OS: process.SystemName(), Bits: 64, GoVersion: runtime.Version(), ProcessID: os.Getpid(),
		Supervised: h.Supervisor.String(), RunID: h.runID, Port: int(h.Config.Int("port")),
		NowMicros: now.UnixMicro(), UptimeSeconds: int64(now.Sub(h.started).Seconds()),
		Hz: h.Cron.HZ(), ConfiguredHz: int(h.Config.Int("hz")), LRUClock: now.Unix() & (1<<24 - 1),
		Executable: exe, ConfigFile: h.Config.Path(), AvailabilityZone: h.Config.String("availability-zone"),
		Listeners: h.listeners(),
	}
}

func (h *Host) listeners() []admin.ListenerFacts {
	var out []admin.ListenerFacts
	if port := h.Config.Int("port"); port != 0 {
		out = append(out, admin.ListenerFacts{Name: "tcp", Binds: h.Config.Words("bind"), Port: int(port)})
	}
	if path := h.Config.String("unixsocket"); path != "" {
		out = append(out, admin.ListenerFacts{Name: "unix", Binds: []string{path}})
	}
	return out
}

func (h *Host) clientFacts(c *admin.ClientFacts) {
	clients := h.Engine.Clients()
	*c = admin.ClientFacts{
		Connected: int64(clients.Len()), Max: h.Config.Int("maxclients"), Blocked: int64(clients.Blocked()),
		BlockingKeys: int64(clients.BlockingKeys()), BlockingGone: int64(clients.BlockingGone()), TimeoutTable: int64(clients.Timed()),
		Memory: h.Network.ClientMemory(), Migrating: int64(h.Migrate.Idle()),
	}
	for _, n := range h.Network.WorkerClients() {
		c.PerThread = append(c.PerThread, int64(n))
	}
	clients.Each(func(i *command.ClientInfo) {
		c.MaxInput = max(c.MaxInput, i.QueryBuf)
		c.MaxOutput = max(c.MaxOutput, i.OutBuf+i.OutMem)
	})
}

func (h *Host) memoryFacts(m *admin.MemoryFacts, r *db.Report, u process.Usage) {
	used, peak := h.notePeak()
	system := process.ReadMemory()
	overhead := h.Keyspace.Overhead() // with what was used at the start
	for _, d := range r.Databases {
		overhead += d.TableBytes + d.WheelBytes
	}
	*m = admin.MemoryFacts{
		Used: used, Peak: peak, Startup: h.startup, Overhead: min(overhead, used), RSS: u.RSS,
		Allocated: r.Live, Active: r.Mapped, Resident: max(r.Mapped, u.RSS-goResident()), GoHeap: goHeap(),
		TotalSystem: system.Total, AvailableSystem: system.Available,
		Max: h.Config.Bytes("maxmemory"), Policy: h.Config.String("maxmemory-policy"), NotEvictable: r.Kept,
		ClientsNormal: h.Network.ClientMemory(), Allocator: "arena",
		LazyFreePending: r.LazyPending, LazyFreed: r.LazyFreed, Compacted: r.Moved,
		Compacting: h.compacting.Load(),
	}
}

func (h *Host) keyFacts(k *admin.KeyFacts, r *db.Report, now time.Time) {
	*k = admin.KeyFacts{
		Hits: r.Hits, Misses: r.Misses, Expired: r.Expired, ExpiredMembers: r.ExpiredMembers, Evicted: r.Evicted, OpenSnapshots: int64(r.Snapshots),
		ExpireTimeCapped: h.expireShort.Load(),
	}
	var timed, behind int64
	for i := range r.Databases {
		timed, behind = timed+r.Databases[i].Expires, behind+r.Databases[i].Behind
	}
	if timed > 0 {
		k.StalePercent = 100 * float64(behind) / float64(timed)
	}
	for _, s := range h.Cron.Stats() {
		if s.Name == "expire" {
			k.ExpireMillis = s.Total.Milliseconds()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	k.EvictionExceeded, k.EvictionExceededNow = h.over.times(now)
	k.LongLockWaits = h.Keyspace.LongWaits()
	k.LockWaiting = h.locks.lately
	k.LockWaitingSinceBoot = h.locks.waited.Seconds() / max(now.Sub(h.started).Seconds(), 1)
}

func (h *Host) cpuFacts(c *admin.CPUFacts, u process.Usage) {
	user, system := process.ThreadUsage()
	*c = admin.CPUFacts{
		System: u.System.Seconds(), User: u.User.Seconds(),
		UserChildren: u.Children[0].Seconds(), SystemChildren: u.Children[1].Seconds(),
		SystemMain: system.Seconds(), UserMain: user.Seconds(), Threads: h.Network.Workers(),
	}
}

// readMetric reads a number of the Go runtime, without stopping anything.
func readMetric(name string) metrics.Value {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value
}

// readCount is readMetric of a whole number, 0 if the runtime has no such one.
func readCount(name string) int64 {
	if v := readMetric(name); v.Kind() == metrics.KindUint64 {
		return int64(v.Uint64())
	}
	return 0
}

// goHeap is the memory of live and not yet collected Go objects.
func goHeap() int64 { return readCount("/memory/classes/heap/objects:bytes") }

// goResident is what the Go runtime holds of the system's memory.
func goResident() int64 {
	return readCount("/memory/classes/total:bytes") - readCount("/memory/classes/heap/released:bytes")
}

// lockTime is the time that goroutines spent waiting for mutexes.
type lockTime struct {
	at     time.Time
	waited time.Duration
	lately float64 // goroutines waiting, on the mean
}

// lockPeriod is the time over which the mean is taken.
const lockPeriod = time.Second

func (l *lockTime) sample(now time.Time) {
	span := now.Sub(l.at)
	if span < lockPeriod {
		return
	}
	v := readMetric("/sync/mutex/wait/total:seconds")
	if v.Kind() != metrics.KindFloat64 {
		return
	}
	waited := time.Duration(v.Float64() * float64(time.Second))
	if !l.at.IsZero() {
		l.lately = float64(waited-l.waited) / float64(span)
	}
	l.at, l.waited = now, waited
}

// Purge gives memory that is free back to the operating system, for as long as
// a client may be kept waiting; later, if the caller has all shards locked.
func (h *Host) Purge(held bool) {
	if held {
		go h.Purge(false)
		return
	}
	for range 2 { // nothing counts as used not long ago
		h.Keyspace.Age()
	}
	within(time.Second, compactShare, func() bool { return h.Keyspace.Compact(0, compactPages) })
	debug.FreeOSMemory()
}

// MemoryReport describes the memory of the process for people.
func (h *Host) MemoryReport(held bool) string {
	r := h.Keyspace.Report(db.Millis(time.Now().UnixMilli()), held)
	var b strings.Builder
	line := func(name string, n int64) { fmt.Fprintf(&b, "%-36s %15d\n", name, n) }
	b.WriteString("Memory outside of Go's heap: slabs of 64 KB cut into blocks, by size classes\n")
	line("bytes in blocks", r.Live)
	line("bytes of slabs in use", r.Mapped)
	line("bytes of address space ever used", r.Committed)
	line("bytes kept for open snapshots", r.Kept)
	line("records moved by compaction", r.Moved)
	b.WriteString("Go's heap\n")
	for _, m := range []string{"heap/objects", "heap/unused", "heap/free", "heap/released", "heap/stacks", "metadata/mcache/inuse", "metadata/other", "os-stacks", "total"} {
		line(m, readCount("/memory/classes/"+m+":bytes"))
	}
	line("garbage collections", readCount("/gc/cycles/total:gc-cycles"))
	return b.String()
}

// TableReport describes the tables of a database for people.
func (h *Host) TableReport(index int, held bool) string {
	r := h.Keyspace.Report(db.Millis(time.Now().UnixMilli()), held)
	d := db.DatabaseReport{Index: index}
	for _, x := range r.Databases {
		if x.Index == index {
			d = x
		}
	}
	return fmt.Sprintf("[Dictionary HT]\nHash table 0 stats (main hash table):\n number of elements: %d\n bytes of segments: %d\n shards: %d\n"+
		"[Expires HT]\nTiming wheel stats:\n number of elements: %d\n bytes of entries: %d\n mean time to live: %d ms\n",
		d.Keys, d.TableBytes, h.Keyspace.Shards(), d.Expires, d.WheelBytes, d.AvgTTL)
}

// mostKept is the most memory that snapshots alone needed, up to now.
func (h *Host) mostKept(now int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peakKept = max(h.peakKept, now)
	return h.peakKept
}

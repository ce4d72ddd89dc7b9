package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"heddle/config"
	"heddle/db"
	"heddle/server/command"
	admin "heddle/server/command/server"
)

// Facts fills in everything that is known. held says that the caller has all
// shards locked.
func (p *Process) Facts(f *admin.Facts, held bool) {
	now := time.Now()
	report := p.o.Keyspace.Report(db.Millis(now.UnixMilli()), held)
	p.serverFacts(&f.Server, now)
	p.clientFacts(&f.Clients)
	p.memoryFacts(f, &report)
	p.keyFacts(f, &report)
	p.cpuFacts(&f.CPU)
	f.Replication = admin.ReplicationFacts{ID: *p.replID.Load(), BacklogSize: p.o.Config.Bytes("repl-backlog-size")}
	for _, d := range report.Databases {
		f.Databases = append(f.Databases, admin.DatabaseFacts{
			Index: d.Index, Keys: d.Keys, Expires: d.Expires, AvgTTL: int64(d.AvgTTL),
			TableBytes: d.TableBytes, ExpireBytes: d.WheelBytes,
		})
	}
	for _, t := range p.o.Cron.Stats() {
		f.Tasks = append(f.Tasks, admin.TaskFacts{Name: t.Name, Runs: t.Runs, Nanos: int64(t.Total)})
		if t.Name == expireTask {
			f.Keys.ExpireMillis = t.Total.Milliseconds()
		}
	}
}

// expireTask is the name under which cron removes dead keys.
const expireTask = "expire"

func (p *Process) serverFacts(s *admin.ServerFacts, now time.Time) {
	*s = admin.ServerFacts{
		Version:          config.RedisVersion,
		HeddleVersion:    config.Version,
		GitSHA:           "00000000",
		BuildID:          "0",
		OS:               p.os,
		Bits:             strconv.IntSize,
		GoVersion:        runtime.Version(),
		ProcessID:        os.Getpid(),
		Supervised:       p.o.Config.String("supervised"),
		RunID:            p.runID,
		Port:             int(p.o.Config.Int("port")),
		NowMicros:        now.UnixMicro(),
		UptimeSeconds:    int64(now.Sub(p.start) / time.Second),
		Hz:               p.o.Cron.HZ(),
		ConfiguredHz:     int(p.o.Config.Int("hz")),
		LRUClock:         now.Unix() & (1<<24 - 1),
		Executable:       p.program,
		ConfigFile:       p.o.Config.Path(),
		AvailabilityZone: p.o.Config.String("availability-zone"),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		readBuild(s, info)
	}
	if p.o.Listeners != nil {
		s.Listeners = p.o.Listeners()
	}
}

// readBuild takes the commit from what the Go tool put into the binary.
func readBuild(s *admin.ServerFacts, info *debug.BuildInfo) {
	for _, kv := range info.Settings {
		switch kv.Key {
		case "vcs.revision":
			s.GitSHA = kv.Value[:min(len(kv.Value), 8)]
			s.BuildID = kv.Value[:min(len(kv.Value), 16)]
		case "vcs.modified":
			s.GitDirty = kv.Value == "true"
		}
	}
}

func (p *Process) clientFacts(c *admin.ClientFacts) {
	c.Connected = int64(p.o.Clients.Len())
	c.Blocked = int64(p.o.Clients.Blocked())
	c.Max = p.o.Config.Int("maxclients")
	if p.o.Workers != nil {
		c.PerThread = p.o.Workers()
	}
	p.o.Clients.Each(func(i *command.ClientInfo) {
		c.MaxInput = max(c.MaxInput, i.QueryBuf+i.ArgvMem)
		c.MaxOutput = max(c.MaxOutput, i.OutBuf+i.OutMem)
		c.Memory += i.TotalMem
	})
}

func (p *Process) memoryFacts(f *admin.Facts, r *db.Report) {
	total, available := systemMemory()
	used := p.o.Keyspace.Used()
	settings := p.o.Keyspace.Settings()
	overhead := p.startup + p.o.Keyspace.Overhead()
	for _, d := range r.Databases {
		overhead += d.TableBytes + d.WheelBytes
	}
	f.Memory = admin.MemoryFacts{
		Used:            used,
		Peak:            p.notePeak(used),
		Startup:         p.startup,
		Overhead:        min(overhead, used),
		RSS:             residentSet(),
		Allocated:       r.Live,
		Active:          r.Mapped,
		Resident:        r.Mapped,
		GoHeap:          goHeap(),
		TotalSystem:     total,
		AvailableSystem: available,
		Max:             settings.MaxMemory,
		Policy:          p.o.Config.String("maxmemory-policy"),
		NotEvictable:    used - p.o.Keyspace.Evictable(),
		ClientsNormal:   f.Clients.Memory,
		Allocator:       "heddle-arena",
		LazyFreePending: r.LazyPending,
		LazyFreed:       r.LazyFreed,
		Compacted:       r.Moved,
	}
}

func (p *Process) keyFacts(f *admin.Facts, r *db.Report) {
	waiting, average := p.waiting.rates()
	f.Keys = admin.KeyFacts{
		Hits: r.Hits, Misses: r.Misses, Expired: r.Expired, Evicted: r.Evicted,
		OpenSnapshots: int64(r.Snapshots),
		LockWaiting:   waiting, LockWaitingSinceBoot: average,
	}
	f.Persistence = admin.PersistenceFacts{
		Changes: r.Dirty, LastSave: p.start.Unix(), CurrentCOW: r.Kept,
	}
}

func (p *Process) cpuFacts(c *admin.CPUFacts) {
	c.User, c.System = cpuTime(unix.RUSAGE_SELF)
	c.UserChildren, c.SystemChildren = cpuTime(unix.RUSAGE_CHILDREN)
	c.UserMain, c.SystemMain = cpuTime(unix.RUSAGE_THREAD)
	c.Threads = 1
	if p.o.Workers != nil {
		c.Threads = len(p.o.Workers())
	}
}

func cpuTime(who int) (user, system float64) {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0, 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime), seconds(u.Stime)
}

// residentSet is the memory that the process holds, 0 if /proc does not tell.
func residentSet() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	words := strings.Fields(string(text))
	if len(words) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// systemMemory is the memory of the machine, and what of it is free to use.
func systemMemory() (total, available int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		kb, _ := strconv.ParseInt(words[1], 10, 64) // 0 for what is no number
		switch words[0] {
		case "MemTotal:":
			total = kb << 10
		case "MemAvailable:":
			available = kb << 10
		}
	}
	return total, available
}

// readMetric reads a figure of the Go runtime, 0 if it does not know it.
func readMetric(name string) float64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	switch v := sample[0].Value; v.Kind() {
	case metrics.KindUint64:
		return float64(v.Uint64())
	case metrics.KindFloat64:
		return v.Float64()
	}
	return 0
}

func goHeap() int64 { return int64(readMetric("/memory/classes/heap/objects:bytes")) }

// lockWait measures how many goroutines wait for a mutex on average.
type lockWait struct {
	mu     sync.Mutex
	begin  time.Time
	at     time.Time
	waited float64 // seconds, all goroutines together
	rate   float64 // over the last samples
	total  float64
}

// lockWaitSpan is the span over which rate is a mean, about.
const lockWaitSpan = 16

func (l *lockWait) sample(now time.Time) {
	waited := readMetric("/sync/mutex/wait/total:seconds")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begin.IsZero() {
		l.begin = now
	} else if span := now.Sub(l.at).Seconds(); span > 0 {
		l.rate += ((waited-l.waited)/span - l.rate) / lockWaitSpan
		l.total += waited - l.waited
	}
	l.at, l.waited = now, waited
}

func (l *lockWait) rates() (lately, sinceStart float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if span := l.at.Sub(l.begin).Seconds(); span > 0 {
		sinceStart = l.total / span
	}
	return l.rate, sinceStart
}

// Purge gives free memory back to the operating system.
func (p *Process) Purge() {
	for p.o.Keyspace.Compact(purgeRecords, purgePages) {
	}
	debug.FreeOSMemory()
}

// What Purge moves and gives back in one step.
const (
	purgeRecords = 1 << 14
	purgePages   = 1 << 10
)

// MemoryReport describes the memory of the process for people.
func (p *Process) MemoryReport() string {
	var f admin.Facts
	p.clientFacts(&f.Clients)
	used, near := p.o.Keyspace.Used(), residentSet()
	var b strings.Builder
	line := func(name string, v int64) { fmt.Fprintf(&b, "%-32s %15d\n", name, v) }
	line("used by the keyspace", used)
	line("resident set", near)
	line("client buffers", f.Clients.Memory)
	for _, m := range []struct{ name, metric string }{
		{"go: live and dead objects", "/memory/classes/heap/objects:bytes"},
		{"go: free", "/memory/classes/heap/free:bytes"},
		{"go: returned to the system", "/memory/classes/heap/released:bytes"},
		{"go: stacks", "/memory/classes/heap/stacks:bytes"},
		{"go: metadata", "/memory/classes/metadata/other:bytes"},
		{"go: all", "/memory/classes/total:bytes"},
		{"go: collections", "/gc/cycles/total:gc-cycles"},
	} {
		line(m.name, int64(readMetric(m.metric)))
	}
	return b.String()
}

// TableReport describes the tables of a database for people.
func (p *Process) TableReport(index int, held bool) string {
	r := p.o.Keyspace.Report(db.Millis(time.Now().UnixMilli()), held)
	for _, d := range r.Databases {
		if d.Index == index {
			// A bucket of the table is 64 bytes and has room for 7 keys.
			slots := d.TableBytes / 64 * 7
			return fmt.Sprintf("[Dictionary HT]\nHash table 0 stats (main hash table):\n table size: %d\n number of elements: %d\n"+
				" bytes: %d\n[Expires HT]\nHash table 0 stats (main hash table):\n number of elements: %d\n bytes: %d\n",
				slots, d.Keys, d.TableBytes, d.Expires, d.WheelBytes)
		}
	}
	return "[Dictionary HT]\nHash table 0 stats (main hash table):\nNo stats available for empty dictionaries\n" +
		"[Expires HT]\nHash table 0 stats (main hash table):\nNo stats available for empty dictionaries\n"
}

package admin

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// memorySpec: MEMORY DOCTOR | HELP | MALLOC-STATS | PURGE | STATS |
// USAGE key [SAMPLES count]
func (f *family) memorySpec() *command.Spec {
	special := []string{tipNondetermined, tipAllShards, tipSpecialRequest}
	usage := &command.Spec{
		Name: "usage", Arity: -3, Keys: command.Key(2, command.KeyRO), Group: group, Read: memoryUsage,
	}
	return &command.Spec{Name: "memory", Arity: -2, Group: group, Sub: []*command.Spec{
		simpleSub("doctor", 2, 0, f.memoryDoctor, special...),
		simpleSub("help", 2, command.Loading|command.Stale, memoryHelp),
		simpleSub("malloc-stats", 2, 0, f.mallocStats, special...),
		simpleSub("purge", 2, 0, f.memoryPurge, tipAllShards, tipAllSucceeded),
		simpleSub("stats", 2, 0, f.memoryStats, special...),
		usage,
	}}
}

// memoryUsage tells the size exactly, so that samples change nothing.
func memoryUsage(c *command.Call, v db.View) error {
	key := c.Args.Key()
	for c.Args.More() {
		if c.Args.Len() < 2 || !c.Args.Word("samples") {
			return resp.ErrSyntax
		}
		if n := c.Args.Int(); n < 0 {
			c.Args.Reject(resp.ErrSyntax)
		}
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	m, found := v.Meta(key)
	if !found {
		c.Reply.Null()
		return nil
	}
	c.Reply.Int(m.Size)
	return nil
}

func (f *family) memoryPurge(c *command.Call, s command.Session) error {
	f.d.Server.Purge(s.InExec())
	c.Reply.OK()
	return nil
}

func (f *family) mallocStats(c *command.Call, s command.Session) error {
	c.Reply.Verbatim("txt", []byte(f.d.Server.MemoryReport(s.InExec())))
	return nil
}

func (f *family) memoryStats(c *command.Call, s command.Session) error {
	facts, w := f.facts(s), c.Reply
	m := &facts.Memory
	keys := int64(0)
	for _, d := range facts.Databases {
		keys += d.Keys
	}
	num := func(name string, n int64) { w.BulkString(name); w.Int(n) }
	part := func(name string, x float64) { w.BulkString(name); w.Double(x) }
	peak := max(m.Peak, m.Used)
	w.Map(27 + len(facts.Databases))
	num("peak.allocated", peak)
	num("total.allocated", m.Used)
	num("startup.allocated", m.Startup)
	num("replication.backlog", 0)
	num("clients.slaves", 0)
	num("clients.normal", m.ClientsNormal)
	num("cluster.links", 0)
	num("aof.buffer", 0)
	num("lua.caches", 0)
	num("functions.caches", 0)
	for _, d := range facts.Databases {
		w.BulkString("db." + strconv.Itoa(d.Index))
		w.Map(3)
		num("overhead.hashtable.main", d.TableBytes)
		num("overhead.hashtable.expires", d.ExpireBytes)
		num("overhead.hashtable.slot-to-keys", 0)
	}
	num("overhead.total", m.Overhead)
	num("keys.count", keys)
	num("keys.bytes-per-key", int64(ratio(m.Used-m.Startup, keys)))
	num("dataset.bytes", m.dataset())
	part("dataset.percentage", m.datasetShare())
	part("peak.percentage", 100*ratio(m.Used, peak))
	num("allocator.allocated", m.Allocated)
	num("allocator.active", m.Active)
	num("allocator.resident", m.Resident)
	part("allocator-fragmentation.ratio", ratio(m.Active, m.Allocated))
	num("allocator-fragmentation.bytes", m.Active-m.Allocated)
	part("allocator-rss.ratio", ratio(m.Resident, m.Active))
	num("allocator-rss.bytes", m.Resident-m.Active)
	part("rss-overhead.ratio", ratio(m.RSS, m.Resident))
	num("rss-overhead.bytes", m.RSS-m.Resident)
	part("fragmentation", ratio(m.RSS, m.Used))
	num("fragmentation.bytes", m.RSS-m.Used)
	return nil
}

func (f *family) memoryDoctor(c *command.Call, s command.Session) error {
	facts := f.facts(s)
	c.Reply.Verbatim("txt", []byte(diagnoseMemory(&facts.Memory, facts.Clients.Connected)))
	return nil
}

// Below this much memory figures say little.
const memoryWorthDiagnosing = 5 << 20

// diagnoseMemory says what stands out in the figures.
func diagnoseMemory(m *MemoryFacts, clients int64) string {
	if m.Used < memoryWorthDiagnosing {
		return "Hi Sam, there is next to nothing in memory here, so there is nothing to diagnose. Ask again when data has come.\n"
	}
	var issues []string
	note := func(format string, args ...any) { issues = append(issues, fmt.Sprintf(format, args...)) }
	if r := ratio(m.Peak, m.Used); r > 1.5 {
		note("Peak: once %.2f times as much memory was in use as now. What the process holds (RSS) may stay larger than needed until compaction has given it back; MEMORY PURGE speeds that up.", r)
	}
	if r := ratio(m.Active, m.Allocated); r > 1.1 && m.Active-m.Allocated > 10<<20 {
		note("Sparse slabs: the slabs in use hold %.2f times what lives in them. Compaction moves records together over time.", r)
	}
	if r := ratio(m.Resident, m.Active); r > 1.1 && m.Resident-m.Active > 10<<20 {
		note("Free slabs: %.2f times as many pages are resident as are in use. They are given back step by step; MEMORY PURGE does it at once.", r)
	}
	if r := ratio(m.RSS, m.Resident); r > 1.4 && m.RSS-m.Resident > 64<<20 {
		note("Other memory: the process holds %.2f times what the keyspace holds: replies, queries, large collections, garbage not yet collected.", r)
	}
	if per := int64(ratio(m.ClientsNormal, clients)); per > 200<<10 {
		note("Large client buffers: %s a client on average. Look for clients that do not read their replies (CLIENT LIST, field omem) or send very long commands.", human(per))
	}
	if m.Max > 0 && m.Used > m.Max/10*9 {
		note("Near the limit: %.0f %% of maxmemory are in use (policy %s).", 100*ratio(m.Used, m.Max), m.Policy)
	}
	if len(issues) == 0 {
		return "Hi Sam, nothing about the memory of this server stands out.\n"
	}
	return "Sam, this is what stands out:\n\n * " + strings.Join(issues, "\n\n * ") + "\n"
}

func memoryHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"DOCTOR",
		"    A report for people: what stands out about memory.",
		"MALLOC-STATS",
		"    Figures of the allocators.",
		"PURGE",
		"    Give memory that is free back to the operating system now.",
		"STATS",
		"    What memory is used for.",
		"USAGE <key> [SAMPLES <count>]",
		"    The bytes that <key> and its value take. They are counted, not",
		"    estimated, so that <count> makes no difference.",
	)
}

package admin

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/server/command"
)

// infoSpec: INFO [section ...]
func (f *family) infoSpec() *command.Spec {
	return &command.Spec{
		Name: "info", Arity: -1, Flags: command.Loading | command.Stale, ACL: command.CatDangerous, Group: group,
		Tips:    []string{tipNondetermined, tipAllShards, tipSpecialRequest},
		Control: f.info,
	}
}

// report is the text of INFO while it is written.
type report struct {
	buf   bytes.Buffer
	facts *Facts
	f     *family
	s     command.Session
}

// Groups of sections.
const (
	inDefault = 1 << iota // shown by INFO and INFO default
	inAll                 // shown by INFO all
)

// sections in the order in which they are shown. INFO everything shows all.
var sections = [...]struct {
	name  string
	title string
	in    int
	write func(*report)
}{
	{"server", "Server", inDefault | inAll, (*report).server},
	{"clients", "Clients", inDefault | inAll, (*report).clients},
	{"memory", "Memory", inDefault | inAll, (*report).memory},
	{"persistence", "Persistence", inDefault | inAll, (*report).persistence},
	{"stats", "Stats", inDefault | inAll, (*report).stats},
	{"replication", "Replication", inDefault | inAll, (*report).replication},
	{"cpu", "CPU", inDefault | inAll, (*report).cpu},
	{"modules", "Modules", inDefault | inAll, func(*report) {}},
	{"commandstats", "Commandstats", inAll, (*report).commandStats},
	{"errorstats", "Errorstats", inDefault | inAll, (*report).errorStats},
	{"latencystats", "Latencystats", inAll, (*report).latencyStats},
	{"cluster", "Cluster", inDefault | inAll, (*report).cluster},
	{"keyspace", "Keyspace", inDefault | inAll, (*report).keyspace},
	{"keydb", "KeyDB", inDefault | inAll, (*report).keydb},
	{"cron", "Cron", inAll, (*report).cron},
}

func (f *family) info(c *command.Call, s command.Session) error {
	wanted := chosenSections(c.Args.Rest())
	r := &report{f: f, s: s, facts: f.facts(s)}
	for i := range sections {
		if !wanted[i] {
			continue
		}
		if r.buf.Len() > 0 {
			r.buf.WriteString("\r\n")
		}
		r.buf.WriteString("# " + sections[i].title + "\r\n")
		sections[i].write(r)
	}
	c.Reply.Verbatim("txt", r.buf.Bytes())
	return nil
}

// chosenSections says which sections are asked for. Names that mean none are
// ignored.
func chosenSections(names [][]byte) (wanted [len(sections)]bool) {
	choose := func(want func(i int) bool) {
		for i := range sections {
			wanted[i] = wanted[i] || want(i)
		}
	}
	if len(names) == 0 {
		choose(func(i int) bool { return sections[i].in&inDefault != 0 })
	}
	for _, n := range names {
		switch name := command.Lower(n); name {
		case "default":
			choose(func(i int) bool { return sections[i].in&inDefault != 0 })
		case "all":
			choose(func(i int) bool { return sections[i].in&inAll != 0 })
		case "everything":
			choose(func(int) bool { return true })
		default:
			choose(func(i int) bool { return sections[i].name == name })
		}
	}
	return wanted
}

func (r *report) str(name, value string) {
	r.buf.WriteString(name)
	r.buf.WriteByte(':')
	r.buf.WriteString(value)
	r.buf.WriteString("\r\n")
}

func (r *report) num(name string, value int64) { r.str(name, strconv.FormatInt(value, 10)) }

func (r *report) flag(name string, value bool) { r.num(name, number(value)) }

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// decimal writes a number with so many places behind the point.
func (r *report) decimal(name string, value float64, places int) {
	r.str(name, strconv.FormatFloat(value, 'f', places, 64))
}

// size writes a number of bytes, and again in a form for people.
func (r *report) size(name string, bytes int64) {
	r.num(name, bytes)
	r.str(name+"_human", human(bytes))
}

// human writes a number of bytes as Redis does.
func human(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	f, unit := float64(n), 0
	for f >= 1024 && unit < 5 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.2f%c", f, "BKMGTP"[unit])
}

// ratio is a/b, 0 where that has no value.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (r *report) server() {
	s := &r.facts.Server
	r.str("redis_version", s.Version)
	r.str("heddle_version", s.HeddleVersion)
	r.str("redis_git_sha1", s.GitSHA)
	r.flag("redis_git_dirty", s.GitDirty)
	r.str("redis_build_id", s.BuildID)
	r.str("redis_mode", "standalone")
	r.str("os", s.OS)
	r.num("arch_bits", int64(s.Bits))
	r.str("monotonic_clock", "POSIX clock_gettime")
	r.str("multiplexing_api", "epoll")
	r.str("atomicvar_api", "sync/atomic")
	r.str("gcc_version", "0.0.0")
	r.str("go_version", s.GoVersion)
	r.num("process_id", int64(s.ProcessID))
	r.str("process_supervised", s.Supervised)
	r.str("run_id", s.RunID)
	r.num("tcp_port", int64(s.Port))
	r.num("server_time_usec", s.NowMicros)
	r.num("uptime_in_seconds", s.UptimeSeconds)
	r.num("uptime_in_days", s.UptimeSeconds/(24*3600))
	r.num("hz", int64(s.Hz))
	r.num("configured_hz", int64(s.ConfiguredHz))
	r.num("lru_clock", s.LRUClock)
	r.str("executable", s.Executable)
	r.str("config_file", s.ConfigFile)
	r.str("availability_zone", s.AvailabilityZone)
	r.str("features", "")
	r.flag("io_threads_active", r.facts.CPU.Threads > 1)
	for i, l := range s.Listeners {
		line := "name=" + l.Name
		for _, b := range l.Binds {
			line += ",bind=" + b
		}
		if l.Port > 0 {
			line += ",port=" + strconv.Itoa(l.Port)
		}
		r.str("listener"+strconv.Itoa(i), line)
	}
}

func (r *report) clients() {
	c := &r.facts.Clients
	r.num("connected_clients", c.Connected)
	r.num("cluster_connections", 0)
	r.num("maxclients", c.Max)
	r.num("client_recent_max_input_buffer", c.MaxInput)
	r.num("client_recent_max_output_buffer", c.MaxOutput)
	r.num("blocked_clients", c.Blocked)
	r.num("tracking_clients", 0)
	r.num("clients_in_timeout_table", c.TimeoutTable)
	r.num("total_blocking_keys", c.BlockingKeys)
	r.num("total_blocking_keys_on_nokey", c.BlockingGone)
	r.num("current_client_thread", int64(r.s.Info().Worker))
	for i, n := range c.PerThread {
		r.num("thread_"+strconv.Itoa(i)+"_clients", n)
	}
}

// dataset is what keys and values take of used memory.
func (m *MemoryFacts) dataset() int64 { return max(m.Used-m.Overhead, 0) }

// datasetShare is the part of what was stored since the start that is no
// overhead, in percent.
func (m *MemoryFacts) datasetShare() float64 { return 100 * ratio(m.dataset(), m.Used-m.Startup) }

func (r *report) memory() {
	m := &r.facts.Memory
	peak := max(m.Peak, m.Used)
	r.size("used_memory", m.Used)
	r.size("used_memory_rss", m.RSS)
	r.size("used_memory_peak", peak)
	r.str("used_memory_peak_perc", strconv.FormatFloat(100*ratio(m.Used, peak), 'f', 2, 64)+"%")
	r.num("used_memory_overhead", m.Overhead)
	r.num("used_memory_startup", m.Startup)
	r.num("used_memory_dataset", m.dataset())
	r.str("used_memory_dataset_perc", strconv.FormatFloat(m.datasetShare(), 'f', 2, 64)+"%")
	r.num("allocator_allocated", m.Allocated)
	r.num("allocator_active", m.Active)
	r.num("allocator_resident", m.Resident)
	r.size("total_system_memory", m.TotalSystem)
	r.num("used_memory_lua", 0)
	r.num("used_memory_vm_eval", 0)
	r.str("used_memory_lua_human", human(0))
	r.num("used_memory_scripts_eval", 0)
	r.num("number_of_cached_scripts", 0)
	r.num("number_of_functions", 0)
	r.num("number_of_libraries", 0)
	r.num("used_memory_vm_functions", 0)
	r.size("used_memory_vm_total", 0)
	r.num("used_memory_functions", 0)
	r.size("used_memory_scripts", 0)
	r.size("maxmemory", m.Max)
	r.str("maxmemory_policy", m.Policy)
	r.decimal("allocator_frag_ratio", ratio(m.Active, m.Allocated), 2)
	r.num("allocator_frag_bytes", m.Active-m.Allocated)
	r.decimal("allocator_rss_ratio", ratio(m.Resident, m.Active), 2)
	r.num("allocator_rss_bytes", m.Resident-m.Active)
	r.decimal("rss_overhead_ratio", ratio(m.RSS, m.Resident), 2)
	r.num("rss_overhead_bytes", m.RSS-m.Resident)
	r.decimal("mem_fragmentation_ratio", ratio(m.RSS, m.Used), 2)
	r.num("mem_fragmentation_bytes", m.RSS-m.Used)
	r.num("mem_not_counted_for_evict", m.NotEvictable)
	r.num("mem_replication_backlog", 0)
	r.num("mem_total_replication_buffers", 0)
	r.num("mem_clients_slaves", 0)
	r.num("mem_clients_normal", m.ClientsNormal)
	r.num("mem_cluster_links", 0)
	r.num("mem_aof_buffer", r.facts.Persistence.AOFFile.Buffer)
	r.str("mem_allocator", m.Allocator)
	r.flag("active_defrag_running", m.Compacting)
	r.num("lazyfree_pending_objects", m.LazyFreePending)
	r.num("lazyfreed_objects", m.LazyFreed)
	r.str("storage_provider", "none")
	r.num("available_system_memory", m.AvailableSystem)
}

func (r *report) replication() {
	p := &r.facts.Replication
	r.str("role", "master")
	r.num("connected_slaves", 0)
	r.str("master_failover_state", "no-failover")
	r.str("master_replid", p.ID)
	r.str("master_replid2", strings.Repeat("0", 40))
	r.num("master_repl_offset", p.Offset)
	r.num("second_repl_offset", -1)
	r.num("repl_backlog_active", 0)
	r.num("repl_backlog_size", p.BacklogSize)
	r.num("repl_backlog_first_byte_offset", 0)
	r.num("repl_backlog_histlen", 0)
}

func (r *report) cpu() {
	c := &r.facts.CPU
	r.decimal("used_cpu_sys", c.System, 6)
	r.decimal("used_cpu_user", c.User, 6)
	r.decimal("used_cpu_sys_children", c.SystemChildren, 6)
	r.decimal("used_cpu_user_children", c.UserChildren, 6)
	r.decimal("used_cpu_sys_main_thread", c.SystemMain, 6)
	r.decimal("used_cpu_user_main_thread", c.UserMain, 6)
	r.num("server_threads", int64(c.Threads))
	r.num("long_lock_waits", r.facts.Keys.LongLockWaits)
}

func (r *report) cluster() { r.num("cluster_enabled", 0) }

func (r *report) keyspace() {
	for _, d := range r.facts.Databases {
		r.str("db"+strconv.Itoa(d.Index), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d,cached_keys=%d",
			d.Keys, d.Expires, d.AvgTTL, d.Keys))
	}
}

func (r *report) keydb() { r.num("mvcc_depth", r.facts.Keys.OpenSnapshots) }

func (r *report) cron() {
	tasks := slices.SortedFunc(slices.Values(r.facts.Tasks), func(a, b TaskFacts) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, t := range tasks {
		r.str("cron_"+t.Name, fmt.Sprintf("runs=%d,usec=%d,usec_per_run=%.2f",
			t.Runs, t.Nanos/1000, ratio(t.Nanos, t.Runs)/1000))
	}
}

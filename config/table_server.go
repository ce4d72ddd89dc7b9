package config

import (
	"runtime"
	"strconv"
)

// defaultThreads is one worker for each CPU that the process may use, at most
// 8. The runtime's number of threads knows limits of control groups, the number
// of CPUs knows what the process is bound to.
func defaultThreads() string {
	return strconv.Itoa(min(max(min(runtime.NumCPU(), runtime.GOMAXPROCS(0)), 1), 8))
}

func generalTable() []*Directive {
	return []*Directive{
		yesNo("daemonize", false, Immutable, ""),
		oneOf("supervised", "no", Immutable, "", "upstart", "systemd", "auto", "no"),
		text("pidfile", "", Immutable, ""),
		oneOf("loglevel", "notice", 0, "", "debug", "verbose", "notice", "warning", "nothing"),
		text("logfile", "", Immutable, ""),
		yesNo("syslog-enabled", false, Immutable, ""),
		text("syslog-ident", "heddle", Immutable|Partial, "the default is heddle, not redis"),
		oneOf("syslog-facility", "local0", Immutable, "", "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"),
		number("databases", "16", 1, maxInt32, Immutable|Partial, "at most 65536"),
		yesNo("always-show-logo", false, Immutable, ""),
		yesNo("set-proc-title", true, Immutable, ""),
		text("proc-title-template", "{title} {listen-addr} {server-mode}", 0, "").checked(checkTitle),
		text("locale-collate", "", 0, "strings are compared as bytes, whatever the locale"),
		text("dir", ".", Protected|DenyLoading, ""),
		yesNo("crash-log-enabled", true, 0, "the Go runtime always reports a crash"),
		yesNo("crash-memcheck-enabled", true, 0, "there is no memory test after a crash"),
		yesNo("use-exit-on-panic", false, Hidden, "a fault always ends with the report of the Go runtime"),
		yesNo("disable-thp", true, Immutable, "huge pages do no harm where snapshots do not fork; memory asks for them where they pay"),
		oneOfNums("oom-score-adj", "no", 0, "", Word{"no", 0}, Word{"yes", 1}, Word{"relative", 1}, Word{"absolute", 2}),
		list("oom-score-adj-values", "0 200 800", listRules{parse: parseOOMValues}, Partial, "the first value applies; there are no replicas and no child processes so far"),
		text("ignore-warnings", "", 0, "no warning stops the start"),
		text("server_cpulist", "", Immutable, ""),
		text("bio_cpulist", "", Immutable, "background work has no threads of its own"),
		text("aof_rewrite_cpulist", "", Immutable, noFork),
		text("bgsave_cpulist", "", Immutable, noFork),
		number("hz", "10", 0, maxInt32, 0, "").clamped(clampHz),
		yesNo("dynamic-hz", true, 0, ""),
		list("shutdown-on-sigint", "default", listRules{parse: parseShutdown, num: shutdownNum}, 0, ""),
		list("shutdown-on-sigterm", "default", listRules{parse: parseShutdown, num: shutdownNum}, 0, ""),
		number("shutdown-timeout", "10", 0, maxInt32, 0, noReplication),
	}
}

func oneOfNums(name, def string, flags Flag, note string, words ...Word) *Directive {
	return &Directive{Name: name, Kind: Enum, Default: def, Flags: flags, Note: note, Words: words}
}

func networkTable() []*Directive {
	perm := &Directive{Name: "unixsocketperm", Kind: Octal, Default: "0", Max: 0o777, Flags: Immutable}
	return []*Directive{
		list("bind", "* -::*", listRules{parse: parseBind}, 0, ""),
		text("bind-source-addr", "", 0, noReplication),
		yesNo("protected-mode", true, 0, ""),
		number("port", "6379", 0, 65535, 0, ""),
		number("tcp-backlog", "511", 0, maxInt32, Immutable, ""),
		text("unixsocket", "", Immutable, ""),
		perm,
		number("socket-mark-id", "0", 0, maxUint32, Immutable, ""),
		number("timeout", "0", 0, maxInt32, 0, ""),
		number("tcp-keepalive", "300", 0, maxInt32, 0, ""),
		number("server-threads", defaultThreads(), 1, 1024, Immutable|KeyDB|Partial, "the default is the CPUs that may be used, at most 8; Redis' io-threads is the same directive").also("io-threads"),
		yesNo("io-threads-do-reads", false, Immutable, "workers always read and write"),
		list("server-thread-affinity", "no", listRules{parse: parseAffinity, num: affinityNum, single: true}, Immutable|KeyDB, ""),
		yesNo("active-client-balancing", true, KeyDB, ""),
		number("min-clients-per-thread", "50", 0, 400, KeyDB|Partial, "the default is 50, KeyDB's is 20"),
		number("replica-weighting-factor", "2", 1, maxInt32, KeyDB, noReplication),
		yesNo("time-thread-priority", false, Immutable|KeyDB, "there is no clock thread"),
	}
}

func clientTable() []*Directive {
	limits := listRules{parse: parseOutputLimits, lines: limitLines, fixed: true}
	clients := &Directive{Name: "maxmemory-clients", Kind: Percent, Default: "0", Max: maxInt64}
	return []*Directive{
		number("maxclients", "10000", 1, maxUint32, 0, ""),
		number("maxclients-reserved", "0", 0, 100, KeyDB, ""),
		list("client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60", limits, 0, ""),
		memory("client-query-buffer-limit", "1073741824", 1<<20, maxInt64, 0, ""),
		clients,
		memory("proto-max-bulk-len", "536870912", 1<<20, maxInt64, Partial, "more than 4 GB acts as 4 GB"),
		number("tracking-table-max-keys", "1000000", 0, maxInt64, 0, noTracking),
		yesNo("soft-shutdown", false, KeyDB, ""),
		number("overload-protect-percent", "0", 0, 200, KeyDB, "clients are not shed under load"),
		number("max-rand-count", "4611686018427387903", 0, maxInt64, KeyDB, randNote),
	}
}

func memoryTable() []*Directive {
	return []*Directive{
		memory("maxmemory", "0", 0, -1, Unsigned, ""),
		oneOf("maxmemory-policy", "noeviction", 0, "", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random", "noeviction"),
		number("maxmemory-samples", "5", 1, maxInt32, 0, ""),
		number("maxmemory-eviction-tenacity", "10", 0, 100, 0, "what a command evicts is bounded by a number of keys, not by time"),
		number("lfu-log-factor", "10", 0, maxInt32, 0, ""),
		number("lfu-decay-time", "1", 0, maxInt32, 0, ""),
		number("active-expire-effort", "1", 1, 10, 0, "expired keys are found by their deadline, without sampling, so more effort finds no more"),
		yesNo("replica-ignore-maxmemory", true, 0, noReplication).also("slave-ignore-maxmemory"),
		yesNo("lazyfree-lazy-eviction", false, 0, lazyNote),
		yesNo("lazyfree-lazy-expire", false, 0, lazyNote),
		yesNo("lazyfree-lazy-server-del", false, 0, lazyNote),
		yesNo("lazyfree-lazy-user-del", false, 0, lazyNote),
		yesNo("lazyfree-lazy-user-flush", false, DenyLoading, ""),
		yesNo("activedefrag", false, 0, "memory is always compacted in the background"),
		memory("active-defrag-ignore-bytes", "104857600", 1, maxInt64, 0, compactNote),
		number("active-defrag-threshold-lower", "10", 0, 1000, 0, compactNote),
		number("active-defrag-threshold-upper", "100", 0, 1000, 0, compactNote),
		number("active-defrag-cycle-min", "1", 1, 99, 0, compactNote),
		number("active-defrag-cycle-max", "25", 1, 99, 0, compactNote),
		number("active-defrag-max-scan-fields", "1000", 1, maxInt64, 0, compactNote),
		yesNo("jemalloc-bg-thread", true, Hidden, noJemalloc),
		yesNo("activerehashing", true, 0, "the table never rehashes as a whole: a full segment splits alone"),
		number("force-eviction-percent", "0", 0, 100, KeyDB, "only maxmemory says when keys are given up"),
		number("semi-ordered-set-bucket-size", "0", 0, 1024, KeyDB, "deadlines are kept in timing wheels, not in KeyDB's ordered set"),
	}
}

const (
	lazyNote    = "deleting a value is cheap whatever its size, so DEL and UNLINK are the same"
	randNote    = "replies of any length are sent piece by piece, so there is no need to bound them"
	compactNote = "compaction chooses its own pace"
)

package config

func persistenceTable() []*Directive {
	save := listRules{parse: parseSave, lines: saveLines}
	return []*Directive{
		list("save", "3600 1 300 100 60 10000", save, DenyLoading, ""),
		yesNo("stop-writes-on-bgsave-error", true, 0, ""),
		yesNo("rdbcompression", true, 0, ""),
		yesNo("rdbchecksum", true, Immutable, ""),
		oneOf("sanitize-dump-payload", "no", Partial, "what is loaded is always checked in depth", "no", "yes", "clients"),
		text("dbfilename", "dump.rdb", Protected|DenyLoading, "").checked(checkFilename("dbfilename")),
		oneOf("heddle-rdb-version", "auto", KeyDB, "", "auto", "10", "11", "12"),
		yesNo("rdb-del-sync-files", false, 0, noReplication),
		yesNo("rdb-save-incremental-fsync", true, 0, ""),
		yesNo("appendonly", false, DenyLoading, ""),
		text("appendfilename", "appendonly.aof", Immutable, "").checked(checkFilled("appendfilename")),
		text("appenddirname", "appendonlydir", Immutable, "").checked(checkFilled("appenddirname")),
		oneOf("appendfsync", "everysec", 0, "", "everysec", "always", "no"),
		yesNo("no-appendfsync-on-rewrite", false, 0, ""),
		number("auto-aof-rewrite-percentage", "100", 0, maxInt32, 0, ""),
		memory("auto-aof-rewrite-min-size", "67108864", 0, maxInt64, 0, ""),
		yesNo("aof-load-truncated", true, 0, ""),
		yesNo("aof-use-rdb-preamble", true, 0, ""),
		yesNo("aof-timestamp-enabled", false, 0, ""),
		yesNo("aof-rewrite-incremental-fsync", true, 0, ""),
		yesNo("aof-disable-auto-gc", false, Hidden, ""),
		number("key-load-delay", "0", minInt32, maxInt32, Hidden, ""),
		number("rdb-key-save-delay", "0", minInt32, maxInt32, Hidden, ""),
		number("loading-process-events-interval-bytes", "2097152", 1024, maxInt32, KeyDB, "clients are served at any time while data is loaded"),
		number("loading-process-events-interval-keys", "8192", 0, maxInt64, KeyDB, "clients are served at any time while data is loaded"),
		yesNo("allow-rdb-resize-op", true, KeyDB, "tables have the right size without being told"),
		yesNo("multithread-load-enabled", false, KeyDB, "files are always loaded by several threads"),
		yesNo("use-fork", true, Immutable|KeyDB, noFork),
		text("db-s3-object", "", KeyDB, "saves go to the disk only"),
	}
}

func typesTable() []*Directive {
	return []*Directive{
		number("hash-max-listpack-entries", "512", 0, maxInt64, 0, "").also("hash-max-ziplist-entries"),
		memory("hash-max-listpack-value", "64", 0, maxInt64, 0, "").also("hash-max-ziplist-value"),
		number("list-max-listpack-size", "-2", minInt32, maxInt32, 0, "").also("list-max-ziplist-size"),
		number("list-compress-depth", "0", 0, maxInt32, 0, "numbers and short strings in lists are spelled in few bits anyway"),
		number("set-max-intset-entries", "512", 0, maxInt64, 0, ""),
		number("set-max-listpack-entries", "128", 0, maxInt64, 0, ""),
		memory("set-max-listpack-value", "64", 0, maxInt64, 0, ""),
		number("zset-max-listpack-entries", "128", 0, maxInt64, 0, "").also("zset-max-ziplist-entries"),
		memory("zset-max-listpack-value", "64", 0, maxInt64, 0, "").also("zset-max-ziplist-value"),
		memory("hll-sparse-max-bytes", "3000", 0, maxInt64, 0, ""),
		memory("stream-node-max-bytes", "4096", 0, maxInt64, 0, ""),
		number("stream-node-max-entries", "100", 0, maxInt64, 0, ""),
	}
}

func replicationTable() []*Directive {
	return []*Directive{
		list("replicaof", "", listRules{parse: parseReplicaOf, lines: func(w []string) [][]string { return groups(w, 2) }}, Immutable, noReplication).also("slaveof"),
		text("masteruser", "", Sensitive, noReplication),
		text("masterauth", "", Sensitive, noReplication),
		yesNo("replica-serve-stale-data", true, 0, noReplication).also("slave-serve-stale-data"),
		yesNo("replica-read-only", true, 0, noReplication).also("slave-read-only"),
		yesNo("repl-diskless-sync", true, DenyLoading, noReplication),
		number("repl-diskless-sync-delay", "5", 0, maxInt32, 0, noReplication),
		number("repl-diskless-sync-max-replicas", "0", 0, maxInt32, 0, noReplication),
		oneOf("repl-diskless-load", "disabled", DenyLoading, noReplication, "disabled", "on-empty-db", "swapdb"),
		number("repl-ping-replica-period", "10", 1, maxInt32, 0, noReplication).also("repl-ping-slave-period"),
		number("repl-timeout", "60", 1, maxInt32, 0, noReplication),
		yesNo("repl-disable-tcp-nodelay", false, 0, noReplication),
		memory("repl-backlog-size", "1048576", 1, maxInt64, 0, noReplication).clamped(clampBacklog),
		number("repl-backlog-ttl", "3600", 0, maxInt64, 0, noReplication),
		number("replica-priority", "100", 0, maxInt32, 0, noReplication).also("slave-priority"),
		yesNo("replica-announced", true, 0, noReplication),
		oneOf("propagation-error-behavior", "ignore", 0, noReplication, "ignore", "panic", "panic-on-replicas"),
		yesNo("replica-ignore-disk-write-errors", false, 0, noReplication),
		yesNo("replica-lazy-flush", false, 0, noReplication).also("slave-lazy-flush"),
		number("min-replicas-to-write", "0", 0, maxInt32, 0, "").also("min-slaves-to-write"),
		number("min-replicas-max-lag", "10", 0, maxInt32, 0, "").also("min-slaves-max-lag"),
		text("replica-announce-ip", "", 0, noReplication).also("slave-announce-ip"),
		number("replica-announce-port", "0", 0, 65535, 0, noReplication).also("slave-announce-port"),
	}
}

func clusterTable() []*Directive {
	return []*Directive{
		yesNo("cluster-enabled", false, Immutable|Partial, noCluster+"; yes stops the start"),
		text("cluster-config-file", "nodes.conf", Immutable, noCluster),
		number("cluster-node-timeout", "15000", 0, maxInt64, 0, noCluster),
		number("cluster-port", "0", 0, 65535, Immutable, noCluster),
		number("cluster-replica-validity-factor", "10", 0, maxInt32, 0, noCluster).also("cluster-slave-validity-factor"),
		number("cluster-migration-barrier", "1", 0, maxInt32, 0, noCluster),
		yesNo("cluster-allow-replica-migration", true, 0, noCluster),
		yesNo("cluster-require-full-coverage", true, 0, noCluster),
		yesNo("cluster-replica-no-failover", false, 0, noCluster).also("cluster-slave-no-failover"),
		yesNo("cluster-allow-reads-when-down", false, 0, noCluster),
		yesNo("cluster-allow-pubsubshard-when-down", true, 0, noCluster),
		memory("cluster-link-sendbuf-limit", "0", 0, -1, Unsigned, noCluster),
		text("cluster-announce-hostname", "", 0, noCluster).checked(checkHostname),
		text("cluster-announce-human-nodename", "", 0, noCluster).checked(checkNodename),
		oneOf("cluster-preferred-endpoint-type", "ip", 0, noCluster, "ip", "hostname", "unknown-endpoint"),
		text("cluster-announce-ip", "", 0, noCluster),
		number("cluster-announce-port", "0", 0, 65535, 0, noCluster),
		number("cluster-announce-tls-port", "0", 0, 65535, 0, noCluster),
		number("cluster-announce-bus-port", "0", 0, 65535, 0, noCluster),
	}
}

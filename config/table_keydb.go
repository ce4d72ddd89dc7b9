package config

func keydbTable() []*Directive {
	return []*Directive{
		yesNo("active-replica", false, Immutable|KeyDB, noReplication),
		yesNo("multi-master", false, Immutable|KeyDB, noReplication),
		yesNo("multi-master-no-forward", false, KeyDB, noReplication),
		number("replica-quorum", "-1", -1, maxInt32, KeyDB, noReplication),
		yesNo("allow-write-during-load", false, KeyDB, noReplication),
		yesNo("enable-keydb-fastsync", false, KeyDB, noReplication),
		memory("repl-backlog-disk-reserve", "0", 0, maxInt64, Immutable|KeyDB, noReplication),
		yesNo("force-backlog-disk-reserve", false, KeyDB, noReplication),
		yesNo("enable-async-commands", false, KeyDB, "commands run on all workers at once, so reads need no second way"),
		yesNo("enable-async-rehash", true, KeyDB, "the table never rehashes as a whole: a full segment splits alone"),
		yesNo("prefetch-enabled", true, KeyDB, "keys are always fetched ahead"),
		number("max-snapshot-slip", "400", 0, 5000, KeyDB, "snapshots are exact, there is no slip to allow"),
		text("availability-zone", "", KeyDB, ""),
		yesNo("enable-motd", true, KeyDB, "no message is ever fetched"),
	}
}

func flashTable() []*Directive {
	return []*Directive{
		list("storage-provider", "", listRules{parse: parseNames}, Immutable|KeyDB, noFlash),
		text("storage-provider-options", "", Immutable|KeyDB, noFlash),
		oneOf("storage-cache-mode", "writethrough", Immutable|KeyDB, noFlash, "writethrough", "writeback"),
		number("storage-flush-period", "500", 1, 10000, KeyDB, noFlash),
		memory("maxstorage", "0", 0, maxInt64, KeyDB, noFlash),
		yesNo("flash-disable-key-cache", false, KeyDB, noFlash),
		yesNo("delete-on-evict", false, KeyDB, noFlash),
		text("scratch-file-path", "", Immutable|KeyDB, noFlash),
	}
}

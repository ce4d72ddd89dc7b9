package config

func securityTable() []*Directive {
	return []*Directive{
		text("requirepass", "", Sensitive, ""),
		text("aclfile", "", Immutable|Partial, noACL+"; a file stops the start"),
		number("acllog-max-len", "128", 0, maxInt64, 0, noACL),
		oneOf("acl-pubsub-default", "resetchannels", 0, noACL, "allchannels", "resetchannels"),
		oneOf("enable-protected-configs", "no", Immutable, "", "no", "yes", "local"),
		oneOf("enable-debug-command", "no", Immutable, "", "no", "yes", "local"),
		oneOf("enable-module-command", "no", Immutable, noModules, "no", "yes", "local"),
	}
}

func tlsTable() []*Directive {
	ds := []*Directive{
		number("tls-port", "0", 0, 65535, Partial, noTLS+"; a port other than 0 is refused"),
		number("tls-session-cache-size", "20480", 0, maxInt32, 0, noTLS),
		number("tls-session-cache-timeout", "300", 0, maxInt32, 0, noTLS),
		yesNo("tls-session-caching", true, 0, noTLS),
		yesNo("tls-cluster", false, 0, noTLS),
		yesNo("tls-replication", false, 0, noTLS),
		oneOf("tls-auth-clients", "yes", 0, noTLS, "no", "yes", "optional"),
		yesNo("tls-prefer-server-ciphers", false, 0, noTLS),
		yesNo("tls-rotation", false, KeyDB, noTLS),
		list("tls-allowlist", "", listRules{parse: parseNames}, KeyDB, noTLS),
		list("tls-auditlog-blocklist", "", listRules{parse: parseNames}, Immutable|KeyDB, noTLS),
	}
	for _, name := range []string{"tls-cert-file", "tls-key-file", "tls-key-file-pass", "tls-client-cert-file",
		"tls-client-key-file", "tls-client-key-file-pass", "tls-dh-params-file", "tls-ca-cert-file",
		"tls-ca-cert-dir", "tls-protocols", "tls-ciphers", "tls-ciphersuites"} {
		d := text(name, "", 0, noTLS)
		if name == "tls-key-file-pass" || name == "tls-client-key-file-pass" {
			d.Flags = Sensitive
		}
		ds = append(ds, d)
	}
	return ds
}

func observeTable() []*Directive {
	notify := listRules{parse: parseNotify, num: notifyNum, single: true, asSaid: true}
	return []*Directive{
		number("slowlog-log-slower-than", "10000", -1, maxInt64, 0, ""),
		number("slowlog-max-len", "128", 0, maxInt64, 0, ""),
		number("latency-monitor-threshold", "0", 0, maxInt64, 0, ""),
		yesNo("latency-tracking", true, 0, ""),
		list("latency-tracking-info-percentiles", "50 99 99.9", listRules{parse: parsePercentiles}, 0, ""),
		list("notify-keyspace-events", "", notify, 0, ""),
		number("busy-reply-threshold", "5000", 0, maxInt64, 0, noScripts).also("lua-time-limit"),
		number("watchdog-period", "0", 0, maxInt32, Hidden, "there is no watchdog signal").clamped(clampWatchdog),
	}
}

func debugTable() []*Directive {
	return []*Directive{
		yesNo("lua-replicate-commands", true, KeyDB, noScripts),
		yesNo("lua-enable-deprecated-api", false, Immutable|Hidden, noScripts),
		text("version-override", "", KeyDB|Hidden, "INFO tells the true versions"),
		yesNo("testmode", false, KeyDB|Hidden, "for KeyDB's own tests"),
		yesNo("rdbfuzz-mode", false, KeyDB|Hidden, "for KeyDB's own tests"),
	}
}

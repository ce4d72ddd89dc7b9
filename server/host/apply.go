package host

import (
	"errors"
	"slices"
	"strconv"

	"heddle/config"
	"heddle/db"
	"heddle/server"
	"heddle/server/dispatch"
	"heddle/server/log"
	"heddle/server/persist"
	"heddle/server/process"
	"heddle/server/pubsub"
)

// NetworkSettings are what a configuration means to the network part.
func NetworkSettings(c *config.Store) server.Settings {
	s := server.Settings{
		MaxClients: int(c.Int("maxclients")), Reserved: int(c.Int("maxclients-reserved")), Timeout: int(c.Int("timeout")), KeepAlive: int(c.Int("tcp-keepalive")),
		ProtectedMode: c.Bool("protected-mode"), MaxBulk: int(c.Int("proto-max-bulk-len")),
		QueryLimit: c.Int("client-query-buffer-limit"), MaxMemoryClients: clientMemory(c),
		UnixPerm: uint32(c.Int("unixsocketperm")),
		Balance:  c.Bool("active-client-balancing"), MinClientsPerThread: int(c.Int("min-clients-per-thread")),
	}
	limits := c.OutputLimits()
	for from, to := range map[int]dispatch.Class{
		config.ClassNormal: dispatch.ClassNormal, config.ClassReplica: dispatch.ClassReplica, config.ClassPubSub: dispatch.ClassPubSub,
	} {
		l := limits[from]
		s.Output[to] = server.OutputLimit{Hard: l.Hard, Soft: l.Soft, SoftSeconds: int(l.SoftSeconds)}
	}
	return s
}

// clientMemory is maxmemory-clients in bytes: a negative number is a percentage
// of maxmemory.
func clientMemory(c *config.Store) int64 {
	n := c.Int("maxmemory-clients")
	if n >= 0 {
		return n
	}
	limit := c.Bytes("maxmemory")
	return limit / 100 * -n
}

// EngineSettings are what a configuration means to dispatch.
func EngineSettings(c *config.Store) dispatch.Settings {
	s := dispatch.Settings{RequirePass: c.String("requirepass"), Notify: notifyMask(c.Int("notify-keyspace-events"))}
	if c.Int("min-replicas-max-lag") > 0 {
		s.MinReplicas = c.Int("min-replicas-to-write")
	}
	return s
}

// notifyLetters are the letters of notify-keyspace-events.
var notifyLetters = map[byte]uint32{
	'K': pubsub.Keyspace, 'E': pubsub.Keyevent,
	'g': uint32(db.ClassGeneric), '$': uint32(db.ClassString), 'l': uint32(db.ClassList), 's': uint32(db.ClassSet),
	'h': uint32(db.ClassHash), 'z': uint32(db.ClassZSet), 'x': uint32(db.ClassExpired), 'e': uint32(db.ClassEvicted),
	't': uint32(db.ClassStream), 'm': uint32(db.ClassMiss), 'n': uint32(db.ClassNew), 'd': uint32(db.ClassModule),
}

// notifyMask translates the number of notify-keyspace-events.
func notifyMask(bits int64) (mask uint32) {
	for letter, m := range notifyLetters {
		if bits&config.NotifyBit(letter) != 0 {
			mask |= m
		}
	}
	return mask
}

// KeyspaceSettings are what a configuration means to the keyspace.
func KeyspaceSettings(c *config.Store) db.Settings {
	s := *db.DefaultSettings()
	s.MaxMemory = c.Bytes("maxmemory")
	s.Policy, _ = db.ParsePolicy(c.String("maxmemory-policy"))
	s.Samples = int(c.Int("maxmemory-samples"))
	s.LFULogFactor, s.LFUDecayTime = int(c.Int("lfu-log-factor")), int(c.Int("lfu-decay-time"))
	s.Limits = collectionLimits(c)
	return s
}

// limitDirectives are those that collectionLimits reads.
var limitDirectives = [...]string{"hash-max-listpack-entries", "hash-max-listpack-value", "list-max-listpack-size", "list-compress-depth",
	"set-max-intset-entries", "set-max-listpack-entries", "set-max-listpack-value", "zset-max-listpack-entries", "zset-max-listpack-value",
	"hll-sparse-max-bytes", "stream-node-max-bytes", "stream-node-max-entries", "heddle-rdb-version", "rdbcompression"}

// collectionLimits are what a configuration says of the encodings of collections.
func collectionLimits(c *config.Store) db.Limits {
	return db.Limits{
		HashEntries: c.Int("hash-max-listpack-entries"), HashValue: c.Int("hash-max-listpack-value"),
		ListSize: c.Int("list-max-listpack-size"), ListDepth: c.Int("list-compress-depth"),
		SetIntset: c.Int("set-max-intset-entries"), SetEntries: c.Int("set-max-listpack-entries"), SetValue: c.Int("set-max-listpack-value"),
		ZSetEntries: c.Int("zset-max-listpack-entries"), ZSetValue: c.Int("zset-max-listpack-value"),
		HLLSparseBytes:  c.Int("hll-sparse-max-bytes"),
		StreamNodeBytes: c.Int("stream-node-max-bytes"), StreamNodeEntries: c.Int("stream-node-max-entries"),
		DumpVersion: persist.RDBVersion(c), DumpCompress: c.Bool("rdbcompression"),
	}
}

func (h *Host) applyKeyspace() {
	s := KeyspaceSettings(h.Config)
	h.Keyspace.ChangeSettings(func(now *db.Settings) {
		// What DEBUG set stays.
		s.KeepExpired, s.Limits.QuicklistPackedThreshold = now.KeepExpired, now.Limits.QuicklistPackedThreshold
		s.Limits.SkipChecksum = now.Limits.SkipChecksum
		*now = s
	})
	if used := h.Keyspace.Used(); s.MaxMemory > 0 && used > s.MaxMemory {
		h.Parts.Log.Warningf("WARNING: the new maxmemory value set via CONFIG SET (%d) is smaller than the current memory usage (%d). "+
			"This will result in key eviction and/or the inability to accept new write commands depending on the maxmemory-policy.", s.MaxMemory, used)
	}
}

func (h *Host) applyLimits() {
	limits := collectionLimits(h.Config)
	h.Keyspace.ChangeSettings(func(now *db.Settings) {
		limits.QuicklistPackedThreshold, limits.SkipChecksum = now.Limits.QuicklistPackedThreshold, now.Limits.SkipChecksum
		now.Limits = limits
	})
}

func (h *Host) applyStats() {
	st := h.Engine.Stats()
	st.Slowlog.SetThreshold(h.Config.Int("slowlog-log-slower-than"))
	st.Slowlog.SetMaxLen(h.Config.Int("slowlog-max-len"))
	st.Latency.SetThreshold(h.Config.Int("latency-monitor-threshold"))
	st.SetTracking(h.Config.Bool("latency-tracking"))
}

func (h *Host) applyLogLevel() { h.Parts.Log.SetLevel(log.Level(h.Config.Int("loglevel"))) }

var errOOM = errors.New("Failed to apply new oom_score_adj configuration, check server logs.")

func (h *Host) applyOOM() error {
	value, _ := strconv.Atoi(h.Config.Words("oom-score-adj-values")[0])
	if err := h.OOM.Apply(process.OOMMode(h.Config.Int("oom-score-adj")), value); err != nil {
		h.Parts.Log.Warningf("Unable to write oom_score_adj: %v", err)
		return errOOM
	}
	return nil
}

func (h *Host) applyTitle() {
	if h.Title == nil {
		return
	}
	title, err := config.ExpandTitle(h.Config.String("proc-title-template"), h.titleWord)
	if err == nil {
		h.Title(title)
	}
}

func (h *Host) titleWord(name string) string {
	switch name {
	case "title":
		return h.Build.Name
	case "listen-addr":
		return h.listenAddress()
	case "port", "tls-port":
		return strconv.FormatInt(h.Config.Int(name), 10)
	case "unixsocket":
		return h.Config.String(name)
	case "config-file":
		return h.Config.Path()
	}
	return "" // server-mode: nothing for a server on its own
}

// portState remembers what is listened on, to tell what a CONFIG SET changed.
type portState struct {
	bind []string
	port int64
}

func (h *Host) portNow() portState {
	return portState{slices.Clone(h.Config.Words("bind")), h.Config.Int("port")}
}

var (
	errBind   = errors.New("Failed to bind to specified addresses.")
	errListen = errors.New("Unable to listen on this port. Check server logs.")
)

// applyListen listens on other addresses. Called with what is listened on
// already, because a CONFIG SET was taken back, it does nothing.
func (h *Host) applyListen() error {
	now := h.portNow()
	if now.port == h.port.port && slices.Equal(now.bind, h.port.bind) {
		return nil
	}
	err := h.Network.Rebind(now.bind, int(now.port))
	switch {
	case err != nil && now.port != h.port.port:
		return errListen
	case err != nil:
		return errBind
	}
	h.port = now
	h.applyTitle()
	return nil
}

// ReservedFiles is how many descriptors a configuration needs beside clients.
func ReservedFiles(c *config.Store) int64 {
	return process.FilesReserved(int(c.Int("server-threads")), len(c.Words("bind")))
}

// applyClients makes room for more open files.
func (h *Host) applyClients() error {
	want := h.Config.Int("maxclients")
	allowed, lines, err := process.RaiseFiles(want, ReservedFiles(h.Config))
	if err != nil || allowed < want {
		for _, l := range lines {
			h.Log(l)
		}
		return errors.New("The operating system is not able to handle the specified number of clients, try with " + strconv.FormatInt(allowed, 10))
	}
	h.applyNetwork()
	return nil
}

// refuseTLS answers as Redis does when TLS cannot be set up: a client must not
// believe in a protection that is not there.
func (h *Host) refuseTLS() error {
	for _, name := range []string{"tls-port", "tls-cluster", "tls-replication"} {
		if h.Config.Int(name) != 0 {
			h.Log("TLS is not available in this server")
			return errors.New("Unable to update TLS configuration. Check server logs.")
		}
	}
	return nil
}

func (h *Host) applyNetwork() {
	h.Network.Configure(func(s *server.Settings) { *s = NetworkSettings(h.Config) })
}

// follow applies the configuration now and whenever it changes. The network's
// part was applied when the network was made.
func (h *Host) follow() {
	c := h.Config
	h.port = h.portNow()
	h.applyStats()
	h.applyTitle()
	// What went wrong is in the log; the server can do without.
	_ = h.applyOOM()
	c.OnApply(h.applyListen, "bind", "port")
	c.OnApply(h.applyClients, "maxclients")
	c.OnApply(h.refuseTLS, "tls-port", "tls-cluster", "tls-replication")
	c.OnApply(h.applyOOM, "oom-score-adj", "oom-score-adj-values")
	c.OnChange(h.applyNetwork, "maxclients-reserved", "timeout", "tcp-keepalive", "protected-mode", "proto-max-bulk-len", "client-query-buffer-limit",
		"maxmemory-clients", "maxmemory", "client-output-buffer-limit", "active-client-balancing", "min-clients-per-thread")
	c.OnChange(h.applyKeyspace, "maxmemory", "maxmemory-policy", "maxmemory-samples", "lfu-log-factor", "lfu-decay-time")
	c.OnChange(h.applyLimits, limitDirectives[:]...)
	c.OnChange(func() {
		h.Engine.Configure(func(s *dispatch.Settings) { *s = EngineSettings(c) })
	}, "requirepass", "min-replicas-to-write", "min-replicas-max-lag", "notify-keyspace-events")
	c.OnChange(h.applyStats, "slowlog-log-slower-than", "slowlog-max-len", "latency-monitor-threshold", "latency-tracking")
	c.OnChange(h.applyLogLevel, "loglevel")
	c.OnChange(h.applyTitle, "proc-title-template")
	c.OnApply(func() error { return h.Keeper.SetAppendOnly(c.Bool("appendonly"), c.Held()) }, "appendonly")
	c.OnChange(h.Keeper.SetSync, "appendfsync", "aof-timestamp-enabled", "no-appendfsync-on-rewrite")
	c.OnChange(func() { h.Keeper.SetHistory(c.Held()) }, "aof-disable-auto-gc")
	c.Slow("dir", "appendonly", "aof-disable-auto-gc")
	c.OnChange(h.Keeper.Review, "save", "stop-writes-on-bgsave-error")
}

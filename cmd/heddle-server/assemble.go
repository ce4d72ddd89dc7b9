package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/db/arena"
	"heddle/disk"
	"heddle/replication/oplog"
	"heddle/server"
	"heddle/server/command"
	"heddle/server/command/all"
	"heddle/server/command/connection"
	"heddle/server/command/docs"
	"heddle/server/command/generic"
	admin "heddle/server/command/server"
	"heddle/server/dispatch"
	"heddle/server/host"
	"heddle/server/log"
	"heddle/server/pace"
	"heddle/server/persist"
	"heddle/server/process"
	"heddle/server/stats"
)

// hugePages is from how much memory on the keyspace asks for huge pages: less
// would be rounded up by too much.
const hugePages = 64 << 20

// assemble builds all parts in their order: memory, commands, dispatch, network,
// and the host around them. It listens. An error without text has been logged.
func assemble(c *config.Store, l *log.Logger, supervisor process.Supervisor, background bool, until int64) (*host.Host, error) {
	signals := process.CatchSignals()
	oom, err := prepare(c, l)
	if err != nil {
		return nil, err
	}
	settings := host.KeyspaceSettings(c)
	start := time.Now()
	keys, err := db.Open(db.Options{
		Mono:      func() int64 { return int64(time.Since(start)) },
		Databases: int(c.Int("databases")), Settings: &settings, Arena: arena.Options{HugePages: hugePages},
	})
	if err != nil {
		return nil, fmt.Errorf("Can't reserve memory: %w", err)
	}
	h := host.New()
	effects := oplog.New(oplog.Options{Account: keys.AddOverhead})
	engine, err := newEngine(c, l, keys, effects, h)
	if err != nil {
		return nil, err
	}
	engine.SetLoading(true) // nobody is served before the data is there
	pacer := pace.New()
	keys.Pace(pacer)
	network, err := listen(c, l, engine, pacer)
	if err != nil {
		return nil, err
	}
	showLogo(c, l)
	h.Join(host.Parts{
		Config: c, Log: l, Keyspace: keys, Engine: engine, Network: network, Build: build(),
		Keeper: persist.New(persist.Options{
			FS: disk.OS(), Config: c, Log: l, Keyspace: keys, Engine: engine, Oplog: effects, Hold: h.Hold, RecoverUntil: until,
		}),
		Supervisor: supervisor, Signals: signals, OOM: oom, Title: titler(c, l), PidFile: pidFile(c, l, background), Exit: os.Exit,
	})
	sayReady(c, l, h)
	return h, nil
}

// prepare sets up the process: descriptors, CPUs, threads.
//
// Package host sets the pace of the collector by what large
// collections need, unless GOGC does. Other data lies outside of its heap, and serving
// commands allocates nothing, so that without them it has some 3 MB to mark and runs
// once in minutes. A memory limit (GOMEMLIMIT) would count only that heap; maxmemory
// counts what matters.
func prepare(c *config.Store, l *log.Logger) (*process.OOMScore, error) {
	allowed, lines, err := process.RaiseFiles(c.Int("maxclients"), host.ReservedFiles(c))
	for _, line := range lines {
		l.Warningf("%s", line)
	}
	if err != nil {
		return nil, errors.New("")
	}
	if allowed < c.Int("maxclients") {
		if err := c.Set([]config.Pair{{Name: "maxclients", Value: strconv.FormatInt(allowed, 10)}}, config.SetOptions{}); err != nil {
			return nil, err
		}
	}
	if list := c.String("server_cpulist"); list != "" {
		cpus, err := process.ParseCPUs(list)
		if err == nil {
			err = process.UseCPUs(cpus)
		}
		if err != nil {
			l.Warningf("Failed to bind the server to the CPUs %s: %v", list, err)
		}
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(process.Procs(int(c.Int("server-threads"))))
	}
	return process.NewOOMScore(), nil
}

// newEngine builds the command table and dispatch.
func newEngine(c *config.Store, l *log.Logger, keys *db.Keyspace, effects *oplog.Log, h *host.Host) (*dispatch.Engine, error) {
	var table *command.Table
	deps := all.Deps{
		MaxBulk:    c.IntVar("proto-max-bulk-len").Load,
		Connection: connection.Deps{Version: config.RedisVersion, Databases: keys.Databases()},
		Generic:    generic.Deps{Mover: h.Migrate, Verbose: func(line string) { l.Log(log.Verbose, line) }},
		Server:     admin.Deps{Table: func() *command.Table { return table }, Docs: docs.New(), Config: c, Server: h},
	}
	// The statistics need to know how many commands there are, and some
	// commands the statistics: so the table is built once only to be counted.
	counted, err := command.NewTable(all.Families(deps)...)
	if err != nil {
		return nil, fmt.Errorf("BUG: %w", err)
	}
	deps.Server.Stats = stats.New(len(counted.All()))
	families := all.Families(deps)
	for _, r := range c.Renames() {
		if err := command.Rename(families, r.From, r.To); err != nil {
			r.At.Reason = err.Error()
			return nil, &r.At
		}
	}
	if table, err = command.NewTable(families...); err != nil {
		return nil, fmt.Errorf("BUG: %w", err)
	}
	return dispatch.New(dispatch.Options{
		Table: table, Keyspace: keys, Oplog: effects, Stats: deps.Server.Stats, Settings: host.EngineSettings(c), Log: func(line string) { l.Log(log.Warning, line) },
	}), nil
}

// listen makes the network part and opens its sockets.
func listen(c *config.Store, l *log.Logger, engine *dispatch.Engine, pacer *pace.Pacer) (*server.Server, error) {
	if c.Int("port") == 0 && c.String("unixsocket") == "" || len(c.Words("bind")) == 0 && c.String("unixsocket") == "" {
		return nil, errors.New("Configured to not listen anywhere, exiting.")
	}
	network, err := server.New(server.Options{
		Engine: engine, Pacer: pacer, Settings: host.NetworkSettings(c),
		Workers: int(c.Int("server-threads")), Affinity: int(c.Int("server-thread-affinity")),
		Bind: c.Words("bind"), Port: int(c.Int("port")), Backlog: int(c.Int("tcp-backlog")), Mark: uint32(c.Int("socket-mark-id")), Unix: c.String("unixsocket"),
		Log:  func(v server.Level, text string) { l.Log(log.Level(v), text) },
		Logs: func(v server.Level) bool { return l.Enabled(log.Level(v)) },
	})
	if err != nil {
		return nil, err
	}
	if err := network.Listen(); err != nil {
		network.Close()
		if errors.Is(err, server.ErrUnix) {
			return nil, errors.New("Failed opening the Unix socket, aborting.")
		}
		return nil, fmt.Errorf("Failed listening on port %d (TCP), aborting.", c.Int("port"))
	}
	if network.Listening() == 0 {
		network.Close()
		return nil, errors.New("Configured to not listen anywhere, exiting.")
	}
	return network, nil
}

// titler returns what sets the process' title, nil if that is not wanted.
func titler(c *config.Store, l *log.Logger) func(string) {
	if !c.Bool("set-proc-title") {
		return nil
	}
	place, err := process.FindTitle()
	if err != nil {
		l.Debugf("No title in the list of processes: %v", err)
		return nil
	}
	return func(title string) {
		if err := place.Set(title); err != nil {
			l.Debugf("Setting the title in the list of processes: %v", err)
		}
	}
}

// pidFile writes the pid file, where one is wanted, and returns its path.
func pidFile(c *config.Store, l *log.Logger, background bool) string {
	path := c.String("pidfile")
	if path == "" && background {
		path = "/var/run/redis.pid"
	}
	if path == "" {
		return ""
	}
	path, err := filepath.Abs(path) // the working directory may change
	if err == nil {
		err = process.WritePidFile(path)
	}
	if err != nil {
		l.Noticef("Failed to write PID file: %s", config.SysText(err))
		return ""
	}
	return path
}

// sayReady tells what the server is made of.
func sayReady(c *config.Store, l *log.Logger, h *host.Host) {
	l.Warningf("Server initialized")
	for _, check := range process.CheckSystem(c.Int("tcp-backlog")) {
		if check.Warn != "" {
			l.Warningf("WARNING: %s", check.Warn)
		}
	}
	l.Noticef("%d workers, %d databases in %d shards, %d commands; memory limit %s", h.Network.Workers(),
		h.Keyspace.Databases(), h.Keyspace.Shards(), len(h.Engine.Table().Commands()), limitText(c))
	for _, where := range h.Network.Addresses() {
		l.Noticef("Listening on %s", where)
	}
}

func limitText(c *config.Store) string {
	if c.Bytes("maxmemory") == 0 {
		return "none"
	}
	return c.String("maxmemory") + " bytes, " + c.String("maxmemory-policy")
}

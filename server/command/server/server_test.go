package admin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heddle/config"
	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/docs"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	admin "heddle/server/command/server"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/stats"
)

// fake stands in for the process.
type fake struct {
	facts    admin.Facts
	log      []string
	shutdown []admin.ShutdownOptions
	refuse   bool // everything that may be refused
	points   bool // save points are set
	stopping bool
	slept    int64
	calls    []string
}

func (f *fake) Facts(out *admin.Facts, _ bool)    { *out = f.facts }
func (f *fake) Micros() int64                     { return 1_700_000_000_123_456 }
func (f *fake) Sleep(micros int64)                { f.slept += micros }
func (f *fake) Log(line string)                   { f.log = append(f.log, line) }
func (f *fake) AbortShutdown() bool               { return f.stopping }
func (f *fake) Purge(bool)                        { f.calls = append(f.calls, "purge") }
func (f *fake) MemoryReport(bool) string          { return "a report\n" }
func (f *fake) TableReport(db int, _ bool) string { return "tables\n" }
func (f *fake) ResetStats(bool)                   { f.calls = append(f.calls, "reset") }
func (f *fake) SetPackedThreshold(n int64)        { f.calls = append(f.calls, fmt.Sprint("packed ", n)) }
func (f *fake) ChangeReplicationID()              { f.calls = append(f.calls, "replid") }
func (f *fake) Crash(reason string)               { f.calls = append(f.calls, reason) }

func (f *fake) SetActiveExpire(on bool) { f.note("active-expire", on) }
func (f *fake) PauseCron(on bool)       { f.note("pause-cron", on) }

func (f *fake) note(what string, on bool) {
	if on {
		what += " on"
	}
	f.calls = append(f.calls, what)
}

func (f *fake) Shutdown(o admin.ShutdownOptions) error {
	f.shutdown = append(f.shutdown, o)
	if f.refuse {
		return errors.New("the disk is full")
	}
	return nil
}

func (f *fake) Loading() bool { return f.facts.Persistence.Loading }

func (f *fake) LastSave() int64 { return f.facts.Persistence.LastSave }

func (f *fake) Save() error {
	f.calls = append(f.calls, "save")
	return f.failure()
}

func (f *fake) BGSave(schedule, held bool) (string, error) {
	f.calls = append(f.calls, fmt.Sprintf("bgsave schedule=%v held=%v", schedule, held))
	return "Background saving started", f.failure()
}

func (f *fake) BGRewriteAOF(held bool) (string, error) {
	f.calls = append(f.calls, fmt.Sprintf("bgrewriteaof held=%v", held))
	return "Background append only file rewriting started", f.failure()
}

func (f *fake) Flushed(held bool) func() {
	f.calls = append(f.calls, fmt.Sprintf("flushed held=%v", held))
	if !f.points || held {
		return nil
	}
	return func() { f.calls = append(f.calls, "saved") }
}

func (f *fake) Backup(dir string, _ bool) (admin.BackupFacts, error) {
	f.calls = append(f.calls, "backup "+dir)
	return admin.BackupFacts{Dir: "/data/" + dir, Files: []string{"dump.rdb"}, Keys: 3, Bytes: 100, Millis: 7}, f.failure()
}

func (f *fake) Reload(o admin.ReloadOptions) error {
	f.calls = append(f.calls, fmt.Sprintf("reload %+v", o))
	return f.failure()
}

func (f *fake) LoadAOF() error {
	f.calls = append(f.calls, "loadaof")
	return f.failure()
}

func (f *fake) SetSkipChecksum(skip bool) { f.note("skip-checksum", skip) }

func (f *fake) SetFlushSleep(micros int64) {
	f.calls = append(f.calls, fmt.Sprint("flush sleep ", micros))
}

func (f *fake) failure() error {
	if f.refuse {
		return errors.New("the disk is full")
	}
	return nil
}

// world is what a test of the family needs.
type world struct {
	fake     *fake
	config   *config.Store
	stats    *stats.Stats
	families []command.Family
}

func newWorld() *world {
	w := &world{fake: &fake{}, config: config.New(config.Dirs{}), stats: stats.New(500)}
	w.fake.facts.Server.Version = config.RedisVersion
	if err := w.config.Load(config.Source{Options: "enable-debug-command yes\n"}); err != nil {
		panic(err)
	}
	var table *command.Table
	limit := func() int64 { return 512 << 20 }
	deps := admin.Deps{
		Table: func() *command.Table { return table }, Docs: docs.New(), Config: w.config, Stats: w.stats, Server: w.fake,
	}
	w.families = []command.Family{
		admin.Family(deps), generic.Family(), str.Family(limit), bitmap.Family(limit), transactions.Family(),
		lists.Family(), hashes.Family(), sets.Family(), sortedset.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}),
	}
	// The table that COMMAND looks at is one of its own: equal to the engine's.
	twin := newTwin(deps, limit)
	table = twin
	return w
}

func newTwin(deps admin.Deps, limit func() int64) *command.Table {
	table, err := command.NewTable(admin.Family(deps), generic.Family(), str.Family(limit), bitmap.Family(limit), transactions.Family(),
		lists.Family(), hashes.Family(), sets.Family(), sortedset.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}))
	if err != nil {
		panic(err)
	}
	return table
}

func TestFiles(t *testing.T) {
	cmdtest.Files(t, "testdata/*.txt", func() []command.Family { return newWorld().families })
}

func TestShutdown(t *testing.T) {
	f := func(cmd string, want admin.ShutdownOptions) {
		t.Helper()
		w := newWorld()
		e := cmdtest.New(t, w.families...)
		e.Do(cmd)
		if len(w.fake.shutdown) != 1 || w.fake.shutdown[0] != want {
			t.Errorf("%s: %+v", cmd, w.fake.shutdown)
		}
	}
	f("shutdown", admin.ShutdownOptions{})
	f("shutdown nosave now", admin.ShutdownOptions{NoSave: true, Now: true})
	f("SHUTDOWN SAVE FORCE", admin.ShutdownOptions{Save: true, Force: true})
	f("shutdown soft", admin.ShutdownOptions{Soft: true})

	w := newWorld()
	w.fake.refuse = true
	e := cmdtest.New(t, w.families...)
	e.Do("shutdown").Want("-ERR Errors trying to SHUTDOWN. Check logs.\r\n")
	w.fake.stopping = true
	e.Do("shutdown abort").Want("+OK\r\n")
}

func TestPersistence(t *testing.T) {
	w := newWorld()
	w.fake.facts.Persistence.LastSave = 1_700_000_000
	e := cmdtest.New(t, w.families...)
	e.Do("save").Want("+OK\r\n")
	e.Do("bgsave").Want("+Background saving started\r\n")
	e.Do("bgsave Schedule").Want("+Background saving started\r\n")
	e.Do("bgsave foo").Want("-ERR syntax error\r\n")
	e.Do("bgsave schedule x").Want("-ERR syntax error\r\n")
	e.Do("bgrewriteaof").Want("+Background append only file rewriting started\r\n")
	e.Do("lastsave").Want(":1700000000\r\n")
	e.Do("debug reload").Want("+OK\r\n")
	e.Do("debug reload noflush MERGE nosave").Want("+OK\r\n")
	e.Do("debug reload foo").Want("-ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.\r\n")
	e.Do("debug loadaof").Want("+OK\r\n")
	e.Do("flushall").Want("+OK\r\n")
	w.fake.points = true
	e.Do("flushall async").Want("+OK\r\n")
	e.Do("flushdb").Want("+OK\r\n")
	e.Do("heddle.backup b").Want("*10\r\n$6\r\nfolder\r\n$7\r\n/data/b\r\n$5\r\nfiles\r\n*1\r\n$8\r\ndump.rdb\r\n" +
		"$4\r\nkeys\r\n:3\r\n$5\r\nbytes\r\n:100\r\n$12\r\nmilliseconds\r\n:7\r\n")
	e.Do("multi").Want("+OK\r\n")
	for _, cmd := range []string{"bgsave", "bgrewriteaof", "flushall", "debug reload"} {
		e.Do(cmd).Want("+QUEUED\r\n")
	}
	e.Do("exec").Want("*4\r\n+Background saving started\r\n+Background append only file rewriting started\r\n+OK\r\n" +
		"-ERR DEBUG RELOAD and DEBUG LOADAOF are not possible inside a transaction\r\n")
	want := "save|bgsave schedule=false held=false|bgsave schedule=true held=false|bgrewriteaof held=false|" +
		"reload {NoSave:false NoFlush:false Merge:false}|reload {NoSave:true NoFlush:true Merge:true}|loadaof|" +
		"flushed held=false|flushed held=false|saved|backup b|bgsave schedule=false held=true|bgrewriteaof held=true|flushed held=true"
	if got := strings.Join(w.fake.calls, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.fake.refuse = true
	for _, cmd := range []string{"save", "bgsave", "bgrewriteaof", "debug loadaof", "debug reload", "heddle.backup b"} {
		if got := e.Do(cmd).Raw(); got != "-ERR the disk is full\r\n" {
			t.Errorf("%s: %q", cmd, got)
		}
	}
}

// TestConfigWhileLoading refuses directives that say where the data is.
func TestConfigWhileLoading(t *testing.T) {
	w := newWorld()
	e := cmdtest.New(t, w.families...)
	e.Do("config set save '60 1'").OK()
	w.fake.facts.Persistence.Loading = true
	e.Do("config set save ''").WantError("LOADING Redis is loading the dataset in memory")
	e.Do("config set loglevel debug").OK()
	if v := w.config.String("save"); v != "60 1" {
		t.Errorf("save is %q", v)
	}
}

func TestInfo(t *testing.T) {
	w := newWorld()
	w.fake.facts.Databases = []admin.DatabaseFacts{{Index: 3, Keys: 7, Expires: 2, AvgTTL: 99}}
	w.fake.facts.Memory = admin.MemoryFacts{Used: 2 << 20, RSS: 4 << 20, Max: 3 << 30, Policy: "noeviction"}
	w.fake.facts.Server.Listeners = []admin.ListenerFacts{
		{Name: "tcp", Binds: []string{"127.0.0.1", "::1"}, Port: 6379}, {Name: "unix", Binds: []string{"/s"}},
	}
	e := cmdtest.New(t, w.families...)
	all := e.Do("info everything").Raw()
	for _, want := range []string{
		"redis_version:7.2.", "used_memory_human:2.00M", "mem_fragmentation_ratio:2.00", "maxmemory_human:3.00G",
		"listener0:name=tcp,bind=127.0.0.1,bind=::1,port=6379\r\n", "listener1:name=unix,bind=/s\r\n",
		"\r\n\r\n# Keyspace\r\ndb3:keys=7,expires=2,avg_ttl=99,cached_keys=7\r\n", "# Cron\r\n", "# KeyDB\r\nmvcc_depth:0",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("INFO everything lacks %q", want)
		}
	}
	if got := e.Do("info CLUSTER cluster").Raw(); got != "$30\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n" {
		t.Errorf("got %q", got)
	}
	if got := e.Do("info default").Raw(); strings.Contains(got, "Commandstats") || !strings.Contains(got, "Errorstats") {
		t.Error("INFO default shows the wrong sections")
	}
	e.RESP3().Do("info nosuch").Want("=4\r\ntxt:\r\n")
}

func TestDebugIsGuarded(t *testing.T) {
	w := newWorld()
	if err := w.config.Load(config.Source{Options: "enable-debug-command no\n"}); err != nil {
		t.Fatal(err)
	}
	got := cmdtest.New(t, w.families...).Do("debug sleep 0").Raw()
	if !strings.HasPrefix(got, "-ERR DEBUG command not allowed.") {
		t.Fatalf("got %q", got)
	}
}

func TestDebugReachesTheProcess(t *testing.T) {
	w := newWorld()
	e := cmdtest.New(t, w.families...)
	for _, cmd := range []string{
		"debug sleep 1.5", "debug set-active-expire 0", "debug set-active-expire 1", "debug pause-cron 1",
		"debug change-repl-id", "debug panic", "config resetstat", "memory purge", "debug log hello",
	} {
		e.Do(cmd).Want("+OK\r\n")
	}
	want := "active-expire,active-expire on,pause-cron on,replid,DEBUG PANIC,reset,purge"
	if got := strings.Join(w.fake.calls, ","); got != want || w.fake.slept != 1_500_000 {
		t.Errorf("got %s and %d us of sleep", got, w.fake.slept)
	}
	if len(w.fake.log) != 1 || w.fake.log[0] != "DEBUG LOG: hello" {
		t.Errorf("logged %q", w.fake.log)
	}
}

func TestReports(t *testing.T) {
	w := newWorld()
	e := cmdtest.New(t, w.families...)
	f := func(cmd, want string) {
		t.Helper()
		if got := e.Do(cmd).Raw(); !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", cmd, got, want)
		}
	}
	f("latency doctor", "switched off")
	w.stats.Latency.SetThreshold(100)
	f("latency doctor", "Nothing took 100 ms")
	w.stats.Latency.Add(stats.EventCommand, 1_699_999_990, 300e6)
	w.stats.Latency.Add(stats.EventCommand, 1_699_999_995, 500e6)
	f("latency doctor", "1. command: 2 spikes of 400 ms on average, the worst 500 ms.")
	f("latency graph command", "command - high 500 ms, low 300 ms (all time high 500 ms)\n")
	f("latency latest", "$7\r\ncommand\r\n:1699999995\r\n:500\r\n:500\r\n")
	f("latency history command", "*2\r\n*2\r\n:1699999990\r\n:300\r\n*2\r\n:1699999995\r\n:500\r\n")
	f("latency reset nosuch", ":0")
	f("latency reset", ":1")
	f("memory doctor", "Hi Sam")
	w.fake.facts.Memory = admin.MemoryFacts{Used: 100 << 20, Peak: 400 << 20, Max: 105 << 20, Policy: "allkeys-lru"}
	f("memory doctor", "Peak: once 4.00 times")
	f("memory doctor", "Near the limit: 95 % of maxmemory")
	f("memory malloc-stats", "a report")
	f("memory stats", "peak.allocated\r\n:419430400\r\n")
	f("lolwut", "Redis ver. 7.2.")
	f("lolwut version 2 10 3", "Heddle")
	f("lolwut version 1", "Redis ver. 7.2.")
	f("debug htstats 0", "tables")
	f("slowlog get", "*0")
}

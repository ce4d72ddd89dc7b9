// Package host is the process around the parts of the server: it applies the
// configuration to them, gives cron its tasks, knows what INFO tells of the
// whole, and stops everything in order. Commands of the server group see it as
// admin.Server.
package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"heddle/config"
	"heddle/cron"
	"heddle/db"
	"heddle/server"
	admin "heddle/server/command/server"
	"heddle/server/dispatch"
	"heddle/server/log"
	"heddle/server/migrate"
	"heddle/server/persist"
	"heddle/server/process"
)

// Build says which program this is.
type Build struct {
	Name   string // as it was called
	Commit string
	Dirty  bool
	ID     string
}

// Parts are what a Host holds together.
type Parts struct {
	Config   *config.Store
	Log      *log.Logger
	Keyspace *db.Keyspace
	Engine   *dispatch.Engine
	Network  *server.Server
	Keeper   *persist.Keeper
	Build    Build
	// Supervisor is told when the server is up and when it goes down.
	Supervisor process.Supervisor
	// Signals are those that ask the process to stop.
	Signals *process.Signals
	// OOM changes the process' out-of-memory score.
	OOM *process.OOMScore
	// Title, if not nil, sets the title in the list of processes.
	Title func(string)
	// PidFile is removed at the end; "" if there is none.
	PidFile string
	// Exit ends the process at once: os.Exit.
	Exit func(code int)
}

// Host is the running server as a whole. It is made before its parts, since the
// commands know it, and joins them when they are there.
type Host struct {
	Parts
	Cron *cron.Loop
	// Migrate sends keys to other servers.
	Migrate *migrate.Mover

	started time.Time
	startup int64 // memory used when nothing was stored
	runID   string
	replID  atomic.Pointer[string]
	peak    atomic.Int64
	paused  atomic.Bool // DEBUG PAUSE-CRON
	// signalled is what a signal asked for while cron was paused: Redis acts on
	// signals in its cron.
	signalled atomic.Pointer[stopRequest]
	port      portState

	compactAt   time.Time   // not before then; the compaction task's own
	compacting  atomic.Bool // the last run left something to do
	expireShort atomic.Int64

	// asked says that a signal asked for the end and nothing took that back yet.
	asked   atomic.Bool
	stop    chan stopRequest
	aborted chan struct{}

	mu    sync.Mutex
	over  overTime
	locks lockTime
	// peakKept is the most memory that snapshots alone ever needed.
	peakKept int64
}

// New returns a host without parts.
func New() *Host {
	h := &Host{Migrate: migrate.New(), started: time.Now(), runID: randomID(), stop: make(chan stopRequest, 4), aborted: make(chan struct{}, 1)}
	h.ChangeReplicationID()
	return h
}

// Join gives the host its parts, applies the configuration to them and follows
// its changes. Serve runs it.
func (h *Host) Join(p Parts) {
	h.Parts = p
	h.Cron = cron.New(cron.Options{
		Hz:       func() int { return int(p.Config.Int("hz")) },
		Dynamic:  func() bool { return p.Config.Bool("dynamic-hz") },
		Clients:  p.Network.Clients,
		Panicked: h.taskPanicked,
	})
	h.addTasks()
	// What the program itself needs counts, as it does in Redis.
	runtime.GC()
	p.Keyspace.AddOverhead(goHeap())
	h.startup = p.Keyspace.Used()
	h.follow()
}

func (h *Host) taskPanicked(task string, reason any, stack []byte) {
	h.Parts.Log.Warningf("BUG: task %s of cron panicked: %v\n%s", task, reason, stack)
}

// randomID is 40 hexadecimal digits.
func randomID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Loading reports whether a data set is being loaded.
func (h *Host) Loading() bool { return h.Engine.Loading() }

// Micros is the Unix time in microseconds.
func (h *Host) Micros() int64 { return time.Now().UnixMicro() }

// Sleep stops the calling goroutine.
func (h *Host) Sleep(micros int64) { time.Sleep(time.Duration(micros) * time.Microsecond) }

// Log writes a line at level warning.
func (h *Host) Log(line string) { h.Parts.Log.Log(log.Warning, line) }

// SetActiveExpire is DEBUG SET-ACTIVE-EXPIRE.
func (h *Host) SetActiveExpire(on bool) {
	h.Keyspace.ChangeSettings(func(s *db.Settings) { s.KeepExpired = !on })
}

// SetPackedThreshold is DEBUG QUICKLIST-PACKED-THRESHOLD.
func (h *Host) SetPackedThreshold(bytes int64) {
	h.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.QuicklistPackedThreshold = bytes })
}

// SetSkipChecksum is DEBUG SET-SKIP-CHECKSUM-VALIDATION.
func (h *Host) SetSkipChecksum(skip bool) {
	h.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.SkipChecksum = skip })
}

// PauseCron is DEBUG PAUSE-CRON: periodic work stops, but for what the server
// needs to stay alive. Signals wait until it goes on.
func (h *Host) PauseCron(paused bool) {
	h.paused.Store(paused)
	if r := h.signalled.Load(); !paused && r != nil && h.signalled.CompareAndSwap(r, nil) {
		h.request(*r)
	}
}

// ChangeReplicationID is DEBUG CHANGE-REPL-ID.
func (h *Host) ChangeReplicationID() {
	id := randomID()
	h.replID.Store(&id)
}

// Crash ends the process as a fault in the program would, from a goroutine
// where nothing recovers.
func (h *Host) Crash(reason string) {
	h.Log("Crashing on request: " + reason)
	h.reportCrash(reason)
	go func() { panic(reason) }()
	select {}
}

// reportCrash writes what all goroutines do to the log: where that is a file, the Go
// runtime's own report does not reach it.
func (h *Host) reportCrash(reason string) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	h.Parts.Log.Raw(fmt.Sprintf("\n\n=== BUG REPORT START ===\nHeddle %s, Redis %s: %s\n\n------ STACK TRACE ------\n%s\n=== BUG REPORT END ===\n",
		config.Version, config.RedisVersion, reason, stacks))
}

// ResetStats begins the counters anew that are not in package stats.
func (h *Host) ResetStats(held bool) {
	h.Keyspace.ResetStats(held)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over.total = 0
	h.expireShort.Store(0)
}

// stopRequest asks Serve to stop.
type stopRequest struct {
	soft bool // wait until the clients have left
	// ready says that the data is saved already, so far as it is to be.
	ready bool
	how   persist.StopOptions
}

// Shutdown makes the data durable and asks for the end; with Soft it returns at once.
func (h *Host) Shutdown(o admin.ShutdownOptions) error {
	r := stopRequest{soft: o.Soft, how: persist.StopOptions{Save: o.Save, NoSave: o.NoSave, Force: o.Force}}
	if !o.Soft {
		if err := h.prepare(r); err != nil {
			return err
		}
		r.ready = true
	}
	h.request(r)
	return nil
}

// prepare makes the data durable before the end. After an error the server goes on.
func (h *Host) prepare(r stopRequest) error {
	h.Parts.Log.Warningf("User requested shutdown...")
	err := h.Keeper.Stop(r.how)
	if err != nil {
		h.asked.Store(false)
		h.Parts.Log.Warningf("Errors trying to shut down the server. Check the logs for more information.")
	}
	return err
}

// AbortShutdown takes back a shutdown that waits, for clients to leave or for
// cron to go on.
func (h *Host) AbortShutdown() bool {
	if h.signalled.Swap(nil) != nil {
		h.asked.Store(false)
		h.Parts.Log.Noticef("Shutdown manually aborted.")
		return true
	}
	if !h.Network.Draining() {
		return false
	}
	select {
	case h.aborted <- struct{}{}:
	default:
	}
	return true
}

// request passes a request to Serve; when many wait, one more changes nothing.
func (h *Host) request(r stopRequest) {
	select {
	case h.stop <- r:
	default:
	}
}

// onSignal is what a signal to stop does.
func (h *Host) onSignal(name string) {
	if name == "SIGABRT" {
		h.reportCrash("crashed by signal: 6")
		process.Abort()
		return
	}
	if name == "SIGINT" && h.asked.Load() {
		h.Parts.Log.FromSignal("You insist... exiting now.")
		h.Keeper.Abandon()
		h.removePidFile()
		h.Exit(1)
		return
	}
	h.asked.Store(true)
	h.Parts.Log.FromSignal("Received " + name + " scheduling shutdown...")
	directive := "shutdown-on-sigterm"
	if name == "SIGINT" {
		directive = "shutdown-on-sigint"
	}
	r := stopRequest{soft: h.Config.Bool("soft-shutdown") && !h.Network.Draining(), how: stopOptions(h.Config.Int(directive))}
	if h.paused.Load() {
		h.signalled.Store(&r)
		return
	}
	h.request(r)
}

// Serve runs the server until it is asked to stop, and returns the process'
// exit code. The network listens already.
func (h *Host) Serve(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { h.Signals.Watch(ctx, h.onSignal) })
	wg.Go(func() { h.Cron.Run(ctx) })
	wg.Go(func() { keepHeap(ctx, h.Keyspace.Objects) })
	loaded := h.load()
	over, err := waitLoad(loaded)
	if over {
		loaded = nil
	}
	code := 1
	if err == nil {
		failed := make(chan error, 1)
		go func() { failed <- h.Network.Run() }()
		if over {
			h.announce()
		}
		code = h.wait(ctx, failed, loaded)
	} else {
		h.Network.Close()
	}
	h.Keeper.Close()
	cancel()
	wg.Wait()
	return code
}

// announce says that the server is up.
func (h *Host) announce() {
	if h.Config.Int("port") != 0 {
		h.Parts.Log.Noticef("Ready to accept connections")
	}
	if path := h.Config.String("unixsocket"); path != "" {
		h.Parts.Log.Noticef("The server is now ready to accept connections at %s", path)
	}
	if err := h.Supervisor.Ready(); err != nil {
		h.Parts.Log.Warningf("Telling the supervisor that the server is ready: %v", err)
	}
}

// wait waits for a request to stop, or a failure, and acts on it.
func (h *Host) wait(ctx context.Context, failed, loaded <-chan error) int {
	how := persist.StopOptions{}
	for {
		select {
		case err := <-loaded:
			if err != nil {
				h.Network.Close()
				return 1
			}
			loaded = nil
			h.announce()
		case err := <-failed:
			h.Parts.Log.Warningf("The network part ended: %v", err)
			return 1
		case <-ctx.Done():
			_ = h.prepare(stopRequest{how: how}) // whatever it says, there is no staying
			return h.shutdown(context.Background())
		case <-h.Network.Drained():
			if h.prepare(stopRequest{how: how}) == nil {
				return h.shutdown(ctx)
			}
			h.Network.Undrain()
		case <-h.aborted:
			h.asked.Store(false)
			h.Network.Undrain()
			h.Parts.Log.Noticef("Shutdown manually aborted.")
		case r := <-h.stop:
			how = r.how
			if !r.soft && (r.ready || h.prepare(r) == nil) {
				return h.shutdown(ctx)
			}
			if !r.soft {
				continue
			}
			h.Parts.Log.Warningf("Soft shutdown: waiting for %d clients to leave...", h.Network.Clients())
			h.Network.Drain()
		}
	}
}

// stopTime bounds how long clients get to take the replies that are left.
const stopTime = 5 * time.Second

func (h *Host) shutdown(ctx context.Context) int {
	if err := h.Supervisor.Stopping(); err != nil {
		h.Parts.Log.Warningf("Telling the supervisor that the server stops: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if h.Config.String("unixsocket") != "" {
		h.Parts.Log.Noticef("Removing the unix socket file.")
	}
	if err := h.Network.Shutdown(ctx); err != nil {
		h.Parts.Log.Warningf("Some clients did not take their replies: %v", err)
	}
	h.removePidFile()
	h.Parts.Log.Warningf("Redis is now ready to exit, bye bye...")
	return 0
}

func (h *Host) removePidFile() {
	if h.PidFile == "" {
		return
	}
	h.Parts.Log.Noticef("Removing the pid file.")
	if err := os.Remove(h.PidFile); err != nil {
		h.Parts.Log.Warningf("Removing the pid file: %v", err)
	}
}

// listenAddress is the first address, as the title shows it.
func (h *Host) listenAddress() string {
	port := h.Config.Int("port")
	if port == 0 {
		return h.Config.String("unixsocket")
	}
	bind := "*"
	if w := h.Config.Words("bind"); len(w) > 0 {
		bind = w[0]
	}
	return fmt.Sprintf("%s:%d", bind, port)
}

// Package dispatch runs commands: it is the one place that looks them up, lets
// them pass or refuses them, locks their keys, calls them and commits what they
// did.
//
// # The parts
//
// The Engine is what all connections share: the command table, the keyspace,
// settings, the registry of clients, waiters, monitors. An Executor belongs to
// one goroutine (a worker of the server has one) and owns everything that a
// command needs while it runs: a transaction, a call, a stats recorder, scratch
// memory. A Client is the state of one connection; only the goroutine of its
// Executor touches it, except for what other connections may see (CLIENT
// LIST), which it publishes.
//
// # The life of a command
//
// A worker hands RunBatch the commands of one turn, of many clients. The first
// pass looks each up, finds its keys and hashes them. The second runs them in
// order, while the memory of keys some commands ahead is fetched; that of
// commands with many keys was touched in the first. A single-key command of a
// client in no special state, on a server in no special state, takes the short
// way (run.go): lock, run, commit, unlock. Everything else passes the gates
// (gates.go), in the order in which Redis applies them: look up, arity,
// authentication, what MULTI refuses, memory, a disk that fails, missing
// replicas, subscription, loading; then the pause and the queue of MULTI.
//
// # Commands that wait
//
// A blocking command that finds nothing is parked (park.go) in the lines of its keys
// (lines.go). The executor whose command makes one of these keys ready runs it again
// before it gives the shards back (serve.go); the reply goes to the client's own
// goroutine by mail.
//
// # Time
//
// Reading the clock costs as much as a tenth of a GET. So the end of a command
// is the start of the next, and a run of up to sharedRun quick commands of the
// same kind shares one reading; its time is divided among them. Runs are not
// shared when the slow log or the latency monitor ask for durations that such
// a command might reach by itself.
//
// # Locks
//
// Shards ascending -> a parked command (parked.mu) -> oplog -> registries (monitors,
// clients) -> mailboxes (Conn.Post). Registries are leaf locks among themselves. The
// lines of those who wait for a key have no lock of their own: they belong under its
// shard's.
package dispatch

import (
	"sync"
	"sync/atomic"
	"time"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/pubsub"
	"heddle/server/stats"
)

// Options are the parts that an Engine joins.
type Options struct {
	Table    *command.Table
	Keyspace *db.Keyspace
	Stats    *stats.Stats // one is made if nil
	Oplog    Oplog        // nil: effects go nowhere
	Clock    Clock        // the system's if nil
	Settings Settings
	// Event is told of keyspace events, wanted by Settings.Notify or not; may be
	// nil. See db.Hooks.
	Event func(db int, class db.Class, event string, key []byte)
	// Log takes a line for the server's log at level warning; may be nil.
	Log func(line string)
}

// Settings are what may change while the server runs.
type Settings struct {
	// RequirePass is the default user's password; none if empty.
	RequirePass string
	// MinReplicas is how many replicas must be there for a write to be taken.
	MinReplicas int64
	// Notify is which keyspace events are published, and where; see
	// pubsub.Notifier.
	Notify uint32
}

// Clock tells the time. Its methods are called by many goroutines.
type Clock interface {
	// Wall is the Unix time in nanoseconds.
	Wall() int64
	// Mono is a time in nanoseconds that only ever grows.
	Mono() int64
	// AfterFunc calls fn after d in a goroutine of its own; stop cancels it.
	AfterFunc(d time.Duration, fn func()) (stop func())
}

// Engine is what all connections share.
type Engine struct {
	table *command.Table
	plans []plan        // by Spec ID
	exec  *command.Spec // EXEC, nil if the table has none
	ping  *command.Spec
	ks    *db.Keyspace
	stats *stats.Stats
	oplog Oplog
	ends  []shardEnd // by shard
	clock Clock
	log   func(string)

	settings atomic.Pointer[Settings]
	fault    atomic.Pointer[resp.Error]
	state    atomic.Uint32 // state bits: what keeps commands off the short way
	configMu sync.Mutex    // orders changes of settings

	busy atomic.Int32 // executors that have clients

	hub    *pubsub.Hub
	notify *pubsub.Notifier // keyspace events

	clients  Registry
	waiters  waiters
	pause    pause
	monitors monitors
	asides   sync.WaitGroup // commands that run aside

	asideTurns chan struct{} // taken by those that run
	workTurns  chan struct{} // and by those that work ahead of their locks

	gate replyGate
}

// The bits of Engine.state.
const (
	stateMonitor     = 1 << iota // somebody watches by MONITOR
	statePauseAll                // CLIENT PAUSE ALL
	statePauseWrites             // CLIENT PAUSE WRITE
	stateLoading                 // a data set is being loaded
	stateNoReplicas              // writes want more replicas than there are
	stateFault                   // writes are refused, see SetWriteFault
	stateHeld                    // HoldAll
)

// New builds an engine. It installs the keyspace's hooks: nobody may use the
// keyspace before.
func New(o Options) *Engine {
	e := &Engine{table: o.Table, ks: o.Keyspace, stats: o.Stats, oplog: o.Oplog, clock: o.Clock, log: o.Log}
	if e.stats == nil {
		e.stats = stats.New(len(o.Table.All()))
	}
	if e.clock == nil {
		e.clock = newSystemClock()
	}
	if e.log == nil {
		e.log = func(string) {}
	}
	e.hub = pubsub.NewHub(e.ks.AddOverhead)
	e.notify = e.hub.NewNotifier()
	e.plans, e.exec, e.ping = makePlans(o.Table), o.Table.Lookup([]byte("exec")), o.Table.Lookup([]byte("ping"))
	e.gate.durable.Store(GateOpen)
	e.ends = make([]shardEnd, e.ks.Shards())
	e.clients.open(e)
	e.waiters.open(e.ks)
	e.asideTurns, e.workTurns = make(chan struct{}, asidesAtOnce), make(chan struct{}, workersAtOnce)
	e.Configure(func(s *Settings) { *s = o.Settings })
	e.ks.SetHooks(db.Hooks{Event: e.events(o.Event), Awaiter: e, Expired: e.removed, Evicted: e.removed, MemberExpired: e.memberExpired})
	return e
}

// Oplog returns where effects go, nil if nowhere.
func (e *Engine) Oplog() Oplog { return e.oplog }

// Table returns the command table.
func (e *Engine) Table() *command.Table { return e.table }

// Keyspace returns the keyspace.
func (e *Engine) Keyspace() *db.Keyspace { return e.ks }

// Stats returns the statistics.
func (e *Engine) Stats() *stats.Stats { return e.stats }

// Clients returns the registry of all connections.
func (e *Engine) Clients() *Registry { return &e.clients }

// Settings returns the present settings, not to be changed.
func (e *Engine) Settings() *Settings { return e.settings.Load() }

// Configure changes settings: change gets a copy, which then replaces them.
func (e *Engine) Configure(change func(*Settings)) {
	e.configMu.Lock()
	defer e.configMu.Unlock()
	var s Settings
	if old := e.settings.Load(); old != nil {
		s = *old
	}
	change(&s)
	e.settings.Store(&s)
	e.setState(stateNoReplicas, s.MinReplicas > 0)
	e.notify.SetMask(s.Notify)
}

// events is who is told of keyspace events.
func (e *Engine) events(also func(int, db.Class, string, []byte)) func(int, db.Class, string, []byte) {
	if also == nil {
		return e.notify.Event
	}
	return func(database int, class db.Class, event string, key []byte) {
		also(database, class, event, key)
		e.notify.Event(database, class, event, key)
	}
}

// SetLoading says that a data set is being loaded, or no longer.
func (e *Engine) SetLoading(on bool) { e.setState(stateLoading, on) }

// Loading reports whether a data set is being loaded.
func (e *Engine) Loading() bool { return e.state.Load()&stateLoading != 0 }

// SetWriteFault has writes refused with a text, since they could not be kept: commands
// that write, EXEC of such, and PING, as in Redis. The empty text takes it back.
func (e *Engine) SetWriteFault(text resp.Error) {
	e.configMu.Lock()
	defer e.configMu.Unlock()
	e.fault.Store(&text)
	e.setState(stateFault, text != "")
}

// writeFault returns the text with which writes are refused, "" if they are not.
func (e *Engine) writeFault() resp.Error {
	if text := e.fault.Load(); text != nil {
		return *text
	}
	return ""
}

func (e *Engine) setState(bit uint32, on bool) {
	if on {
		e.state.Or(bit)
	} else {
		e.state.And(^bit)
	}
}

// systemClock is the Clock of a running server.
type systemClock struct{ base time.Time }

func newSystemClock() systemClock { return systemClock{time.Now()} }

func (c systemClock) Wall() int64 { return time.Now().UnixNano() }
func (c systemClock) Mono() int64 { return int64(time.Since(c.base)) }
func (c systemClock) AfterFunc(d time.Duration, fn func()) func() {
	t := time.AfterFunc(d, fn)
	return func() { t.Stop() }
}

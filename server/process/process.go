// Package process knows the process that serves: its memory, CPU time, identity
// and age. It collects the facts that INFO tells and carries out what SHUTDOWN,
// MEMORY PURGE and DEBUG ask of the process.
package process

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"heddle/config"
	"heddle/cron"
	"heddle/db"
	"heddle/server/command"
	admin "heddle/server/command/server"
	"heddle/server/stats"
)

// Options are the parts of the server that are looked at, and what to do where
// the process has to act. Functions may be nil.
type Options struct {
	Keyspace *db.Keyspace
	Stats    *stats.Stats
	Config   *config.Store
	Clients  Clients
	Cron     Cron
	// Workers returns the number of clients of each worker.
	Workers func() []int64
	// Listeners returns where clients may connect.
	Listeners func() []admin.ListenerFacts
	// Log writes a line at level warning.
	Log func(line string)
	// Shutdown and Abort are SHUTDOWN and SHUTDOWN ABORT.
	Shutdown func(admin.ShutdownOptions) error
	Abort    func() bool
	// PauseCron is DEBUG PAUSE-CRON.
	PauseCron func(paused bool)
}

// Clients are all connections.
type Clients interface {
	Len() int
	Blocked() int
	Each(fn func(*command.ClientInfo))
}

// Cron is the loop of periodic work.
type Cron interface {
	Stats() []cron.Stats
	HZ() int
}

// Process implements the Server of the server commands. Safe for concurrent
// use.
type Process struct {
	o       Options
	start   time.Time
	runID   string
	replID  atomic.Pointer[string]
	os      string
	program string
	startup int64 // used memory when nothing was stored yet

	peak    atomic.Int64
	waiting lockWait
}

// New looks at the process as it starts.
func New(o Options) *Process {
	p := &Process{o: o, start: time.Now(), runID: randomID(), os: systemName(), startup: o.Keyspace.Used()}
	id := randomID()
	p.replID.Store(&id)
	p.program, _ = os.Executable() // unknown then, which INFO shows as empty
	p.peak.Store(p.startup)
	return p
}

// RunID is the random name of this run.
func (p *Process) RunID() string { return p.runID }

// Sample measures what INFO tells per second, and the peak of memory. Cron
// calls it ten times a second.
func (p *Process) Sample(now time.Time) {
	p.o.Stats.Sample(now.UnixMilli())
	p.notePeak(p.o.Keyspace.Used())
	p.waiting.sample(now)
}

func (p *Process) notePeak(used int64) int64 {
	for {
		peak := p.peak.Load()
		if used <= peak || p.peak.CompareAndSwap(peak, used) {
			return max(peak, used)
		}
	}
}

// randomID returns 40 random hexadecimal digits.
func randomID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}

func systemName() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	text := func(b []byte) string { return unix.ByteSliceToString(b) }
	return strings.Join([]string{text(u.Sysname[:]), text(u.Release[:]), text(u.Machine[:])}, " ")
}

// Micros is the Unix time in microseconds.
func (p *Process) Micros() int64 { return time.Now().UnixMicro() }

// Sleep stops the calling goroutine.
func (p *Process) Sleep(micros int64) { time.Sleep(time.Duration(micros) * time.Microsecond) }

// Log writes a line to the server's log.
func (p *Process) Log(line string) {
	if p.o.Log != nil {
		p.o.Log(line)
	}
}

// Shutdown ends the process.
func (p *Process) Shutdown(o admin.ShutdownOptions) error {
	if p.o.Shutdown == nil {
		return nil
	}
	return p.o.Shutdown(o)
}

// AbortShutdown takes back a Shutdown that waits.
func (p *Process) AbortShutdown() bool { return p.o.Abort != nil && p.o.Abort() }

// ResetStats lets the keyspace's counters begin anew.
func (p *Process) ResetStats(held bool) { p.o.Keyspace.ResetStats(held) }

// SetActiveExpire switches the removal of dead keys that nobody asks for.
func (p *Process) SetActiveExpire(on bool) {
	p.o.Keyspace.ChangeSettings(func(s *db.Settings) { s.KeepExpired = !on })
}

// PauseCron stops periodic work, or lets it go on.
func (p *Process) PauseCron(paused bool) {
	if p.o.PauseCron != nil {
		p.o.PauseCron(paused)
	}
}

// ChangeReplicationID gives the history of this server a new name.
func (p *Process) ChangeReplicationID() {
	id := randomID()
	p.replID.Store(&id)
}

// Crash ends the process by a panic of a goroutine of its own, which nothing
// recovers.
func (p *Process) Crash(reason string) {
	p.Log(reason)
	go func() { panic(reason) }()
	select {} // the panic ends the wait
}

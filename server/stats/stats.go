// Package stats counts what the server does: commands, errors, bytes, slow
// calls, latency events.
//
// A worker writes into a Recorder of its own, which needs no lock and no atomic
// operation: calls go into a short list, everything else into plain counters.
// Once a batch Flush moves them, under a mutex that only a reader of the
// statistics ever fights for, into totals of that recorder. Readers add up the
// totals of all recorders. So counting costs a few nanoseconds a command, and
// workers never share a cache line for it.
package stats

import (
	"sync"
	"sync/atomic"
)

// Counters are what a recorder counts besides commands. Its owner adds to the
// fields as it likes; Flush publishes them.
type Counters struct {
	ConnectionsReceived int64 // accepted
	ConnectionsRejected int64 // over maxclients
	NetIn               int64 // bytes read from clients
	NetOut              int64 // bytes written to clients
	ReplIn              int64 // bytes read from replication links
	ReplOut             int64 // bytes written to replication links
	Reads               int64 // read calls that brought data
	Writes              int64 // write calls
	Cycles              int64 // turns of the event loop
	CycleNanos          int64 // time spent in turns, waiting not counted
	CommandNanos        int64 // time spent in commands
	ClientsEvicted      int64 // closed because of maxmemory-clients
	QueryLimitCloses    int64 // closed because of client-query-buffer-limit
	OutputLimitCloses   int64 // closed because of client-output-buffer-limit
	BufferShrinks       int64 // reply buffers made smaller
	BufferExpands       int64 // reply buffers made larger
	DeniedAuth          int64 // AUTH with a wrong password
	DeniedCommand       int64 // commands refused by ACL
	DeniedKey           int64 // keys refused by ACL
	DeniedChannel       int64 // channels refused by ACL
	UnexpectedErrors    int64 // error replies that a primary or AOF should never cause

	Commands     int64 // executed: counted by Command
	ErrorReplies int64 // counted by Error
}

func (c *Counters) add(o *Counters) {
	c.ConnectionsReceived += o.ConnectionsReceived
	c.ConnectionsRejected += o.ConnectionsRejected
	c.NetIn += o.NetIn
	c.NetOut += o.NetOut
	c.ReplIn += o.ReplIn
	c.ReplOut += o.ReplOut
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.Cycles += o.Cycles
	c.CycleNanos += o.CycleNanos
	c.CommandNanos += o.CommandNanos
	c.ClientsEvicted += o.ClientsEvicted
	c.QueryLimitCloses += o.QueryLimitCloses
	c.OutputLimitCloses += o.OutputLimitCloses
	c.BufferShrinks += o.BufferShrinks
	c.BufferExpands += o.BufferExpands
	c.DeniedAuth += o.DeniedAuth
	c.DeniedCommand += o.DeniedCommand
	c.DeniedKey += o.DeniedKey
	c.DeniedChannel += o.DeniedChannel
	c.UnexpectedErrors += o.UnexpectedErrors
	c.Commands += o.Commands
	c.ErrorReplies += o.ErrorReplies
}

// Stats are the statistics of one server. Safe for concurrent use.
type Stats struct {
	Slowlog Slowlog
	Latency Latency

	commands int
	tracking atomic.Bool
	rates    rates

	mu struct {
		sync.Mutex
		recorders []*Recorder
		retired   totals // of recorders that were closed
	}
}

// New returns statistics for a table of n commands, subcommands counted too.
func New(n int) *Stats {
	s := &Stats{commands: n}
	s.mu.retired = newTotals(n)
	s.tracking.Store(true)
	s.Slowlog.SetThreshold(10000)
	s.Slowlog.SetMaxLen(128)
	return s
}

// SetTracking switches latency histograms (latency-tracking).
func (s *Stats) SetTracking(on bool) {
	s.tracking.Store(on)
	if !on {
		s.each(func(t *totals) { t.dropHistograms() })
	}
}

// NewRecorder returns a recorder for one goroutine.
func (s *Stats) NewRecorder() *Recorder {
	r := &Recorder{stats: s}
	r.mu.totals = newTotals(s.commands)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.recorders = append(s.mu.recorders, r)
	return r
}

// Close gives a recorder up; what it counted stays counted.
func (r *Recorder) Close() {
	r.Flush()
	s := r.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.mu.recorders {
		if o == r {
			s.mu.recorders = append(s.mu.recorders[:i], s.mu.recorders[i+1:]...)
			s.mu.retired.merge(&r.mu.totals)
			return
		}
	}
}

// each calls fn with the totals of every recorder, each under its mutex.
func (s *Stats) each(fn func(*totals)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.mu.retired)
	for _, r := range s.mu.recorders {
		r.mu.Lock()
		fn(&r.mu.totals)
		r.mu.Unlock()
	}
}

// Counters returns the sum of all recorders.
func (s *Stats) Counters() Counters {
	var sum Counters
	s.each(func(t *totals) { sum.add(&t.counters) })
	return sum
}

// Command is what is known of the calls of one command.
type Command struct {
	Calls    int64
	Nanos    int64
	Rejected int64 // refused before they ran
	Failed   int64 // ran and answered with an error
}

// Commands returns the statistics of each command, indexed by its Spec's ID.
func (s *Stats) Commands() []Command {
	sum := make([]Command, s.commands)
	s.each(func(t *totals) {
		for i := range t.commands {
			sum[i].add(&t.commands[i])
		}
	})
	return sum
}

// Errors returns how many error replies had each code, such as "WRONGTYPE".
func (s *Stats) Errors() map[string]int64 {
	sum := map[string]int64{}
	s.each(func(t *totals) {
		for code, n := range t.errors {
			sum[code] += n
		}
	})
	return sum
}

// Histogram returns the latencies of a command in nanoseconds; nil when it was
// never called while latencies were tracked.
func (s *Stats) Histogram(id int) *Histogram {
	var sum *Histogram
	s.each(func(t *totals) {
		if h := t.histograms[id]; h != nil {
			if sum == nil {
				sum = new(Histogram)
			}
			sum.Merge(h)
		}
	})
	return sum
}

// Reset is CONFIG RESETSTAT: all counts start again from zero. The slow log and
// the latency events stay.
func (s *Stats) Reset() {
	s.each(func(t *totals) { *t = newTotals(s.commands) })
	s.rates.reset()
}

func (c *Command) add(o *Command) {
	c.Calls += o.Calls
	c.Nanos += o.Nanos
	c.Rejected += o.Rejected
	c.Failed += o.Failed
}

// totals are the published counts of one recorder.
type totals struct {
	counters   Counters
	commands   []Command
	histograms []*Histogram
	errors     map[string]int64
}

func newTotals(commands int) totals {
	return totals{
		commands:   make([]Command, commands),
		histograms: make([]*Histogram, commands),
		errors:     map[string]int64{},
	}
}

func (t *totals) merge(o *totals) {
	t.counters.add(&o.counters)
	for i := range o.commands {
		t.commands[i].add(&o.commands[i])
		if h := o.histograms[i]; h != nil {
			t.histogram(i).Merge(h)
		}
	}
	for code, n := range o.errors {
		t.errors[code] += n
	}
}

func (t *totals) histogram(id int) *Histogram {
	if t.histograms[id] == nil {
		t.histograms[id] = new(Histogram)
	}
	return t.histograms[id]
}

func (t *totals) dropHistograms() { clear(t.histograms) }

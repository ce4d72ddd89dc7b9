// Package cron runs the server's periodic work: named tasks, on one goroutine,
// at the rate that `hz` says. Each task's runs and time are counted for INFO.
//
// Tasks share a goroutine so that they never meet each other, and so that all of
// them together take at most one CPU. A task that takes long delays the others,
// not the workers; what may take long bounds itself and goes on at its next turn.
package cron

import (
	"context"
	"runtime/debug"
	"sync"
	"time"
)

// The bounds of a rate, and how many clients a tick may have before dynamic-hz
// makes ticks more frequent.
const (
	minHz          = 1
	maxHz          = 500
	clientsPerTick = 200
)

// Options say what the loop goes by. All are asked at each tick.
type Options struct {
	// Hz is the configured rate: ticks a second.
	Hz func() int
	// Dynamic reports whether the rate grows with the number of clients.
	Dynamic func() bool
	// Clients counts the connected clients.
	Clients func() int
	// Panicked is told of a task that panicked; the loop goes on.
	Panicked func(task string, reason any, stack []byte)
}

// Loop is the periodic work of one server.
type Loop struct {
	opt   Options
	tasks []*task

	mu struct {
		sync.Mutex
		hz    int
		ticks int64
	}
}

// task is a piece of work with its accounts.
type task struct {
	name  string
	every time.Duration
	run   func(now time.Time)
	due   time.Time

	mu    sync.Mutex
	stats Stats
}

// Stats are the accounts of a task.
type Stats struct {
	Name   string
	Every  time.Duration // 0: each tick
	Runs   int64
	Total  time.Duration
	Max    time.Duration
	Last   time.Duration // what the last run took
	LastAt time.Time     // when it began
	Panics int64
}

// New returns a loop without tasks.
func New(opt Options) *Loop {
	l := &Loop{opt: opt}
	l.mu.hz = l.rate()
	return l
}

// Add adds a task that runs about every so often, or each tick if every is 0.
// All tasks are added before Run; they run in the order of adding.
func (l *Loop) Add(name string, every time.Duration, run func(now time.Time)) {
	l.tasks = append(l.tasks, &task{name: name, every: every, run: run, stats: Stats{Name: name, Every: every}})
}

// Run works until ctx is done. A task that runs then is waited for.
func (l *Loop) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		start := time.Now()
		l.tick(ctx, start)
		// The next tick counts from this one's start; one that is late already
		// comes at once, and missed ones are not made up for.
		timer.Reset(max(0, time.Second/time.Duration(l.HZ())-time.Since(start)))
	}
}

func (l *Loop) tick(ctx context.Context, now time.Time) {
	for _, t := range l.tasks {
		if ctx.Err() != nil {
			return
		}
		if t.every > 0 && now.Before(t.due) {
			continue
		}
		t.due = nextDue(t.due, now, t.every)
		l.runTask(t)
	}
	hz := l.rate()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.hz = hz
	l.mu.ticks++
}

// nextDue keeps the beat of a task where possible, and starts a new one after
// a delay of more than a beat.
func nextDue(due, now time.Time, every time.Duration) time.Time {
	if next := due.Add(every); next.After(now) {
		return next
	}
	return now.Add(every)
}

func (l *Loop) runTask(t *task) {
	start := time.Now()
	defer func() {
		took := time.Since(start)
		reason := recover()
		t.account(start, took, reason != nil)
		if reason != nil && l.opt.Panicked != nil {
			l.opt.Panicked(t.name, reason, debug.Stack())
		}
	}()
	t.run(start)
}

func (t *task) account(start time.Time, took time.Duration, panicked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.stats
	s.Runs++
	s.Total += took
	s.Max = max(s.Max, took)
	s.Last, s.LastAt = took, start
	if panicked {
		s.Panics++
	}
}

// rate is hz, doubled until a tick has few enough clients if that is wanted.
func (l *Loop) rate() int {
	hz := min(max(l.opt.Hz(), minHz), maxHz)
	if !l.opt.Dynamic() {
		return hz
	}
	clients := l.opt.Clients()
	for clients/hz > clientsPerTick && hz < maxHz {
		hz = min(hz*2, maxHz)
	}
	return hz
}

// HZ is the rate in force.
func (l *Loop) HZ() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.hz
}

// Ticks counts the ticks so far.
func (l *Loop) Ticks() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.ticks
}

// Stats returns the accounts of all tasks in their order.
func (l *Loop) Stats() []Stats {
	out := make([]Stats, len(l.tasks))
	for i, t := range l.tasks {
		t.mu.Lock()
		out[i] = t.stats
		t.mu.Unlock()
	}
	return out
}

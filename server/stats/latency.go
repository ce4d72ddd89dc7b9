package stats

import (
	"slices"
	"sync"
	"sync/atomic"
)

// latencySamples is how many samples an event keeps.
const latencySamples = 160

// Names of latency events, as Redis names them.
const (
	EventCommand     = "command"      // a slow command
	EventFastCommand = "fast-command" // a slow command that is flagged fast
	EventExpire      = "expire-cycle"
	EventEviction    = "eviction-cycle"
	EventDefrag      = "active-defrag-cycle"
)

// LatencySample is one spike: when (Unix seconds) and how long.
type LatencySample struct {
	Unix   int64
	Millis int64
}

// LatencyEvent is what is known of one kind of spike.
type LatencyEvent struct {
	Name    string
	Max     int64 // milliseconds, of all time
	Samples []LatencySample
}

// Latency is the latency monitor: it keeps spikes of at least its threshold.
// Safe for concurrent use.
type Latency struct {
	threshold atomic.Int64 // milliseconds; 0: monitor nothing

	mu     sync.Mutex
	events map[string]*LatencyEvent
}

// SetThreshold is latency-monitor-threshold: milliseconds, 0 to switch it off.
func (l *Latency) SetThreshold(millis int64) { l.threshold.Store(millis) }

// Threshold returns it.
func (l *Latency) Threshold() int64 { return l.threshold.Load() }

// IsSpike reports whether something that took so long is to be added.
func (l *Latency) IsSpike(nanos int64) bool {
	t := l.threshold.Load()
	return t > 0 && nanos >= t*1e6
}

// Add records a spike of an event if it IsSpike. Spikes of one second count as
// one, the longest. unix is in seconds.
func (l *Latency) Add(event string, unix, nanos int64) {
	if !l.IsSpike(nanos) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = map[string]*LatencyEvent{}
	}
	e := l.events[event]
	if e == nil {
		e = &LatencyEvent{Name: event}
		l.events[event] = e
	}
	e.add(LatencySample{unix, nanos / 1e6})
}

func (e *LatencyEvent) add(s LatencySample) {
	e.Max = max(e.Max, s.Millis)
	if n := len(e.Samples); n > 0 && e.Samples[n-1].Unix == s.Unix {
		e.Samples[n-1].Millis = max(e.Samples[n-1].Millis, s.Millis)
		return
	}
	if len(e.Samples) == latencySamples {
		copy(e.Samples, e.Samples[1:])
		e.Samples = e.Samples[:latencySamples-1]
	}
	e.Samples = append(e.Samples, s)
}

// Events returns copies of all events, by name.
func (l *Latency) Events() []LatencyEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]LatencyEvent, 0, len(l.events))
	for _, e := range l.events {
		out = append(out, LatencyEvent{e.Name, e.Max, slices.Clone(e.Samples)})
	}
	slices.SortFunc(out, func(a, b LatencyEvent) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// Event returns a copy of one event; false if there is none of that name.
func (l *Latency) Event(name string) (LatencyEvent, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.events[name]
	if e == nil {
		return LatencyEvent{}, false
	}
	return LatencyEvent{e.Name, e.Max, slices.Clone(e.Samples)}, true
}

// Reset forgets the named events, all of them if none is named, and returns how
// many there were.
func (l *Latency) Reset(names ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(names) == 0 {
		n := len(l.events)
		clear(l.events)
		return n
	}
	n := 0
	for _, name := range names {
		if l.events[name] != nil {
			delete(l.events, name)
			n++
		}
	}
	return n
}

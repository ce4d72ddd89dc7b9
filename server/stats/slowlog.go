package stats

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// How much of a slow call is kept.
const (
	slowArgs     = 32  // arguments
	slowArgBytes = 128 // bytes of an argument
)

// SlowCall is an entry of the slow log.
type SlowCall struct {
	ID     int64
	Unix   int64 // seconds
	Micros int64
	Args   []string // shortened
	Addr   string   // of the client
	Name   string   // of the client
}

// Slowlog keeps the latest calls that took long. Safe for concurrent use.
type Slowlog struct {
	threshold atomic.Int64 // microseconds; negative: log nothing
	maxLen    atomic.Int64

	mu      sync.Mutex
	nextID  int64
	entries []SlowCall // oldest first
}

// SetThreshold is slowlog-log-slower-than: microseconds, negative for never.
func (s *Slowlog) SetThreshold(micros int64) { s.threshold.Store(micros) }

// SetMaxLen is slowlog-max-len. A longer log is cut by the next entry.
func (s *Slowlog) SetMaxLen(n int64) { s.maxLen.Store(n) }

// IsSlow reports whether a call of that duration belongs in the log.
func (s *Slowlog) IsSlow(nanos int64) bool {
	t := s.threshold.Load()
	return t >= 0 && nanos/1000 >= t
}

// Add logs a call if it IsSlow. argv is copied; unix is in seconds.
func (s *Slowlog) Add(unix, nanos int64, argv [][]byte, addr, name string) {
	if !s.IsSlow(nanos) {
		return
	}
	e := SlowCall{Unix: unix, Micros: nanos / 1000, Args: shorten(argv), Addr: addr, Name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.ID = s.nextID
	s.nextID++
	s.entries = append(s.entries, e)
	if over := len(s.entries) - int(s.maxLen.Load()); over > 0 {
		s.entries = append([]SlowCall(nil), s.entries[over:]...)
	}
}

func shorten(argv [][]byte) []string {
	n := min(len(argv), slowArgs)
	args := make([]string, n)
	for i := range args {
		a := argv[i]
		switch {
		case i == slowArgs-1 && len(argv) > slowArgs:
			args[i] = fmt.Sprintf("... (%d more arguments)", len(argv)-slowArgs+1)
		case len(a) > slowArgBytes:
			args[i] = fmt.Sprintf("%s... (%d more bytes)", a[:slowArgBytes], len(a)-slowArgBytes)
		default:
			args[i] = string(a)
		}
	}
	return args
}

// Last returns up to n entries, the latest first; all if n is negative.
func (s *Slowlog) Last(n int) []SlowCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n > len(s.entries) {
		n = len(s.entries)
	}
	out := make([]SlowCall, 0, n)
	for i := len(s.entries) - 1; len(out) < n; i-- {
		out = append(out, s.entries[i])
	}
	return out
}

// Len returns how many entries there are.
func (s *Slowlog) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// Reset empties the log; numbers go on.
func (s *Slowlog) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = nil
}

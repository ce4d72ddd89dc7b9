package stats

import "sync"

// pending is how many calls a recorder collects before it publishes them
// without being asked.
const pending = 128

// call is one execution of a command.
type call struct {
	id     int32
	failed bool
	part   part
	nanos  int64
}

// part says what of an execution is counted.
type part uint8

const (
	all   part = iota
	begin      // it was called
	end        // it took some time
)

// Recorder counts for one goroutine. Only its owner may call its methods and
// change Counters.
type Recorder struct {
	Counters

	calls [pending]call
	n     int
	stats *Stats

	mu struct {
		sync.Mutex
		totals
	}
}

// Command counts an execution of the command with the Spec ID id that took
// nanos nanoseconds. failed says that it answered with an error.
func (r *Recorder) Command(id int, nanos int64, failed bool) {
	if r.n == len(r.calls) {
		r.Flush()
	}
	r.calls[r.n] = call{id: int32(id), failed: failed, nanos: nanos}
	r.n++
	r.Commands++
	r.CommandNanos += nanos
}

// Begun counts an execution of a command that is not over yet: it waits. Ended
// counts the rest when it is, with the time it took without the wait.
func (r *Recorder) Begun(id int) {
	r.Command(id, 0, false)
	r.calls[r.n-1].part = begin
}

// Ended is described at Begun.
func (r *Recorder) Ended(id int, nanos int64, failed bool) {
	r.Command(id, nanos, failed)
	r.calls[r.n-1].part = end
	r.Commands--
}

// Rejected counts a call of a command that was refused before it ran.
func (r *Recorder) Rejected(id int) {
	r.mu.Lock()
	r.mu.commands[id].Rejected++
	r.mu.Unlock()
}

// Error counts an error reply, given without its leading minus, by its code.
func (r *Recorder) Error(text string) {
	r.ErrorReplies++
	code := errorCode(text)
	r.mu.Lock()
	r.mu.countError(code)
	r.mu.Unlock()
}

// Flush publishes what was counted since the last Flush. A worker calls it at
// the end of each batch, before the replies leave, and before a command that
// may read or reset statistics.
func (r *Recorder) Flush() {
	if r.n == 0 && r.Counters == (Counters{}) {
		return
	}
	track := r.stats.tracking.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.counters.add(&r.Counters)
	r.Counters = Counters{}
	for i := range r.calls[:r.n] {
		r.mu.count(&r.calls[i], track)
	}
	r.n = 0
}

func (t *totals) count(c *call, track bool) {
	cmd := &t.commands[c.id]
	if c.part != end {
		cmd.Calls++
	}
	cmd.Nanos += c.nanos
	if c.failed {
		cmd.Failed++
	}
	if track && c.part != begin {
		t.histogram(int(c.id)).Add(c.nanos)
	}
}

// errorCodes bounds how many different codes are told apart, since a script
// may invent them; the rest is counted together.
const (
	errorCodes   = 128
	overflowCode = "ERRORSTATS_OVERFLOW"
)

func (t *totals) countError(code string) {
	if _, known := t.errors[code]; !known && len(t.errors) >= errorCodes {
		code = overflowCode
	}
	t.errors[code]++
}

// errorCode returns the first word of an error reply.
func errorCode(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] == ' ' {
			return text[:i]
		}
	}
	return text
}

package dispatch

import (
	"heddle/server/command"
	"heddle/server/stats"
)

// shareable is the least threshold of the slow log and of the latency monitor,
// in nanoseconds, with which quick commands share clock readings. None of them
// takes that long by itself.
const shareable = 1_000_000

// mayShare reports whether quick commands may share clock readings.
func (x *Executor) mayShare() bool {
	st := x.e.stats
	return !st.Slowlog.IsSlow(shareable) && !st.Latency.IsSpike(shareable)
}

// count counts a command that ran. Before a command that is not quick, settle
// was called.
func (x *Executor) count(s *command.Spec, argv [][]byte, c *Client) {
	if x.plans[s.ID()].quick {
		x.tickQuick(s, argv, c)
	} else {
		x.finish(s, argv, c)
	}
}

// tickQuick counts a quick command and leaves its time to be read later.
func (x *Executor) tickQuick(s *command.Spec, argv [][]byte, c *Client) {
	if !x.run.share {
		x.finish(s, argv, c)
		return
	}
	r := &x.run
	if r.n > 0 && r.id != s.ID() || r.n == sharedRun {
		x.settle()
	}
	r.id = s.ID()
	r.n++
	if x.failed {
		r.failed++
		x.failed = false
	}
}

// settle reads the clock for the quick commands that share a reading.
func (x *Executor) settle() {
	r := &x.run
	if r.n == 0 {
		return
	}
	end := x.e.clock.Mono()
	each := (end - x.start) / int64(r.n)
	for i := range r.n {
		x.rec.Command(r.id, each, i < r.failed)
	}
	x.start, r.n, r.failed = end, 0, 0
	x.setNow()
}

// tick ends the time of a command and counts it. The next one starts here.
func (x *Executor) tick(s *command.Spec, failed bool) int64 {
	end := x.e.clock.Mono()
	took := end - x.start
	x.start = end
	x.setNow()
	if s != nil {
		x.rec.Command(s.ID(), took, failed)
	}
	return took
}

// finish counts a command that ran, and tells the slow log and the latency
// monitor when it took long.
func (x *Executor) finish(s *command.Spec, argv [][]byte, c *Client) {
	took := x.tick(s, x.failed)
	x.failed = false
	x.slow(s, argv, c, took)
}

func (x *Executor) slow(s *command.Spec, argv [][]byte, c *Client, took int64) {
	st := x.e.stats
	if st.Slowlog.IsSlow(took) && s.Flags&command.SkipSlowlog == 0 && c != nil {
		st.Slowlog.Add(x.unix(), took, x.visible(argv), c.conn.RemoteAddr(), c.Name())
	}
	if st.Latency.IsSpike(took) {
		event := stats.EventCommand
		if s.Flags&command.Fast != 0 {
			event = stats.EventFastCommand
		}
		st.Latency.Add(event, x.unix(), took)
	}
}

// visible returns the arguments with those that are redacted replaced.
func (x *Executor) visible(argv [][]byte) [][]byte {
	if !x.call.AnyRedacted() {
		return argv
	}
	out := make([][]byte, len(argv))
	for i, a := range argv {
		if out[i] = a; x.call.Redacted(i) {
			out[i] = []byte("(redacted)")
		}
	}
	return out
}

package pace

import (
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"heddle/db"
)

var _ db.Pacer = (*Pacer)(nil)

const (
	// shortSleep is a sleep not worth its two switches between threads; it is made up for.
	// With sleeps of 150 us a digest took twice the processor time that it takes alone.
	shortSleep = time.Millisecond
	// longSleep bounds one sleep.
	longSleep = 5 * time.Millisecond
	// longBurst bounds the work that is counted for a burst: what is beyond was mostly time
	// for which others ran in between. With 100 us the share on a crowded machine was
	// half of what it should be.
	longBurst = 2 * burst
	// runFor is how long a reader keeps its processor of Go's scheduler: in 10 ms it is
	// taken away, and the runtime's monitor gets busy.
	runFor = 8 * time.Millisecond
)

// reader is a goroutine that reads.
type reader struct {
	p     *Pacer
	began time.Duration // the burst, in the Pacer's time
	ran   time.Duration // since when it has its processor of Go's scheduler
	owed  time.Duration // sleep
}

// Begin makes the calling goroutine one that gives way.
func (p *Pacer) Begin() db.Breather {
	p.readers.Add(1)
	now := p.now()
	return &reader{p: p, began: now, ran: now}
}

// End says that the goroutine reads no longer.
func (r *reader) End() { r.p.readers.Add(-1) }

// Breathe lets others run when a burst is over, and sleeps if it has to.
func (r *reader) Breathe() {
	p := r.p
	now := p.now()
	worked := now - r.began
	if worked < burst {
		return
	}
	p.look(now)
	r.owed += rest(min(worked, longBurst), p.share.Load(), p.readers.Load())
	if r.owed >= shortSleep {
		r.sleep(now)
	}
	if now-r.ran > runFor {
		runtime.Gosched()
		r.ran = p.now()
	}
	// Also behind a sleep: who wakes up comes before a worker that runs.
	_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	r.began = p.now()
}

// rest is how long one of several readers has to sleep for the time that it worked.
func rest(worked time.Duration, share, readers int64) time.Duration {
	if share >= full {
		return 0
	}
	return worked*time.Duration(max(readers, 1)*full)/time.Duration(share) - worked
}

// sleep sleeps for what is owed. It does so in the thread: to wake up a goroutine takes
// two switches between threads more where all processors of Go's scheduler are idle.
func (r *reader) sleep(now time.Duration) {
	d := min(r.owed, longSleep)
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // what a signal cuts short is made up for
	took := r.p.now() - now
	r.owed = max(r.owed-took, 0)
	r.p.slept.Add(int64(took))
	r.p.breaks.Add(1)
}

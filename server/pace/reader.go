package pace

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"heddle/db"
)

var _ db.Pacer = (*Pacer)(nil)

const (
	// readerSlice is the time slice of a reader's thread: longer than any that the system
	// gives by itself, and short enough for one that had to let it begin.
	readerSlice = 10 * time.Millisecond
	// shortSleep is a sleep not worth its system call; it is made up for later.
	shortSleep = 50 * time.Microsecond
	// longSleep bounds one sleep.
	longSleep = 5 * time.Millisecond
	// longBurst bounds what is made up for.
	longBurst = 2 * time.Millisecond
	// yieldAfter is how long a reader keeps its processor of Go's scheduler: in 10 ms it
	// is taken away, and the runtime's monitor gets busy.
	yieldAfter = 8 * time.Millisecond
)

// reader is a goroutine that reads, locked to its thread.
type reader struct {
	p       *Pacer
	began   int64         // the burst, in nanoseconds of the Pacer's time
	used    int64         // processor time of the thread as of then
	owed    time.Duration // sleep
	yielded int64
}

// Begin makes the calling goroutine one that gives way.
func (p *Pacer) Begin() db.Breather {
	runtime.LockOSThread()
	setSlice(readerSlice)
	p.readers.Add(1)
	now := p.now()
	return &reader{p: p, began: now, used: threadTime(), yielded: now}
}

// End gives the thread back as it was.
func (r *reader) End() {
	r.p.readers.Add(-1)
	setSlice(0)
	runtime.UnlockOSThread()
}

// Breathe sleeps, if it has to, when a burst is over.
func (r *reader) Breathe() {
	p := r.p
	now := p.now()
	if now-r.began < int64(burst) {
		return
	}
	p.look(now)
	used := threadTime()
	r.owed += rest(min(time.Duration(used-r.used), longBurst), p.share.Load(), p.readers.Load())
	switch {
	case r.owed >= shortSleep:
		r.sleep(min(r.owed, longSleep))
		now = p.now()
	case now-r.yielded > int64(yieldAfter):
		runtime.Gosched()
		now = p.now()
		r.yielded = now
	}
	r.began, r.used = now, used
}

// rest is how long one of several readers has to sleep for the time that it worked.
func rest(worked time.Duration, share, readers int64) time.Duration {
	if share >= full {
		return 0
	}
	return worked*time.Duration(max(readers, 1)*full)/time.Duration(share) - worked
}

// sleep sleeps in the thread: the goroutine is bound to it, and to wake it up through Go's
// scheduler would take two switches between threads more.
func (r *reader) sleep(d time.Duration) {
	begin := r.p.now()
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // cut short by a signal it is made up for
	took := time.Duration(r.p.now() - begin)
	r.owed = max(r.owed-took, 0)
	r.p.slept.Add(int64(took))
	r.p.breaks.Add(1)
}

// threadTime is the processor time of the calling thread in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}

// setSlice changes the time slice of the calling thread; 0: the system's. Before Linux 6.12
// it changes nothing.
func setSlice(d time.Duration) {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL && a.Policy != unix.SCHED_BATCH {
		return
	}
	a.Runtime = uint64(d)
	_ = unix.SchedSetAttr(0, a, 0)
}

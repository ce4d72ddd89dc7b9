// Package pace keeps readers of snapshots out of the way of workers: where there are not
// processors enough for all, it makes the readers sleep.
//
// # What is the matter
//
// A reader of a snapshot, one that saves the keyspace for example, has work for seconds,
// and a worker has it for microseconds, again and again. To the system they are equal: on
// two processors with a worker, a client and a reader, one of them often has to wait until
// the reader's time slice is over, and that is milliseconds. A thread of low priority
// would not have that effect, but another: Go's collector stops all threads now and then,
// and a thread that gets no time to notice that it should stop keeps all others waiting. So
// would one that holds a lock of the runtime. A reader that yields (sched_yield) loses
// its place without need, and the system may still have it go on at once.
//
// # What is done
//
// A reader works in bursts of burst. Its thread has a long time slice, which to Linux 6.12
// and later means that threads with ordinary ones may interrupt it as soon as they wake up;
// its share of the time stays the same. Behind a burst it looks for signs that others
// lack processors: threads of workers were ready to run and had to wait (schedstat), or more
// threads are ready in the whole system than there are processors (loadavg), for clients on
// the same machine should be answered, too. Each sign makes the share of time that readers
// take smaller, quickly in the first case and slowly in the second; as long as there is none
// it grows. The rest of their time they sleep. Several readers of a snapshot share what
// one might take alone, as soon as there are signs, and run in parallel while there are none.
//
// A share never falls below leastShare, so that a save comes to its end also on a machine
// that is busy for ever. Where the system tells nothing, the share is halfShare.
package pace

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// burst is how long a reader works before it looks around.
	burst = 150 * time.Microsecond
	// lookEvery is how often the signs are read; it takes some microseconds.
	lookEvery = 200 * time.Microsecond
)

// Shares of time, of full.
const (
	full       = 1024
	halfShare  = full / 2
	leastShare = full / 4
	// growth is by how much a share grows when there was no sign: to the full in some
	// 20 ms.
	growth = full / 128
	// crowdStep is by how much it falls when the machine was seen crowded.
	crowdStep = full / 16
	// waitedPart of the time since the last look is what workers may wait without that
	// being a sign.
	waitedPart = 64
)

// Pacer watches workers and paces readers. Safe for concurrent use.
type Pacer struct {
	begin time.Time
	cpus  int

	share   atomic.Int64 // of full, for all readers together
	readers atomic.Int64
	nextAt  atomic.Int64 // when the signs are read again, in nanoseconds since begin

	slept  atomic.Int64 // nanoseconds
	breaks atomic.Int64

	mu struct {
		sync.Mutex
		threads map[*thread]struct{}
		load    *os.File // nil: the system does not tell
		lastAt  int64
	}
}

// thread is one that others should not keep waiting.
type thread struct {
	file   *os.File
	waited int64 // as of the last look
}

// New returns a Pacer that watches nobody.
func New() *Pacer {
	p := &Pacer{begin: time.Now(), cpus: runtime.NumCPU()}
	p.share.Store(halfShare)
	p.mu.threads = map[*thread]struct{}{}
	if f, err := os.Open("/proc/loadavg"); err == nil {
		p.mu.load = f
	}
	return p
}

// Close gives back what the Pacer holds. Readers then run at full speed.
func (p *Pacer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.load != nil {
		_ = p.mu.load.Close()
		p.mu.load = nil
	}
	for t := range p.mu.threads {
		_ = t.file.Close()
	}
	clear(p.mu.threads)
}

// Watch has the calling thread not be kept waiting, until the function that it returns is
// called. The goroutine is locked to the thread.
func (p *Pacer) Watch() (stop func()) {
	f, err := os.Open("/proc/thread-self/schedstat")
	if err != nil {
		return func() {}
	}
	t := &thread{file: f}
	t.waited, _ = t.waiting(make([]byte, signSize))
	p.mu.Lock()
	p.mu.threads[t] = struct{}{}
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, ok := p.mu.threads[t]; ok {
			delete(p.mu.threads, t)
			_ = t.file.Close()
		}
	}
}

// Share is the part of the time that readers may take now, 0 to 1.
func (p *Pacer) Share() float64 { return float64(p.share.Load()) / full }

// Slept is for how long readers slept so far, and how often.
func (p *Pacer) Slept() (time.Duration, int64) {
	return time.Duration(p.slept.Load()), p.breaks.Load()
}

func (p *Pacer) now() int64 { return int64(time.Since(p.begin)) }

// look reads the signs, if that is due, and sets the share by them.
func (p *Pacer) look(now int64) {
	due := p.nextAt.Load()
	if now < due || !p.nextAt.CompareAndSwap(due, now+int64(lookEvery)) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	span := now - p.mu.lastAt
	p.mu.lastAt = now
	waited, told := p.waited()
	running, known := p.running()
	// A span of long ago tells nothing of now.
	recent := span < int64(100*lookEvery)
	p.share.Store(next(p.share.Load(), signs{
		waited: told && recent && waited > span/waitedPart, crowded: known && running > p.cpus, blind: !told && !known,
	}))
}

// signs is what was seen at a look.
type signs struct {
	waited  bool // workers had to wait
	crowded bool // more threads are ready than there are processors
	blind   bool // the system tells nothing
}

// next is the share that follows upon one.
func next(share int64, s signs) int64 {
	switch {
	case s.blind:
		return halfShare
	case s.waited:
		return max(share*3/4, leastShare)
	case s.crowded:
		return max(share-crowdStep, leastShare)
	}
	return min(share+growth, full)
}

// signSize is enough for a file of signs.
const signSize = 128

// waited is for how many nanoseconds the watched threads had to wait since the last look,
// the one that had to wait longest. mu is held.
func (p *Pacer) waited() (most int64, told bool) {
	var buf [signSize]byte
	for t := range p.mu.threads {
		if n, ok := t.waiting(buf[:]); ok {
			most, told = max(most, n-t.waited), true
			t.waited = n
		}
	}
	return most, told
}

// waiting is for how long a thread had to wait in all: the second of three numbers.
func (t *thread) waiting(buf []byte) (int64, bool) {
	n, _ := t.file.ReadAt(buf, 0)
	_, rest, _ := bytes.Cut(buf[:n], []byte(" "))
	word, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return 0, false
	}
	return number(word)
}

// running is how many threads run or are ready to, in the whole system: of
// "0.20 0.18 0.12 1/80 11206" the 1. mu is held.
func (p *Pacer) running() (int, bool) {
	if p.mu.load == nil {
		return 0, false
	}
	var buf [signSize]byte
	n, _ := p.mu.load.ReadAt(buf[:], 0)
	before, _, ok := bytes.Cut(buf[:n], []byte("/"))
	if !ok {
		return 0, false
	}
	k, ok := number(before[bytes.LastIndexByte(before, ' ')+1:])
	return int(k), ok
}

func number(b []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

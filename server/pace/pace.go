// Package pace keeps readers of snapshots out of the way of workers: where there are not
// processors enough for all, it makes the readers sleep.
//
// # What is the matter
//
// A reader of a snapshot, one that saves the keyspace for example, has work for seconds,
// and a worker has it for microseconds, again and again. To the system they are equal: on
// two processors with a worker, a client and a reader, one of them often has to wait until
// the reader's time slice is over, and that is milliseconds.
//
// # What is done
//
// A reader works in bursts of some dozens of microseconds. Behind each it offers its
// processor to whoever is ready to run (sched_yield); if nobody is, that takes less than a
// microsecond. So a worker waits for a burst at most, nearly always: the system goes by
// what everyone had, and a thread that had more than the reader does not get its place. To
// prevent that the reader looks for signs that others lack processors: threads of workers
// were ready and had to wait (schedstat) longer than a burst, or more threads are ready in
// the whole system than there are processors (loadavg), for clients on the same machine
// should be answered, too. The latter does not count while nearly all that is done is done
// for the readers: it was they who crowded the machine, with who writes what they read, and
// a save of 10 million keys with nobody to wait for took 12 instead of 5 s. Each sign makes
// the share of time that readers take smaller, quickly in the first case and slowly in the
// second; as long as there is none it grows. The rest of their time they sleep. Several
// readers share what one might take alone, as soon as there are signs, and run in parallel
// while there are none.
//
// The share has a lower bound, halfShare, so that a save comes to its end also on a machine
// that is busy for ever. Where the system tells nothing it is that.
//
// # What is not done, and why
//
// Beside changes of a sorted set of a million members that was read meanwhile, on two
// processors that were busy with other things as well, with the time that a worker waited
// while the reader ran: p99.9 1 ms, at most 3 to 12 ms, and 30 to 65 waits of more than 1 ms
// in 5 s without any of this; 0.03 ms, 4 ms and 10 with bursts; 0.1 ms, 0.5 ms and none with
// bursts and sleep. What is left is mostly Go's collector, whose threads do not yield.
//
//   - A low priority of the reader's thread. Go's collector stops all threads now and then,
//     and one that gets no time to notice keeps all others waiting; so does one that
//     holds a lock of the runtime.
//   - A long time slice of its thread, which should let others interrupt it when they wake
//     up (Linux 6.12): it gained nothing, and let a reader that slept claim more afterwards.
//   - Sleep without yielding: a reader that wakes up comes before a worker that runs.
//   - Not counting a crowd while a part of the processors was idle in the last 100 ms: it made
//     no difference that could be told from the machine's. Saves beside 30,000 writes a second
//     took 12 to 18 s with it and 12 to 16 s without (eight each); p99.9 of the writes was
//     better with it in the first four and without it in the rest, as standstills of up to
//     120 ms fell.
//   - Counting a wait of some microseconds as one: one that looks in a hundred times a second
//     made a save take twice the time. With waits longer than bursts only, and demand, it was
//     12.6 instead of 19.4 s beside 30,000 writes a second, whose p99.9 was 13.9 instead of
//     21.6 ms (medians of six, in turn).
//   - Stepping aside: to fall to 1/32 while a worker waits, and to insist on 3/8 when
//     100 ms were lost. Looked at were saves of 10 million keys beside 30,000 writes a
//     second, on two processors of a virtual machine whose kernel asks twice a second which
//     pages are in use (DAMON): 17 ms of a processor, and for 40 ms after it a worker takes
//     three times as long for the same, since its pages are mapped anew. Writes come 20 to
//     50 ms late then without any save, and with redis-server, too. p99.9 of saves, in turn
//     without and with it: 84, 43, 59, 42 and 29, 48, 34, 115 ms; a save with nobody to wait
//     for took a quarter more. At the fourth long wait in a row only: 107, 41, 91, 118, 42
//     and 58, 74, 37, 94, 35. Beside busy workers only: 31, 41 and 30, 63. So it is mostly
//     the machine.
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
	// burst is how long a reader works before it lets others run.
	burst = 20 * time.Microsecond
	// lookEvery is how often the signs are read; it takes 5 to 10 microseconds.
	lookEvery = 500 * time.Microsecond
)

// Shares of time, of full.
const (
	full = 1024
	// halfShare is what readers take however long others have to wait.
	halfShare = full / 2
	// growth is by how much a share grows when there was no sign: to the full in 50 ms.
	growth = full / 128
	// crowdStep is by how much it falls when the machine was seen crowded.
	crowdStep = full / 16
	// waitedPart of the time since the last look is what a worker may wait without that
	// being a sign, and usualWait each time that it wakes up: for the burst of a reader that
	// is on its processor, and for a processor that has to wake up itself.
	waitedPart = 64
	usualWait  = 60 * time.Microsecond
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
		lastAt  time.Duration
		demand  demand
	}
}

// thread is one that others should not keep waiting.
type thread struct {
	file   *os.File
	ran    int64 // as of the last look, in nanoseconds
	waited int64 // likewise
	runs   int64 // how often it began to run
}

// New returns a Pacer that watches nobody.
func New() *Pacer {
	p := &Pacer{begin: time.Now(), cpus: onlineCPUs("/sys/devices/system/cpu/online")}
	p.share.Store(halfShare)
	p.mu.threads = map[*thread]struct{}{}
	p.mu.demand = newDemand()
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
func (p *Pacer) Watch() (stop func()) { return p.watchFile("/proc/thread-self/schedstat") }

func (p *Pacer) watchFile(name string) (stop func()) {
	f, err := os.Open(name)
	if err != nil {
		return func() {}
	}
	t := &thread{file: f}
	var buf [signSize]byte
	t.read(buf[:])
	p.mu.Lock()
	p.mu.threads[t] = struct{}{}
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, ok := p.mu.threads[t]; ok {
			delete(p.mu.threads, t)
			_ = f.Close()
		}
	}
}

// Share is the part of the time that readers may take now, 0 to 1.
func (p *Pacer) Share() float64 { return float64(p.share.Load()) / full }

// Slept is for how long readers slept so far, and how often.
func (p *Pacer) Slept() (time.Duration, int64) {
	return time.Duration(p.slept.Load()), p.breaks.Load()
}

// now is the time since the Pacer was made.
func (p *Pacer) now() time.Duration { return time.Since(p.begin) }

// look reads the signs, if that is due, and sets the share by them.
func (p *Pacer) look(now time.Duration) {
	due := p.nextAt.Load()
	if int64(now) < due || !p.nextAt.CompareAndSwap(due, int64(now+lookEvery)) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	span := now - p.mu.lastAt
	p.mu.lastAt = now
	waited, told := p.waited()
	running, known := p.running()
	p.mu.demand.measure(now, told)
	recent := span < 100*lookEvery // what was long ago tells nothing of now
	p.share.Store(next(p.share.Load(), signs{
		waited: told && recent && waited > int64(span/waitedPart), crowded: known && running > p.cpus && p.mu.demand.wanted, blind: !told && !known,
	}))
}

// signs is what was seen at a look.
type signs struct {
	waited  bool // workers had to wait
	crowded bool // more threads are ready than there are processors, and not for readers only
	blind   bool // the system tells nothing
}

// next is the share that follows upon one.
func next(share int64, s signs) int64 {
	switch {
	case s.blind:
		return halfShare
	case s.waited:
		return max(share*3/4, halfShare)
	case s.crowded:
		return max(share-crowdStep, halfShare)
	}
	return min(share+growth, full)
}

// signSize is enough for a file of signs.
const signSize = 128

// waited is for how many nanoseconds one of the watched threads had to wait since the
// last look beyond what is usual, the one that had to wait longest. mu is held.
func (p *Pacer) waited() (most int64, told bool) {
	var buf [signSize]byte
	for t := range p.mu.threads {
		ran, waited, runs := t.ran, t.waited, t.runs
		if t.read(buf[:]) {
			p.mu.demand.served += time.Duration(t.ran - ran)
			most, told = max(most, t.waited-waited-(t.runs-runs)*int64(usualWait)), true
		}
	}
	return most, told
}

// read reads how long a thread ran and had to wait in all, and how often it began to run: of
// "1342138 5100 12" the three numbers. false if they cannot be had.
func (t *thread) read(buf []byte) bool {
	n, _ := t.file.ReadAt(buf, 0)
	a, rest, _ := bytes.Cut(buf[:n], []byte(" "))
	b, c, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	ran, ok := number(a)
	waited, ok2 := number(b)
	runs, ok3 := number(c)
	if !ok || !ok2 || !ok3 {
		return false
	}
	t.ran, t.waited, t.runs = ran, waited, runs
	return true
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

// onlineCPUs is how many processors the whole system has, which may be more than this
// process may use: what loadavg tells is about all of them. The file says "0-3,8".
func onlineCPUs(file string) int {
	b, _ := os.ReadFile(file)
	n := 0
	for part := range bytes.SplitSeq(bytes.TrimSpace(b), []byte(",")) {
		from, to, found := bytes.Cut(part, []byte("-"))
		first, ok := number(from)
		last := first
		if found {
			var ok2 bool
			last, ok2 = number(to)
			ok = ok && ok2
		}
		if !ok || last < first {
			return runtime.NumCPU()
		}
		n += int(last - first + 1)
	}
	return n
}

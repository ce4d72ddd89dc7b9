package aof

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"heddle/disk"
)

// The Appender writes effects to the last file of the AOF. Three goroutines share the work:
//
//   - The writer takes groups from the oplog, formats and writes them. Under always it also syncs: one sync for
//     whatever came while the one before lasted, so many clients share it. It alone repairs the file after errors.
//   - The syncer syncs under everysec, so that the writer is not held up for what a sync takes.
//   - The minder looks at the clock, ten times a second while anything is unsynced: it has the syncer begin once a
//     second, and keeps the two-second rule.
//
// Nobody who runs commands ever waits for any of them. What makes a promise good is the gate: Publish says up to
// which offset of the oplog replies may leave. Under always that is what is synced. Under everysec and no the gate
// is open, but closes if acknowledged effects stay unsynced for two seconds (everysec), or if the disk takes
// less than is produced so that much memory piles up (both). Redis blocks all clients then; here it is those that
// wrote or read something newer, while the workers go on.
//
// The oplog keeps what is not synced (under no: not written). So after an error everything is still there: the file
// is cut to where it is known to be whole, and written again from the oplog. After a failed write that is what was
// written before, after a failed sync what was synced before: pages whose write-back failed count as clean
// afterwards, and a second sync would lie. While there is a fault, Fault has been told, writes are refused, and there
// is one try a second. Under everysec and no the gate stays open meanwhile, for readers: what they may read was
// acknowledged already, and no more is.
//
// Rejected: writing in the workers before they reply, as Redis does; a queue of buffers between workers and the
// writer, which the oplog is already; O_DIRECT or O_DSYNC, which lose to one fdatasync for many clients.
//
// The first is a matter of price. Where two processors are all there is for a worker, the writer and the clients, a sync
// of 0.4 ms and 50 clients, handing effects over and replies back takes 8 us of processor time an operation; a worker
// that synced by itself did 43,000 instead of 30,000 writes a second, and redis-server 35,000. But then one disk that
// stands still keeps a worker's readers, and whoever would look what the matter is, waiting. A writer that waits before
// a sync, for those whom the sync before has just answered (commit_delay), did 20,000; one that is woken by an eventfd
// in a thread of its own, 28,000.
//
// What is dear is the sync, not the handing over: with none at all it was 60,000, and 62,000 without an AOF, beside a
// redis-server under always with 41,000 in the same run. So much does a client leave that takes one of two
// processors. Without gain there: replies to 2, 4, 8 or 16 clients at a time, so that the first of them are heard
// again before the last is answered; two or three syncs at once; short time slices for all threads; waiting before a
// sync until 0.4 of those whom the last one answered are heard again (until 0.9 of them: 0.8 x). Writes that sync
// themselves (RWF_DSYNC) did 0.8 x of a write and fdatasync. With '#' written
// ahead, which loads as an annotation and makes a sync an overwrite without the file system's journal (160 instead of
// 260 us), it was 37,000 instead of 34,000 and 10 % less processor time. That is not worth its price: after a loss of
// power what was written last may be there without what was written before it.

// Policy is when the file is synced.
type Policy int32

// Policies, as appendfsync names them.
const (
	EverySec Policy = iota
	Always
	No
)

// AppenderOptions are what an Appender works with. Functions must not block, nor call the Appender; they are called
// with a lock of its held.
type AppenderOptions struct {
	Source Source
	// At is the offset where Source begins.
	At int64
	// File is appended to from Size on; all before is whole and synced. The Appender closes it.
	File disk.File
	Size int64

	Policy     Policy
	Timestamps bool // annotations of the time
	// Publish sets the gate: replies that depend on offsets up to limit may leave; math.MaxInt64: all.
	Publish func(limit int64)
	// Fault tells that writing fails, and by nil that it works again.
	Fault func(err error)
	Log   func(warning bool, text string)

	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// MaxBehind is how many bytes of the oplog may be unwritten with the gate open; 0: 64 MB.
	MaxBehind int64
}

// Times and sizes.
const (
	syncEvery     = time.Second            // everysec
	lateAfter     = 2 * time.Second        // the two-second rule
	tick          = 100 * time.Millisecond // of the minder
	retryAfter    = time.Second            // after a fault
	linger        = time.Millisecond       // how long the writer lets effects gather when nobody waits for them
	writeSize     = 512 << 10              // bytes of a write
	directSize    = 128 << 10              // effects from this size on are not copied
	earlySync     = 32 << 20               // unsynced bytes that everysec does not let a second pass for
	defaultBehind = 64 << 20
	logFaults     = 30 * time.Second // between lines about faults
)

// mark is a place in the oplog and the file's size with all before it.
type mark struct{ off, size int64 }

// Appender writes effects to a file. Its methods are for any goroutine.
type Appender struct {
	o     AppenderOptions
	kick  chan struct{} // wakes the writer from a wait after a fault
	stir  chan struct{} // wakes the minder
	jobs  chan syncJob
	ended chan struct{} // closed when the writer is gone
	rest  sync.WaitGroup

	asks atomic.Int64 // how often the writer was asked for something
	slow atomic.Int64 // nanoseconds to sleep before each write: DEBUG AOF-FLUSH-SLEEP

	mu        sync.Mutex
	idle      sync.Cond // a sync ended
	file      disk.File
	policy    Policy
	stamps    bool
	rewriting bool // no sync while rewriting, see SetNoSync
	written   mark
	synced    mark
	syncing   bool
	kept      mark      // what the oplog has forgotten
	syncErr   error     // of the syncer, for the writer
	lastSync  time.Time // begin of the last
	oldest    time.Time // when the first unsynced group was taken; zero: all is synced
	younger   time.Time // the same for what is not part of the sync under way
	took      time.Time // when the last group was taken
	writing   bool      // a write is under way
	late      bool      // the two-second rule holds replies
	fault     error
	told      time.Time // when a fault was logged last
	limit     int64
	turn      *turn
	flushes   []flush
	stop      bool
	stopped   bool
	stats     Stats

	w writer // the writer's own
}

// Stats are figures for INFO.
type Stats struct {
	Size     int64 // of the file
	Behind   int64 // bytes of the oplog that are not written yet
	Unsynced int64 // bytes of the file that are not synced
	Syncing  bool  // a sync is under way beside the writer
	Delayed  int64 // how often the two-second rule held replies
	Syncs    int64 // that succeeded
	Writes   int64
	Err      error // the fault there is; nil: none
}

// turn is a switch to another file.
type turn struct {
	off  int64
	open func() (disk.File, error)
	done chan error
}

type flush struct {
	off  int64
	done chan error
}

type syncJob struct {
	f disk.File
	m mark
}

// ErrClosed is what is returned by an Appender that was closed before it could do it.
var ErrClosed = errors.New("the AOF is closed")

// Start begins to append.
func Start(o AppenderOptions) *Appender {
	if o.MaxBehind <= 0 {
		o.MaxBehind = defaultBehind
	}
	if o.Log == nil {
		o.Log = func(bool, string) {}
	}
	m := mark{o.At, o.Size}
	a := &Appender{
		o: o, kick: make(chan struct{}, 1), stir: make(chan struct{}, 1), jobs: make(chan syncJob, 1), ended: make(chan struct{}),
		file: o.File, policy: o.Policy, stamps: o.Timestamps, written: m, synced: m, kept: m, limit: -1,
	}
	a.idle.L = &a.mu
	a.w.init(a, o.At, o.Size)
	a.mu.Lock()
	a.lastSync = o.Now()
	a.publish()
	a.mu.Unlock()
	a.rest.Add(2)
	go a.syncer()
	go a.minder()
	go a.w.run()
	return a
}

// wake has the writer look at what is asked of it.
func (a *Appender) wake() {
	a.asks.Add(1)
	a.o.Source.Interrupt()
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// SetPolicy changes when the file is synced.
func (a *Appender) SetPolicy(p Policy) {
	a.mu.Lock()
	synced := a.syncs()
	a.policy = p
	a.resync(synced)
	a.publish()
	a.mu.Unlock()
	a.wake()
}

// SetTimestamps turns annotations of the time on or off.
func (a *Appender) SetTimestamps(on bool) {
	a.mu.Lock()
	a.stamps = on
	a.mu.Unlock()
}

// SetNoSync stops syncing while a snapshot is written, if no-appendfsync-on-rewrite says so: until it is called with
// false, the policy counts as no, but under always replies still wait for the write.
func (a *Appender) SetNoSync(on bool) {
	a.mu.Lock()
	synced := a.syncs()
	a.rewriting = on
	a.resync(synced)
	a.publish()
	a.mu.Unlock()
	a.wake()
}

// resync has the two-second rule count from now on if the file was not to be synced until now. a.mu is held.
func (a *Appender) resync(before bool) {
	if !before && a.syncs() && !a.oldest.IsZero() {
		a.oldest = a.o.Now()
	}
}

// SetFlushSleep makes each write wait first, for tests that look at who waits for it.
func (a *Appender) SetFlushSleep(d time.Duration) { a.slow.Store(int64(d)) }

// Stats returns figures for INFO.
func (a *Appender) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.stats
	s.Size, s.Unsynced, s.Syncing, s.Err = a.written.size, a.written.size-a.synced.size, a.syncing, a.fault
	s.Behind = max(0, a.o.Source.End()-a.written.off)
	return s
}

// SwitchAt has the Appender go on in another file from an offset of the oplog on, at which a group begins and which
// is not before what there was when it was called last. It is called with the shards locked and does not block. When
// all before the offset is written and synced, open is called, by the writer, again each second while it fails; it
// returns the new, empty file. ErrAborted from it cancels the switch. WaitSwitch tells the end; of a closed Appender,
// that it is.
func (a *Appender) SwitchAt(off int64, open func() (disk.File, error)) {
	a.mu.Lock()
	if a.turn != nil {
		a.turn.tell(ErrAborted)
	}
	a.turn = &turn{off: off, open: open, done: make(chan error, 1)}
	if a.stopped {
		a.turn.tell(ErrClosed)
	}
	a.mu.Unlock()
	a.wake()
}

// WaitSwitch waits until the switch is done, or failed for the first time; then it goes on being tried until open says
// ErrAborted.
func (a *Appender) WaitSwitch() error {
	a.mu.Lock()
	t := a.turn
	a.mu.Unlock()
	if t == nil {
		return nil
	}
	return <-t.done
}

// Flush returns when all that was in the oplog is written and synced, or with the error of the first try.
func (a *Appender) Flush() error {
	done := make(chan error, 1)
	a.mu.Lock()
	if a.stopped || a.stop {
		a.mu.Unlock()
		<-a.ended
		return ErrClosed
	}
	a.flushes = append(a.flushes, flush{a.o.Source.End(), done})
	a.mu.Unlock()
	a.wake()
	return <-done
}

// Close writes and syncs what there is, with one try, closes file and source and opens the gate.
func (a *Appender) Close() error {
	done := make(chan error, 1)
	a.mu.Lock()
	if a.stop {
		a.mu.Unlock()
		<-a.ended
		return nil
	}
	a.stop = true
	a.flushes = append(a.flushes, flush{a.o.Source.End(), done})
	a.mu.Unlock()
	a.wake()
	err := <-done
	<-a.ended
	a.rest.Wait()
	return err
}

// syncs reports whether the file is synced at all at present.
func (a *Appender) syncs() bool { return a.policy != No && !a.rewriting }

// publish sets the gate; a.mu is held.
func (a *Appender) publish() {
	limit := int64(math.MaxInt64)
	switch {
	case a.stopped:
	case a.policy == Always && a.rewriting:
		limit = a.written.off
	case a.policy == Always:
		limit = a.synced.off
	case a.fault != nil:
	case a.late:
		limit = a.synced.off
	case a.o.Source.End()-a.written.off > a.o.MaxBehind:
		limit = a.written.off
	}
	if limit != a.limit {
		a.limit = limit
		a.o.Publish(limit)
	}
}

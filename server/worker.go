package server

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"heddle/db/invariants"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/dispatch"
	"heddle/server/poll"
	"heddle/server/stats"
)

// worker is one event loop on one thread. Everything in it belongs to its
// goroutine, but for the mailbox and the counters below it.
type worker struct {
	s      *Server
	id     int
	poller *poll.Poller
	x      *dispatch.Executor
	rec    *stats.Recorder

	// The batch that is being made: the commands, where each ends within its
	// connection's input, their arguments, the connections in it.
	batch    []dispatch.Pending
	ends     []int
	args     [][]byte
	joined   []*conn
	shared   []byte // what sockets are read into; used: how much the batch holds
	used     int
	outsized bool // a command had more arguments than args has room for

	dirties     []*conn
	posted      postLine
	gated       []*conn      // those whose replies wait for the disk
	opened      oplog.Offset // up to where it was durable when they were last looked at
	movers      []*conn      // flushed in this turn, and to move at its end
	agains      []*conn
	againsSpare []*conn
	bufs        buffers
	vec         poll.Vec

	slots      []*conn
	freeSlots  []uint32
	gen        uint32
	listeners  []*listener
	spareFD    int // given up when no other descriptor is left
	waits      uint32
	pollMisses int   // polls in vain in a row
	nextCheck  int   // the slot where housekeeping goes on
	acceptLog  int64 // when a failure to accept was last logged

	set          *Settings // as of this turn
	limits       *resp.Limits
	limitsUnauth *resp.Limits
	now          int64 // seconds, as of this turn
	stopping     bool
	stopAt       time.Time
	lingerAt     time.Time // until then peers may hang up by themselves
	lingering    int       // connections that wait for that
	mem          int64     // bytes that its connections use
	memShown     int64
	lent         int64 // how much of mem is memory of the keyspace
	lentShown    int64
	chaos        uint32 // for Options.Restless

	mail    mailbox
	clients atomic.Int64 // connections, those on their way to it included
	largest atomic.Int64 // the most that one of them uses, when it was last looked
	served  atomic.Int64 // connections ever
	moved   atomic.Int64 // connections that left for another worker
	busy    atomic.Int64 // nanoseconds in turns
	ran     atomic.Int64 // commands
}

// Tokens of what is no connection: the waker, and listeners from firstListener.
const (
	wakerToken    = ^uint64(0)
	firstListener = uint64(1) << 63
)

func newWorker(s *Server, id int) (*worker, error) {
	w := &worker{s: s, id: id, spareFD: -1}
	var err error
	if w.poller, err = poll.New(); err != nil {
		return nil, fmt.Errorf("opening epoll: %w", err)
	}
	if err := w.mail.open(); err != nil {
		_ = w.poller.Close()
		return nil, fmt.Errorf("opening eventfd: %w", err)
	}
	if err := w.poller.Add(w.mail.waker.FD(), poll.In, wakerToken); err != nil {
		w.closeFDs()
		return nil, fmt.Errorf("registering eventfd: %w", err)
	}
	w.openSpare()
	w.x = s.engine.NewExecutor()
	w.rec = w.x.Recorder()
	w.x.SetPost(func(fn func()) { w.post(fn) })
	w.x.SetGate(func() { w.post(w.openGate) })
	w.shared = make([]byte, sharedSize)
	w.args = make([][]byte, 0, 4*argvSpare)
	w.readSettings()
	return w, nil
}

func (w *worker) closeFDs() {
	_ = w.poller.Close()
	w.mail.close()
	w.closeSpare()
}

// yieldAfter is how long a worker keeps its processor of the scheduler. Go's
// monitor thread takes it away after 10 ms, and having done so it wakes up every
// 20 us for a while: 6 % of the process' CPU time at 50 unpipelined clients.
// Giving it up by oneself in time costs 1 to 2 %.
const yieldAfter = 8 * time.Millisecond

// loop runs the worker until the server is stopped.
func (w *worker) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w.pin()
	if w.s.pacer != nil {
		defer w.s.pacer.Watch()()
	}
	var yielded time.Time
	for !w.over() {
		n := w.wait()
		start := time.Now()
		if start.Sub(yielded) > yieldAfter {
			yielded = start
			runtime.Gosched()
		}
		w.turn(start, n)
		w.rec.Cycles++
		took := int64(time.Since(start))
		w.rec.CycleNanos += took
		w.busy.Store(w.busy.Load() + took)
		w.rec.Flush()
	}
	w.end()
}

// pollTries is how many polls in vain make a worker wait at once.
const pollTries = 3

// wait returns how many events there are, and waits if there is nothing to do.
// A poll is cheaper than a wait, but not than both: when polls find nothing the
// worker goes over to waiting, and polls only now and then.
func (w *worker) wait() int {
	w.waits++
	busy := len(w.agains) > 0 || !w.posted.empty()
	if w.pollMisses < pollTries || w.waits%16 == 0 || busy {
		if n := w.poller.Poll(); n > 0 || busy {
			w.pollMisses = 0
			return n
		}
		w.pollMisses++
	}
	if !w.mail.sleep() {
		return 0
	}
	n := w.poller.Wait(w.patience())
	w.mail.awake()
	return n
}

// patience is how many milliseconds the worker may wait for events; -1: for ever.
func (w *worker) patience() int {
	if w.stopping {
		return 10
	}
	idle := w.x.Idle()
	if idle < 0 {
		return -1
	}
	const ms, most = int64(time.Millisecond), math.MaxInt32
	return int(min((idle+ms-1)/ms, most))
}

// turn is one round over everything that is ready.
func (w *worker) turn(start time.Time, events int) {
	w.now = start.Unix()
	w.readSettings()
	w.makeRoom()
	w.x.Expire()
	w.readMail()
	w.resume()
	for i := range events {
		token, what := w.poller.Event(i)
		if token >= firstListener {
			w.special(token)
			continue
		}
		if c := w.find(token); c != nil {
			w.ready(c, what)
		}
	}
	w.run()
	w.flushDirty()
	w.flushPosted()
	w.awaitDurable()
	w.move()
	w.account()
}

// special serves what is no connection.
func (w *worker) special(token uint64) {
	if token == wakerToken {
		w.mail.waker.Drain()
		return
	}
	for _, l := range w.listeners {
		if l.token == token {
			w.accept(l)
			return
		}
	}
}

// find returns the connection of a token, nil if it is gone.
func (w *worker) find(token uint64) *conn {
	if slot := uint32(token); int(slot) < len(w.slots) {
		if c := w.slots[slot]; c != nil && c.gen == uint32(token>>32) {
			return c
		}
	}
	return nil
}

func (c *conn) token() uint64 { return uint64(c.gen)<<32 | uint64(c.slot) }

// ready serves an event of a connection. One whose commands are in the batch is
// left alone, since they stand in its memory: the event comes again.
func (w *worker) ready(c *conn, what poll.Event) {
	if c.state&stateBatch != 0 {
		return
	}
	if what&(poll.Hup|poll.Error) != 0 && c.want&poll.In == 0 {
		w.close(c)
		return
	}
	if what&poll.Out != 0 {
		if !w.drain(c) {
			return
		}
		w.dirty(c)
	}
	if what&(poll.In|poll.Hup|poll.Error) != 0 && c.want&poll.In != 0 {
		w.readable(c)
	}
}

// flushDirty sends the replies of the turn, a write per connection.
func (w *worker) flushDirty() {
	for i := 0; i < len(w.dirties); i++ {
		w.flush(w.dirties[i])
	}
	clear(w.dirties)
	w.dirties = w.dirties[:0]
}

// readMail does what others asked for.
func (w *worker) readMail() {
	list := w.mail.take()
	if list == nil {
		return
	}
	for _, m := range list {
		if m.conn == nil {
			m.fn()
			continue
		}
		if w.owns(m.conn) {
			w.deliver(m.conn, m.fn)
		} else {
			w.forward(m)
		}
	}
	w.mail.done()
}

// deliver runs a posted function for a connection, and lets it go on.
func (w *worker) deliver(c *conn, fn func()) {
	switch {
	case c.state&stateClosed != 0:
		return
	case c.killed.Load():
		w.close(c)
		return
	}
	w.openOut(c)
	fn()
	if c.state&(statePaused|stateGated) != 0 && !w.checkPosted(c) {
		return
	}
	if c.client.Closing() {
		c.state |= stateClosing
	} else if c.in.len() > 0 && !c.held() {
		w.again(c)
	}
	w.dirty(c)
}

// readSettings takes over settings that were changed.
func (w *worker) readSettings() {
	set := w.s.settings.Load()
	if set == w.set {
		return
	}
	w.set = set
	most := min(set.MaxBulk, maxArgument)
	w.limits = &resp.Limits{MaxBulk: most}
	w.limitsUnauth = &resp.Limits{MaxBulk: most, Unauthenticated: true}
}

// broken closes a connection whose socket failed.
func (w *worker) broken(c *conn, errno syscall.Errno) {
	w.log(Verbose, "Connection error: %v (%v)", errno, c)
	w.close(c)
}

// close ends a connection and gives back all that it owns.
func (w *worker) close(c *conn) {
	if c.state&stateClosed != 0 {
		return
	}
	invariants.Assert(c.state&stateBatch == 0, "a connection with commands in the batch is closed")
	c.state |= stateClosed
	if c.state&stateLinger != 0 {
		w.lingering--
	}
	c.client.Close()
	c.in.release(&w.bufs)
	if c.big != nil {
		c.big.Release()
		c.big, c.bigHave = nil, 0
	}
	c.queue.add(&w.bufs, &c.out, 0)
	c.queue.release(&w.bufs)
	w.mem -= c.mem + connSize
	w.lent -= c.lent
	w.slots[c.slot] = nil
	w.freeSlots = append(w.freeSlots, c.slot)
	_ = unix.Close(c.fd)
	w.clients.Add(-1)
	w.s.clients.Add(-1)
}

// account reports the memory of the connections when it changed noticeably.
func (w *worker) account() {
	all, own := w.mem-w.memShown, w.mem-w.lent-w.memShown+w.lentShown
	if max(all, -all, own, -own) > 4096 || w.mem == 0 && (all != 0 || own != 0) {
		w.report()
	}
	w.makeRoom()
}

// makeRoom keeps maxmemory-clients.
func (w *worker) makeRoom() {
	if limit := w.set.MaxMemoryClients; limit > 0 && w.s.clientMem.Load() > limit {
		w.evictClients(limit)
	}
}

// report makes the memory of the connections part of the server's. What the
// keyspace counts itself, large values under way to and from it, is not added again.
func (w *worker) report() {
	all, lent := w.mem-w.memShown, w.lent-w.lentShown
	w.memShown, w.lentShown = w.mem, w.lent
	w.s.clientMem.Add(all)
	w.s.engine.Keyspace().AddOverhead(all - lent)
}

func (w *worker) log(level Level, format string, args ...any) {
	if w.s.log != nil && w.s.logs(level) {
		w.s.log(level, fmt.Sprintf(format, args...))
	}
}

package dispatch

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/command"
)

// A command that cannot go on is parked: its arguments are copied, and its client
// is Blocked. There are three reasons to park. A blocking command waits in line
// (lines.go) for one of its keys to be written; the executor that wrote runs it
// again (serve.go). A command that CLIENT PAUSE holds back waits for the end of
// the pause, and one that went aside (aside.go) waits for its own goroutine; these
// go on upon the goroutine of their client.
//
// # Who ends a wait for keys
//
// Its end may come from its turn, its timeout, CLIENT UNBLOCK, CLIENT KILL, or the
// connection, on several goroutines at the same time. parked.mu decides: whoever
// moves the state away from waiting has ended the wait, and only he. A server holds
// it while he runs the command, so that nobody else can end the wait in between: an
// element is taken for a client only if that was there, and once it is taken the
// answer can only be the element. He takes it with the shards of all the command's
// keys locked; the others take it with no shard locked, or with all in EXEC, when
// there is no server. They hold it for a few instructions and never wait for a
// shard meanwhile.
//
// What ended is told to the client's goroutine by mail, which then writes the reply
// and lets the client go on.

// waitState is what became of a wait for keys.
type waitState uint8

const (
	waiting   waitState = iota
	served              // its reply is written
	timedOut            // it is to be answered by OnTimeout
	unblocked           // it is to be answered by an error
	abandoned           // its client goes
)

// parked is a command that waits.
type parked struct {
	c     *Client
	spec  *command.Spec
	argv  [][]byte
	buf   []byte // where argv stands
	size  int64  // of argv
	why   why
	wake  func() // what post has done
	began int64  // when a command that went aside began, by the monotonic clock
	reply resp.Writer
	gone  atomic.Bool // the client of a command that went aside is gone
	// redacted is what MONITOR and the slow log do not show of one.
	redacted uint64
	// again says that the command is away, and runs again when it has its result.
	again  bool
	result any     // mu guards it, and landed, until the command runs again
	landed bool    // result is there
	big    *db.Big // where one of the arguments stands, if not in buf

	// The rest is about a wait for keys. As long as it stands in line these do
	// not change.
	db       int
	noTouch  bool
	wants    wants
	seq      int64      // its number in all lines
	set      db.LockSet // the shards it needs
	places   []place
	deadline int64 // by the monotonic clock; 0: none

	heapAt int // where it is among its executor's timeouts; -1: nowhere

	mu    sync.Mutex
	state waitState
	took  int64 // for how long it ran so far
	owed  oplog.Offset
}

// why says what a command is parked for.
type why uint8

const (
	forKeys why = iota
	forPause
	forItself // it went aside
)

// keptParked is how many parked commands that ended an executor keeps to be used
// again, keptArgs how many bytes of arguments, and of a reply, one of them.
const (
	keptParked = 1024
	keptArgs   = 4 << 10
)

// newParked returns one that is not in use. What others may still know of a former
// wait is guarded by its mutex.
func (x *Executor) newParked() *parked {
	if n := len(x.spare); n > 0 {
		k := x.spare[n-1]
		x.spare = x.spare[:n-1]
		return k
	}
	k := &parked{heapAt: -1, state: abandoned}
	k.wake = func() { k.c.x.resume(k) }
	return k
}

// recycle takes back what ended: nobody is in any line with it.
func (x *Executor) recycle(k *parked) {
	if len(x.spare) >= keptParked || cap(k.buf) > keptArgs || cap(k.reply.Bytes()) > keptArgs || len(k.argv) > keptArgs/argSize {
		return
	}
	clear(k.argv)
	k.reply.Reset(k.reply.Bytes())
	x.spare = append(x.spare, k)
}

// post tells the client's goroutine to look after the command.
func (k *parked) post() { k.c.conn.Post(k.wake) }

// argSize is what an argument costs beside its bytes.
const argSize = 24

// hold copies a command for later and blocks its client.
func (x *Executor) hold(p *Pending, c *Client, w why) *parked {
	k := x.newParked()
	k.copyArgs(p.Argv)
	x.release(p)
	k.mu.Lock()
	k.c, k.spec, k.why, k.took = c, p.spec, w, 0
	k.mu.Unlock()
	k.reply.SetProto(c.w.Proto())
	c.parked = k
	c.mode |= modeBlocked
	c.publish(p.spec)
	if w != forItself {
		x.e.waiters.blocked.Add(1)
	}
	return k
}

// copyArgs copies argv into the command's own memory.
func (k *parked) copyArgs(argv [][]byte) {
	size := 0
	for _, a := range argv {
		size += len(a)
	}
	k.buf, k.argv = slices.Grow(k.buf[:0], size), k.argv[:0]
	for _, a := range argv {
		n := len(k.buf)
		k.buf = append(k.buf, a...)
		k.argv = append(k.argv, k.buf[n:len(k.buf):len(k.buf)])
	}
	k.size = int64(size + argSize*len(argv))
}

// rewrite replaces arguments as the handler asked for. They are no keys.
func (k *parked) rewrite(list []command.Rewrite) {
	for _, r := range list {
		k.size += int64(len(r.Arg) - len(k.argv[r.At]))
		k.argv[r.At] = slices.Clone(r.Arg)
	}
}

// park makes a command wait for its keys, which are locked now.
func (x *Executor) park(p *Pending, c *Client, s *command.Spec) {
	k := x.hold(p, c, forKeys)
	k.rewrite(x.call.Rewrites())
	k.db, k.noTouch, k.wants, k.set = c.db, c.mode&modeNoTouch != 0, wantsOf(s), x.held
	k.places = k.places[:0]
	for _, ref := range x.keys[p.first : p.first+p.count] {
		if key := k.argv[ref.at]; ref.access && !k.waitsFor(key) {
			k.places = append(k.places, place{arg: key, hash: ref.hash})
		}
	}
	k.deadline = 0
	if timeout, _ := x.call.Waiting(); timeout > 0 {
		k.deadline = x.start + int64(duration(timeout))
		x.timeouts.add(k)
		x.e.waiters.timed.Add(1)
	}
	k.mu.Lock()
	k.state = waiting
	k.mu.Unlock()
	c.shown.parked.Store(k)
	x.e.waiters.join(k)
}

// waitsFor reports whether the command has a place for key already.
func (k *parked) waitsFor(key []byte) bool {
	for i := range k.places {
		if string(k.places[i].arg) == string(key) {
			return true
		}
	}
	return false
}

// forever is a wait whose end nobody lives to see, in milliseconds.
const forever db.Millis = 100 * 365 * 24 * 3600 * 1000

// duration is a wait that a client asked for: in nanoseconds more than forever
// may not fit an int64.
func duration(d db.Millis) time.Duration { return time.Duration(min(d, forever)) * time.Millisecond }

// finish ends the wait; mu is held, and it goes on.
func (k *parked) finish(s waitState) {
	k.state = s
	w := &k.c.e.waiters
	w.blocked.Add(-1)
	if k.deadline != 0 {
		w.timed.Add(-1)
	}
}

// end ends c's wait for keys, from any goroutine; false if it had ended before.
func (k *parked) end(c *Client, s waitState) bool {
	k.mu.Lock()
	if k.c != c || k.why != forKeys || k.state != waiting {
		k.mu.Unlock()
		return false
	}
	k.finish(s)
	k.mu.Unlock()
	if s != abandoned {
		c.conn.Post(k.wake)
	}
	return true
}

// waits reports whether c still waits for keys with it, from any goroutine.
func (k *parked) waits(c *Client) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.c == c && k.state == waiting
}

// memory returns how many bytes the arguments have with which c waits, and how many
// the server keeps because of that, from any goroutine.
func (k *parked) memory(c *Client) (args, all int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.c != c || k.state != waiting {
		return 0, 0
	}
	return k.size - argSize*int64(len(k.argv)), k.size
}

// unpark forgets the client's waiting command, if any: on its goroutine, with no
// shards locked.
func (c *Client) unpark() {
	k := c.parked
	if k == nil {
		return
	}
	c.parked = nil
	c.mode &^= modeBlocked
	switch k.why {
	case forItself:
		k.leave()
	case forPause:
		c.e.waiters.blocked.Add(-1)
		c.e.pause.leave(k)
	default:
		c.shown.parked.Store(nil)
		c.x.timeouts.remove(k)
		k.end(c, abandoned)
		if k.state == served { // nobody is there to have the reply
			k.reply.Rewind(resp.Mark{})
		} else {
			c.e.waiters.leave(k)
		}
		c.x.recycle(k)
	}
}

// resume looks after a parked command: on its client's goroutine, outside any
// batch.
func (x *Executor) resume(k *parked) {
	c := k.c
	if c.parked != k {
		return
	}
	x.startTurn()
	x.keys = x.keys[:0]
	x.mark = c.w.Mark()
	switch k.why {
	case forItself:
		x.land(k, c)
	case forPause:
		x.unpause(k, c)
	default:
		x.settleWait(k, c)
	}
	x.wakeReaders()
	x.settle()
	x.sendOut()
	x.rec.Flush()
}

// unpause runs a command that was held back, from the start, as though it had
// just come.
func (x *Executor) unpause(k *parked, c *Client) {
	if x.holds(c, k.spec) {
		x.e.pause.join(k)
		return
	}
	c.unpark()
	batch := []Pending{{Client: c, Argv: k.argv, must: true}}
	x.prepare(batch)
	x.runFrom(batch, 0)
	x.letGo()
}

// settleWait answers a command whose wait for keys has ended.
func (x *Executor) settleWait(k *parked, c *Client) {
	k.mu.Lock()
	state := k.state
	k.mu.Unlock()
	switch state {
	case waiting:
		return
	case served:
		c.w.Take(&k.reply)
		c.owed = max(c.owed, k.owed)
	default:
		x.giveUp(k, c, state)
	}
	c.parked = nil
	c.mode &^= modeBlocked
	c.shown.parked.Store(nil)
	x.timeouts.remove(k)
	c.dropReply(x.mark)
	c.publish(k.spec)
	x.recycle(k)
}

// giveUp answers a command whose wait was ended before its turn came.
func (x *Executor) giveUp(k *parked, c *Client, state waitState) {
	x.e.waiters.leave(k)
	if state == unblocked {
		c.w.Error(errUnblocked)
		x.rec.Error(string(errUnblocked))
	} else {
		k.spec.OnTimeout(c.w)
	}
	x.ended(k, k.took, state == unblocked)
}

// ended counts a command that waited, and tells the slow log when it took long to
// run: the wait does not count.
func (x *Executor) ended(k *parked, took int64, failed bool) {
	x.rec.Ended(k.spec.ID(), took, failed)
	x.slow(k.spec, k.argv, k.c, took)
}

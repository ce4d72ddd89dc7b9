package dispatch

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// A command that cannot go on is parked: its arguments are copied, its client
// is Blocked, and it runs again later, from its client's goroutine. There are
// three reasons to park. A blocking command waits for one of its keys to be
// written, in line with the others that wait for it. A command that CLIENT
// PAUSE holds back waits for the end of the pause. A command that went aside
// (aside.go) waits for its own goroutine.
//
// Who waits for a key stands in line in the order in which they came. A write
// to the key wakes the first. When that one has run again, whether it was
// served or has to wait on, it wakes the next in line; so each gets its turn in
// order, although they run on different workers.

// parked is a command that waits.
type parked struct {
	c     *Client
	spec  *command.Spec
	argv  [][]byte
	size  int64 // of argv
	why   why
	began int64        // when a command that went aside began, by the monotonic clock
	reply *resp.Writer // of that command, once it is done

	seq     int64 // the place in line
	keys    []waitKey
	timer   func() // stops the timeout
	outcome atomic.Int32

	// Under waiters.mu: the keys for which it is its turn, and whether its
	// goroutine was told.
	turns []waitKey
	told  bool
}

// why says what a command is parked for.
type why uint8

const (
	forKeys why = iota
	forPause
	forItself // it went aside
)

// What ended the wait, if not its turn.
const (
	waitGoesOn = iota
	waitTimedOut
	waitUnblocked
)

// waitKey is a key of a database.
type waitKey struct {
	db  int
	key string
}

// waiters are the lines of commands that wait for keys.
type waiters struct {
	count   atomic.Int64 // waiting commands: keys are looked up only if there are any
	blocked atomic.Int64 // clients that are parked or paused
	timed   atomic.Int64 // waiting commands with a timeout
	mu      sync.Mutex
	seq     int64
	lines   map[waitKey][]*parked
}

func (w *waiters) open() { w.lines = map[waitKey][]*parked{} }

// ready is the keyspace's hook: key was written; its shard is locked.
func (w *waiters) ready(db int, key []byte) {
	if w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines[waitKey{db, string(key)}]) > 0 {
		w.wakeLocked(waitKey{db, string(key)}, 0)
	}
}

// wakeLocked gives the turn for k to the first in line behind place seq.
func (w *waiters) wakeLocked(k waitKey, seq int64) {
	for _, p := range w.lines[k] {
		if p.seq <= seq {
			continue
		}
		if !slices.Contains(p.turns, k) {
			p.turns = append(p.turns, k)
		}
		if !p.told {
			p.told = true
			p.post()
		}
		return
	}
}

// post tells the client's goroutine to look after the command.
func (p *parked) post() { p.c.conn.Post(func() { p.c.x.resume(p) }) }

// join puts a command in the lines of its keys.
func (w *waiters) join(p *parked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	p.seq = w.seq
	for _, k := range p.keys {
		w.lines[k] = append(w.lines[k], p)
	}
	w.count.Add(1)
}

// leave takes a command out of the lines. A turn that it had goes on.
func (w *waiters) leave(p *parked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range p.keys {
		line := slices.DeleteFunc(w.lines[k], func(o *parked) bool { return o == p })
		if len(line) == 0 {
			delete(w.lines, k)
		} else {
			w.lines[k] = line
		}
	}
	w.count.Add(-1)
	w.passLocked(p, p.turns)
	p.turns = nil
}

// take returns the keys for which it is the command's turn.
func (w *waiters) take(p *parked) []waitKey {
	w.mu.Lock()
	defer w.mu.Unlock()
	turns := p.turns
	p.turns, p.told = nil, false
	return turns
}

// pass gives turns that the command had to the next in line.
func (w *waiters) pass(p *parked, turns []waitKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passLocked(p, turns)
}

func (w *waiters) passLocked(p *parked, turns []waitKey) {
	for _, k := range turns {
		w.wakeLocked(k, p.seq)
	}
}

// park makes a command wait for its keys, which are locked now. A command that
// runs again and has to wait on keeps its place in line.
func (x *Executor) park(p *Pending, c *Client, s *command.Spec) {
	c.mode |= modeBlocked
	if c.parked != nil {
		return
	}
	k := x.hold(p, c, forKeys)
	for _, ref := range x.keys[p.first : p.first+p.count] {
		key := waitKey{c.db, string(p.Argv[ref.at])}
		if ref.access && !slices.Contains(k.keys, key) {
			k.keys = append(k.keys, key)
			x.tx.Await(p.Argv[ref.at])
		}
	}
	x.e.waiters.join(k)
	if timeout, _ := x.call.Waiting(); timeout > 0 {
		x.e.waiters.timed.Add(1)
		k.timer = x.e.clock.AfterFunc(duration(timeout), func() { k.end(waitTimedOut) })
	}
}

// forever is a wait whose end nobody lives to see, in milliseconds.
const forever db.Millis = 100 * 365 * 24 * 3600 * 1000

// duration is a wait that a client asked for: in nanoseconds more than forever
// may not fit an int64.
func duration(d db.Millis) time.Duration { return time.Duration(min(d, forever)) * time.Millisecond }

// argSize is what an argument costs beside its bytes.
const argSize = 24

// hold copies a command for later and blocks its client.
func (x *Executor) hold(p *Pending, c *Client, w why) *parked {
	k := &parked{c: c, spec: p.spec, argv: clone(p.Argv), why: w}
	for _, a := range k.argv {
		k.size += int64(len(a)) + argSize
	}
	if w == forKeys {
		for _, r := range x.call.Rewrites() {
			k.argv[r.At] = bytes.Clone(r.Arg)
		}
	}
	x.release(p)
	c.parked = k
	c.mode |= modeBlocked
	c.publish(p.spec)
	if w != forItself {
		x.e.waiters.blocked.Add(1)
		c.shown.parked.Store(k)
	}
	return k
}

// end ends the wait for keys from any goroutine; false if it had ended before.
func (k *parked) end(outcome int32) bool {
	if k.why != forKeys || !k.outcome.CompareAndSwap(waitGoesOn, outcome) {
		return false
	}
	k.post()
	return true
}

// unpark takes the client's waiting command, if any, out of everything.
func (c *Client) unpark() *parked {
	k := c.parked
	if k == nil {
		return nil
	}
	c.parked = nil
	c.mode &^= modeBlocked
	if k.why == forItself {
		k.outcome.Store(waitUnblocked)
		return k
	}
	c.shown.parked.Store(nil)
	c.e.waiters.blocked.Add(-1)
	if k.why == forPause {
		c.e.pause.leave(k)
	} else {
		c.e.waiters.leave(k)
		for _, w := range k.keys {
			c.e.ks.Unawait(w.db, []byte(w.key))
		}
	}
	if k.timer != nil {
		k.timer()
		c.e.waiters.timed.Add(-1)
	}
	return k
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
	switch {
	case k.why == forItself:
		x.land(k, c)
	case k.why == forPause:
		if x.holds(c, k.spec) {
			x.e.pause.join(k)
			return
		}
		c.unpark()
		x.again(k, c)
	case k.outcome.Load() != waitGoesOn:
		c.unpark()
		x.giveUp(k, c)
	default:
		x.retry(k, c)
	}
	x.settle()
	x.rec.Flush()
}

// again runs a command from the start, as though it had just come.
func (x *Executor) again(k *parked, c *Client) {
	batch := []Pending{{Client: c, Argv: k.argv}}
	x.prepare(batch)
	x.runFrom(batch, 0)
	x.letGo()
}

// retry runs a blocking command again, since it is its turn.
func (x *Executor) retry(k *parked, c *Client) {
	w := &x.e.waiters
	turns := w.take(k)
	c.mode &^= modeBlocked
	x.rerun(&Pending{Client: c, Argv: k.argv, spec: k.spec, count: -1, Done: true}, c)
	if c.mode&modeBlocked == 0 {
		c.unpark()
	}
	w.pass(k, turns)
}

// rerun runs a command that had passed the gates.
func (x *Executor) rerun(p *Pending, c *Client) {
	defer func() {
		if r := recover(); r != nil {
			x.panicked(p, r)
		}
	}()
	x.runLong(p, c)
}

// giveUp answers a command whose wait was ended.
func (x *Executor) giveUp(k *parked, c *Client) {
	x.call.Start(k.spec, k.argv, c.w)
	if k.outcome.Load() == waitUnblocked {
		x.fail(c, errUnblocked)
	} else {
		k.spec.OnTimeout(c.w)
	}
	x.after(c, k.spec, k.argv)
}

package dispatch

import (
	"errors"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errNested         resp.Error = "ERR MULTI calls can not be nested"
	errExecWithout    resp.Error = "ERR EXEC without MULTI"
	errDiscardWithout resp.Error = "ERR DISCARD without MULTI"
	errWatchInMulti   resp.Error = "ERR WATCH inside MULTI is not allowed"
)

// keptQueue is how many bytes of a queue's memory are kept for the next MULTI.
const keptQueue = 64 << 10

// multiState is the queue of a MULTI: commands whose arguments stand one after
// the other in buf, so that a queue that was used before costs no allocation.
type multiState struct {
	buf   []byte
	lens  []uint32
	cmds  []queuedCommand
	flags command.Flags // of all commands together
	write bool          // one of them writes
	lent  bool          // somebody else may still read buf
}

type queuedCommand struct {
	spec *command.Spec
	argc int
}

func (m *multiState) bytes() int64 {
	return int64(len(m.buf) + 4*len(m.lens) + 16*len(m.cmds))
}

// Multi begins a transaction.
func (c *Client) Multi() error {
	if c.mode&modeMulti != 0 {
		return errNested
	}
	c.mode |= modeMulti
	c.multi = c.x.newMulti()
	return nil
}

func (x *Executor) newMulti() *multiState {
	if n := len(x.multis); n > 0 {
		m := x.multis[n-1]
		x.multis = x.multis[:n-1]
		return m
	}
	return new(multiState)
}

func (x *Executor) freeMulti(m *multiState) {
	if m.lent || cap(m.buf) > keptQueue || cap(m.lens) > keptQueue/4 || len(x.multis) >= 64 {
		clear(x.argv) // EXEC's last look into m.buf
		return
	}
	*m = multiState{buf: m.buf[:0], lens: m.lens[:0], cmds: m.cmds[:0]}
	x.multis = append(x.multis, m)
}

// queue keeps a command for EXEC.
func (x *Executor) queue(p *Pending, c *Client) {
	m := c.multi
	for _, a := range p.Argv {
		m.buf = append(m.buf, a...)
		m.lens = append(m.lens, uint32(len(a)))
	}
	m.cmds = append(m.cmds, queuedCommand{p.spec, len(p.Argv)})
	m.flags |= p.spec.Flags
	m.write = m.write || p.spec.IsWrite()
	x.release(p)
	c.w.Simple("QUEUED")
}

// Discard drops the transaction.
func (c *Client) Discard() error {
	if c.mode&modeMulti == 0 {
		return errDiscardWithout
	}
	c.discard()
	return nil
}

// discard leaves MULTI and forgets the watched keys.
func (c *Client) discard() {
	c.leaveMulti()
	c.Unwatch()
}

func (c *Client) leaveMulti() {
	c.mode &^= modeMulti | modeDirtyExec
	if c.multi != nil {
		c.x.freeMulti(c.multi)
		c.multi = nil
	}
}

// Watch makes EXEC fail when one of the keys changes before it.
func (c *Client) Watch(keys [][]byte) error {
	if c.mode&modeMulti != 0 {
		return errWatchInMulti
	}
	for _, k := range keys {
		c.e.ks.Watch(&c.watcher, c.db, k, c.x.now)
	}
	c.watching = true
	return nil
}

// Unwatch forgets the watched keys. EXEC does that itself behind its queue, whose
// locks are still held when UNWATCH is part of it.
func (c *Client) Unwatch() {
	if c.watching && c.mode&modeExec == 0 {
		c.watching = false
		c.e.ks.Unwatch(&c.watcher)
	}
}

// Exec runs the transaction with the locks of all its keys held from before
// the look at the watched keys to the end: nobody sees half of it.
func (c *Client) Exec(call *command.Call) error {
	x := c.x
	if c.mode&modeMulti == 0 {
		return errExecWithout
	}
	if c.mode&modeDirtyExec != 0 {
		c.discard()
		return resp.ErrExecAbort
	}
	keys, start := len(x.keys), x.start
	set := x.expand(c)
	if weight := x.weigh(); weight > 0 {
		if done, ok := call.Returned().(readiness); ok {
			x.readied = done // which whoever gave it to the call releases
		} else if away := x.makeReady(c, weight); away != nil {
			x.keys = x.keys[:keys]
			return call.Away(away)
		} else {
			defer x.readied.Release()
		}
		defer func() { x.readied = nil }()
		x.start = x.e.clock.Mono() // that was EXEC's time, not the first command's
	}
	x.lock(c, set, true)
	if c.watching && c.watcher.DirtyAt(x.now) {
		call.Reply.NullArray()
	} else {
		x.runQueue(c)
	}
	if x.gated {
		x.owe(c)
		c.oweSome(x.queued)
	}
	x.unlock()
	x.settle()
	x.keys, x.start = x.keys[:keys], start
	c.discard()
	return nil
}

// runQueue runs the expanded queue.
func (x *Executor) runQueue(c *Client) {
	c.mode |= modeExec
	x.tx.SetTouchless(c.mode&modeNoTouch != 0)
	x.beginGroup()
	c.w.Array(len(x.queued))
	for i := 0; i < len(x.queued); {
		i = x.runQueueFrom(i, c)
	}
	x.tx.SetTouchless(false)
	c.mode &^= modeExec
	x.append()
}

// runQueueFrom runs the queue from the i-th command on. It returns early, behind the
// command at fault, when a handler panics: that one answers an error, like any other
// that fails.
func (x *Executor) runQueueFrom(i int, c *Client) (next int) {
	next = i
	var m resp.Mark
	defer func() {
		if r := recover(); r != nil {
			p := &x.queued[next]
			x.salvage(p.spec, p.Argv)
			x.failAt(c, m, x.panicText(r, p.Argv, c))
			x.settle()
			x.tick(p.spec, true)
			x.failed = false
			next++
		}
	}()
	for ; next < len(x.queued); next++ {
		m = c.w.Mark()
		x.runQueued(&x.queued[next], c, m)
	}
	return next
}

// expand makes the queue ready to run, touches the memory of its keys and
// returns the shards it needs. Control commands need them all, unless they are about
// connections and messages.
func (x *Executor) expand(c *Client) db.LockSet {
	m := c.multi
	x.argv, x.queued = x.argv[:0], x.queued[:0]
	at := 0
	for _, n := range m.lens {
		x.argv = append(x.argv, m.buf[at:at+int(n):at+int(n)])
		at += int(n)
	}
	argv := x.argv
	for _, q := range m.cmds {
		x.queued = append(x.queued, Pending{Client: c, Argv: argv[:q.argc:q.argc], spec: q.spec, count: -1})
		argv = argv[q.argc:]
	}
	var set db.LockSet
	for i := range x.queued {
		p := &x.queued[i]
		if p.spec.Control != nil {
			if !aboutNoKeys(p.spec) {
				set |= x.ks.AllShards()
			}
			continue
		}
		x.locate(p, c.db, true)
		set |= x.lockSet(p, p.spec)
	}
	x.toucher.Run()
	for i := range x.queued {
		x.willLock(&x.queued[i])
	}
	return set
}

// oweSome is owe for those commands of a queue that may look at all keys.
func (c *Client) oweSome(queue []Pending) {
	for i := range queue {
		if s := queue[i].spec; s.Control != nil && showsKeys(s) {
			c.oweAll()
			return
		}
	}
}

// aboutNoKeys reports whether a Control command itself looks at no key: PUBLISH, PING,
// SELECT, MULTI.
func aboutNoKeys(s *command.Spec) bool {
	return s.Flags&command.PubSub != 0 || s.ACL&(command.CatConnection|command.CatTransaction) != 0
}

// runQueued runs one command of the queue. What would wait answers at once as
// though its time was up.
func (x *Executor) runQueued(p *Pending, c *Client, m resp.Mark) {
	s := p.spec
	if !x.plans[s.ID()].quick {
		x.settle()
	}
	x.call.Start(s, p.Argv, c.w)
	x.handOver(p)
	x.tx.Select(c.db)
	var err error
	if s.Control != nil {
		if s.Flags&command.Fast == 0 {
			x.rec.Flush()
		}
		logs := locksAll(s) && x.logs(&x.call)
		err = s.Control(&x.call, c)
		if err == nil && logs && s.Flags&command.Writes != 0 {
			x.commit(&x.call, c.db, true)
		}
	} else {
		x.prime(p, s)
		err = x.invoke(s, &x.call, true)
	}
	switch {
	case err == nil:
	case errors.Is(err, command.ErrAside):
		at := len(c.w.Bytes())
		x.call.TakeAside()(c.w)
		x.noteError(c.w.Bytes()[at:])
	case errors.Is(err, command.ErrAway):
		x.call.TakeAway()
		x.failAt(c, m, errNotInExec)
	case isParked(err):
		c.w.Rewind(m)
		if s.OnDenied != nil {
			s.OnDenied(c.w)
		} else {
			s.OnTimeout(c.w)
		}
	default:
		x.failAt(c, m, err)
	}
	if x.e.state.Load()&stateMonitor != 0 {
		x.feed(c, s, p.Argv)
	}
	x.count(s, p.Argv, c)
}

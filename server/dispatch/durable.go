package dispatch

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/server/command"
)

// The reply gate. With `appendfsync always` nobody may see a reply to what is not on
// the disk yet: neither to a write, nor to a read of what another has just written, nor
// a message that tells of it. So each client has an offset of the oplog that it is owed
// (Client.Owed), and its connection keeps its output back until the log is durable up
// to there (Executor.Durable). Commands run on meanwhile, and all that wait share the
// next fsync. The rejected way was to have each worker wait for the disk at the end of
// its turn, as Redis does: one client that writes would keep all those waiting that
// only read.
//
// Of each shard the end of its last append is kept, under its lock. Who ran a command is
// owed that of all its shards, whether it wrote or read: what it saw is no younger.
// Commands that hold no shards but show keys, messages and what MONITOR shows are owed all of the log
// as of when no command was half done.
//
// While the gate is open, with any other appendfsync, all this costs one branch.

// GateOpen is the durable offset with which no reply waits.
const GateOpen oplog.Offset = math.MaxInt64

// replyGate is what the executors share.
type replyGate struct {
	durable atomic.Int64

	mu    sync.Mutex
	doors []*door
}

// door is an executor as those see it who make the log durable.
type door struct {
	waits atomic.Bool
	open  func() // has the executor's goroutine look at Durable
}

// SetDurable says up to where the oplog is durable: replies that depend on no more
// may leave. GateOpen opens the gate; it is at first. Workers that keep replies back
// are woken, each at most once, however many of its connections wait. From any goroutine.
func (e *Engine) SetDurable(upTo oplog.Offset) {
	g := &e.gate
	g.durable.Store(upTo)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.doors {
		if d.waits.Load() && d.waits.Swap(false) {
			d.open()
		}
	}
}

// Durable returns up to where the oplog is durable.
func (e *Engine) Durable() oplog.Offset { return e.gate.durable.Load() }

// SetGate has open called, from any goroutine, when AwaitDurable was and the log has
// become durable further on: it is to have the executor's goroutine look.
func (x *Executor) SetGate(open func()) {
	g := &x.e.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	x.door.open = open
	g.doors = append(g.doors, &x.door)
}

// leaveGate ends what SetGate began.
func (x *Executor) leaveGate() {
	g := &x.e.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, d := range g.doors {
		if d == &x.door {
			g.doors = append(g.doors[:i], g.doors[i+1:]...)
			return
		}
	}
}

// Gated reports whether the gate was shut when the executor last ran commands.
func (x *Executor) Gated() bool { return x.gated }

// Durable returns up to where the oplog is durable.
func (x *Executor) Durable() oplog.Offset { return x.e.gate.durable.Load() }

// AwaitDurable announces that replies wait. To be followed by a look at Durable: what
// becomes durable after that is told (see SetGate).
func (x *Executor) AwaitDurable() { x.door.waits.Store(true) }

// Owed returns the offset up to which the oplog must be durable before what was
// written to the client so far may leave.
func (c *Client) Owed() oplog.Offset { return c.owed }

// owe has a client's replies wait for what was last appended for the shards of the
// transaction, which are still locked. While the gate is open it is not called.
func (x *Executor) owe(c *Client) { c.owed = max(c.owed, x.e.endOf(x.tx.LockSet())) }

// endOf returns where the log ended when a key of these shards, which are locked,
// was last changed.
func (e *Engine) endOf(set db.LockSet) (at oplog.Offset) {
	for m := uint64(set); m != 0; m &= m - 1 {
		at = max(at, e.ends[bits.TrailingZeros64(m)].at)
	}
	return at
}

// oweAll has the client's replies wait for all of the log.
func (c *Client) oweAll() {
	if c.x.gated && c.e.oplog != nil {
		c.owed = max(c.owed, c.e.oplog.End())
	}
}

// showsKeys reports whether the reply of a Control command shows what keys are, and so
// waits for the log. What steers and observes the server does not, INFO's numbers of
// keys notwithstanding: while the disk is full, that is how to see it and to help.
func showsKeys(s *command.Spec) bool {
	return !aboutNoKeys(s) && (s.ACL&command.CatKeyspace != 0 || s.Flags&(command.Reads|command.Writes) != 0 || s.Group != "server" || s.Name == "debug")
}

// deliverAll delivers what was published.
func (x *Executor) deliverAll() {
	x.gated, x.heard = x.e.gate.durable.Load() != GateOpen, -1
	x.branch.Deliver()
}

// oweHeard has a message to the client wait for what it may tell of. It may come from a
// command that still runs and has not appended its effects yet: that one holds shards.
// So the log is looked at with all of them locked, once for all messages that are
// delivered together. On the executor's goroutine, outside of commands.
func (c *Client) oweHeard() {
	x := c.x
	if !x.gated || x.e.oplog == nil {
		return
	}
	if x.heard < 0 {
		x.letGo()
		all := x.ks.AllShards()
		x.ks.Lock(all)
		x.heard = x.e.oplog.End()
		x.ks.Unlock(all)
	}
	c.owed = max(c.owed, x.heard)
}

package dispatch

import (
	"errors"
	"fmt"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
)

// runOne is the short way: a command of one key, whose hash is known, of a
// client in no special state.
func (x *Executor) runOne(p *Pending, c *Client, s *command.Spec, pl *plan) {
	if !pl.quick {
		x.settle()
	}
	x.call.Start(s, p.Argv, c.w)
	if p.Big != nil {
		x.lend(p)
	}
	x.lockOne(c, p.hash, s.Write != nil)
	x.tx.Prime(p.Argv[pl.at], p.hash)
	x.tx.SetPatient()
	if err := x.invoke(s, &x.call, false); err != nil {
		if errors.Is(err, db.ErrDue) {
			x.clearDueOne(p, c)
			return
		}
		x.fail(c, err)
	}
	if x.gated {
		x.owe(c)
	}
	x.unlockOne()
	x.count(s, p.Argv, c)
	if x.lent != nil {
		x.dropBig(p)
	}
}

// lend lets the handler take over the memory of a large argument. A reference is
// kept meanwhile: the slow log and MONITOR look at the arguments when the locks
// are given back, and others may have deleted the value by then.
func (x *Executor) lend(p *Pending) {
	x.call.SetBig(p.BigAt, p.Big)
	p.Big.Retain()
	x.lent = p.Big
}

// dropBig releases what lend kept, and the argument itself if the handler did
// not take it over. A command that was parked has given that back.
func (x *Executor) dropBig(p *Pending) {
	if b := x.call.Big(); b != nil && p.Big != nil {
		b.Release()
	}
	x.lent.Release()
	p.Big, x.lent = nil, nil
}

// lock takes the shards of a set and opens the transaction.
func (x *Executor) lock(c *Client, set db.LockSet, write bool) {
	x.ks.Lock(set)
	x.held, x.begun = set, true
	x.tx.Begin(c.db, x.now, set, write)
}

// unlock closes the transaction, serves those who waited for what it wrote, and
// gives the shards back.
func (x *Executor) unlock() {
	x.tx.End()
	x.begun = false
	x.giveBack()
}

// giveBack serves those who waited for what was written, and unlocks.
func (x *Executor) giveBack() {
	if len(x.ready) > 0 {
		x.serve()
	}
	set := x.held
	x.held = 0
	x.ks.Unlock(set)
}

// invoke calls the handler of a Read or Write command, with the locks of its
// keys held, and commits what it changed.
func (x *Executor) invoke(s *command.Spec, call *command.Call, inExec bool) error {
	if s.Write == nil {
		return s.Read(call, x.tx)
	}
	logs, before := x.logs(call), x.tx.Changes()
	err := s.Write(call, x.tx)
	if !logs {
		return err
	}
	changed := x.tx.Changes() != before
	if failedHalf(err, changed) {
		x.salvage(s, call.Args.Argv())
		if !inExec {
			x.append()
		}
	} else if changed {
		x.commit(call, x.tx.DB(), inExec)
	}
	return err
}

// runLong runs a command that passed the gates, whatever it is.
func (x *Executor) runLong(p *Pending, c *Client) {
	s := p.spec
	x.call.Start(s, p.Argv, c.w)
	if len(x.returned) > 0 {
		x.call.Return(x.takeReturned(c))
		defer releaseAhead(x.call.Returned())
	}
	if p.Big != nil {
		x.lend(p)
	}
	weight := 0
	if s.Heavy != nil && x.call.Returned() == nil {
		weight = s.Heavy(p.Argv)
	}
	switch {
	case s.Control != nil:
		x.runControl(p, c, s)
	case weight > 0:
		x.runHeavy(p, c, s, weight)
	default:
		x.runKeys(p, c, s)
	}
	switch {
	case c.mode&modeBlocked == 0:
		x.after(c, s, p.Argv)
	case c.parked.why == forKeys:
		x.waits(c, s, p.Argv)
	}
	if x.lent != nil {
		x.dropBig(p)
	}
}

// after does what follows a command that was answered.
func (x *Executor) after(c *Client, s *command.Spec, argv [][]byte) {
	if x.e.state.Load()&stateMonitor != 0 {
		x.feed(c, s, argv)
	}
	if s.Flags&command.Pushes != 0 {
		x.mark = c.w.Mark()
	}
	c.dropReply(x.mark)
	x.count(s, argv, c)
}

// waits does what follows a command that was parked: MONITOR shows it and it counts
// as called, but its time is counted when it is answered.
func (x *Executor) waits(c *Client, s *command.Spec, argv [][]byte) {
	if x.e.state.Load()&stateMonitor != 0 {
		x.feed(c, s, argv)
	}
	x.rec.Begun(s.ID())
	took, k := x.tick(nil, false), c.parked
	k.mu.Lock()
	k.took += took
	k.mu.Unlock()
}

// runControl runs a Control command. The statistics and the client's state so
// far are published first, since it may show or reset them: all commands that do
// are slow ones. One that changes the keyspace runs
// with all of it locked, so that its effect has a place among the others.
func (x *Executor) runControl(p *Pending, c *Client, s *command.Spec) {
	if s.Flags&command.Fast == 0 && s != x.e.exec {
		x.rec.Flush()
		c.publish(s)
	}
	all := locksAll(s)
	if all {
		x.lock(c, x.ks.AllShards(), true)
	}
	logs := all && x.logs(&x.call)
	err := s.Control(&x.call, c)
	switch {
	case errors.Is(err, command.ErrAside):
		err = nil
		x.aside(p, c, x.call.TakeAside())
	case errors.Is(err, command.ErrAway):
		err = nil
		fn := x.call.TakeAway()
		x.work(p, c, func([][]byte) any { return fn() })
	}
	if err != nil {
		x.fail(c, err)
	} else if logs && s.Flags&command.Writes != 0 {
		x.commit(&x.call, c.db, false)
	}
	if x.gated && showsKeys(s) {
		c.oweAll()
	}
	if all {
		x.unlock()
	}
}

// locksAll reports whether a Control command runs with all of the keyspace locked.
func locksAll(s *command.Spec) bool { return s.Flags&(command.AllShards|command.Writes) != 0 }

// runKeys runs a Read or Write command of any number of keys. A command that
// waits is parked while its keys are still locked, so that no write to them is
// missed.
func (x *Executor) runKeys(p *Pending, c *Client, s *command.Spec) {
	set := x.lockSet(p, s)
	x.lock(c, set, s.Write != nil)
	x.prime(p, s)
	// TOUCH is what such a client says to move the clocks all the same.
	x.tx.SetTouchless(c.mode&modeNoTouch != 0 && s.Name != "touch")
	x.tx.SetPatient()
	switch err := x.invoke(s, &x.call, false); {
	case err == nil:
	case errors.Is(err, db.ErrDue):
		x.clearDue(p, c)
	case isParked(err):
		c.w.Rewind(x.mark)
		x.park(p, c, s)
	case errors.Is(err, command.ErrAway):
		c.w.Rewind(x.mark)
		x.away(p, c, x.call.TakeAway())
	default:
		x.fail(c, err)
	}
	x.tx.SetTouchless(false)
	if x.gated {
		x.owe(c)
	}
	x.unlock()
}

// prime tells the transaction the hash of the only key, if there is one.
func (x *Executor) prime(p *Pending, s *command.Spec) {
	if pl := &x.plans[s.ID()]; pl.one() {
		x.tx.Prime(p.Argv[pl.at], p.hash)
	}
}

// lockSet returns the shards that a command needs.
func (x *Executor) lockSet(p *Pending, s *command.Spec) db.LockSet {
	if p.count < 0 {
		x.locate(p, 0, false)
	}
	if s.Flags&command.AllShards != 0 || s.WholeKeyspace != nil && s.WholeKeyspace(p.Argv) {
		return x.ks.AllShards()
	}
	if x.plans[s.ID()].one() {
		return db.LockSet(1) << uint(x.ks.ShardOf(p.hash))
	}
	var set db.LockSet
	for _, k := range x.keys[p.first : p.first+p.count] {
		set = set.With(x.ks.ShardOf(k.hash))
		x.ks.WillLock(k.hash)
	}
	return set
}

// willLock fetches the cache lines of the mutexes of a located command's keys,
// all at once, before the first of them is locked.
func (x *Executor) willLock(p *Pending) {
	if p.spec.Control != nil {
		return
	}
	if x.plans[p.spec.ID()].one() {
		x.ks.WillLock(p.hash)
		return
	}
	for _, k := range x.keys[p.first : p.first+p.count] {
		x.ks.WillLock(k.hash)
	}
}

// isParked reports whether err is what Call.Wait returns.
func isParked(err error) bool { return err == command.ErrParked || errors.Is(err, command.ErrParked) }

// fail takes back what the command replied so far and answers an error.
func (x *Executor) fail(c *Client, err error) {
	x.failAt(c, x.mark, err)
}

func (x *Executor) failAt(c *Client, m resp.Mark, err error) {
	text := x.errorText(err, x.call.Spec)
	c.w.Rewind(m)
	c.w.Error(text)
	x.rec.Error(string(text))
	x.failed = true
}

// errorText is the reply for an error of a command's handler.
func (x *Executor) errorText(err error, s *command.Spec) resp.Error {
	if text, ok := err.(resp.Error); ok {
		return text
	}
	switch {
	case errors.Is(err, db.ErrWrongType):
		return resp.ErrWrongType
	case errors.Is(err, db.ErrTooLong):
		return resp.ErrTooLong
	case errors.Is(err, db.ErrOutOfMemory):
		return resp.ErrOOM
	}
	var text resp.Error
	if errors.As(err, &text) {
		return text
	}
	x.e.log(fmt.Sprintf("BUG: command %s: error without a reply: %v", s.FullName(), err))
	invariants.Assert(false, "command %s: error without a reply: %v", s.FullName(), err)
	return errInternal
}

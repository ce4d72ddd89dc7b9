package dispatch

import (
	"time"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/pubsub"
	"heddle/server/stats"
)

// Pending is a command that waits for its turn.
type Pending struct {
	Client *Client
	// Argv is borrowed until RunBatch returns; what is kept is copied.
	Argv [][]byte
	// Big, if set, is the memory in which argument BigAt stands. RunBatch takes
	// over its reference if Done.
	Big   *db.Big
	BigAt int
	// Done says that the command was taken: it ran, was queued or refused, or
	// its client is now Blocked by it. Otherwise an earlier command blocked or
	// closed the client, or its replies must be sent first, and the command must
	// be offered again later.
	Done bool

	must  bool // nobody would offer it again
	spec  *command.Spec
	hash  uint64 // of the key, if hashed
	first int32  // its keys in Executor.keys
	count int32  // how many; -1: not looked for yet
}

// keyRef is a key of a call and its hash.
type keyRef struct {
	at     int32 // index in argv
	access bool  // what a parked command waits for
	hash   uint64
}

// replyBound is how many bytes of replies a client may get in a batch before its
// further commands are left for the next one, so that a pipeline of commands
// with large replies does not pile them all up.
const replyBound = 1 << 20

// turnBound is for how long, in nanoseconds, one client's commands may run in a
// batch before the rest of them is left for the next one, so that a pipeline of slow
// commands does not keep all others waiting. It is looked at when the clock is read
// anyway: behind every command that is not quick, and behind sharedRun quick ones.
const turnBound = 1_000_000

// sharedRun is how many quick commands of a kind share a clock reading.
const sharedRun = 16

// Executor runs commands for one goroutine.
type Executor struct {
	e       *Engine
	clients int // open ones
	ks      *db.Keyspace
	plans   []plan
	tx      *db.Tx
	toucher *db.Toucher
	branch  *pubsub.Branch
	post    func(fn func()) // see SetPost
	deliver func()          // deliverAll
	rec     *stats.Recorder
	call    command.Call

	now      db.Millis // the instant of the command
	wallBase int64     // wall minus monotonic clock
	wallNext int64     // when, by the monotonic clock, that is looked at again
	start    int64     // when the command began, by the monotonic clock

	turn struct { // whose commands run, since when, and what its writer held then
		client  *Client
		since   int64
		had     int
		stalled bool // one of them would publish, and subscribers lag behind
	}
	stalled bool     // a client of the batch
	run     struct { // quick commands whose time is not read yet
		id, n, failed int
		share         bool // runs may share readings
	}

	keys   []keyRef // of the commands of the batch
	refs   []command.KeyRef
	held   db.LockSet // locked now, for one command
	kept   db.LockSet // locked until the batch is done, see keep.go
	alone  bool       // no other executor has clients
	begun  bool       // tx is open
	gated  bool       // replies have to wait, see durable.go
	mark   resp.Mark  // where the reply of the command begins
	failed bool       // the command answered an error
	muted  bool       // the last command may have no reply, or more than one
	lent   *db.Big    // the command's Big, held until nobody looks at its arguments

	again    command.Call // of commands that were parked
	ready    []*line      // whose keys were written by the running command
	serving  bool
	posts    []outgoing // for when the batch is done
	timeouts timeouts   // of clients that are parked
	spare    []*parked

	argv    [][]byte  // of the queued commands, while EXEC runs them
	queued  []Pending // those commands
	effects []oplog.Effect
	door    door
	heard   oplog.Offset  // what messages that are being delivered wait for; negative: not known
	quiet   bool          // nothing goes to the oplog
	grouped db.LockSet    // see beginGroup
	wakes   bool          // something was appended to the oplog in this batch
	multis  []*multiState // spare ones

	returned map[*Client]any // of commands that were away and are to run again
	readied  readiness       // of commands in EXEC, see ahead.go
}

// NewExecutor returns an executor for one goroutine.
func (e *Engine) NewExecutor() *Executor {
	x := &Executor{
		e: e, ks: e.ks, plans: e.plans,
		tx: e.ks.NewTx(), toucher: e.ks.NewToucher(), rec: e.stats.NewRecorder(),
	}
	x.branch = e.hub.NewBranch(x.wakeUp)
	x.deliver = x.deliverAll
	x.tx.SetAwaiter(x)
	return x
}

// Recorder is the executor's statistics: the worker counts its own in there,
// and RunBatch flushes them.
func (x *Executor) Recorder() *stats.Recorder { return x.rec }

// Close gives the executor up.
func (x *Executor) Close() {
	x.leaveGate()
	x.branch.Deliver() // to nobody, and nobody waits for it any more
	x.rec.Close()
}

// Now is the instant of the last command, in milliseconds.
func (x *Executor) Now() db.Millis { return x.now }

// RunBatch runs the commands in order. The commands of a client stand in its
// order. Replies go to the clients' writers.
func (x *Executor) RunBatch(batch []Pending) {
	if len(batch) == 0 {
		return
	}
	x.branch.Attend()
	x.deliverAll() // who sent these commands may know of what was published before
	x.startTurn()
	x.prepare(batch)
	for i := 0; i < len(batch); {
		i = x.runFrom(batch, i)
	}
	x.letGo()
	x.wakeReaders()
	x.branch.Rest()
	x.deliverAll()
	x.settle()
	x.sendOut()
	x.rec.Flush()
	x.trim()
	if x.stalled {
		x.stalled = false
		time.Sleep(stallTime)
	}
}

// keptScratch is how many entries of scratch memory are kept for the next turn.
const keptScratch = 1 << 14

// trim gives back scratch memory that an unusual command needed.
func (x *Executor) trim() {
	if cap(x.keys) > keptScratch {
		x.keys, x.refs = nil, nil
	}
	if cap(x.argv) > keptScratch {
		x.argv, x.queued = nil, nil
	}
}

// wallEvery is how long, in nanoseconds, the Unix time is worked out from the
// monotonic clock before it is read again.
const wallEvery = 10_000_000

// startTurn reads the clocks.
func (x *Executor) startTurn() {
	x.start = x.e.clock.Mono()
	if x.wallBase == 0 || x.start >= x.wallNext {
		x.wallBase, x.wallNext = x.e.clock.Wall()-x.start, x.start+wallEvery
	}
	x.setNow()
	x.turn.client, x.turn.stalled = nil, false
	x.run.share = x.mayShare()
	x.alone = x.e.busy.Load() == 1
	x.gated = x.e.gate.durable.Load() != GateOpen
}

func (x *Executor) setNow() { x.now = db.Millis((x.wallBase + x.start) / 1e6) }

// unix is the time of the command in seconds.
func (x *Executor) unix() int64 { return int64(x.now / 1000) }

// prepare looks the commands up and touches the memory of their keys.
func (x *Executor) prepare(batch []Pending) {
	x.keys = x.keys[:0]
	touch := len(batch) > 1
	for i := range batch {
		p := &batch[i]
		p.Done, p.count = false, -1
		p.spec = x.e.table.Lookup(p.Argv[0])
		if p.spec == nil {
			continue
		}
		x.locate(p, p.Client.db, touch)
	}
	if touch {
		x.toucher.Run()
	}
}

// locate finds and hashes the keys of a command whose Spec is known.
func (x *Executor) locate(p *Pending, db int, touch bool) {
	pl := &x.plans[p.spec.ID()]
	switch {
	case pl.way == wayGates || !pl.fits(len(p.Argv)):
	case pl.way == wayMany:
		x.findKeys(p, db, touch)
	default:
		p.hash, p.count = x.ks.Hash(p.Argv[pl.at]), 1
	}
}

// findKeys finds and hashes the keys of a command. Where they cannot be found
// the command runs without, and its handler says what is wrong.
func (x *Executor) findKeys(p *Pending, db int, touch bool) {
	var err error
	p.first, p.count = int32(len(x.keys)), 0
	if x.refs, err = command.FindKeys(x.refs[:0], p.spec, p.Argv); err != nil {
		return
	}
	for _, r := range x.refs {
		k := keyRef{at: int32(r.Index), access: r.Flags&command.KeyAccess != 0}
		if touch {
			k.hash = x.toucher.Add(db, p.Argv[r.Index])
		} else {
			k.hash = x.ks.Hash(p.Argv[r.Index])
		}
		x.keys = append(x.keys, k)
	}
	if p.count = int32(len(x.refs)); p.count == 1 {
		p.hash = x.keys[p.first].hash
	}
}

// fetchGroup is for how many commands the buckets and the records of single keys are
// fetched together: the buckets two groups ahead, the records one. A processor that has to
// walk the page tables for a prefetch waits for that, but walks for several at once: with
// 10 million keys a GET takes a quarter less than when each command asks for those of one
// further on. Loading all of a batch before its first command runs, as is done for commands
// of many keys, costs more where the keyspace fits into the caches, and gains no more where
// not; so did to fetch what leads to the buckets beforehand.
const fetchGroup = 16

// fetch is called before command at is run, of those that are run from the first on, and
// asks for what others behind it will need.
func (x *Executor) fetch(batch []Pending, first, at int) {
	if (at-first)%fetchGroup != 0 {
		return
	}
	if at == first {
		x.fetchBuckets(batch, at, at+2*fetchGroup)
		x.fetchRecords(batch, at, at+fetchGroup)
	}
	x.fetchBuckets(batch, at+2*fetchGroup, at+3*fetchGroup)
	x.fetchRecords(batch, at+fetchGroup, at+2*fetchGroup)
}

// fetchBuckets asks for the buckets of the commands from one on to another.
func (x *Executor) fetchBuckets(batch []Pending, from, to int) {
	for i := from; i < min(to, len(batch)); i++ {
		if p := &batch[i]; p.count == 1 {
			x.ks.WillFind(p.Client.db, p.hash)
		}
	}
}

// fetchRecords asks for the records of the commands from one on to another.
func (x *Executor) fetchRecords(batch []Pending, from, to int) {
	for i := from; i < min(to, len(batch)); i++ {
		if p := &batch[i]; p.count == 1 {
			x.ks.WillRead(p.Client.db, p.hash)
		}
	}
}

// lockAhead is how many commands ahead the cache line of a shard's mutex is
// fetched: long enough for it to come from another processor, short enough that
// it is not taken back before. With two workers on uniform keys a GET takes 10 %
// less by it. Where all use one key it would only keep the others waiting.
const lockAhead = 3

// runFrom runs commands from the i-th on. It returns early, behind the command
// at fault, when a handler panics.
func (x *Executor) runFrom(batch []Pending, i int) (next int) {
	next = i
	defer func() {
		if r := recover(); r != nil {
			x.panicked(&batch[next], r)
			next++
		}
	}()
	for ; next < len(batch); next++ {
		x.fetch(batch, i, next)
		p := &batch[next]
		c := p.Client
		if c != x.turn.client {
			x.turn.client, x.turn.since, x.turn.had, x.turn.stalled = c, x.start, c.w.Len(), false
		}
		switch {
		case c.mode&(modeBlocked|modeClosing|modeGone) != 0:
			continue
		case p.must, p.Big != nil: // which is its client's first
		case c.w.Len()-x.turn.had >= replyBound, x.start-x.turn.since > turnBound:
			continue
		case x.turn.stalled || x.e.hub.Congested() && x.stalls(p):
			continue
		}
		p.Done = true
		if at := next + lockAhead; !x.alone && at < len(batch) && batch[at].count == 1 && batch[at].hash != p.hash {
			x.ks.WillLock(batch[at].hash)
		}
		before, own := c.mode, -1
		if p.Big != nil {
			own = p.BigAt
		}
		x.execute(p, c)
		if next+1 == len(batch) || batch[next+1].Client != c {
			c.publish(p.spec)
		}
		if invariants.Enabled {
			x.check(p, c, before, own)
		}
	}
	return next
}

// execute takes a command the short way if it may, else through the gates.
func (x *Executor) execute(p *Pending, c *Client) {
	x.mark = c.w.Mark()
	if s := p.spec; s != nil && c.mode&special == 0 && x.e.state.Load() == 0 {
		pl := &x.plans[s.ID()]
		if p.count == 1 && (pl.way == wayOne || pl.way == wayHeavy && s.Heavy(p.Argv) == 0) && !x.ks.Over() && !invariants.Sometimes(8) {
			x.runOne(p, c, s, pl)
			return
		}
	}
	if p.spec == nil || !x.plans[p.spec.ID()].quick {
		x.settle()
	}
	x.letGo()
	x.throughGates(p, c)
}

// panicked cleans up behind a handler that panicked: its locks are given back,
// its client gets an error, the process lives.
func (x *Executor) panicked(p *Pending, r any) {
	c := p.Client
	text := x.panicText(r, p.Argv, c)
	if c.mode&modeExec == 0 {
		x.salvage(p.spec, p.Argv)
	}
	x.append() // also of the commands that an EXEC had run before
	if x.begun {
		x.begun = false
		x.tx.SetTouchless(false)
		x.tx.Abort()
	}
	x.held, x.kept = x.held|x.kept, 0
	x.giveBack()
	if x.lent != nil {
		x.dropBig(p)
	}
	if c.mode&modeExec != 0 {
		c.mode &^= modeExec
		c.discard()
	}
	x.fail(c, text)
	c.oweAll()
	c.dropReply(x.mark)
	x.settle()
	x.tick(p.spec, true)
	x.failed = false
}

package dispatch

import (
	"fmt"
	"math/bits"
	"runtime/debug"

	"heddle/db"
	"heddle/resp"
)

// A blocked client is served by the executor whose command made its key ready,
// when that command (or EXEC, or command served before) is done and before its
// shards are given back. So what a client sees that writes and then reads is what
// Redis shows, nobody who came later can take what those in line have a right to,
// and a single-key wait costs no further lock. The rejected way was to wake the
// client's own worker and have that run the command: between the write and the
// wake-up everybody saw the element, and who asked again by chance took it from
// those who had waited.
//
// Keys are looked after in the order in which they were written, breadth first:
// what is written while a client is served goes to the end. For each key those in
// line are run in order, each on the whole set of its shards. Shards that are
// missing are tried first, which may be done in any order; if one is not free, all
// are given back and locked in order, and the line is looked at anew.
//
// What the command answers goes into a writer of its own, and to the client's
// connection by mail, when the batch is done.

// outgoing is mail for a connection.
type outgoing struct {
	conn Conn
	fn   func()
}

// Ready notes a line for a key that this executor's transaction wrote.
func (x *Executor) Ready(db int, hash uint64, key []byte) {
	if l := x.e.waiters.find(db, hash, key); l != nil {
		x.enqueue(l)
	}
}

// Replaced notes the lines for all keys of a database that fall in a shard.
func (x *Executor) Replaced(db, shard int) {
	for k, l := range x.e.waiters.lines[shard] {
		if k.db == db {
			x.enqueue(l)
		}
	}
}

func (x *Executor) enqueue(l *line) {
	if l.queued == x {
		return
	}
	if l.queued == nil {
		l.queued = x
	}
	x.ready = append(x.ready, l)
}

// serve runs the commands of those who wait for keys that were written, with the
// shards in x.held locked: those of the keys are among them, and different ones
// may be afterwards. The clock of the running command stands still meanwhile.
func (x *Executor) serve() {
	if x.serving {
		x.forgetReady() // it panicked
		return
	}
	x.serving = true
	for i := 0; i < len(x.ready); i++ {
		l := x.ready[i]
		x.reach(db.LockSet(1) << uint(x.ks.ShardOf(l.hash)))
		if l = x.e.waiters.current(l); l == nil {
			continue
		}
		if l.queued == x {
			l.queued = nil
		}
		x.serveLine(l)
	}
	x.serving = false
	clear(x.ready)
	if x.ready = x.ready[:0]; cap(x.ready) > keptScratch {
		x.ready = nil
	}
}

// forgetReady gives up what a panic interrupted. Whoever is left in these lines is
// served when their keys are written again.
func (x *Executor) forgetReady() {
	for _, l := range x.ready {
		x.reach(db.LockSet(1) << uint(x.ks.ShardOf(l.hash)))
		if l.queued == x {
			l.queued = nil
		}
	}
	x.ready, x.serving = nil, false
}

// serveLine runs commands of one line in order, as long as anybody is in it to whom
// its key is of use.
func (x *Executor) serveLine(l *line) {
	seq, p := int64(0), l.first
	for !l.dead {
		typ := x.typeOf(l)
		if l.counts[typ] == 0 {
			return
		}
		if p = p.from(typ); p == nil {
			return
		}
		if !x.reach(p.k.set) {
			if l = x.e.waiters.current(l); l == nil {
				return
			}
			p = l.after(seq)
			continue
		}
		next := p.next
		seq = p.k.seq
		x.serveOne(p)
		p = next
	}
}

// typeOf is the type that the key of a line has now. It only reads: what would write
// may fail for want of memory, when the key has expired.
func (x *Executor) typeOf(l *line) db.Type {
	x.tx.Begin(l.key.db, x.now, x.held, false)
	key := l.first.arg
	x.tx.Prime(key, l.hash)
	typ := x.tx.Type(key)
	x.tx.End()
	return typ
}

// reach locks the shards of a set, too. It returns false when it had to give back
// what was locked, so that anything may have happened.
func (x *Executor) reach(set db.LockSet) bool {
	missing := set &^ x.held
	for m := missing; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(uint64(m))
		if !x.ks.TryLock(i) {
			x.ks.Unlock(x.held)
			x.ks.Lock(set)
			x.held = set
			return false
		}
		x.held = x.held.With(i)
	}
	return true
}

// serveOne runs a parked command, whose shards are locked, if it still waits.
func (x *Executor) serveOne(p *place) {
	k := p.k
	k.mu.Lock()
	if k.state != waiting {
		k.mu.Unlock()
		return
	}
	begin := x.e.clock.Mono()
	done, failed := x.runAgain(k, p.arg)
	end := x.e.clock.Mono()
	x.start += end - begin
	k.took += end - begin
	if !done {
		k.mu.Unlock()
		return
	}
	for i := range k.places {
		x.e.waiters.remove(&k.places[i])
	}
	x.ended(k, k.took, failed)
	k.owed = x.e.endOf(k.set)
	x.posts = append(x.posts, outgoing{k.c.conn, k.wake})
	k.finish(served)
	k.mu.Unlock()
}

// runAgain runs a parked command because of a key. It reports whether the command
// is done, its reply being in k.reply, or has to wait on.
func (x *Executor) runAgain(k *parked, key []byte) (done, failed bool) {
	defer func() {
		if r := recover(); r != nil {
			x.tx.SetTouchless(false)
			x.begun = true
			x.salvage(k.spec, k.argv)
			x.append()
			x.begun = false
			x.tx.Abort()
			x.reject(k, x.panicText(r, k.argv, k.c))
			done, failed = true, true
		}
	}()
	call := &x.again
	call.Start(k.spec, k.argv, &k.reply)
	call.Resume(key)
	x.tx.Begin(k.db, x.now, k.set, k.spec.Write != nil)
	x.tx.SetTouchless(k.noTouch)
	err := x.invoke(k.spec, call, false)
	x.tx.SetTouchless(false)
	x.tx.End()
	switch {
	case err == nil:
		return true, false
	case isParked(err):
		k.reply.Rewind(resp.Mark{})
		k.rewrite(call.Rewrites())
		return false, false
	}
	x.reject(k, x.errorText(err, k.spec))
	return true, true
}

// reject makes an error the reply of a parked command.
func (x *Executor) reject(k *parked, text resp.Error) {
	k.reply.Rewind(resp.Mark{})
	k.reply.Error(text)
	x.rec.Error(string(text))
}

// panicText logs a panic of a handler and returns what is replied.
func (x *Executor) panicText(r any, argv [][]byte, c *Client) resp.Error {
	return x.e.panicText(r, argv, c)
}

func (e *Engine) panicText(r any, argv [][]byte, c *Client) resp.Error {
	if r == db.ErrOutOfMemory {
		return resp.ErrOOM // of a change that cannot fail otherwise
	}
	e.log(fmt.Sprintf("BUG: command %q of client %d: panic: %v\n%s", argv[0], c.id, r, debug.Stack()))
	return errInternal
}

// sendOut posts the mail for those who were served.
func (x *Executor) sendOut() {
	if len(x.posts) == 0 {
		return
	}
	for i := range x.posts {
		x.posts[i].conn.Post(x.posts[i].fn)
	}
	clear(x.posts)
	if x.posts = x.posts[:0]; cap(x.posts) > keptScratch {
		x.posts = nil
	}
}

// Ready hears of a key that the engine removed by itself, while no command runs
// that could serve those who want to know. Their own executors look after the line.
func (e *Engine) Ready(db int, hash uint64, key []byte) {
	if l := e.waiters.find(db, hash, key); l != nil {
		l.lookLater()
	}
}

// Replaced hears of a change to a whole database outside of any command.
func (e *Engine) Replaced(db, shard int) {
	for k, l := range e.waiters.lines[shard] {
		if k.db == db {
			l.lookLater()
		}
	}
}

// lookLater has everybody who wants to know that a key is gone look at the line: any
// of the connections may vanish meanwhile.
func (l *line) lookLater() {
	for p := l.first; p != nil; p = p.next {
		if c := p.k.c; p.k.wants.has(db.TypeNone) {
			c.conn.Post(func() { c.x.look(l) })
		}
	}
}

// look serves a line outside of any batch.
func (x *Executor) look(l *line) {
	x.startTurn()
	set := db.LockSet(1) << uint(x.ks.ShardOf(l.hash))
	x.ks.Lock(set)
	x.held = set
	x.ready = append(x.ready, l)
	x.giveBack() // not unlock: no transaction has begun
	x.wakeReaders()
	x.settle()
	x.sendOut()
	x.rec.Flush()
}

package server

import (
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/dispatch"
	"heddle/server/poll"
)

const (
	sharedSize   = 512 << 10 // the buffer that a worker's connections read into
	readMin      = 16 << 10  // what a connection may read in a turn
	readMax      = 64 << 10  // what it may read after it filled that
	readOwn      = 256 << 10 // one read of a command that is larger than that
	readPerTurn  = 1 << 20   // all that it may read of a large argument in a turn
	commandsTurn = 2048      // commands that it may run in a turn
	batchTarget  = 256       // commands in a batch, at which it is run
	argvSpare    = 4096      // free room for arguments below which a batch is run
	bigMin       = 64 << 10  // arguments from here on get memory of their own
)

// readable reads a connection's socket once.
func (w *worker) readable(c *conn) {
	switch {
	case c.state&stateEOF != 0:
	case c.state&stateClosing != 0:
		w.discard(c)
	case c.big != nil && c.bigHave < c.big.Len():
		w.readBig(c)
	case c.held():
		w.readHeld(c)
	case c.state&stateAgain != 0: // what it sent before comes first
	case c.in.len() <= readMin/4 && c.reader.Want() <= readMin:
		w.readShared(c)
	default:
		w.readLarge(c)
	}
}

// received counts n bytes that came, or sees to what came instead; false when
// there is nothing to go on with.
func (w *worker) received(c *conn, n int, errno syscall.Errno) bool {
	switch {
	case errno == unix.EAGAIN:
		return false
	case errno != 0:
		w.broken(c, errno)
		return false
	case n == 0:
		w.ended(c)
		return false
	}
	c.lastRead = w.now
	w.rec.NetIn += int64(n)
	w.rec.Reads++
	return true
}

// ended notes that the peer sends nothing more. What it sent before is still
// executed, unless it waits for something that may never come.
func (w *worker) ended(c *conn) {
	w.log(Verbose, "Client closed connection %v", c)
	if waits := c.client.Blocked() && !c.client.Aside(); waits || !c.owed() && c.queue.empty() {
		w.close(c)
		return
	}
	c.state |= stateEOF
	w.interest(c)
}

// readShared reads into the worker's buffer, behind the begin of a command
// that came before. This is the way of short commands.
func (w *worker) readShared(c *conn) {
	size := max(int(c.window), readMin)
	if (len(w.shared)-w.used < size || w.batchFull()) && !w.runBefore(c) {
		return
	}
	buf := w.shared[w.used : w.used+size]
	if invariants.Sometimes(16) {
		buf = buf[:c.in.len()+1]
	}
	had := copy(buf, c.in.bytes())
	n, errno := poll.Read(c.fd, buf[had:])
	if !w.received(c, n, errno) {
		return
	}
	c.window = int32(size)
	if had+n == len(buf) {
		c.window, c.grew = readMax, true
	}
	if had > 0 {
		c.in.release(&w.bufs)
	}
	w.used += (had + n + 63) &^ 63
	c.batch.input, c.batch.own = buf[:had+n], false
	w.parse(c)
}

// readLarge reads into the connection's own memory: a command that is larger
// than a read.
func (w *worker) readLarge(c *conn) {
	if w.batchFull() && !w.runBefore(c) {
		return
	}
	need := c.reader.Want() - c.in.len()
	if w.readIn(c, max(need, readMin)) {
		w.parseOwn(c)
	}
}

// readIn reads once into the connection's own memory, where it makes room for n
// bytes; false when there is nothing to go on with.
func (w *worker) readIn(c *conn, n int) bool {
	if !w.reserve(c, n) {
		return false
	}
	buf := c.in.b[c.in.w:]
	n, errno := poll.Read(c.fd, buf[:min(len(buf), readOwn)])
	if !w.received(c, n, errno) {
		return false
	}
	c.in.w += n
	return w.checkQuery(c)
}

// readHeld reads what waits for the connection's turn.
func (w *worker) readHeld(c *conn) {
	if w.inputFull(c) {
		w.interest(c)
		return
	}
	if w.readIn(c, readMin) {
		w.dirty(c)
	}
}

// readBig reads a large argument into its own memory.
func (w *worker) readBig(c *conn) {
	block := c.big.Bytes()
	for sum := 0; c.bigHave < len(block) && sum < readPerTurn; {
		want := min(len(block)-c.bigHave, readOwn)
		c.big.Fill(c.bigHave + want)
		n, errno := poll.Read(c.fd, block[c.bigHave:c.bigHave+want])
		if !w.received(c, n, errno) {
			return
		}
		c.bigHave += n
		sum += n
		if n < want {
			break
		}
	}
	if w.checkQuery(c) {
		c.publish()
	}
}

// discard drops what a connection sends that is about to be closed.
func (w *worker) discard(c *conn) {
	n, errno := poll.Read(c.fd, w.shared[w.used:min(len(w.shared), w.used+readMax)])
	if errno == unix.EAGAIN || n > 0 {
		return
	}
	w.close(c)
}

// reserve makes room in the connection's own memory, or closes it.
func (w *worker) reserve(c *conn, n int) bool {
	if c.in.reserve(&w.bufs, n) {
		return true
	}
	w.log(Warning, "Out of memory for the query buffer of a client, closing it: %v", c)
	w.close(c)
	return false
}

// parseOwn parses what is in the connection's own memory.
func (w *worker) parseOwn(c *conn) {
	c.batch.input, c.batch.own = c.in.bytes(), true
	w.parse(c)
}

// parse adds the whole commands of a connection's input to the batch.
func (w *worker) parse(c *conn) {
	b := &c.batch
	limits, share := w.limits, int32(commandsTurn)
	switch {
	case !c.client.Authenticated():
		limits, share = w.limitsUnauth, 1
	case c.share > 0:
		if share = c.share; share < commandsTurn {
			c.share = 2 * share
		} else {
			c.share, share = 0, commandsTurn
		}
	}
	c.reader.Limits = limits
	c.state |= stateBatch
	w.joined = append(w.joined, c)
	w.openOut(c)
	b.parsed, b.first, b.count, b.more, b.problem = 0, int32(len(w.batch)), 0, false, nil
	in, pos := b.input, 0
	for pos < len(in) {
		if b.count == share {
			b.more = true
			break
		}
		args, n, err := c.reader.Next(in[pos:], w.args[len(w.args):])
		if err != nil {
			b.problem = err
			break
		}
		if n == 0 {
			break
		}
		pos += n
		if len(args) == 0 {
			continue
		}
		if room := cap(w.args) - len(w.args); len(args) <= room {
			w.args = w.args[:len(w.args)+len(args)]
		} else {
			w.outsized = true
		}
		w.add(c.client, args)
		w.ends = append(w.ends, pos)
		b.count++
		if c.big != nil {
			w.attachBig(c, args)
		}
	}
	b.parsed = pos
}

// add adds a command to the batch. What RunBatch sets itself is left as it was.
func (w *worker) add(c *dispatch.Client, args [][]byte) {
	n := len(w.batch)
	if n == cap(w.batch) {
		w.batch = slices.Grow(w.batch, batchTarget+commandsTurn)
	}
	w.batch = w.batch[:n+1]
	p := &w.batch[n]
	p.Client, p.Argv, p.Big = c, args, nil
}

// attachBig tells dispatch about the large argument that stands by itself.
func (w *worker) attachBig(c *conn, args [][]byte) {
	block := c.big.Bytes()
	p := &w.batch[len(w.batch)-1]
	for i, a := range args {
		if len(a) == len(block) && &a[0] == &block[0] {
			p.Big, p.BigAt = c.big, i
			c.big, c.bigHave = nil, 0
			return
		}
	}
}

// run executes the batch, and settles each connection in it.
func (w *worker) run() {
	if len(w.joined) == 0 {
		w.used = 0
		return
	}
	w.x.RunBatch(w.batch)
	w.ran.Store(w.ran.Load() + int64(len(w.batch)))
	for _, c := range w.joined {
		w.settle(c)
	}
	if w.outsized {
		clear(w.batch[:cap(w.batch)]) // they lead to arguments of any number
		w.outsized = false
	}
	w.batch, w.ends, w.joined = w.batch[:0], w.ends[:0], w.joined[:0]
	w.args, w.used = w.args[:0], 0
	w.flushDirty()
}

// batchFull reports whether the batch should be run before it grows.
func (w *worker) batchFull() bool {
	return invariants.Sometimes(16) || len(w.batch) >= batchTarget || cap(w.args)-len(w.args) < argvSpare
}

// runBefore runs the batch before c, which is not in it, joins the next; false
// when c is not to go on.
func (w *worker) runBefore(c *conn) bool {
	w.run()
	return c.state&(stateClosed|stateClosing) == 0
}

// settle looks at what became of a connection's commands, and keeps what of
// its input was not executed.
func (w *worker) settle(c *conn) {
	b := &c.batch
	c.state &^= stateBatch
	c.ops += int64(b.count)
	done := b.parsed
	if k := b.first + b.count - 1; b.count > 0 && !w.batch[k].Done {
		done = w.undone(c)
	}
	if b.problem != nil && c.client.Blocked() { // its turn comes behind the command that waits
		c.reader.Reset()
		b.problem = nil
	}
	if invariants.Enabled {
		poison(b.input[:done])
	}
	rest := b.input[done:]
	switch {
	case b.own:
		c.in.take(&w.bufs, done)
	case len(rest) > 0 && !c.in.append(&w.bufs, rest):
		c.state |= stateClosing
	}
	b.input = nil
	switch {
	case c.client.Closing():
		c.state |= stateClosing
	case b.problem != nil:
		w.protocolError(c, b.problem)
	case b.more && !c.client.Blocked():
		w.again(c)
	case len(rest) > 0 && !c.client.Blocked():
		w.divert(c)
	}
	if c.state&stateClosing != 0 {
		c.in.release(&w.bufs)
	} else if c.client.Memory() > 0 && !w.checkQuery(c) {
		return
	}
	w.dirty(c)
}

// poison overwrites consumed input, so that whoever kept an argument is found.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xdd
	}
}

// undone returns where the first command stands that was not run, since an
// earlier one blocks or closes the connection, or has a large reply. The reader
// starts over there, and goes less far the next time.
func (w *worker) undone(c *conn) int {
	b := &c.batch
	c.reader.Reset()
	b.problem, b.more = nil, true
	for i := b.first; i < b.first+b.count; i++ {
		if w.batch[i].Done {
			continue
		}
		c.share = 2 * max(i-b.first, 1)
		if i == b.first {
			return 0
		}
		return w.ends[i-1]
	}
	return b.parsed
}

// divert gives a large argument that has begun memory of its own. It does so
// once a command; further ones are read with the rest.
func (w *worker) divert(c *conn) {
	need, _, ok := c.reader.BigBulk()
	if !ok || need < bigMin || c.big != nil {
		return
	}
	big := w.s.engine.Keyspace().NewEmptyBig(need)
	if big == nil {
		return
	}
	left := c.in.bytes()
	big.Fill(min(need, len(left)))
	left, have := c.reader.Divert(big.Bytes(), left)
	c.in.w = c.in.r + len(left)
	if len(c.in.b) > bufferSizes[0] {
		c.in.moveTo(&w.bufs, len(left))
	}
	c.big, c.bigHave = big, have
	c.window, c.grew = readMax, true
}

// protocolError answers input that is no command, and closes the connection.
func (w *worker) protocolError(c *conn, err error) {
	e, ok := err.(resp.Error)
	if !ok {
		e = resp.Error(fmt.Sprintf("ERR Protocol error: %v", err))
	}
	head := c.in.bytes()
	w.log(Verbose, "Protocol error (%s) from client: %v. Query buffer during protocol error: %q", e, c, head[:min(len(head), 128)])
	if !c.client.ReplyOff() {
		c.out.Error(e)
	}
	w.rec.Error(string(e))
	c.state |= stateClosing
}

// again puts a connection on the list of those with commands left over.
func (w *worker) again(c *conn) {
	if c.state&(stateAgain|stateClosing) == 0 {
		c.state |= stateAgain
		w.agains = append(w.agains, c)
	}
}

// resume goes on with the commands that the last turn left over.
func (w *worker) resume() {
	list := w.agains
	w.agains, w.againsSpare = w.againsSpare[:0], list
	for i, c := range list {
		list[i] = nil
		if c.state&stateClosed != 0 {
			continue
		}
		c.state &^= stateAgain
		switch {
		case c.state&stateClosing != 0:
		case c.held(), c.in.len() == 0:
			w.dirty(c)
		default:
			if !w.batchFull() || w.runBefore(c) {
				w.parseOwn(c)
			}
		}
	}
}

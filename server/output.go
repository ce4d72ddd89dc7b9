package server

import (
	"syscall"

	"golang.org/x/sys/unix"

	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/poll"
)

// sendPerTurn bounds what one connection may send in a turn.
const sendPerTurn = 1 << 20

// outQueue holds replies that the peer did not take yet, as pieces in order.
type outQueue struct {
	list []piece
	head int   // the first that is not sent
	off  int   // what of it is sent
	len  int64 // bytes not sent, those of streams not made yet aside
	held int64 // memory in use
	lent int64 // how much of that is memory of the keyspace
	kept int64 // how much of that streams keep from being freed, when they were last asked
	lazy int   // streams among the pieces
	shut int   // how many of the last pieces wait for the disk, see durable.go
}

// weight is what limits of unsent replies are held against: the bytes, and what streams keep.
func (q *outQueue) weight() int64 { return q.len + q.kept }

// piece is a part of a reply.
type piece struct {
	data []byte
	buf  []byte        // goes back to the pool behind this piece; nil: none
	free resp.Releaser // released behind this piece; nil: none

	stream resp.Stream // what writes the pieces that belong here; nil: none
	proto  int         // for a stream
	kept   int64       // what it keeps from being freed, as counted
}

// empty reports whether the piece is nothing at all.
func (x *piece) empty() bool {
	return len(x.data) == 0 && x.buf == nil && x.free == nil && x.stream == nil
}

func (q *outQueue) empty() bool { return q.head == len(q.list) }
func (q *outQueue) pieces() int { return len(q.list) - q.head }

// sendable reports whether there is something that may be sent.
func (q *outQueue) sendable() bool { return len(q.list)-q.head > q.shut }

// copyMax is the size up to which replies are copied together rather than
// queued where they are.
const copyMax = 4 << 10

// add queues everything written to out behind its first sent bytes, and leaves
// out empty and without memory.
func (q *outQueue) add(p *buffers, out *resp.Writer, sent int) {
	buf, ext := out.Bytes(), out.Externals()
	if len(ext) == 0 && len(buf)-sent <= copyMax {
		q.copy(p, buf[sent:])
		p.put(buf)
		out.Reset(nil)
		return
	}
	for _, e := range ext {
		q.push(piece{data: buf[sent:e.At]})
		q.push(piece{data: e.Data, free: e.Free, stream: e.Stream, proto: e.Proto})
		sent = e.At
	}
	q.push(piece{data: buf[sent:], buf: buf})
	out.Reset(nil)
}

func (q *outQueue) push(x piece) {
	if !x.empty() {
		q.count(&x)
		q.list = append(q.list, x)
	}
}

// count adds a piece to the sums.
func (q *outQueue) count(x *piece) {
	q.len += int64(len(x.data))
	q.held += int64(cap(x.buf))
	if x.free != nil {
		q.held += int64(len(x.data))
		q.lent += int64(len(x.data))
	}
	if x.stream != nil {
		x.kept = x.stream.Held()
		q.held += streamHeld + x.kept
		q.kept += x.kept
		q.lazy++
	}
}

// ask counts anew what streams keep from being freed. That may be the members of a large
// collection, from one moment to the next: its key may go at any time.
func (q *outQueue) ask() {
	left := q.lazy
	for i := q.head; left > 0; i++ {
		if x := &q.list[i]; x.stream != nil {
			kept := x.stream.Held()
			q.held += kept - x.kept
			q.kept += kept - x.kept
			x.kept = kept
			left--
		}
	}
}

// copy queues a copy of b, within the last piece's memory if that has room.
func (q *outQueue) copy(p *buffers, b []byte) {
	if len(b) == 0 {
		return
	}
	if !q.empty() {
		last := &q.list[len(q.list)-1]
		if n := len(last.data); last.buf != nil && cap(last.data)-n >= len(b) {
			last.data = append(last.data, b...)
			q.len += int64(len(b))
			return
		}
	}
	size := len(b)
	if !q.empty() {
		size = bufferSizes[len(bufferSizes)-1]
	}
	buf := append(p.get(size), b...)
	q.push(piece{data: buf, buf: buf})
}

// send sends up to quota bytes. errno is EAGAIN when the peer takes no more.
func (q *outQueue) send(p *buffers, fd int, v *poll.Vec, quota int) (sent, calls int, errno syscall.Errno) {
	for q.sendable() && sent < quota {
		if q.list[q.head].stream != nil {
			if !q.produce(p) {
				return sent, calls, unix.EPROTO
			}
			continue
		}
		v.Reset()
		off := q.off
		for i := q.head; i < len(q.list)-q.shut && q.list[i].stream == nil && v.Len() < quota-sent; i++ {
			b := q.list[i].data[off:]
			off = 0
			if room := quota - sent - v.Len(); len(b) > room {
				b = b[:room]
			}
			if !v.Add(b) {
				break
			}
		}
		if v.Len() == 0 {
			q.advance(p, 0)
			continue
		}
		n, errno := poll.Writev(fd, v)
		calls++
		if errno != 0 {
			v.Reset()
			return sent, calls, errno
		}
		sent += n
		short := n < v.Len()
		q.advance(p, n)
		if short {
			v.Reset()
			return sent, calls, unix.EAGAIN
		}
	}
	v.Reset()
	return sent, calls, 0
}

// advance drops n sent bytes, and pieces that are sent whole.
func (q *outQueue) advance(p *buffers, n int) {
	q.len -= int64(n)
	for q.sendable() && q.list[q.head].stream == nil {
		x := &q.list[q.head]
		left := len(x.data) - q.off
		if n < left {
			q.off += n
			break
		}
		n -= left
		q.drop(p, x)
	}
	switch {
	case q.empty():
		if cap(q.list) > 16 {
			q.list = nil
		}
		q.list, q.head = q.list[:0], 0
	case q.head >= 64 && q.head*2 >= len(q.list):
		k := copy(q.list, q.list[q.head:])
		clear(q.list[k:])
		q.list, q.head = q.list[:k], 0
	}
}

// drop gives the first piece's memory back.
func (q *outQueue) drop(p *buffers, x *piece) {
	if x.buf != nil {
		q.held -= int64(cap(x.buf))
		p.put(x.buf)
	}
	if x.free != nil {
		q.held -= int64(len(x.data))
		q.lent -= int64(len(x.data))
		x.free.Release()
	}
	if x.stream != nil {
		q.held -= streamHeld + x.kept
		q.kept -= x.kept
		q.lazy--
		x.stream.Release()
	}
	*x = piece{}
	q.head, q.off = q.head+1, 0
}

// release drops everything.
func (q *outQueue) release(p *buffers) {
	for q.head < len(q.list) {
		q.drop(p, &q.list[q.head])
	}
	*q = outQueue{}
}

// dirty puts a connection on the list of those to flush, once.
func (w *worker) dirty(c *conn) {
	if c.state&stateDirty == 0 {
		c.state |= stateDirty
		w.dirties = append(w.dirties, c)
	}
}

// openOut gives the connection memory for its replies.
func (w *worker) openOut(c *conn) {
	if cap(c.out.Bytes()) == 0 {
		c.out.Reset(w.bufs.get(replyBuffer))
	}
}

// replyBuffer is the room for replies that a connection starts a turn with.
const replyBuffer = 16 << 10

// flush sends what the connection has to send, and settles what becomes of it.
func (w *worker) flush(c *conn) {
	c.state &^= stateDirty | statePosted
	switch {
	case c.state&stateClosed != 0:
		return
	case c.state&stateOver != 0:
		w.overOutput(c)
		return
	}
	if c.out.Len() > 0 {
		if limit := w.set.Output[c.client.Class()].Hard; limit > 0 && w.overHard(c, limit) {
			return
		}
		if (w.x.Gated() || len(w.gated) > 0) && !w.mayLeave(c) {
			w.flushed(c)
			return
		}
		if !w.sendNew(c) {
			return
		}
	} else if cap(c.out.Bytes()) > 0 {
		w.bufs.put(c.out.Bytes())
		c.out.Reset(nil)
	}
	w.flushed(c)
}

// sendNew sends the replies of this turn, or queues them behind what waits;
// false when the connection broke.
func (w *worker) sendNew(c *conn) bool {
	if !c.queue.empty() || len(c.out.Externals()) > 0 {
		waiting := !c.queue.empty()
		c.queue.add(&w.bufs, &c.out, 0)
		return waiting || w.drain(c)
	}
	buf := c.out.Bytes()
	part := buf
	if invariants.Sometimes(16) {
		part = buf[:len(buf)/2]
	}
	n, errno := poll.Write(c.fd, part)
	w.rec.Writes++
	switch {
	case errno == 0:
		w.rec.NetOut += int64(n)
	case errno != unix.EAGAIN:
		w.broken(c, errno)
		return false
	}
	if n < len(buf) {
		c.queue.add(&w.bufs, &c.out, n)
		return true
	}
	w.bufs.put(buf)
	c.out.Reset(nil)
	return true
}

// drain sends queued replies; false when the connection broke.
func (w *worker) drain(c *conn) bool {
	n, calls, errno := c.queue.send(&w.bufs, c.fd, &w.vec, sendPerTurn)
	w.rec.NetOut += int64(n)
	w.rec.Writes += int64(calls)
	if n > 0 {
		c.lastRead = w.now
	}
	if errno != 0 && errno != unix.EAGAIN {
		if crash := w.bufs.crash; crash != "" {
			w.bufs.crash = ""
			w.log(Warning, "%s", crash)
		}
		w.broken(c, errno)
		return false
	}
	return true
}

// flushed decides, after sending, whether the connection goes on.
func (w *worker) flushed(c *conn) {
	if c.queue.empty() && c.state&(stateClosing|stateEOF) != 0 && w.finished(c) {
		return
	}
	if !w.checkOutput(c) {
		return
	}
	w.interest(c)
	c.publish()
	w.mayMove(c)
}

// finished closes a connection with nothing left to send, if it is time.
func (w *worker) finished(c *conn) bool {
	switch {
	case c.state&stateLinger != 0:
		return false
	case c.state&stateClosing != 0 && w.stopping && w.linger(c):
		return false
	case c.state&stateClosing != 0, !c.owed():
		w.close(c)
		return true
	}
	return false
}

// interest tells the poller what to wait for.
func (w *worker) interest(c *conn) {
	var want poll.Event
	if c.state&stateEOF == 0 && (c.state&stateClosing == 0 || c.state&stateLinger != 0) && !w.inputFull(c) {
		want = poll.In
	}
	if c.queue.sendable() {
		want |= poll.Out
	}
	if want == c.want {
		return
	}
	c.want = want
	if err := w.poller.Modify(c.fd, want, c.token()); err != nil {
		w.log(Warning, "Changing what is waited for on a connection: %v (%v)", err, c)
		w.close(c)
	}
}

package server

import "heddle/resp"

// Replies that wait for the disk (dispatch/durable.go) stand at the end of their
// connection's queue, where nothing is sent from. Their connection runs no further
// commands until they have left, so that it has one batch of commands in each fsync, and
// what it may send meanwhile is bounded as behind a full output; what comes to it without
// being asked for (messages, the end of a wait) gathers behind, and waits for the next
// fsync together. All other connections go on.
//
// Whoever makes the log durable wakes the worker once, by mail, and it looks through
// those that wait.

// mayLeave reports whether the replies of this turn may be sent. If not, they are kept.
func (w *worker) mayLeave(c *conn) bool {
	if c.state&stateGated != 0 {
		return false // behind what waits already
	}
	owed := c.client.Owed()
	if owed <= w.x.Durable() {
		return true
	}
	c.queue.keep(&w.bufs, &c.out)
	c.state |= stateGated
	c.gate = owed
	w.gated = append(w.gated, c)
	return false
}

// keep queues what was written to out as pieces that wait, and leaves out empty and
// without memory.
func (q *outQueue) keep(p *buffers, out *resp.Writer) {
	at := len(q.list)
	buf, ext := out.Bytes(), out.Externals()
	sent := 0
	for _, e := range ext {
		q.push(piece{data: buf[sent:e.At]})
		q.push(piece{data: e.Data, free: e.Free, stream: e.Stream, proto: e.Proto})
		sent = e.At
	}
	if len(ext) == 0 && len(buf) <= copyMax {
		small := append(p.get(len(buf)), buf...)
		p.put(buf)
		buf = small
	}
	q.push(piece{data: buf[sent:], buf: buf})
	out.Reset(nil)
	q.shut = len(q.list) - at
}

// awaitDurable sees to it that the worker is told when the log is durable further on,
// if any replies wait for that.
func (w *worker) awaitDurable() {
	for len(w.gated) > 0 {
		w.x.AwaitDurable()
		if w.x.Durable() == w.opened {
			return
		}
		w.openGate()
		w.flushDirty()
	}
}

// openGate sends the replies that wait for no more than what is durable now.
func (w *worker) openGate() {
	w.opened = w.x.Durable()
	list := w.gated
	w.gated = list[:0]
	for _, c := range list {
		switch {
		case c.state&stateClosed != 0:
		case c.gate > w.opened:
			w.gated = append(w.gated, c)
		default:
			w.letLeave(c)
		}
	}
	clear(list[len(w.gated):])
	if len(w.gated) == 0 && cap(list) > keptGated {
		w.gated = nil
	}
}

// keptGated is how many connections the list has room for that is kept.
const keptGated = 4096

// letLeave sends what waited, and lets the connection go on.
func (w *worker) letLeave(c *conn) {
	c.state &^= stateGated
	c.queue.shut = 0
	if !w.drain(c) {
		return
	}
	if c.in.len() > 0 && !c.held() {
		w.again(c)
	}
	w.dirty(c)
}

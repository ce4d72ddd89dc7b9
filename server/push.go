package server

import "heddle/resp"

// Messages come to many connections at once, and a write to a socket costs much
// more than to deliver the message. So those connections are not flushed in the turn
// in which the message came: they wait in line, and each turn flushes only some of
// them, between looks at the sockets. A message for few subscribers leaves at once;
// one for many does not keep the other clients of the worker waiting; and when
// further messages come before it is a connection's turn, they all leave with one
// write.

// postedTurn is how many connections with messages are flushed in a turn.
const postedTurn = 64

// postLine is the connections with messages, in the order in which they got the
// first that was not sent yet.
type postLine struct {
	list []*conn
	head int
}

func (l *postLine) empty() bool { return l.head == len(l.list) }

func (l *postLine) push(c *conn) {
	if l.head > 1024 && l.head*2 > len(l.list) {
		n := copy(l.list, l.list[l.head:])
		clear(l.list[n:])
		l.list, l.head = l.list[:n], 0
	}
	l.list = append(l.list, c)
}

func (l *postLine) pop() *conn {
	c := l.list[l.head]
	l.list[l.head] = nil
	if l.head++; l.empty() {
		l.list, l.head = l.list[:0], 0
	}
	return c
}

// Push sends a message; see dispatch.Conn.
func (c *conn) Push(head byte, rest []byte, free resp.Releaser) {
	if !c.takes(int64(len(rest)) + 1) {
		if free != nil {
			free.Release()
		}
		return
	}
	w := c.w.Load()
	if free != nil {
		w.roomFor(c, 1)
	} else {
		w.roomFor(c, 1+len(rest))
	}
	c.out.PushRaw(head, rest, free)
	if c.state&(stateDirty|statePosted) == 0 {
		c.state |= statePosted
		w.posted.push(c)
		c.inLine++
	}
}

// takes reports whether n more bytes may wait for the connection; if not, it is
// closed when it is flushed.
func (c *conn) takes(n int64) bool {
	if c.state&(stateClosed|stateClosing|stateOver) != 0 || c.killed.Load() {
		return false
	}
	w := c.w.Load()
	limit := w.set.Output[c.client.Class()].Hard
	if limit == 0 {
		limit = max(backlogLimit, w.pauseAt(c))
	}
	if c.queue.weight()+int64(c.out.Made())+n <= limit {
		return true
	}
	c.state |= stateOver
	w.dirty(c)
	return false
}

// roomFor makes room for n bytes in the memory of the replies, taken from the pool:
// where append would grow it, it would not come back there.
func (w *worker) roomFor(c *conn, n int) {
	buf := c.out.Bytes()
	free := cap(buf) - len(buf)
	switch {
	case free >= n:
	case cap(buf) == 0:
		c.out.Reset(w.bufs.get(n))
	case len(buf)+n > bufferSizes[len(bufferSizes)-1]:
		c.queue.add(&w.bufs, &c.out, 0)
		c.out.Reset(w.bufs.get(n))
	default:
		w.bufs.put(c.out.Move(w.bufs.get(max(len(buf)+n, 2*cap(buf)))))
	}
}

// flushPosted sends some of the messages.
func (w *worker) flushPosted() {
	for n := 0; n < postedTurn && !w.posted.empty(); {
		c := w.posted.pop()
		if c.inLine--; c.state&statePosted != 0 {
			w.flush(c)
			n++
		}
	}
}

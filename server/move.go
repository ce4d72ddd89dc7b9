package server

import (
	"golang.org/x/sys/unix"
)

// Connections move from worker to worker, so that the load does not depend on who came
// when (balance.go says which move). All that belongs to a connection belongs to its
// worker's goroutine, so a move is a handing over: the old worker, at the end of a turn
// and with nothing of the connection under way, forgets it and sends it to the new one by
// mail; that one takes it into its own poller. What arrives at the socket meanwhile stays
// there, and is reported as soon as the new poller knows it.
//
// # Mail
//
// Anybody may send mail to a connection, and it goes to the worker that the connection
// names (conn.w). The old worker changes that name while it puts the hand-over into the new
// one's mailbox, under the mailbox's lock: whoever reads the new name sends his mail behind
// the hand-over. Whoever had read the old one before sends it to the old worker, which
// passes it on, since the name is not its own; several times, if the connection goes on
// moving. One case is left: the connection came back, and the mail to it stands before the
// hand-over. Then the name is the worker's own but the connection is in none of its slots,
// and the mail is put behind (worker.owns).
//
// # What does not move
//
// Connections in whose state others take part on their worker's goroutine: blocked ones,
// those in MULTI or WATCH, subscribers, monitors; and those with replies that the
// peer did not take or that wait for the disk. They move later, if they still should.

// movable reports whether the connection has nothing under way.
func (w *worker) movable(c *conn) bool {
	return c.state == 0 && !w.stopping && c.big == nil && c.queue.empty() && cap(c.out.Bytes()) == 0 && c.inLine == 0 && c.client.Movable()
}

// mayMove notes a connection that is to move, behind its flush: at the end of the turn it
// does, if nothing comes in between.
func (w *worker) mayMove(c *conn) {
	if c.to != nil {
		w.movers = append(w.movers, c)
	}
}

// move hands over the connections that are to move. It is the last thing of a turn that
// touches connections.
func (w *worker) move() {
	if w.s.restless {
		w.moveAny()
	}
	for i, c := range w.movers {
		w.movers[i] = nil
		switch {
		case !w.owns(c) || c.to == nil: // it was on the list twice, or is closed
		case !w.set.Balance && !w.s.restless:
			c.to = nil
		case w.movable(c):
			w.handOver(c, c.to)
		}
	}
	w.movers = w.movers[:0]
}

// moveAny chooses a connection and a worker at random every few turns.
func (w *worker) moveAny() {
	w.chaos = w.chaos*1664525 + 1013904223
	if w.chaos>>28 < 12 || len(w.slots) == 0 {
		return
	}
	if c := w.slots[int(w.chaos>>8)%len(w.slots)]; c != nil && c.to == nil {
		if to := w.s.workers[int(w.chaos>>20)%len(w.s.workers)]; to != w {
			c.to = to
			w.movers = append(w.movers, c)
		}
	}
}

// owns reports whether the connection is one of this worker, as far as its goroutine has
// come; false for closed ones.
func (w *worker) owns(c *conn) bool {
	// Only if the name is ours may we look at the rest.
	return c.w.Load() == w && int(c.slot) < len(w.slots) && w.slots[c.slot] == c
}

// forward passes on mail to a connection that is not one of this worker.
func (w *worker) forward(m mail) {
	to := m.conn.w.Load()
	if to == w && m.conn.state&stateClosed != 0 {
		return
	}
	to.mail.send(m) // to ourselves: behind the hand-over
}

// handOver sends a connection to another worker.
func (w *worker) handOver(c *conn, to *worker) {
	c.to = nil
	_ = w.poller.Remove(c.fd)
	c.client.Leave()
	w.mem -= c.mem + connSize
	w.lent -= c.lent
	w.slots[c.slot] = nil
	w.freeSlots = append(w.freeSlots, c.slot)
	w.clients.Add(-1)
	to.clients.Add(1)
	if !to.mail.handOver(mail{fn: func() { to.join(c) }}, func() { c.w.Store(to) }) {
		to.clients.Add(-1) // it has ended, as this one will
		w.clients.Add(1)
		w.join(c)
		return
	}
	w.moved.Add(1)
}

// join takes over a connection from another worker.
func (w *worker) join(c *conn) {
	w.place(c)
	c.client.Join(w.x)
	w.mem += c.mem + connSize
	w.lent += c.lent
	if err := w.poller.Add(c.fd, c.want, c.token()); err != nil {
		w.log(Warning, "Registering a connection: %v (%v)", err, c)
		w.close(c)
		return
	}
	if w.s.affinity > 0 && c.remote.IsValid() {
		_ = unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU, w.s.affinity-1+w.id)
	}
	if w.stopping {
		c.state |= stateClosing
		w.dirty(c)
	}
}

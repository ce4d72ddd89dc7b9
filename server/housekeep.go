package server

import "heddle/server/dispatch"

// Housekeep does a part of what connections need from time to time: closing
// silent ones, shrinking buffers, publishing figures. cron calls it hz times a
// second; a second's calls reach every connection.
func (s *Server) Housekeep(hz int) {
	s.postAll(func(w *worker) { w.housekeep(hz) })
	s.checkDrained()
}

// leastChecks is how many connections a call looks at at least.
const leastChecks = 50

func (w *worker) housekeep(hz int) {
	if w.stopping {
		return
	}
	n := min(max(len(w.slots)/max(hz, 1)+1, leastChecks), len(w.slots))
	largest := int64(0)
	for range n {
		if w.nextCheck >= len(w.slots) {
			w.nextCheck = 0
		}
		c := w.slots[w.nextCheck]
		w.nextCheck++
		if c == nil || w.timedOut(c) {
			continue
		}
		c.queue.ask()
		if !w.checkOutput(c) {
			continue
		}
		w.trim(c)
		w.shrink(c)
		c.ops /= 2
		largest = max(largest, c.mem)
		c.publish()
	}
	w.largest.Store(largest)
}

// timedOut closes a connection that has been silent for too long, as Redis
// does: those that wait in a blocking command or for messages are spared.
func (w *worker) timedOut(c *conn) bool {
	if w.set.Timeout <= 0 || w.now-c.lastRead <= int64(w.set.Timeout) || c.client.Blocked() || c.client.Monitoring() || c.client.Class() != dispatch.ClassNormal {
		return false
	}
	w.log(Verbose, "Closing idle client")
	w.close(c)
	return true
}

// trim gives back memory that a connection's unfinished input does not need.
func (w *worker) trim(c *conn) {
	if c.in.mapped || c.in.len() == 0 || w.now-c.lastRead < 2 || len(c.in.b) <= 2*c.in.len() || len(c.in.b) <= bufferSizes[0] {
		return
	}
	if c.reader.Want() > c.in.len()+1 {
		return
	}
	c.in.moveTo(&w.bufs, c.in.len())
}

// idleWindow is after how many seconds of silence a connection is thought to
// read nothing soon.
const idleWindow = 2

// shrink makes a connection that does not need it read less at a time.
func (w *worker) shrink(c *conn) {
	switch {
	case w.now-c.lastRead >= idleWindow:
		c.window = 0
	case c.window > readMin && !c.grew:
		c.window = readMin
	}
	c.grew = false
}

// evictClients closes the largest connections until all together use no more
// than maxmemory-clients. Each worker looks at its own: the one that has the
// largest of all acts.
func (w *worker) evictClients(limit int64) {
	w.s.evicting.Lock() // or two workers would each close one for the same excess
	defer w.s.evicting.Unlock()
	for w.s.clientMem.Load() > limit {
		var worst *conn
		for _, c := range w.slots {
			if c != nil && c.mem > 0 && !c.client.NoEvict() && (worst == nil || c.mem > worst.mem) {
				worst = c
			}
		}
		if worst == nil {
			w.largest.Store(0)
			return
		}
		w.largest.Store(worst.mem)
		for _, x := range w.s.workers {
			if x != w && x.largest.Load() > worst.mem {
				x.post(func() {}) // that one's turn ends with a look at its own
				return
			}
		}
		w.log(Notice, "Evicting client: %v", worst)
		w.rec.ClientsEvicted++
		w.close(worst)
		w.report()
	}
}

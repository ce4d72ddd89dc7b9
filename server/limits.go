package server

const (
	// pauseOutput is how many bytes of replies may wait for a peer before its
	// commands do, too, unless client-output-buffer-limit allows more.
	pauseOutput = 16 << 20
	// backlogLimit is how many bytes of commands may wait behind that before
	// the connection is not read any longer, unless client-query-buffer-limit
	// is less. It is this large for clients that send a whole pipeline before
	// they read the first reply: they would never come to that.
	backlogLimit = 256 << 20
	// strangerOutput is how many bytes of replies may wait for a peer that has
	// to authenticate first. All it can be told until then is short.
	strangerOutput = 16 << 10
	// maxArgument is how long an argument can be, whatever proto-max-bulk-len
	// allows: records and the queue of MULTI keep lengths in 32 bits.
	maxArgument = 1<<32 - 1
)

// pauseAt is the number of waiting bytes at which commands wait.
func (w *worker) pauseAt(c *conn) int64 {
	o := &w.set.Output[c.client.Class()]
	return max(pauseOutput, o.Hard+1, o.Soft+1)
}

// inputFull reports whether no more input of the connection is to be read.
func (w *worker) inputFull(c *conn) bool {
	return c.state&(statePaused|stateGated) != 0 && int64(c.in.len()) >= min(backlogLimit, w.set.QueryLimit)
}

// overHard closes a connection whose replies exceed the hard limit.
func (w *worker) overHard(c *conn, limit int64) bool {
	if c.queue.weight()+int64(c.out.Made()) <= limit {
		return false
	}
	w.overOutput(c)
	return true
}

func (w *worker) overOutput(c *conn) {
	w.log(Warning, "Client %v scheduled to be closed ASAP for overcoming of output buffer limits.", c)
	w.rec.OutputLimitCloses++
	w.close(c)
}

// checkOutput holds the unsent replies against the limits: it pauses the connection or
// lets it go on; false when it closed it. While a stream is under way further commands
// wait, so that a pipeline of such replies does not hold as many clones of what they show.
func (w *worker) checkOutput(c *conn) bool {
	o := &w.set.Output[c.client.Class()]
	waiting := c.queue.weight()
	switch {
	case o.Hard > 0 && waiting > o.Hard, w.overSoft(c, waiting),
		waiting > strangerOutput && !c.client.Authenticated():
		w.overOutput(c)
		return false
	case waiting > w.pauseAt(c), c.queue.lazy > 0:
		c.state |= statePaused
	case c.state&statePaused != 0 && waiting <= w.pauseAt(c)/2:
		c.state &^= statePaused
		w.again(c)
	}
	return true
}

// checkPosted closes a connection that gets messages which it did not ask for
// one by one (MONITOR) and does not read them: pausing its own commands would
// not help. false when it did.
func (w *worker) checkPosted(c *conn) bool {
	if c.queue.weight()+int64(c.out.Made()) <= max(backlogLimit, w.pauseAt(c)) {
		return true
	}
	w.overOutput(c)
	return false
}

// overSoft reports whether the soft limit has been exceeded for too long.
func (w *worker) overSoft(c *conn, waiting int64) bool {
	o := &w.set.Output[c.client.Class()]
	if o.Soft == 0 || waiting <= o.Soft {
		c.softAt = 0
		return false
	}
	if c.softAt == 0 {
		c.softAt = w.now
		return false
	}
	return w.now-c.softAt > int64(o.SoftSeconds)
}

// checkQuery closes a connection whose input, with what MULTI and WATCH keep of
// it, exceeds client-query-buffer-limit.
func (w *worker) checkQuery(c *conn) bool {
	if int64(c.in.len()+c.bigHave)+c.client.Memory() <= w.set.QueryLimit || c.state&(statePaused|stateGated) != 0 {
		return true
	}
	head := c.in.bytes()
	head = head[:min(len(head), 64)]
	w.log(Warning, "Closing client that reached max query buffer length: %v (qbuf initial bytes: %q)", c, head)
	w.rec.QueryLimitCloses++
	w.close(c)
	return false
}

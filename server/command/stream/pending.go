package streams

import (
	"math"

	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

// XACK key group id [id ...]
func xackSpec() *command.Spec { return writeSpec("xack", -4, command.Fast, command.KeyUpdate, xack) }

func xack(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key, name := a.Key(), a.Bytes()
	s, err := stream.Read(tx, key)
	if err != nil {
		return err
	}
	if s == nil || s.Group(name) == nil {
		c.Reply.Int(0)
		return nil
	}
	ids := a.Rest()
	if err := checkIDs(ids); err != nil {
		return err
	}

	if s, err = stream.Edit(tx, key); err != nil {
		return err
	}
	g, n := s.EditGroup(name), int64(0)
	for _, b := range ids {
		if id, _ := strictID(b, 0); s.Ack(g, id) {
			n++
		}
	}
	if n > 0 {
		tx.Adjusted(key, n)
	}
	c.Reply.Int(n)
	return nil
}

// XPENDING key group [[IDLE min-idle-time] start end count [consumer]]
func xpendingSpec() *command.Spec {
	s := readSpec("xpending", -3, 0, command.KeyAccess, xpending)
	s.Tips = []string{tipNondetermine}
	return s
}

// pendingQuery is what XPENDING asks for if it asks for single entries.
type pendingQuery struct {
	minIdle  int64
	from, to stream.ID
	count    int64
	consumer []byte // nil: all
}

func parsePending(a *command.Args) (q pendingQuery, err error) {
	n := a.Len()
	if n < 3 || n > 6 {
		return q, resp.ErrSyntax
	}
	if a.Word("idle") {
		if q.minIdle = a.Int(); a.Err() != nil {
			return q, a.Err()
		}
		if n < 5 {
			return q, resp.ErrSyntax
		}
	}
	first, last := a.Bytes(), a.Bytes()
	if q.count = max(a.Int(), 0); a.Err() != nil {
		return q, a.Err()
	}
	if q.from, err = parseStart(first); err != nil {
		return q, err
	}
	if q.to, err = parseEnd(last); err != nil {
		return q, err
	}
	if a.More() {
		q.consumer = a.Bytes() // what stands behind it is not looked at
	}
	return q, nil
}

func xpending(c *command.Call, v db.View) error {
	a := &c.Args
	key, name := a.Key(), a.Bytes()
	if a.Len() == 0 {
		_, g, err := readGroup(v, key, name)
		if err != nil {
			return err
		}
		pendingSummary(c.Reply, g)
		return nil
	}
	q, err := parsePending(a)
	if err != nil {
		return err
	}
	_, g, err := readGroup(v, key, name)
	if err != nil {
		return err
	}
	if q.consumer == nil {
		q.ofGroup(c.Reply, g, int64(v.Now()))
	} else {
		q.ofConsumer(c.Reply, g, int64(v.Now()))
	}
	return nil
}

// pendingSummary writes how many entries are pending, between which IDs, and with whom.
func pendingSummary(w *resp.Writer, g *stream.Group) {
	w.Array(4)
	w.Int(int64(g.Len()))
	if g.Len() == 0 {
		w.Null()
		w.Null()
		w.NullArray()
		return
	}
	first, last := g.Bounds()
	replyID(w, first)
	replyID(w, last)
	holders := 0
	g.EachConsumer(func(c *stream.Consumer) bool {
		if c.Len() > 0 {
			holders++
		}
		return true
	})
	w.Array(holders)
	g.EachConsumer(func(c *stream.Consumer) bool {
		if c.Len() > 0 {
			w.Array(2)
			w.BulkString(c.Name)
			w.BulkInt(int64(c.Len()))
		}
		return true
	})
}

// old reports whether an entry is idle for as long as is asked for.
func (q *pendingQuery) old(p *stream.Pending, now int64) bool {
	return q.minIdle == 0 || now-p.Time >= q.minIdle
}

// ofGroup writes pending entries of the group. They are counted first, for the header.
func (q *pendingQuery) ofGroup(w *resp.Writer, g *stream.Group, now int64) {
	n := int64(0)
	it := g.PendingRange(q.from, q.to)
	for p := it.Next(); p != nil && n < q.count; p = it.Next() {
		if q.old(p, now) {
			n++
		}
	}
	w.Array(int(n))
	it = g.PendingRange(q.from, q.to)
	for p := it.Next(); n > 0; p = it.Next() {
		if q.old(p, now) {
			pendingEntry(w, g, p, now)
			n--
		}
	}
}

// ofConsumer writes pending entries of the consumer.
func (q *pendingQuery) ofConsumer(w *resp.Writer, g *stream.Group, now int64) {
	c := g.Consumer(q.consumer)
	if c == nil {
		w.Array(0)
		return
	}
	n := int64(0)
	it := c.HeldRange(q.from, q.to)
	for id, ok := it.Next(); ok && n < q.count; id, ok = it.Next() {
		if q.minIdle == 0 || q.old(g.Pending(id), now) {
			n++
		}
	}
	w.Array(int(n))
	it = c.HeldRange(q.from, q.to)
	for id, _ := it.Next(); n > 0; id, _ = it.Next() {
		if p := g.Pending(id); q.old(p, now) {
			pendingEntry(w, g, p, now)
			n--
		}
	}
}

func pendingEntry(w *resp.Writer, g *stream.Group, p *stream.Pending, now int64) {
	w.Array(4)
	replyID(w, p.ID)
	w.BulkString(g.NameOf(p))
	w.Int(max(now-p.Time, 0))
	w.Int(p.Count)
}

// idleSince returns the instant of a delivery n milliseconds ago. What is no instant of the
// past is now.
func idleSince(now, n int64) int64 {
	if n < 0 || n > now {
		return now
	}
	return now - n
}

// deliveredAt is the instant n as that of a delivery: what is no instant of the past is
// now.
func deliveredAt(now, n int64) int64 {
	if n < 0 || n > now {
		return now
	}
	return n
}

// maxAttempts bounds how often XAUTOCLAIM may look at an entry for each that it claims.
const maxAttempts = 10

// mostClaimed is the largest COUNT of XAUTOCLAIM that Redis takes for a number, and
// hugeClaimed the smallest for which it cannot get memory.
const (
	mostClaimed = math.MaxInt64 / 16
	hugeClaimed = 1 << 43
)

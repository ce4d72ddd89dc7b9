package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errClaimIdle  resp.Error = "ERR Invalid min-idle-time argument for XCLAIM"
	errIdleWord   resp.Error = "ERR Invalid IDLE option argument for XCLAIM"
	errTimeWord   resp.Error = "ERR Invalid TIME option argument for XCLAIM"
	errRetryWord  resp.Error = "ERR Invalid RETRYCOUNT option argument for XCLAIM"
	errAutoIdle   resp.Error = "ERR Invalid min-idle-time argument for XAUTOCLAIM"
	errAutoCount  resp.Error = "ERR COUNT must be > 0"
	errAutoMemory resp.Error = "ERR Insufficient memory, failed allocating transient memory, COUNT too high."
)

// claimer carries XCLAIM and XAUTOCLAIM out.
type claimer struct {
	c        *command.Call
	tx       db.Txn
	key      []byte
	group    []byte
	consumer []byte
	now      int64
	minIdle  int64
	justID   bool
	force    bool
	at       int64 // of the delivery
	retry    int64 // count of deliveries; -1: one more than before
	last     stream.ID

	s       *stream.Stream
	g       *stream.Group
	number  uint64 // of the consumer
	changes int64
	claimed []stream.ID
	room    [16]stream.ID // for the first of them
}

// begin gets the group for change and the consumer, which is made if there is none.
func (m *claimer) begin() (err error) {
	m.claimed = m.room[:0]
	if m.s, err = stream.Edit(m.tx, m.key); err != nil {
		return err
	}
	m.g = m.s.EditGroup(m.group)
	var created bool
	if m.number, created = m.s.CreateConsumer(m.g, m.consumer, m.now); created {
		m.changes++
		tell(m.tx, "xgroup-createconsumer", m.key)
		m.c.ReplicateAs(wordXGroup, wordCreateConsumer, m.key, m.group, m.consumer)
	}
	m.s.EditConsumer(m.g, m.number).Seen = m.now
	return nil
}

// end counts the changes.
func (m *claimer) end() {
	if len(m.claimed) > 0 {
		m.s.EditConsumer(m.g, m.number).Active = m.now
	}
	if m.changes > 0 {
		m.tx.Adjusted(m.key, m.changes)
	}
}

// forget removes a pending entry whose entry was deleted.
func (m *claimer) forget(id stream.ID) {
	m.s.Ack(m.g, id)
	m.changes++
	if m.c.Logged() {
		m.c.ReplicateAs(wordXAck, m.key, m.group, keepID(m.c, id))
	}
}

// take gives a pending entry, as it was, to the consumer.
func (m *claimer) take(p stream.Pending) {
	p.Time = m.at
	switch {
	case m.retry >= 0:
		p.Count = m.retry
	case !m.justID:
		p.Count++
	}
	m.s.Assign(m.g, p, m.number)
	m.claimed = append(m.claimed, p.ID)
	m.changes++
	replicateClaim(m.c, m.key, m.group, m.g, m.g.Pending(p.ID))
}

// reply writes what was claimed.
func (m *claimer) reply(w *resp.Writer) {
	w.Array(len(m.claimed))
	if len(m.claimed) >= streamFrom && !m.justID {
		s := m.s.Clone().(*stream.Stream)
		w.Stream(&claimStream{db.PinOf(s), s, m.claimed})
		return
	}
	for _, id := range m.claimed {
		if m.justID {
			replyID(w, id)
			continue
		}
		e, _ := m.s.Get(id)
		entry(w, &e)
	}
}

// claimStream is a resp.Stream of entries that were claimed.
type claimStream struct {
	db.Pin
	s   *stream.Stream
	ids []stream.ID
}

// Next writes the next piece.
func (l *claimStream) Next(w *resp.Writer) bool {
	for ; len(l.ids) > 0 && w.Len() < resp.StreamPiece; l.ids = l.ids[1:] {
		e, _ := l.s.Get(l.ids[0])
		entry(w, &e)
	}
	return len(l.ids) > 0
}

// XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]
func xclaimSpec() *command.Spec {
	s := writeSpec("xclaim", -6, command.Fast, command.KeyUpdate, xclaim)
	s.Tips = []string{tipNondetermine}
	return s
}

func xclaim(c *command.Call, tx db.Txn) error {
	a := &c.Args
	m := claimer{c: c, tx: tx, key: a.Key(), group: a.Bytes(), consumer: a.Bytes(), now: int64(tx.Now()), retry: -1}
	if _, _, err := readGroup(tx, m.key, m.group); err != nil {
		return err
	}
	m.at = m.now
	m.minIdle = max(a.IntOr(errClaimIdle), 0)
	ids := leadingIDs(a)
	for a.More() {
		m.option(a)
	}
	if err := a.Done(); err != nil {
		return err
	}

	if err := m.begin(); err != nil {
		return err
	}
	moved := m.g.Last.Before(m.last)
	if moved {
		m.g.Last = m.last
	}
	m.claim(ids)
	if moved && len(m.claimed) == 0 {
		m.moved()
	}
	m.end()
	m.reply(c.Reply)
	return nil
}

// leadingIDs takes the arguments that are IDs.
func leadingIDs(a *command.Args) [][]byte {
	if a.Err() != nil {
		return nil
	}
	argv := a.Argv()
	from := len(argv) - a.Len()
	to := from
	for to < len(argv) {
		if _, ok := strictID(argv[to], 0); !ok {
			break
		}
		to++
	}
	a.Skip(to - from)
	return argv[from:to]
}

// option reads an option of XCLAIM.
func (m *claimer) option(a *command.Args) {
	more := a.Len() > 1
	switch {
	case a.Word("force"):
		m.force = true
	case a.Word("justid"):
		m.justID = true
	case more && a.Word("idle"):
		m.at = idleSince(m.now, a.IntOr(errIdleWord))
	case more && a.Word("time"):
		m.at = deliveredAt(m.now, a.IntOr(errTimeWord))
	case more && a.Word("retrycount"):
		m.retry = a.IntOr(errRetryWord)
	case more && a.Word("lastid"):
		m.last = argID(a)
	default:
		a.Reject(command.Errorf("ERR Unrecognized XCLAIM option '%s'", a.Peek()))
	}
}

// claim claims what can be claimed of the IDs.
func (m *claimer) claim(ids [][]byte) {
	for _, b := range ids {
		id, _ := strictID(b, 0)
		p := m.g.Pending(id)
		switch {
		case !m.s.Has(id):
			if p != nil {
				m.forget(id)
			}
		case p == nil && m.force:
			m.take(stream.Pending{ID: id, Count: 1})
		case p != nil && (m.minIdle == 0 || m.now-p.Time >= m.minIdle):
			m.take(*p)
		}
	}
}

// moved tells that the group's last ID was moved, where no claim does.
func (m *claimer) moved() {
	m.changes++
	if m.c.Logged() {
		m.c.ReplicateAs(wordXGroup, wordSetID, m.key, m.group, keepID(m.c, m.g.Last), wordEntriesRead, m.c.Digits(m.g.Read))
	}
}

// XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]
func xautoclaimSpec() *command.Spec {
	s := writeSpec("xautoclaim", -6, command.Fast, command.KeyDelete, xautoclaim)
	s.Tips = []string{tipNondetermine}
	return s
}

func xautoclaim(c *command.Call, tx db.Txn) error {
	a := &c.Args
	m := claimer{c: c, tx: tx, key: a.Key(), group: a.Bytes(), consumer: a.Bytes(), now: int64(tx.Now()), retry: -1}
	m.at = m.now
	_, _, missing := readGroup(tx, m.key, m.group) // told behind mistakes, but counted as a miss
	if m.minIdle = max(a.IntOr(errAutoIdle), 0); a.Err() != nil {
		return a.Err()
	}
	start, err := parseStart(a.Bytes())
	if err != nil {
		return err
	}
	count := int64(100)
	for a.More() {
		switch {
		case a.Len() > 1 && a.Word("count"):
			count = a.IntRange(1, mostClaimed, errAutoCount)
		case a.Word("justid"):
			m.justID = true
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	if err := a.Done(); err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	if count >= hugeClaimed {
		return errAutoMemory
	}

	if err := m.begin(); err != nil {
		return err
	}
	next, deleted := m.autoclaim(start, count)
	m.end()
	c.Reply.Array(3)
	replyID(c.Reply, next)
	m.reply(c.Reply)
	c.Reply.Array(len(deleted))
	for _, id := range deleted {
		replyID(c.Reply, id)
	}
	return nil
}

// autoclaim claims up to count entries from start on, looking at maxAttempts times as
// many, and returns where to go on: 0-0 at the end. Entries that were deleted are removed
// from the list; they count too, and are returned.
func (m *claimer) autoclaim(start stream.ID, count int64) (next stream.ID, deleted []stream.ID) {
	it := m.g.PendingRange(start, stream.MaxID)
	p := it.Next()
	for attempts := count * maxAttempts; p != nil && attempts > 0 && count > 0; attempts-- {
		id := p.ID
		switch {
		case !m.s.Has(id):
			m.forget(id)
			deleted = append(deleted, id)
		case m.minIdle > 0 && m.now-p.Time < m.minIdle:
			p = it.Next()
			continue
		default:
			m.take(*p)
		}
		count--
		after, ok := id.Next()
		if !ok {
			return stream.ID{}, deleted
		}
		it = m.g.PendingRange(after, stream.MaxID) // the list changed
		p = it.Next()
	}
	if p == nil {
		return stream.ID{}, deleted
	}
	return p.ID, deleted
}

package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

// XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]
func xreadgroupSpec() *command.Spec {
	s := readingSpec("xreadgroup", -7, 4)
	s.Write = xreadgroup
	s.AwaitsGone = true
	return s
}

// groupReader carries XREADGROUP out.
type groupReader struct {
	readOptions
	c       *command.Call
	tx      db.Txn
	now     int64
	changes int64
	effects int // what was said to ReplicateAs
}

func xreadgroup(c *command.Call, tx db.Txn) error {
	r := groupReader{c: c, tx: tx, now: int64(tx.Now())}
	if err := r.parse(&c.Args, true, tx.Now()); err != nil {
		return err
	}
	var room [few]source
	sources := room[:0]
	anything := !c.Resumed()
	for i := range r.keys {
		src, err := r.check(i)
		if err != nil {
			return err
		}
		sources = append(sources, src)
		anything = anything || src.served
	}
	if !anything { // those who wait behind the first for a group: nothing is done for them
		return r.nothing(c)
	}
	r.lookAgain(tx)
	for i := range sources {
		var err error
		if sources[i].s, err = stream.Edit(tx, r.keys[i]); err != nil {
			return err
		}
		sources[i].g = sources[i].s.EditGroup(r.group)
	}

	served := 0
	for i := range sources {
		r.give(i, &sources[i])
		if sources[i].served {
			served++
		}
	}
	if r.effects == 0 && r.changes > 0 {
		c.ReplicateNothing()
	}
	if served == 0 {
		return r.nothing(c)
	}
	c.Reply.Rows(served)
	for i := range sources {
		if src := &sources[i]; src.served {
			c.Reply.Row()
			c.Reply.Bulk(r.keys[i])
			r.reply(src)
		}
	}
	return nil
}

// check looks whether stream i and the group are there, and reads the ID.
func (r *groupReader) check(i int) (src source, err error) {
	key := r.keys[i]
	s, err := stream.Read(r.tx, key)
	switch {
	case r.c.Resumed() && (err != nil || s == nil):
		return src, errKeyGone
	case err != nil:
		return src, err
	case s == nil || s.Group(r.group) == nil:
		if r.c.Resumed() {
			return src, errGroupGone
		}
		return src, command.Errorf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", key, r.group)
	}
	switch string(cText(r.ids[i])) {
	case "$":
		return src, errDollar
	case ">":
		top, ok := s.Top()
		return source{served: ok && s.Group(r.group).Last.Before(top)}, nil
	}
	id, ok := strictID(r.ids[i], 0)
	if !ok {
		return src, errID
	}
	// The last ID of all stands for > in Redis.
	src.from, src.history = id.Next()
	src.served = true
	return src, nil
}

// give gives the consumer the entries of stream i: it makes all changes.
func (r *groupReader) give(i int, src *source) {
	key, changes, given := r.keys[i], int64(0), r.effects
	src.served = false // until it is
	number, created := src.s.CreateConsumer(src.g, r.consumer, r.now)
	if created {
		changes++
		tell(r.tx, "xgroup-createconsumer", key)
		if r.noack {
			r.created(key)
		}
	}
	src.s.EditConsumer(src.g, number).Seen = r.now
	if src.history {
		src.served = true
		r.again(key, src, number)
	} else {
		r.fresh(key, src, number)
	}
	if src.n > 0 && !src.history && !r.noack {
		src.s.EditConsumer(src.g, number).Active = r.now
	}
	if created && r.effects == given {
		r.created(key) // no claim tells of the consumer
	}
	if src.served {
		changes++
	}
	if changes > 0 {
		r.tx.Adjusted(key, changes)
		r.changes += changes
	}
}

// fresh gives out entries behind those that the group was given so far.
func (r *groupReader) fresh(key []byte, src *source, consumer uint64) {
	s, g := src.s, src.g
	top, ok := s.Top()
	if !ok || !g.Last.Before(top) {
		return
	}
	src.served = true
	src.from, _ = g.Last.Next()
	it := s.Range(src.from, stream.MaxID)
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		s.Passed(g, e.ID)
		if !r.noack {
			s.Deliver(g, e.ID, consumer, r.now)
			r.claimed(key, g, g.Pending(e.ID))
		}
		src.to = e.ID
		if src.n++; src.n == r.count {
			break
		}
	}
	r.passed(key, g)
}

// again gives out once more what the consumer holds.
func (r *groupReader) again(key []byte, src *source, consumer uint64) {
	s, g := src.s, src.g
	it := s.EditConsumer(g, consumer).HeldRange(src.from, stream.MaxID)
	for id, ok := it.Next(); ok; id, ok = it.Next() {
		if s.Has(id) {
			p := g.Pending(id)
			s.Again(g, id, r.now, p.Count+1)
			r.claimed(key, g, g.Pending(id))
		}
		if src.n++; src.n == r.count {
			break
		}
	}
}

// created, claimed and passed say how the changes go on: that there is a consumer, that it
// got an entry, and how far the group is.
func (r *groupReader) created(key []byte) {
	r.effects++
	r.c.ReplicateAs(wordXGroup, wordCreateConsumer, key, r.group, r.consumer)
}

func (r *groupReader) claimed(key []byte, g *stream.Group, p *stream.Pending) {
	r.effects++
	replicateClaim(r.c, key, r.group, g, p)
}

func (r *groupReader) passed(key []byte, g *stream.Group) {
	r.effects++
	if r.c.Logged() {
		r.c.ReplicateAs(wordXGroup, wordSetID, key, r.group, keepID(r.c, g.Last), wordEntriesRead, r.c.Digits(g.Read))
	}
}

// replicateClaim says that an entry became pending as it is now.
func replicateClaim(c *command.Call, key, group []byte, g *stream.Group, p *stream.Pending) {
	if !c.Logged() {
		c.ReplicateAs()
		return
	}
	c.ReplicateAs(wordXClaim, key, group, c.Keep([]byte(g.NameOf(p))), wordZero, keepID(c, p.ID),
		wordTime, c.Digits(p.Time), wordRetryCount, c.Digits(p.Count), wordForce, wordJustID, wordLastID, keepID(c, g.Last))
}

// reply writes the entries that a consumer was given.
func (r *groupReader) reply(src *source) {
	w := r.c.Reply
	switch {
	case !src.history:
		replyRange(w, src.s, src.from, src.to, src.n, false)
	case src.n >= streamFrom:
		w.Array(int(src.n))
		h := &heldStream{s: src.s.Clone().(*stream.Stream), left: src.n}
		h.Pin = db.PinOf(h.s)
		h.it = h.s.Group(r.group).Consumer(r.consumer).HeldRange(src.from, stream.MaxID)
		w.Stream(h)
	default:
		w.Array(int(src.n))
		it := src.g.Consumer(r.consumer).HeldRange(src.from, stream.MaxID)
		for range src.n {
			id, _ := it.Next()
			held(w, src.s, id)
		}
	}
}

// held writes a pending entry, which may have been deleted.
func held(w *resp.Writer, s *stream.Stream, id stream.ID) {
	if e, ok := s.Get(id); ok {
		entry(w, &e)
		return
	}
	w.Array(2)
	replyID(w, id)
	w.NullArray()
}

// heldStream is a resp.Stream of pending entries.
type heldStream struct {
	db.Pin
	s    *stream.Stream
	it   stream.Held
	left int64
}

// Next writes the next piece.
func (h *heldStream) Next(w *resp.Writer) bool {
	for ; h.left > 0 && w.Len() < resp.StreamPiece; h.left-- {
		id, _ := h.it.Next()
		held(w, h.s, id)
	}
	return h.left > 0
}

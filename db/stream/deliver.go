package stream

// What changes the lists of pending entries. All of it is for groups that were got by
// EditGroup.

// Deliver notes that an entry is given to a consumer, by its number: it is pending from
// now on. One that is pending already, with this or another consumer, begins anew.
func (s *Stream) Deliver(g *Group, id ID, consumer uint64, now int64) {
	s.Assign(g, Pending{ID: id, Time: now, Count: 1}, consumer)
}

// Assign makes an entry pending with a consumer, or changes the one that is pending with
// that ID, whose time and count become those of p.
func (s *Stream) Assign(g *Group, p Pending, consumer uint64) {
	if at := g.Pending(p.ID); at == nil {
		s.pends++
	} else if at.consumer != consumer {
		s.release(g, at.consumer, p.ID)
	}
	p.consumer = consumer
	g.pending.put(s.own, p)
	s.EditConsumer(g, consumer).holds.put(s.own, heldID(p.ID))
}

// Again changes the time and count of a pending entry without moving it; false if there
// is none.
func (s *Stream) Again(g *Group, id ID, time, count int64) bool {
	at, i, found := g.pending.find(id)
	if !found {
		return false
	}
	p := &(*g.pending.page(s.own, at))[i]
	p.Time, p.Count = time, count
	return true
}

// Ack removes a pending entry; false if there is none.
func (s *Stream) Ack(g *Group, id ID) bool {
	at, i, found := g.pending.find(id)
	if !found {
		return false
	}
	s.release(g, g.pending.dir.at(at).val[i].consumer, id)
	g.pending.remove(s.own, at, i)
	s.pends--
	return true
}

// release takes an entry from what a consumer holds.
func (s *Stream) release(g *Group, consumer uint64, id ID) {
	c := s.EditConsumer(g, consumer)
	if at, i, found := c.holds.find(id); found {
		c.holds.remove(s.own, at, i)
	}
}

// forget removes all pending entries of a consumer and returns how many there were.
func (s *Stream) forget(g *Group, consumer uint64) int {
	c := g.consumer(consumer)
	it := c.holds.from(ID{}, MaxID)
	for h := it.next(); h != nil; h = it.next() {
		if at, i, found := g.pending.find(ID(*h)); found {
			g.pending.remove(s.own, at, i)
			s.pends--
		}
	}
	return c.holds.n
}

// Len returns the number of pending entries.
func (g *Group) Len() int { return g.pending.n }

// Pending returns the pending entry with that ID, to be read until the group changes;
// nil if there is none.
func (g *Group) Pending(id ID) *Pending {
	at, i, found := g.pending.find(id)
	if !found {
		return nil
	}
	return &g.pending.dir.at(at).val[i]
}

// Bounds returns the IDs of the first and the last pending entry; there must be one.
func (g *Group) Bounds() (first, last ID) {
	d := &g.pending.dir
	page := d.at(d.last()).val
	return d.at(place{}).val[0].ID, page[len(page)-1].ID
}

// Pendings goes through pending entries of a group in order. It is valid until the group
// changes.
type Pendings struct{ c cursor[Pending] }

// PendingRange returns the pending entries from..to, both included.
func (g *Group) PendingRange(from, to ID) Pendings { return Pendings{g.pending.from(from, to)} }

// Next returns the next one; nil when there is none.
func (p *Pendings) Next() *Pending { return p.c.next() }

// Len returns how many pending entries the consumer holds.
func (c *Consumer) Len() int { return c.holds.n }

// Held goes through the IDs of the pending entries of a consumer in order. It is valid
// until the consumer's list changes.
type Held struct{ c cursor[heldID] }

// HeldRange returns the IDs from..to, both included, of what the consumer holds.
func (c *Consumer) HeldRange(from, to ID) Held { return Held{c.holds.from(from, to)} }

// Next returns the next one; false when there is none.
func (h *Held) Next() (ID, bool) {
	id := h.c.next()
	if id == nil {
		return ID{}, false
	}
	return ID(*id), true
}

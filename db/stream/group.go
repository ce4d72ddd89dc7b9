package stream

// Consumer groups. A group has the list of what was given out and is not acknowledged
// (pending.go), and its consumers; each of those has the list of the IDs that it holds.
// A consumer is known by a number, which entries of the lists hold instead of pointers;
// a directory leads from names to numbers, in the order in which Redis lists consumers,
// and one from numbers to consumers. Groups themselves stand in a directory by name. So
// everything is copied on write like the blocks, and a clone shares it.

// Unread is the number of entries read by a group whose number is not known.
const Unread = -1

// Group is a consumer group. What a Stream hands out for change is changed through the
// methods of the Stream.
type Group struct {
	Last ID // of the last entry that was given out
	// Read is how many entries the group would have read, counted from the first ever
	// added; Unread if that cannot be told.
	Read int64

	pending   pending
	names     directory[string, uint64] // consumers by name
	consumers directory[ID, Consumer]   // by number, as ID{0, number}
	numbers   uint64                    // the last number given out
}

// Never is the Active time of a consumer that has not read anything.
const Never = -1

// Consumer is a consumer of a group.
type Consumer struct {
	Name   string
	Seen   int64 // Unix time in ms at which it last tried to read or claim
	Active int64 // when it last got something; Never if it did not
	holds  held
}

// What a group and a consumer cost beside pending entries, with their places in
// directories.
const (
	groupSize    = 400
	consumerSize = 250
)

// Groups returns the number of groups.
func (s *Stream) Groups() int { return s.groups.n }

// EachGroup calls fn for the groups in the order of their names until it returns false.
func (s *Stream) EachGroup(fn func(name string, g *Group) bool) {
	for p := (place{}); s.groups.has(p); p = s.groups.next(p) {
		l := s.groups.at(p)
		if !fn(l.key, &l.val) {
			return
		}
	}
}

// Group returns the group with that name, to be read; nil if there is none.
func (s *Stream) Group(name []byte) *Group {
	p, ok := findName(&s.groups, string(name))
	if !ok {
		return nil
	}
	return &s.groups.at(p).val
}

// EditGroup returns the group with that name, to be changed, until the stream is cloned
// or a group comes or goes; nil if there is none.
func (s *Stream) EditGroup(name []byte) *Group {
	p, ok := findName(&s.groups, string(name))
	if !ok {
		return nil
	}
	return &s.groups.edit(s.own, p).val
}

// CreateGroup makes a group; false if there is one of that name.
func (s *Stream) CreateGroup(name []byte, last ID, read int64) bool {
	p, ok := findName(&s.groups, string(name))
	if ok {
		return false
	}
	s.groups.insert(s.own, p, string(name), Group{Last: last, Read: read})
	s.named += groupSize + int64(len(name))
	return true
}

// DestroyGroup removes a group with all that it has; false if there is none.
func (s *Stream) DestroyGroup(name []byte) bool {
	p, ok := findName(&s.groups, string(name))
	if !ok {
		return false
	}
	g := &s.groups.at(p).val
	s.pends -= int64(g.pending.n)
	s.named -= groupSize + int64(len(name))
	g.EachConsumer(func(c *Consumer) bool {
		s.named -= consumerSize + 2*int64(len(c.Name))
		return true
	})
	s.groups.remove(s.own, p)
	return true
}

// Consumers returns the number of consumers.
func (g *Group) Consumers() int { return g.names.n }

// EachConsumer calls fn for the consumers in the order of their names until it returns
// false.
func (g *Group) EachConsumer(fn func(c *Consumer) bool) {
	for p := (place{}); g.names.has(p); p = g.names.next(p) {
		if !fn(g.consumer(g.names.at(p).val)) {
			return
		}
	}
}

// consumer returns the consumer with that number, which must be there, to be read.
func (g *Group) consumer(number uint64) *Consumer {
	return &g.consumers.at(findID(&g.consumers, ID{0, number})).val
}

// NameOf returns the name of the consumer that holds a pending entry.
func (g *Group) NameOf(p *Pending) string { return g.consumer(p.consumer).Name }

// Consumer returns the consumer with that name, to be read; nil if there is none.
func (g *Group) Consumer(name []byte) *Consumer {
	p, ok := findName(&g.names, string(name))
	if !ok {
		return nil
	}
	return g.consumer(g.names.at(p).val)
}

// Number returns the number of the consumer with that name.
func (g *Group) Number(name []byte) (number uint64, ok bool) {
	p, ok := findName(&g.names, string(name))
	if !ok {
		return 0, false
	}
	return g.names.at(p).val, true
}

// EditConsumer returns a consumer by its number, to be changed, until another consumer
// comes or goes.
func (s *Stream) EditConsumer(g *Group, number uint64) *Consumer {
	return &g.consumers.edit(s.own, findID(&g.consumers, ID{0, number})).val
}

// CreateConsumer makes a consumer in a group that was got for change; created is false
// if there is one of that name.
func (s *Stream) CreateConsumer(g *Group, name []byte, now int64) (number uint64, created bool) {
	p, ok := findName(&g.names, string(name))
	if ok {
		return g.names.at(p).val, false
	}
	g.numbers++
	key := string(name)
	g.names.insert(s.own, p, key, g.numbers)
	g.consumers.push(s.own, ID{0, g.numbers}, Consumer{Name: key, Seen: now, Active: Never})
	s.named += consumerSize + 2*int64(len(name))
	return g.numbers, true
}

// DeleteConsumer removes a consumer of a group that was got for change, with what it
// holds, and returns how many pending entries those were; false if there is none.
func (s *Stream) DeleteConsumer(g *Group, name []byte) (held int, ok bool) {
	p, ok := findName(&g.names, string(name))
	if !ok {
		return 0, false
	}
	number := g.names.at(p).val
	held = s.forget(g, number)
	g.consumers.remove(s.own, findID(&g.consumers, ID{0, number}))
	g.names.remove(s.own, p)
	s.named -= consumerSize + 2*int64(len(name))
	return held, true
}

// Distance returns how many entries were ever added up to and with the one that has an
// ID; Unread if that cannot be told, because entries were deleted in between.
func (s *Stream) Distance(id ID) int64 {
	added := int64(s.added)
	switch at := id.Compare(s.last); {
	case s.added == 0:
		return 0
	case s.length == 0 && at <= 0:
		return added
	case at == 0:
		return added
	case at > 0:
		return Unread
	}
	if s.maxDeleted.IsZero() || s.maxDeleted.Before(s.first) {
		switch at := id.Compare(s.first); {
		case at < 0:
			return added - int64(s.length)
		case at == 0:
			return added - int64(s.length) + 1
		}
	}
	return Unread
}

// hasGap reports whether an entry at or behind id, and behind the first, was deleted, so
// that entries behind it cannot be counted.
func (s *Stream) hasGap(id ID) bool {
	return s.length > 0 && !s.maxDeleted.IsZero() && !s.maxDeleted.Before(s.first) && !s.maxDeleted.Before(id)
}

// Lag returns how many entries are still to be given out by a group; false if that
// cannot be told.
func (s *Stream) Lag(g *Group) (lag int64, known bool) {
	if s.added == 0 {
		return 0, true
	}
	read := g.Read
	if read == Unread || s.hasGap(g.Last) {
		if read = s.Distance(g.Last); read == Unread {
			return 0, false
		}
	}
	return int64(s.added) - read, true
}

// Passed notes that an entry behind what the group was given so far is given out.
func (s *Stream) Passed(g *Group, id ID) {
	switch {
	case g.Read != Unread && !s.hasGap(id):
		g.Read++
	case s.added > 0:
		g.Read = s.Distance(id)
	}
	g.Last = id
}

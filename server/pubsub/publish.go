package pubsub

import "slices"

// fanout is what a publisher works out while it holds its bucket; kept there so
// that publishing costs no allocation.
type fanout struct {
	topics   []*topic  // the channel and the patterns that get the message
	branches []*Branch // where they have subscribers, ascending
	seen     []bool    // by branch: it is in branches
}

// Publish sends a message to all who subscribe to the channel, or to a pattern
// that the name of an ordinary channel matches, and returns how many those are.
// channel and payload are copied.
func (h *Hub) Publish(k Kind, channel, payload []byte) int64 {
	if h.total.Load() == 0 {
		return 0
	}
	m := message{kind: k, channel: channel, payload: payload}
	var room [8]*Branch
	n, wake := h.send(&m, room[:0])
	for _, b := range wake {
		b.wake()
	}
	return n
}

// send queues a message and returns the branches to be woken, appended to wake.
func (h *Hub) send(m *message, wake []*Branch) (receivers int64, _ []*Branch) {
	b := h.bucket(m.kind, m.channel)
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &b.fan
	f.topics = f.topics[:0]
	if t := b.topics[string(m.channel)]; t != nil {
		f.topics = append(f.topics, t)
	}
	if m.kind == Channel && h.distinct[Pattern].Load() > 0 {
		h.patterns.mu.RLock()
		defer h.patterns.mu.RUnlock()
		f.topics = h.patterns.match(f.topics, m.channel)
	}
	if len(f.topics) == 0 {
		return 0, wake
	}
	number := h.clock.Add(1)
	f.findBranches()
	for _, br := range f.branches {
		br.mu.Lock()
	}
	for _, t := range f.topics {
		receivers += t.count
		h.post(m, t, number)
	}
	for _, br := range f.branches {
		if br.appended() {
			wake = append(wake, br)
		}
		br.mu.Unlock()
	}
	f.trim()
	return receivers, wake
}

// post queues the message for one topic, on branches whose locks are held.
func (h *Hub) post(m *message, t *topic, number uint64) {
	if m.size() >= sharedMin {
		f := h.newFrame(m, t)
		for _, r := range t.rosters {
			r.branch.addShared(r, number, f)
		}
		f.Release()
		return
	}
	var frame []byte
	for _, r := range t.rosters {
		frame = r.branch.add(r, number, frame, m, t)
	}
}

// findBranches lists the branches on which the topics have subscribers.
func (f *fanout) findBranches() {
	f.branches = f.branches[:0]
	for _, t := range f.topics {
		for _, r := range t.rosters {
			id := r.branch.id
			for id >= len(f.seen) {
				f.seen = append(f.seen, false)
			}
			if !f.seen[id] {
				f.seen[id] = true
				f.branches = append(f.branches, r.branch)
			}
		}
	}
	for _, b := range f.branches {
		f.seen[b.id] = false
	}
	slices.SortFunc(f.branches, func(a, b *Branch) int { return a.id - b.id })
}

// keptTopics bounds the memory that a bucket keeps for later.
const keptTopics = 64

func (f *fanout) trim() {
	if cap(f.topics) > keptTopics {
		f.topics = nil
		return
	}
	clear(f.topics)
}

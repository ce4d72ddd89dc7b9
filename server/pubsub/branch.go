package pubsub

import (
	"sync"
	"sync/atomic"
)

// Branch is one worker's part of the hub: the queue of messages for its
// subscribers. Deliver and what Subscribers do belongs to the worker's goroutine.
type Branch struct {
	hub  *Hub
	id   int
	wake func()

	pending  atomic.Bool // the queue is not empty
	attended atomic.Bool // the worker will look by itself, and need not be woken

	mu    sync.Mutex
	queue queue
	told  bool // the worker was woken and did not look yet
	heavy bool // more waits than should

	spare queue // the worker's
}

// queue is messages with the rosters that they are for.
type queue struct {
	items []item
	buf   []byte // short frames, one behind the other
	size  int    // of everything, in bytes
}

// heavyQueue is how many bytes may wait for a branch before publishers should, and
// itemSize what a message costs beside its bytes. A message is queued in no time, but
// delivered once for each subscriber: without a bound a quick publisher would fill the
// memory with what a branch of many subscribers has to do.
const (
	heavyQueue = 64 << 10
	itemSize   = 48
)

// item is a message for the subscribers of one topic on one branch.
type item struct {
	roster *roster
	number uint64
	at, n  int    // the frame's place in buf, if not
	shared *Frame // it stands by itself
}

// NewBranch returns a branch. wake is called, on any goroutine and without locks
// of the hub, when there is something for Deliver to do and the worker did not
// Attend; several times at once perhaps.
func (h *Hub) NewBranch(wake func()) *Branch {
	return &Branch{hub: h, id: int(h.branches.Add(1)) - 1, wake: wake}
}

// Attend says that the worker calls Deliver soon, and need not be woken until
// then. Rest, called before the last Deliver of a turn, ends that.
func (b *Branch) Attend() {
	if b.hub.total.Load() > 0 {
		b.attended.Store(true)
	}
}

// Rest is described at Attend.
func (b *Branch) Rest() {
	if b.attended.Load() {
		b.attended.Store(false)
	}
}

// add appends a message for a roster; mu is held. It returns the frame, which is
// the same for every branch, to be added to the next.
func (b *Branch) add(r *roster, number uint64, frame []byte, m *message, t *topic) []byte {
	q := &b.queue
	at := len(q.buf)
	if frame == nil {
		q.buf = m.append(q.buf, t)
	} else {
		q.buf = append(q.buf, frame...)
	}
	q.items = append(q.items, item{roster: r, number: number, at: at, n: len(q.buf) - at})
	q.size += len(q.buf) - at + itemSize
	return q.buf[at:]
}

// addShared is add for a frame that is not copied.
func (b *Branch) addShared(r *roster, number uint64, f *Frame) {
	f.Retain()
	b.queue.items = append(b.queue.items, item{roster: r, number: number, shared: f})
	b.queue.size += len(f.buf) + itemSize
}

// appended says, when mu is still held, that messages were added. It reports
// whether the worker has to be woken.
func (b *Branch) appended() bool {
	b.pending.Store(true)
	if !b.heavy && b.queue.size > heavyQueue {
		b.heavy = true
		b.hub.heavy.Add(1)
	}
	if b.told || b.attended.Load() {
		return false
	}
	b.told = true
	return true
}

// Deliver hands the messages that wait to their receivers. For those that are
// published meanwhile the worker is woken again, or is about to look again (Attend):
// it shall send what there is in between.
func (b *Branch) Deliver() {
	if !b.pending.Load() {
		return
	}
	b.mu.Lock()
	b.queue, b.spare = b.spare, b.queue
	b.told = false
	b.pending.Store(false)
	heavy := b.heavy
	b.mu.Unlock()
	b.empty(&b.spare)
	if heavy {
		b.relieve()
	}
}

// relieve notes that a branch was heavy and delivered.
func (b *Branch) relieve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queue.size <= heavyQueue {
		b.heavy = false
		b.hub.heavy.Add(-1)
	}
}

// keptItems and keptBytes bound the memory that a queue keeps for later.
const (
	keptItems = 4 << 10
	keptBytes = 256 << 10
)

func (b *Branch) empty(q *queue) {
	for i := range q.items {
		x := &q.items[i]
		if x.shared != nil {
			x.deliver(x.shared.buf)
			x.shared.Release()
			continue
		}
		x.deliver(q.buf[x.at : x.at+x.n])
	}
	clear(q.items)
	q.items, q.buf, q.size = q.items[:0], q.buf[:0], 0
	if cap(q.items) > keptItems {
		q.items = nil
	}
	if cap(q.buf) > keptBytes {
		q.buf = nil
	}
}

func (x *item) deliver(frame []byte) {
	for _, s := range x.roster.members {
		if s.since < x.number {
			s.who.to.Receive(frame, x.shared)
		}
	}
}

// Receiver is a connection that subscribes.
type Receiver interface {
	// Receive takes a message, as RESP2 spells it: RESP3 differs in the first
	// byte, which is '>' there. The bytes are valid until it returns, or, where
	// shared is not nil, until that is released, having been retained: a long
	// message that should not be copied. It is called on the goroutine of the
	// subscriber's branch, and must not subscribe, unsubscribe or close.
	Receive(frame []byte, shared *Frame)
}

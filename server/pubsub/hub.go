// Package pubsub is the hub of published messages: who subscribes to which
// channel or pattern, and how a message reaches them, over all workers. It knows
// nothing of connections nor of replies beyond the encoding of a message.
//
// # How a message travels
//
// Every worker has a Branch. A channel (topic) keeps one roster for each branch
// on which it has subscribers. To publish is to append the message, encoded, to
// the queue of each such branch: once a branch, however many subscribers it has.
// The branch's goroutine then goes through its rosters and hands the bytes to
// each connection. So the publisher's work, and the time for which it holds
// locks, depends on the number of workers and not of subscribers, and nobody
// ever touches a connection of another worker.
//
// The simple way, a posted function for each subscriber, costs an allocation, a
// lock and a queue entry each; the publisher alone would be slower than all of
// redis-server.
//
// # Order
//
// The queues of all branches that a message goes to are locked together while it
// is appended. So any two messages come in the same order on every branch that
// gets both, whatever channels they were published to; and who publishes
// because of a message that it got comes behind that message everywhere. That
// is the order a single-threaded server gives.
//
// # Who gets it
//
// A publisher holds its channel's lock from the count of receivers to the last
// append, and (un)subscribing takes the same lock; so they have an order.
// The hub's clock writes it down: a message carries the clock's next number, a
// subscription the number at its start, and is given only younger messages than
// that, even if older ones wait in the queue still. Who unsubscribes is taken
// off the count first, then its branch delivers what waits, then it leaves the
// roster: what was counted for it has reached it.
//
// # Locks
//
// Channels are spread over buckets with a mutex each; patterns have a
// read-write mutex, which publishers only read-lock, and only while there are
// patterns. The order: a bucket, patterns, branches ascending. All are leaf locks
// to the rest of the server: publishing is allowed with shards of the keyspace
// held (keyspace events are), and the functions that wake branches run behind
// them, with none held. A roster's members belong to the branch's goroutine.
//
// # Limits
//
// A message whose channel many patterns match costs a frame for each of them, as
// it is a message each. What waits for a branch is bounded only by publishers that
// look at Congested before; what the engine itself publishes (expired keys) comes on top.
// PUBSUB CHANNELS sees each bucket at another instant.
package pubsub

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Kind tells what is subscribed to.
type Kind uint8

// The kinds. Channels of the two kinds that have the same name have nothing to do
// with each other.
const (
	Channel Kind = iota
	Pattern      // of channels
	Shard        // channels of SSUBSCRIBE
	kinds
)

// bucketCount is how many parts the names of channels are spread over.
const bucketCount = 64

// Hub is what all branches share. Its methods are for any goroutine.
type Hub struct {
	total    atomic.Int64           // subscriptions
	distinct [kinds]atomic.Int64    // topics
	heavy    atomic.Int32           // branches for which more waits than should
	memory   func(int64)            // told of what is used and given back, in bytes
	seed     maphash.Seed           // of the spread over buckets: clients choose names
	buckets  [2][bucketCount]bucket // of channels, of shard channels
	patterns patterns
	branches atomic.Int32 // made so far

	_     [64]byte      // every message writes what follows, every command reads what is above
	clock atomic.Uint64 // see the package's comment
	_     [56]byte
}

// bucket is a part of the channels.
type bucket struct {
	mu     sync.Mutex
	topics map[string]*topic
	fan    fanout // of who holds mu

	_ [64]byte // keeps it off the next one's cache line
}

// topic is a channel or a pattern that has subscribers.
type topic struct {
	name    string
	count   int64     // subscribers
	rosters []*roster // those with subscribers

	// Of a pattern only.
	pattern    []byte // the name
	prefix     int    // how long it is up to its first special character
	prefixOnly bool   // nothing but a star follows that
	at         int    // its place in the list of its prefix
}

// roster is the subscribers of a topic on one branch.
type roster struct {
	branch  *Branch
	live    int             // those that are counted; under the topic's lock
	members []*subscription // of the branch's goroutine
}

// subscription is one client's to one topic.
type subscription struct {
	who    *Subscriber
	topic  *topic
	roster *roster
	at     int    // its place among the members
	since  uint64 // it gets messages with higher numbers
}

// NewHub returns a hub without branches. memory, which may be nil, is told of
// every change of the memory that subscriptions and large messages use, in bytes;
// from any goroutine.
func NewHub(memory func(int64)) *Hub {
	if memory == nil {
		memory = func(int64) {}
	}
	return &Hub{memory: memory, seed: maphash.MakeSeed()}
}

// bucket returns the part in which a channel is.
func (h *Hub) bucket(k Kind, name []byte) *bucket {
	n := maphash.Bytes(h.seed, name) % bucketCount
	if k == Shard {
		return &h.buckets[1][n]
	}
	return &h.buckets[0][n]
}

// Distinct is how many channels or patterns have subscribers.
func (h *Hub) Distinct(k Kind) int64 { return h.distinct[k].Load() }

// Congested reports whether more waits for some branch than should: who can puts off
// what it wants to publish.
func (h *Hub) Congested() bool { return h.heavy.Load() > 0 }

// Subscribers is how many clients subscribe to just this channel or pattern.
func (h *Hub) Subscribers(k Kind, name []byte) int64 {
	if k == Pattern {
		h.patterns.mu.RLock()
		defer h.patterns.mu.RUnlock()
		return h.patterns.topics[string(name)].subscribers()
	}
	b := h.bucket(k, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.topics[string(name)].subscribers()
}

func (t *topic) subscribers() int64 {
	if t == nil {
		return 0
	}
	return t.count
}

// Channels returns the channels of a kind that keep says yes to. It holds the
// lock of a part of the channels only while it copies their names.
func (h *Hub) Channels(k Kind, keep func(name string) bool) []string {
	list := &h.buckets[0]
	if k == Shard {
		list = &h.buckets[1]
	}
	var names, part []string
	for i := range list {
		part = list[i].names(part[:0])
		for _, name := range part {
			if keep(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (b *bucket) names(dst []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.topics {
		dst = append(dst, name)
	}
	return dst
}

// What things cost in bytes beside the names in them, with their places in maps
// and lists.
const (
	topicSize        = 144
	rosterSize       = 64
	subscriptionSize = 104
)

// enter registers a subscription that its subscriber does not have yet, and puts
// it into its roster: on the branch's goroutine.
func (h *Hub) enter(k Kind, name string, s *subscription) {
	mu, topics := h.shelf(k, name)
	mu.Lock()
	if *topics == nil {
		*topics = map[string]*topic{}
	}
	t := (*topics)[name]
	if t == nil {
		t = &topic{name: name}
		(*topics)[name] = t
		h.distinct[k].Add(1)
		h.memory(topicSize + int64(len(name)))
		if k == Pattern {
			h.patterns.index(t)
		}
	}
	r := t.roster(s.who.branch)
	if r == nil {
		r = &roster{branch: s.who.branch}
		t.rosters = append(t.rosters, r)
		h.memory(rosterSize)
	}
	r.live++
	t.count++
	s.topic, s.roster, s.since = t, r, h.clock.Load()
	h.total.Add(1)
	mu.Unlock()
	h.memory(subscriptionSize)
	s.at = len(r.members)
	r.members = append(r.members, s)
}

// withdraw takes a subscription off its topic's count: messages published from
// now on are not for it.
func (h *Hub) withdraw(k Kind, s *subscription) {
	t, r := s.topic, s.roster
	mu, topics := h.shelf(k, t.name)
	mu.Lock()
	defer mu.Unlock()
	h.total.Add(-1)
	t.count--
	r.live--
	if r.live == 0 {
		t.drop(r)
		h.memory(-rosterSize)
	}
	if t.count == 0 {
		if delete(*topics, t.name); len(*topics) == 0 {
			*topics = nil // maps do not shrink
		}
		h.distinct[k].Add(-1)
		h.memory(-topicSize - int64(len(t.name)))
		if k == Pattern {
			h.patterns.unindex(t)
		}
	}
}

// shelf returns the lock that guards a name, and the map in which it stands.
func (h *Hub) shelf(k Kind, name string) (sync.Locker, *map[string]*topic) {
	if k == Pattern {
		return &h.patterns.mu, &h.patterns.topics
	}
	b := h.bucket(k, []byte(name))
	return &b.mu, &b.topics
}

// roster returns the topic's subscribers on a branch, nil if there are none.
func (t *topic) roster(b *Branch) *roster {
	for _, r := range t.rosters {
		if r.branch == b {
			return r
		}
	}
	return nil
}

func (t *topic) drop(r *roster) {
	for i, o := range t.rosters {
		if o == r {
			last := len(t.rosters) - 1
			t.rosters[i], t.rosters[last] = t.rosters[last], nil
			t.rosters = t.rosters[:last]
			return
		}
	}
}

// forget takes a withdrawn subscription out of its roster: on the branch's
// goroutine.
func (h *Hub) forget(s *subscription) {
	r := s.roster
	last := len(r.members) - 1
	moved := r.members[last]
	r.members[s.at], moved.at = moved, s.at
	r.members[last] = nil
	r.members = r.members[:last]
	if cap(r.members) > 64 && cap(r.members) > 4*last {
		r.members = append(make([]*subscription, 0, 2*last), r.members...)
	}
	h.memory(-subscriptionSize)
}

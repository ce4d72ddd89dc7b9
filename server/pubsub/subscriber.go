package pubsub

// Subscriber is what one connection subscribes to. It belongs to the goroutine of
// its branch.
type Subscriber struct {
	branch *Branch
	to     Receiver
	subs   [kinds]map[string]*subscription
	names  int64 // bytes of the names of all
}

// NewSubscriber returns a subscriber without subscriptions, whose messages go to
// a receiver.
func (b *Branch) NewSubscriber(to Receiver) *Subscriber { return &Subscriber{branch: b, to: to} }

// Count is how many channels or patterns it subscribes to.
func (s *Subscriber) Count(k Kind) int { return len(s.subs[k]) }

// Total is how many subscriptions it has.
func (s *Subscriber) Total() (n int) {
	for k := range s.subs {
		n += len(s.subs[k])
	}
	return n
}

// MemSize is about how many bytes its own lists take.
func (s *Subscriber) MemSize() int64 { return int64(s.Total())*ownSize + s.names }

// ownSize is what a subscription costs in its subscriber's map.
const ownSize = 56

// Subscribe adds a subscription, and does nothing if there is one already.
func (s *Subscriber) Subscribe(k Kind, name []byte) {
	if s.subs[k][string(name)] != nil {
		return
	}
	if s.subs[k] == nil {
		s.subs[k] = map[string]*subscription{}
	}
	sub := &subscription{who: s}
	key := string(name)
	s.subs[k][key] = sub
	s.names += int64(len(key))
	s.branch.hub.enter(k, key, sub)
}

// Unsubscribe ends a subscription, if there is one. All messages that were
// published before are delivered first, to everybody on the branch.
func (s *Subscriber) Unsubscribe(k Kind, name []byte) {
	if sub := s.subs[k][string(name)]; sub != nil {
		s.branch.hub.withdraw(k, sub)
		s.branch.Deliver()
		s.forget(k, sub)
	}
}

func (s *Subscriber) forget(k Kind, sub *subscription) {
	s.branch.hub.forget(sub)
	delete(s.subs[k], sub.topic.name)
	s.names -= int64(len(sub.topic.name))
	if len(s.subs[k]) == 0 {
		s.subs[k] = nil
	}
}

// Each visits what it subscribes to, in no order. fn may unsubscribe.
func (s *Subscriber) Each(k Kind, fn func(name string)) {
	for name := range s.subs[k] {
		fn(name)
	}
}

// Close ends all subscriptions; messages that wait are not delivered.
func (s *Subscriber) Close() {
	for k := range s.subs {
		for _, sub := range s.subs[k] {
			s.branch.hub.withdraw(Kind(k), sub)
			s.branch.hub.forget(sub)
		}
		s.subs[k] = nil
	}
	s.names = 0
}

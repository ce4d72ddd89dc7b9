package pubsub

import (
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
	"heddle/db/glob"
)

// inbox is a receiver that keeps what it got.
type inbox struct{ got []string }

func (i *inbox) Receive(frame []byte, shared *Frame) { i.got = append(i.got, string(frame)) }

// take returns the payloads that came since the last call.
func (i *inbox) take() []string {
	got := make([]string, len(i.got))
	for k, frame := range i.got {
		lines := strings.Split(frame, "\r\n")
		got[k] = lines[len(lines)-2]
	}
	i.got = nil
	return got
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func publish(t *testing.T, h *Hub, k Kind, channel, payload string, receivers int64) {
	t.Helper()
	if n := h.Publish(k, []byte(channel), []byte(payload)); n != receivers {
		t.Errorf("publish %s %s: %d receivers, want %d", channel, payload, n, receivers)
	}
}

func TestFrames(t *testing.T) {
	h := NewHub(nil)
	b := h.NewBranch(func() {})
	in := &inbox{}
	s := b.NewSubscriber(in)
	s.Subscribe(Channel, []byte("news.a"))
	s.Subscribe(Pattern, []byte("news.*"))
	s.Subscribe(Shard, []byte("news.a"))
	publish(t, h, Channel, "news.a", "hi", 2)
	publish(t, h, Shard, "news.a", "", 1)
	b.Deliver()
	want(t, in.got,
		"*3\r\n$7\r\nmessage\r\n$6\r\nnews.a\r\n$2\r\nhi\r\n",
		"*4\r\n$8\r\npmessage\r\n$6\r\nnews.*\r\n$6\r\nnews.a\r\n$2\r\nhi\r\n",
		"*3\r\n$8\r\nsmessage\r\n$6\r\nnews.a\r\n$0\r\n\r\n")
}

// A message is for those who subscribed before it was published, even if others
// subscribe before it is delivered, and for those who unsubscribe behind it.
func TestWhoGetsIt(t *testing.T) {
	h := NewHub(nil)
	b := h.NewBranch(func() {})
	first, second := &inbox{}, &inbox{}
	s1, s2 := b.NewSubscriber(first), b.NewSubscriber(second)
	s1.Subscribe(Channel, []byte("c"))
	publish(t, h, Channel, "c", "1", 1)
	s2.Subscribe(Channel, []byte("c"))
	s2.Subscribe(Pattern, []byte("c*"))
	publish(t, h, Channel, "c", "2", 3)
	s1.Unsubscribe(Channel, []byte("c"))
	want(t, first.take(), "1", "2")
	publish(t, h, Channel, "c", "3", 2)
	s2.Close()
	publish(t, h, Channel, "c", "4", 0)
	b.Deliver()
	want(t, first.take())
	want(t, second.take(), "2", "2")
	s1.Subscribe(Channel, []byte("c"))
	b.Deliver()
	want(t, first.take())
}

func TestMemoryComesBack(t *testing.T) {
	var used atomic.Int64
	h := NewHub(func(n int64) { used.Add(n) })
	b := h.NewBranch(func() {})
	in := &inbox{}
	var list []*Subscriber
	for i := range 100 {
		s := b.NewSubscriber(in)
		for j := range 50 {
			s.Subscribe(Kind(j%3), fmt.Appendf(nil, "c%d", (i+j)%70))
		}
		list = append(list, s)
	}
	if used.Load() < 100*50*subscriptionSize {
		t.Errorf("5000 subscriptions use %d bytes", used.Load())
	}
	for range 3 {
		h.Publish(Channel, []byte("c3"), make([]byte, sharedMin))
	}
	b.Deliver()
	for i, s := range list {
		if i%2 == 0 {
			s.Close()
			continue
		}
		for k := range kinds {
			s.Each(k, func(name string) { s.Unsubscribe(k, []byte(name)) })
		}
		if s.MemSize() != 0 {
			t.Errorf("an empty subscriber takes %d bytes", s.MemSize())
		}
	}
	if used.Load() != 0 || h.total.Load() != 0 || h.Distinct(Channel)+h.Distinct(Pattern)+h.Distinct(Shard) != 0 {
		t.Errorf("%d bytes, %d subscriptions are left", used.Load(), h.total.Load())
	}
	if p := &h.patterns; len(p.lengths)+len(p.prefixes)+len(p.topics) != 0 {
		t.Error("the index of patterns is not empty")
	}
}

func TestWake(t *testing.T) {
	h := NewHub(nil)
	woken := 0
	b := h.NewBranch(func() { woken++ })
	in := &inbox{}
	s := b.NewSubscriber(in)
	b.Attend()
	s.Subscribe(Channel, []byte("c"))
	check := func(n int) {
		t.Helper()
		if woken != n {
			t.Errorf("woken %d times, want %d", woken, n)
		}
	}
	publish(t, h, Channel, "c", "1", 1)
	publish(t, h, Channel, "c", "2", 1)
	check(1)
	b.Deliver()
	b.Attend()
	publish(t, h, Channel, "c", "3", 1)
	check(1)
	b.Rest()
	b.Deliver()
	publish(t, h, Channel, "c", "4", 1)
	check(2)
	b.Deliver()
	want(t, in.take(), "1", "2", "3", "4")
}

// patternPieces make patterns and names that often match.
var patternPieces = []string{"a", "b", "news", ".", "*", "?", "[ab]", "[^a]", `\*`, `\`, "[", "**"}

func TestPatternIndex(t *testing.T) {
	seed := time.Now().UnixNano()
	rng := rand.New(rand.NewSource(seed))
	var p patterns
	p.topics = map[string]*topic{}
	for step := range 20000 {
		var text strings.Builder
		for range rng.Intn(5) {
			text.WriteString(patternPieces[rng.Intn(len(patternPieces))])
		}
		switch name := text.String(); {
		case rng.Intn(3) == 0:
			var got, all []string
			for _, x := range p.match(nil, []byte(name)) {
				got = append(got, x.name)
			}
			for pattern := range p.topics {
				if glob.Match([]byte(pattern), []byte(name)) {
					all = append(all, pattern)
				}
			}
			sort.Strings(got)
			sort.Strings(all)
			if !slices.Equal(got, all) {
				t.Fatalf("seed %d, step %d: %q matches %q, want %q", seed, step, name, got, all)
			}
		case p.topics[name] != nil:
			p.unindex(p.topics[name])
			delete(p.topics, name)
		case len(p.topics) < 200:
			p.topics[name] = &topic{name: name}
			p.index(p.topics[name])
		}
	}
}

// worker runs a branch as a server's worker does.
type worker struct {
	branch *Branch
	jobs   chan func()
}

func (w *worker) run(stop chan struct{}) {
	for {
		select {
		case fn := <-w.jobs:
			w.branch.Attend()
			fn()
			w.branch.Rest()
			w.branch.Deliver()
		case <-stop:
			return
		}
	}
}

// observer checks what it gets: of each publisher all messages in order, and of
// any two messages the same order as everybody else.
type observer struct {
	log []string
}

func (o *observer) Receive(frame []byte, _ *Frame) {
	lines := strings.Split(string(frame), "\r\n")
	o.log = append(o.log, lines[len(lines)-2])
}

// Several publishers on several workers: all subscribers see one order.
func TestOneOrder(t *testing.T) {
	const workers, publishers, messages = 4, 6, 400
	h := NewHub(nil)
	stop := make(chan struct{})
	var running sync.WaitGroup
	list := make([]*worker, workers)
	for i := range list {
		w := &worker{jobs: make(chan func(), 1<<14)}
		w.branch = h.NewBranch(func() { w.jobs <- func() {} })
		list[i] = w
		running.Go(func() { w.run(stop) })
	}
	var ready sync.WaitGroup
	observers := make([]*observer, 3*workers)
	for i := range observers {
		o := &observer{}
		observers[i] = o
		ready.Add(1)
		w := list[i%workers]
		w.jobs <- func() {
			defer ready.Done()
			s := w.branch.NewSubscriber(o)
			if i%2 == 0 {
				s.Subscribe(Pattern, []byte("ch*"))
			} else {
				for c := range 3 {
					s.Subscribe(Channel, fmt.Appendf(nil, "ch%d", c))
				}
			}
		}
	}
	ready.Wait()
	var publishing sync.WaitGroup
	for p := range publishers {
		publishing.Add(1)
		w := list[p%workers]
		go func() {
			defer publishing.Done()
			for m := range messages {
				done := make(chan struct{})
				w.jobs <- func() {
					h.Publish(Channel, fmt.Appendf(nil, "ch%d", (p+m)%3), fmt.Appendf(nil, "%d/%d", p, m))
					close(done)
				}
				<-done
			}
		}()
	}
	publishing.Wait()
	for _, w := range list {
		done := make(chan struct{})
		w.jobs <- func() { close(done) }
		<-done
	}
	time.Sleep(10 * time.Millisecond)
	close(stop)
	running.Wait()
	for i, o := range observers {
		if len(o.log) != publishers*messages {
			t.Fatalf("observer %d got %d messages, want %d", i, len(o.log), publishers*messages)
		}
		if !slices.Equal(o.log, observers[0].log) {
			t.Fatalf("observer %d saw another order", i)
		}
	}
	next := make([]int, publishers)
	for _, m := range observers[0].log {
		var p, n int
		if _, err := fmt.Sscanf(m, "%d/%d", &p, &n); err != nil || n != next[p] {
			t.Fatalf("message %s of a publisher, want number %d: %v", m, next[p], err)
		}
		next[p]++
	}
}

func TestNotifier(t *testing.T) {
	h := NewHub(nil)
	n := h.NewNotifier()
	b := h.NewBranch(func() {})
	in := &inbox{}
	s := b.NewSubscriber(in)
	s.Subscribe(Pattern, []byte("__key*__:*"))
	check := func(mask uint32, class db.Class, frames ...string) {
		t.Helper()
		n.SetMask(mask)
		n.Event(3, class, "set", []byte("k"))
		b.Deliver()
		want(t, in.got, frames...)
		in.got = nil
	}
	space := "*4\r\n$8\r\npmessage\r\n$10\r\n__key*__:*\r\n$16\r\n__keyspace@3__:k\r\n$3\r\nset\r\n"
	event := "*4\r\n$8\r\npmessage\r\n$10\r\n__key*__:*\r\n$18\r\n__keyevent@3__:set\r\n$1\r\nk\r\n"
	check(0, db.ClassString)
	check(uint32(db.ClassString), db.ClassString)
	check(Keyspace|Keyevent, db.ClassString)
	check(Keyspace|uint32(db.ClassString), db.ClassString, space)
	check(Keyevent|uint32(db.ClassString|db.ClassMiss), db.ClassString, event)
	check(Keyevent|Keyspace|uint32(db.ClassGeneric), db.ClassGeneric, space, event)
	check(Keyevent|Keyspace|uint32(db.ClassGeneric), db.ClassString)
}

// sink is a receiver that costs nothing.
type sink struct{ n int }

func (s *sink) Receive(frame []byte, _ *Frame) { s.n += len(frame) }

func TestPublishAllocatesNothing(t *testing.T) {
	h := NewHub(nil)
	b1, b2 := h.NewBranch(func() {}), h.NewBranch(func() {})
	var out sink
	for _, b := range []*Branch{b1, b2} {
		for range 10 {
			s := b.NewSubscriber(&out)
			s.Subscribe(Channel, []byte("news"))
			s.Subscribe(Pattern, []byte("n*"))
			s.Subscribe(Pattern, []byte("__keyevent*"))
		}
	}
	notify := h.NewNotifier()
	notify.SetMask(Keyevent | Keyspace | uint32(db.ClassString))
	key, channel, payload := []byte("key:1"), []byte("news"), []byte("hello")
	run := func() {
		h.Publish(Channel, channel, payload)
		notify.Event(0, db.ClassString, "set", key)
		b1.Deliver()
		b2.Deliver()
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{0, 1, 1000} {
		b.Run(fmt.Sprint(subscribers), func(b *testing.B) {
			h := NewHub(nil)
			branches := []*Branch{h.NewBranch(func() {}), h.NewBranch(func() {})}
			var out sink
			branches[0].NewSubscriber(&out).Subscribe(Channel, []byte("other"))
			for i := range subscribers {
				branches[i%2].NewSubscriber(&out).Subscribe(Channel, []byte("news"))
			}
			channel, payload := []byte("news"), []byte("hello, this is a message")
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(Channel, channel, payload)
				branches[0].Deliver()
				branches[1].Deliver()
			}
		})
	}
}

func BenchmarkPatterns(b *testing.B) {
	h := NewHub(nil)
	br := h.NewBranch(func() {})
	var out sink
	s := br.NewSubscriber(&out)
	for i := range 50000 {
		s.Subscribe(Pattern, fmt.Appendf(nil, "user:%d:*", i))
	}
	channel := []byte("user:4711:inbox")
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(Channel, channel, channel)
		br.Deliver()
	}
}

// echo is a receiver that publishes what it gets once more.
type echo struct {
	h    *Hub
	left int
}

func (r *echo) Receive([]byte, *Frame) {
	if r.left--; r.left > 0 {
		r.h.Publish(Channel, []byte("c"), []byte("x"))
	}
}

// Deliver ends while others go on publishing, and its worker is woken for the rest.
func TestDeliverEnds(t *testing.T) {
	h := NewHub(nil)
	woken := 0
	b := h.NewBranch(func() { woken++ })
	in := &echo{h, 5}
	b.NewSubscriber(in).Subscribe(Channel, []byte("c"))
	publish(t, h, Channel, "c", "x", 1)
	for i := 1; i <= 5; i++ {
		if woken != i {
			t.Fatalf("woken %d times before the delivery %d", woken, i)
		}
		b.Deliver()
		if in.left != 5-i {
			t.Fatalf("%d left after delivery %d", in.left, i)
		}
	}
}

// The hub tells when more waits for a branch than should.
func TestCongested(t *testing.T) {
	h := NewHub(nil)
	b, other := h.NewBranch(func() {}), h.NewBranch(func() {})
	in := &inbox{}
	b.NewSubscriber(in).Subscribe(Channel, []byte("c"))
	for _, size := range []int{1000, sharedMin, 1 << 20} {
		n := 0
		for ; !h.Congested(); n++ {
			publish(t, h, Channel, "c", strings.Repeat("x", size), 1)
			if n*size > 2*heavyQueue {
				t.Fatalf("not after %d messages of %d bytes", n, size)
			}
		}
		publish(t, h, Channel, "c", "x", 1)
		other.Deliver()
		if !h.Congested() {
			t.Error("another branch ends it")
		}
		if b.Deliver(); h.Congested() || len(in.take()) != n+1 {
			t.Error("delivered, but still congested")
		}
	}
	in2 := &inbox{}
	s := b.NewSubscriber(in2)
	s.Subscribe(Pattern, []byte("c*"))
	publish(t, h, Channel, "c", strings.Repeat("x", 1<<20), 2)
	s.Close()
	if b.Deliver(); h.Congested() {
		t.Error("still congested when the subscriber has left")
	}
}

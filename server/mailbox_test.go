package server

import (
	"sync"
	"testing"
	"time"

	"heddle/server/poll"
)

// TestMailbox: mails of many senders arrive, each sender's in order, although
// the receiver sleeps whenever it can.
func TestMailbox(t *testing.T) {
	const senders, each = 8, 5000
	var m mailbox
	if err := m.open(); err != nil {
		t.Fatal(err)
	}
	p, err := poll.New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Add(m.waker.FD(), poll.In, wakerToken); err != nil {
		t.Fatal(err)
	}
	var got [senders][]int
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if !m.send(mail{fn: func() { got[s] = append(got[s], i) }}) {
					t.Error("refused")
				}
			}
		})
	}
	sleeps := 0
	for n := 0; n < senders*each; {
		if m.sleep() {
			sleeps++
			begin := time.Now() // a signal may end a wait early
			if p.Wait(5000) == 0 && time.Since(begin) > 4*time.Second {
				t.Fatalf("a wake-up is lost after %d mails", n)
			}
			m.waker.Drain()
			m.awake()
		}
		list := m.take()
		for _, x := range list {
			x.fn()
		}
		n += len(list)
		m.done()
	}
	wg.Wait()
	for s := range got {
		for i, v := range got[s] {
			if v != i {
				t.Fatalf("sender %d: mail %d came as number %d", s, v, i)
			}
		}
	}
	t.Logf("%d sleeps", sleeps)
	m.send(mail{fn: func() {}})
	if left := m.close(); len(left) != 1 {
		t.Errorf("%d mails are left, want 1", len(left))
	}
	if m.send(mail{}) {
		t.Error("a closed mailbox takes mail")
	}
}

func BenchmarkMailbox(b *testing.B) {
	var m mailbox
	if err := m.open(); err != nil {
		b.Fatal(err)
	}
	defer m.close()
	b.ReportAllocs()
	fn := func() {}
	for range b.N {
		m.send(mail{fn: fn})
		if m.count.Load() == 64 {
			for _, x := range m.take() {
				x.fn()
			}
			m.done()
		}
	}
}

// TestLongestArgument: however much proto-max-bulk-len allows, an argument's length
// fits the 32 bits that records and the queue of MULTI have for it.
func TestLongestArgument(t *testing.T) {
	f := func(set, want int) {
		t.Helper()
		w := &worker{s: &Server{}}
		w.s.settings.Store(&Settings{MaxBulk: set})
		w.readSettings()
		if w.limits.MaxBulk != want || w.limitsUnauth.MaxBulk != want {
			t.Errorf("%d: %d and %d, want %d", set, w.limits.MaxBulk, w.limitsUnauth.MaxBulk, want)
		}
	}
	f(512<<20, 512<<20)
	f(1<<62, maxArgument)
}

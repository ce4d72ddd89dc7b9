package server

import (
	"sync"
	"sync/atomic"

	"heddle/server/poll"
)

// mail is something a worker shall do. conn is the connection it is about, nil
// when it is about the worker.
type mail struct {
	conn *conn
	fn   func()
}

// mailbox is how other goroutines reach a worker: many senders, one receiver.
// Sending costs a system call only when the receiver sleeps.
type mailbox struct {
	waker    poll.Waker
	count    atomic.Int32
	sleeping atomic.Bool

	mu     sync.Mutex
	list   []mail
	closed bool

	spare []mail // the receiver's
}

func (m *mailbox) open() (err error) {
	m.waker, err = poll.NewWaker()
	return err
}

// send adds a mail and wakes the receiver; false when it is gone for good.
func (m *mailbox) send(x mail) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.list = append(m.list, x)
	m.count.Add(1)
	wake := m.sleeping.Swap(false)
	if wake {
		m.waker.Wake() // under mu, so that close waits for it
	}
	m.mu.Unlock()
	return true
}

// handOver is send; then runs together with it: who acts upon what it does finds his
// mail behind this one.
func (m *mailbox) handOver(x mail, then func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	then()
	m.list = append(m.list, x)
	m.count.Add(1)
	if m.sleeping.Swap(false) {
		m.waker.Wake()
	}
	return true
}

// sleep announces that the receiver is about to wait; false when there is mail
// and it must not. Whoever sends later wakes it.
func (m *mailbox) sleep() bool {
	m.sleeping.Store(true)
	if m.count.Load() != 0 {
		m.sleeping.Store(false)
		return false
	}
	return true
}

// awake says that the receiver does not wait any longer.
func (m *mailbox) awake() { m.sleeping.Store(false) }

// take returns the mails so far. They are valid until the next take.
func (m *mailbox) take() []mail {
	if m.count.Load() == 0 {
		return nil
	}
	m.mu.Lock()
	list := m.list
	m.list = m.spare[:0]
	m.count.Store(0)
	m.mu.Unlock()
	m.spare = list
	return list
}

// done forgets the mails of the last take, so that nothing is kept alive.
func (m *mailbox) done() {
	clear(m.spare)
	if cap(m.spare) > 4096 {
		m.spare = nil
	}
}

// close refuses further mail and returns what was not taken.
func (m *mailbox) close() []mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	left := m.list
	m.list = nil
	_ = m.waker.Close()
	return left
}

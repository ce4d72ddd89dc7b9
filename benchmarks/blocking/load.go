package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"heddle/tests/testserver"
)

// result is what a server did in a round.
type result struct {
	elements int64
	took     time.Duration
	cpu      time.Duration
}

// cost is the CPU time of an element in microseconds.
func (r result) cost() float64 { return float64(r.cpu.Microseconds()) / float64(r.elements) }

// consumer is a client that waits for a list.
type consumer struct {
	file   *os.File
	fd     int
	ask    []byte // BLPOP
	push   []byte // RPUSH to its list
	answer int    // bytes of its replies
	got    int    // of the reply that is coming
}

// load is the clients of a round, on one thread and one epoll: they should cost as
// little as possible, since they share the machine with the server.
type load struct {
	epoll     int
	consumers []*consumer
	free      []int // those that wait, or are about to
	producer  *os.File
	owed      int // replies to the producer that are missing, in bytes
	buf       []byte
	delivered int64
}

const (
	producerID = -1
	pushReply  = len(":1\r\n")
)

func (o options) connect(addr string) (*load, error) {
	l := &load{buf: make([]byte, 64<<10)}
	var err error
	if l.epoll, err = unix.EpollCreate1(0); err != nil {
		return nil, err
	}
	value := strings.Repeat("x", o.size)
	for i := range o.clients {
		key := fmt.Sprintf("list:%07d", i)
		c := &consumer{
			ask:    command("BLPOP", key, o.timeout),
			push:   command("RPUSH", key, value),
			answer: len(command(key, value)),
		}
		if c.file, c.fd, err = l.dial(addr, int32(i)); err != nil {
			return l, err
		}
		l.consumers = append(l.consumers, c)
		if _, err := unix.Write(c.fd, c.ask); err != nil {
			return l, err
		}
		l.free = append(l.free, i)
	}
	l.producer, _, err = l.dial(addr, producerID)
	return l, err
}

// dial opens a connection whose events carry a number.
func (l *load) dial(addr string, id int32) (*os.File, int, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return nil, 0, err
	}
	fd := int(f.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, 0, err
	}
	return f, fd, unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd), Pad: id})
}

func (l *load) close() {
	for _, c := range l.consumers {
		c.file.Close()
	}
	if l.producer != nil {
		l.producer.Close()
	}
	_ = unix.Close(l.epoll)
}

// command is a command as it is sent.
func command(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// round runs the load on one server.
func (o options) round(s *testserver.Server) (result, error) {
	l, err := o.connect(s.Addr)
	if l != nil {
		defer l.close()
	}
	if err != nil {
		return result{}, err
	}
	if err := l.run(o.pipeline, time.Second/2); err != nil { // until all is warm
		return result{}, err
	}
	before, err := s.CPU()
	if err != nil {
		return result{}, err
	}
	had, start := l.delivered, time.Now()
	if err := l.run(o.pipeline, o.span); err != nil {
		return result{}, err
	}
	took := time.Since(start)
	after, err := s.CPU()
	return result{elements: l.delivered - had, took: took, cpu: after - before}, err
}

// run pushes and takes for a while.
func (l *load) run(pipeline int, span time.Duration) error {
	events := make([]unix.EpollEvent, 512)
	batch := make([]byte, 0, 64<<10)
	for end := time.Now().Add(span); time.Now().Before(end); {
		if l.owed == 0 && len(l.free) >= pipeline {
			batch = batch[:0]
			for _, i := range l.free[:pipeline] {
				batch = append(batch, l.consumers[i].push...)
			}
			l.free = append(l.free[:0], l.free[pipeline:]...)
			l.owed = pipeline * pushReply
			if n, err := unix.Write(int(l.producer.Fd()), batch); n < len(batch) {
				return fmt.Errorf("the server takes no more: %v", err)
			}
		}
		n, err := unix.EpollWait(l.epoll, events, 1000)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			return fmt.Errorf("nothing comes: %v", err)
		}
		for _, e := range events[:n] {
			if err := l.ready(&e); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready reads what came on a connection.
func (l *load) ready(e *unix.EpollEvent) error {
	n, err := unix.Read(int(e.Fd), l.buf)
	switch {
	case err == syscall.EAGAIN:
		return nil
	case err != nil:
		return err
	case n == 0:
		return io.ErrUnexpectedEOF
	}
	if e.Pad == producerID {
		if l.owed -= n; l.buf[0] == '-' || l.owed < 0 {
			return fmt.Errorf("RPUSH: %q", l.buf[:n])
		}
		return nil
	}
	c := l.consumers[e.Pad]
	if c.got += n; c.got < c.answer {
		return nil
	}
	if c.got > c.answer || l.buf[0] == '-' {
		return fmt.Errorf("BLPOP: %q", l.buf[:n])
	}
	c.got = 0
	l.delivered++
	l.free = append(l.free, int(e.Pad))
	_, err = unix.Write(c.fd, c.ask)
	return err
}

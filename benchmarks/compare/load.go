package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"heddle/benchmarks/histogram"
)

// load is the generator that compare brings along: closed loops over epoll, as
// memtier_benchmark has, because redis-benchmark knows no mix of GET and SET.
// Each connection sends a batch of commands, and the next once all replies are
// there. One thread serves all its connections, without the Go scheduler and
// its network poller in between, so that it needs less than the server does.
type load struct {
	addr     string
	conns    int // in all threads
	threads  int
	pipeline int
	gets     int // GETs for each SET; negative: only SETs
	keys     int // keys are drawn from 0 to keys-1
	value    int // bytes of a value
	ordered  bool
	// The run ends after this time, or, if ordered, once every key was set.
	duration time.Duration
	// make, if set, makes the commands in the place of GET and SET: it appends
	// the one of number i, 0 to keys-1 in an ordered load.
	make func(out []byte, i int, rng *rand.Rand) []byte
}

// outcome is what a load measured.
type outcome struct {
	ops     int
	errors  int
	took    time.Duration
	latency *histogram.Histogram
}

func (o outcome) perSecond() float64 { return float64(o.ops) / o.took.Seconds() }

// run drives the server and returns when the load is done.
func (l load) run() (outcome, error) {
	threads := max(1, min(l.threads, l.conns))
	results := make([]outcome, threads)
	errs := make([]error, threads)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[i], errs[i] = l.thread(i, threads)
		}()
	}
	wg.Wait()
	total := outcome{latency: &histogram.Histogram{}, took: time.Since(start)}
	for _, r := range results {
		total.ops += r.ops
		total.errors += r.errors
		if r.latency != nil {
			total.latency.Merge(r.latency)
		}
	}
	return total, errors.Join(errs...)
}

// loader is one thread of a load.
type loader struct {
	load
	rng       *rand.Rand
	next, end int // keys still to set in an ordered load
	turn      int // place in the cycle of GETs and a SET
	payload   []byte
	conns     []*loadConn // by descriptor
	active    int
	result    outcome
	deadline  time.Time
}

type loadConn struct {
	fd      int
	out     []byte // what is still to send
	unsent  []byte
	in      []byte // the begin of an unfinished reply
	skip    int    // bytes of a bulk that are still to come
	open    int    // elements of an array that are still to come
	waiting int    // replies
	sent    time.Time
}

func (l load) thread(i, threads int) (outcome, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := &loader{load: l, rng: rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano()))),
		next: l.keys * i / threads, end: l.keys * (i + 1) / threads,
		payload: make([]byte, l.value), deadline: time.Now().Add(l.duration)}
	for j := range t.payload {
		t.payload[j] = 'a' + byte(t.rng.IntN(26))
	}
	t.result.latency = &histogram.Histogram{}
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		return outcome{}, err
	}
	defer syscall.Close(epoll)
	for range l.conns/threads + min(1, max(0, l.conns%threads-i)) {
		c, err := t.connect(epoll)
		if err != nil {
			return outcome{}, err
		}
		defer syscall.Close(c.fd)
	}
	err = t.loop(epoll)
	return t.result, err
}

func (t *loader) connect(epoll int) (*loadConn, error) {
	addr, err := net.ResolveTCPAddr("tcp4", t.addr)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	to := &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}
	if err := syscall.Connect(fd, to); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	syscall.SetNonblock(fd, true)
	syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	c := &loadConn{fd: fd}
	for len(t.conns) <= fd {
		t.conns = append(t.conns, nil)
	}
	t.conns[fd] = c
	t.active++
	return c, syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

func (t *loader) loop(epoll int) error {
	for _, c := range t.conns {
		if c != nil {
			if err := t.send(c); err != nil {
				return err
			}
		}
	}
	events := make([]syscall.EpollEvent, 256)
	buf := make([]byte, 256<<10)
	start := time.Now()
	for t.active > 0 {
		n, err := syscall.EpollWait(epoll, events, 10000)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("no reply for 10 s (%v)", err)
		}
		for _, e := range events[:n] {
			if err := t.serve(epoll, t.conns[e.Fd], e.Events, buf); err != nil {
				return err
			}
		}
	}
	t.result.took = time.Since(start)
	return nil
}

// serve takes what a connection has to say, and sends it the next batch once
// the last is answered.
func (t *loader) serve(epoll int, c *loadConn, events uint32, buf []byte) error {
	if events&syscall.EPOLLOUT != 0 {
		if err := t.flush(epoll, c); err != nil {
			return err
		}
	}
	if events&^syscall.EPOLLOUT == 0 {
		return nil
	}
	n, err := syscall.Read(c.fd, buf)
	if err == syscall.EAGAIN || err == syscall.EINTR {
		return nil
	}
	if err != nil || n == 0 {
		return fmt.Errorf("the server closed the connection (%v)", err)
	}
	got, bad, err := c.replies(buf[:n])
	if err != nil {
		return err
	}
	now := time.Now()
	t.result.ops += got
	t.result.errors += bad
	t.result.latency.Add(now.Sub(c.sent), got)
	if c.waiting -= got; c.waiting > 0 {
		return nil
	}
	if err := t.send(c); err != nil {
		return err
	}
	if len(c.unsent) > 0 {
		return t.flush(epoll, c)
	}
	return nil
}

// send begins the next batch of a connection, or ends its part when there is
// no more to do.
func (t *loader) send(c *loadConn) error {
	if done := t.next >= t.end; t.ordered && done || !t.ordered && !time.Now().Before(t.deadline) {
		t.active--
		return nil
	}
	c.out = c.out[:0]
	for c.waiting = 0; c.waiting < t.pipeline && (!t.ordered || t.next < t.end); c.waiting++ {
		c.out = t.command(c.out)
	}
	c.sent = time.Now()
	n, err := syscall.Write(c.fd, c.out)
	if err == syscall.EAGAIN {
		n, err = 0, nil
	}
	c.unsent = c.out[max(n, 0):]
	return err
}

// flush sends what did not fit the socket, and asks for news of room while
// there is some left.
func (t *loader) flush(epoll int, c *loadConn) error {
	n, err := syscall.Write(c.fd, c.unsent)
	if err != nil && err != syscall.EAGAIN {
		return err
	}
	c.unsent = c.unsent[max(n, 0):]
	want := uint32(syscall.EPOLLIN)
	if len(c.unsent) > 0 {
		want |= syscall.EPOLLOUT
	}
	return syscall.EpollCtl(epoll, syscall.EPOLL_CTL_MOD, c.fd, &syscall.EpollEvent{Events: want, Fd: int32(c.fd)})
}

// command appends the next command: keys have 15 bytes.
func (t *loader) command(out []byte) []byte {
	key := 0
	if t.ordered {
		key = t.next
		t.next++
	} else {
		key = t.rng.IntN(t.keys)
	}
	if t.make != nil {
		return t.make(out, key, t.rng)
	}
	t.turn++
	if t.gets >= 0 && t.turn%(t.gets+1) != 0 {
		return appendKey(append(out, "*2\r\n$3\r\nGET\r\n$15\r\n"...), key)
	}
	out = appendKey(append(out, "*3\r\n$3\r\nSET\r\n$15\r\n"...), key)
	out = append(strconv.AppendInt(append(out, '$'), int64(len(t.payload)), 10), '\r', '\n')
	return append(append(out, t.payload...), '\r', '\n')
}

func appendKey(out []byte, n int) []byte {
	out = append(out, "key:00000000000\r\n"...)
	for i := len(out) - 3; n > 0; i-- {
		out[i] = byte('0' + n%10)
		n /= 10
	}
	return out
}

// replies counts the replies that end within b, of which bad are errors.
func (c *loadConn) replies(b []byte) (got, bad int, err error) {
	if len(c.in) > 0 {
		c.in = append(c.in, b...)
		b = c.in
		c.in = c.in[:0]
	}
	for len(b) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			b = b[n:]
			if c.skip -= n; c.skip == 0 {
				got += c.element()
			}
			continue
		}
		end := 0
		for end < len(b) && b[end] != '\n' {
			end++
		}
		if end == len(b) {
			c.in = append(c.in[:0], b...)
			break
		}
		n, err := c.line(b[:end])
		if err != nil {
			return got, bad, err
		}
		got += n
		if b[0] == '-' {
			bad++
		}
		b = b[end+1:]
	}
	return got, bad, nil
}

// line takes the first line of a value and returns how many replies end with it.
func (c *loadConn) line(line []byte) (got int, err error) {
	switch line[0] {
	case '+', ':', '_', '-':
		return c.element(), nil
	case '$', '*':
		n, err := strconv.Atoi(string(line[1 : len(line)-1]))
		switch {
		case err != nil:
			return 0, fmt.Errorf("not a reply: %q", line)
		case n < 0 || n == 0 && line[0] == '*':
			return c.element(), nil
		case line[0] == '$':
			c.skip = n + 2
		case c.open > 0:
			c.open += n - 1
		default:
			c.open = n
		}
		return 0, nil
	}
	return 0, fmt.Errorf("not a reply: %q", line)
}

// element counts a value that has ended: 1 if a reply ends with it.
func (c *loadConn) element() int {
	if c.open > 1 {
		c.open--
		return 0
	}
	c.open = 0
	return 1
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"heddle/benchmarks/histogram"
)

// command appends a command.
func command(out []byte, argv ...string) []byte {
	out = append(strconv.AppendInt(append(out, '*'), int64(len(argv)), 10), '\r', '\n')
	for _, a := range argv {
		out = append(strconv.AppendInt(append(out, '$'), int64(len(a)), 10), '\r', '\n')
		out = append(append(out, a...), '\r', '\n')
	}
	return out
}

// set appends a SET of a small key: 15 bytes, with a value of 32.
func set(out []byte, key int, value *[32]byte) []byte {
	out = append(out, "*3\r\n$3\r\nSET\r\n$15\r\nkey:00000000000\r\n$32\r\n"...)
	for i := len(out) - 8; key > 0; i-- {
		out[i] = byte('0' + key%10)
		key /= 10
	}
	return append(append(out, value[:]...), '\r', '\n')
}

// random fills a value with letters, and with it the work of whoever compresses.
func random(value *[32]byte, rng *rand.Rand) {
	for i := range value {
		value[i] = 'a' + byte(rng.IntN(26))
	}
}

// lines reads n replies, each of one line; an error reply ends it.
func lines(in *bufio.Reader, n int) error {
	for range n {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if line[0] == '-' {
			return fmt.Errorf("error reply %q", line)
		}
	}
	return nil
}

// fill sets all small keys and makes collections with as many elements in all: half of them
// in small ones of a hundred, half in a large one of each type.
func (s *server) fill(keys int) error {
	const conns, batch = 4, 200
	var wg sync.WaitGroup
	errs := make([]error, conns)
	for i := range conns {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			var value [32]byte
			next := keys * i / conns
			end := keys * (i + 1) / conns
			element := next
			errs[i] = s.pipe(func(out []byte) ([]byte, int) {
				n := 0
				for ; n < batch && next < end; n++ {
					random(&value, rng)
					out = set(out, next, &value)
					next++
				}
				for ; n > 0 && n < batch+8 && element+200 <= end; n += 8 {
					out = collections(out, element)
					element += 200
				}
				return out, n
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// collections appends eight commands that make 200 elements, from a number on: a hundred
// in small collections, of a type that changes, and 25 in a large one of each type.
func collections(out []byte, from int) []byte {
	kind := from / 200 % 4
	large := [4][]string{{"RPUSH", "large:list"}, {"SADD", "large:set"}, {"HSET", "large:hash"}, {"ZADD", "large:zset"}}
	element := func(argv []string, kind, n int) []string {
		switch kind {
		case 2:
			return append(argv, "field:"+strconv.Itoa(n), "value:"+strconv.Itoa(n))
		case 3:
			return append(argv, strconv.Itoa(n*7919%1_000_003), "member:"+strconv.Itoa(n))
		}
		return append(argv, "element:"+strconv.Itoa(n))
	}
	for part := range 4 {
		argv := []string{large[kind][0], "small:" + strconv.Itoa(from)}
		for j := range 25 {
			argv = element(argv, kind, part*25+j)
		}
		out = command(out, argv...)
	}
	for k := range 4 {
		argv := large[k]
		for j := range 25 {
			argv = element(argv, k, from+j)
		}
		out = command(out, argv...)
	}
	return out
}

// pipe sends what next makes, batch by batch, until that is nothing.
func (s *server) pipe(next func(out []byte) ([]byte, int)) error {
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	var out []byte
	for {
		var n int
		if out, n = next(out[:0]); n == 0 {
			return nil
		}
		if _, err := c.Write(out); err != nil {
			return err
		}
		if err := lines(in, n); err != nil {
			return err
		}
	}
}

// closedLoop has connections send SETs of a million keys, each the next batch when the last
// is answered, and returns how many there were.
func (s *server) closedLoop(conns, pipeline int, length time.Duration) (int64, error) {
	end := time.Now().Add(length)
	var ops atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, conns)
	for i := range conns {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			var value [32]byte
			random(&value, rng)
			errs[i] = s.pipe(func(out []byte) ([]byte, int) {
				if !time.Now().Before(end) {
					return nil, 0
				}
				for range pipeline {
					out = set(out, rng.IntN(1_000_000), &value)
				}
				ops.Add(int64(pipeline))
				return out, pipeline
			})
		})
	}
	wg.Wait()
	return ops.Load(), errors.Join(errs...)
}

// pacer sends random writes at a steady rate, whether they are answered or not.
type pacer struct {
	addr       string
	rate, keys int
}

// paced is what came of it.
type paced struct {
	latency histogram.Histogram
	late    histogram.Histogram // how late the generator itself was
	writes  int
	took    time.Duration
}

func newPacer(addr string, rate, keys int) *pacer { return &pacer{addr, rate, keys} }

// kept is how much of the rate the generator itself kept, in percent: below 95 the machine
// is too busy for the delays to mean much.
func (p *pacer) kept(r *paced) float64 {
	return 100 * float64(r.writes) / r.took.Seconds() / float64(p.rate)
}

// batch is so many writes that were due at one instant.
type batch struct {
	due time.Time
	n   int
}

// pacedConn is one of the pacer's connections: who sends does not wait for who reads.
type pacedConn struct {
	net.Conn
	sent    chan batch
	latency histogram.Histogram
	err     error
}

// read counts how long after it was due each write was answered.
func (c *pacedConn) read() {
	in := bufio.NewReaderSize(c, 64<<10)
	for b := range c.sent {
		if c.err = lines(in, b.n); c.err != nil {
			io.Copy(io.Discard, c)
			return
		}
		c.latency.Add(time.Since(b.due), b.n)
	}
}

// run writes while work runs, and adds what came of it to r.
func (p *pacer) run(r *paced, work func() error) error {
	conns := make([]*pacedConn, 10)
	var readers sync.WaitGroup
	for i := range conns {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			return err
		}
		conns[i] = &pacedConn{Conn: c, sent: make(chan batch, 1<<20)}
		readers.Go(conns[i].read)
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	begin := time.Now()
	errs := []error{p.send(conns, r, begin, done)}
	r.took += time.Since(begin)
	for _, c := range conns {
		close(c.sent)
	}
	readers.Wait()
	for _, c := range conns {
		c.Close()
		errs = append(errs, c.err)
		r.latency.Merge(&c.latency)
	}
	return errors.Join(errs...)
}

// send sends what is due each half millisecond, from one connection after the other, until
// the work is done.
func (p *pacer) send(conns []*pacedConn, r *paced, begin time.Time, done chan error) error {
	rng := rand.New(rand.NewPCG(3, uint64(begin.UnixNano())))
	var value [32]byte
	random(&value, rng)
	var out []byte
	sent := 0
	for turn := 0; ; turn++ {
		select {
		case err := <-done:
			return err
		case <-time.After(500 * time.Microsecond):
		}
		// What is due since the last look is counted from the middle of that time.
		now := time.Now()
		n := int(float64(p.rate)*now.Sub(begin).Seconds()) - sent
		if n == 0 {
			continue
		}
		due := begin.Add(time.Duration(float64(sent+n/2) / float64(p.rate) * float64(time.Second)))
		out = out[:0]
		for range n {
			out = set(out, rng.IntN(p.keys), &value)
		}
		c := conns[turn%len(conns)]
		sent += n
		r.writes += n
		r.late.Add(time.Since(due), n)
		c.sent <- batch{due, n}
		if _, err := c.Write(out); err != nil {
			return errors.Join(err, <-done)
		}
	}
}

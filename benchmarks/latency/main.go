// Command latency measures what a server's clients notice of its background
// work: the latest reply while the keyspace grows, the latency of paced writes
// with and without a reader that walks the whole keyspace, and the memory that
// this costs; or the same of one large sorted set (-members). It starts the server itself
// and prints one line per figure.
//
// Writes are paced by the clock, not by the replies: one that is late does not
// delay those behind it, and its lateness counts (no coordinated omission).
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/tests/testserver"
)

type options struct {
	server string
	args   string
	keys   int
	grow   int
	rate   int
	span   time.Duration
	walk   string

	members int // of a sorted set; 0: measure keys
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "bin/heddle-server", "the server's binary")
	flag.StringVar(&o.args, "args", "--server-threads 1", "more arguments for it")
	flag.IntVar(&o.keys, "keys", 3_000_000, "keys that the walk visits")
	flag.IntVar(&o.grow, "grow", 10_000_000, "keys to grow to, after the walk")
	flag.IntVar(&o.rate, "rate", 30_000, "writes a second, paced")
	flag.DurationVar(&o.span, "time", 10*time.Second, "length of each phase of paced writes")
	flag.StringVar(&o.walk, "walk", "KEYS nothing*", "the command that reads the whole keyspace")
	flag.IntVar(&o.members, "members", 0, "instead of keys, fill a sorted set with so many members, change it while a snapshot is read, and unlink it")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	s, err := start(o.server, strings.Fields(o.args))
	if err != nil {
		return err
	}
	defer s.Stop()
	if o.members > 0 {
		return o.collection(s)
	}
	if err := s.fill(0, o.keys); err != nil {
		return err
	}
	fmt.Printf("%d keys: RSS %d MB, %d bytes a key\n", o.keys, s.RSS()>>20, (s.RSS()-s.empty)/int64(o.keys))
	if err := o.walking(s); err != nil {
		return err
	}
	return o.growing(s)
}

// walking measures paced writes alone and beside walks of the keyspace.
func (o options) walking(s *server) error {
	alone, err := s.paced(o.rate, o.keys, o.span)
	if err != nil {
		return err
	}
	fmt.Println("paced writes alone:      ", alone)
	before := s.RSS()
	ctx, cancel := context.WithCancel(context.Background())
	walks := make(chan walked)
	peak := make(chan int64)
	go func() { walks <- s.repeat(ctx, o.walk) }()
	go func() { peak <- s.peakRSS(ctx) }()
	beside, err := s.paced(o.rate, o.keys, o.span)
	cancel()
	n, top := <-walks, <-peak
	if err := errors.Join(err, n.err); err != nil {
		return err
	}
	fmt.Printf("paced writes beside %q: %v; %d walks, RSS %+d MB; p99.9 %.2f x\n",
		o.walk, beside, n.times, (top-before)>>20, float64(beside.p999)/float64(alone.p999))
	return nil
}

// growing inserts keys while one connection asks for small things.
func (o options) growing(s *server) error {
	done := make(chan error)
	go func() { done <- s.fill(o.keys, o.grow) }()
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	var all []time.Duration
	for begin := time.Now(); ; time.Sleep(200 * time.Microsecond) {
		select {
		case err := <-done:
			fmt.Printf("growing from %d to %d keys in %.1f s: %v, RSS %d bytes a key\n", o.keys, o.grow,
				time.Since(begin).Seconds(), summarize(all), (s.RSS()-s.empty)/int64(o.grow))
			return err
		default:
		}
		t := time.Now()
		if _, err := c.ask("GET", key(rand.IntN(o.keys))); err != nil {
			return err
		}
		all = append(all, time.Since(t))
	}
}

// summary describes latencies.
type summary struct {
	n                    int
	p50, p99, p999, most time.Duration
}

func (s summary) String() string {
	return fmt.Sprintf("%d replies, p50 %v, p99 %v, p99.9 %v, max %v", s.n, s.p50, s.p99, s.p999, s.most)
}

func summarize(all []time.Duration) summary {
	if len(all) == 0 {
		return summary{}
	}
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(time.Microsecond) }
	return summary{len(all), at(0.5), at(0.99), at(0.999), at(1)}
}

// server is a server that was started here.
type server struct {
	*testserver.Server
	empty int64 // RSS without keys
}

func start(binary string, args []string) (*server, error) {
	s, err := testserver.Start(binary, testserver.Options{Args: append([]string{"--enable-debug-command", "local"}, args...)})
	if err != nil {
		return nil, err
	}
	return &server{s, s.RSS()}, nil
}

func (s *server) peakRSS(ctx context.Context) (top int64) {
	for ctx.Err() == nil {
		top = max(top, s.RSS())
		time.Sleep(20 * time.Millisecond)
	}
	return top
}

// fill inserts keys from..to with 32-byte values.
func (s *server) fill(from, to int) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	const depth = 64
	for i := from; i < to; {
		n := min(depth, to-i)
		for range n {
			c.send("SET", key(i), value)
			i++
		}
		if err := c.flush(n); err != nil {
			return err
		}
	}
	return nil
}

const value = "abcdefghijklmnopqrstuvwxyz012345"

func key(i int) string { return fmt.Sprintf("key:%011d", i) }

// walked is how often a command ran to its end, and why no more.
type walked struct {
	times int
	err   error
}

// busySaving is what a server says while one save goes on.
const busySaving = "already in progress"

// repeat runs a command again and again. BGSAVE, which returns at once, is counted when it
// begins.
func (s *server) repeat(ctx context.Context, command string) (w walked) {
	c, err := s.dial()
	if err != nil {
		return walked{0, err}
	}
	defer c.Close()
	for ctx.Err() == nil {
		switch _, err := c.ask(strings.Fields(command)...); {
		case err == nil:
			w.times++
		case strings.Contains(err.Error(), busySaving):
			time.Sleep(10 * time.Millisecond)
		default:
			w.err = err
			return w
		}
	}
	return w
}

// paced sends writes at their times and measures from then to the replies.
func (s *server) paced(rate, keys int, span time.Duration) (summary, error) {
	c, err := s.dial()
	if err != nil {
		return summary{}, err
	}
	defer c.Close()
	n := int(span.Seconds() * float64(rate))
	due := func(i int) time.Duration { return time.Duration(i) * time.Second / time.Duration(rate) }
	begin := time.Now()
	failed := make(chan error, 1)
	go func() {
		for i := 0; i < n; {
			now := time.Since(begin)
			if due(i) > now {
				time.Sleep(due(i) - now)
				continue
			}
			for ; i < n && due(i) <= now; i++ {
				c.send("SET", key(rand.IntN(keys)), value)
			}
			if err := c.w.Flush(); err != nil {
				failed <- err
				return
			}
		}
	}()
	all := make([]time.Duration, 0, n)
	for i := range n {
		if _, err := c.reply(); err != nil {
			return summary{}, err
		}
		all = append(all, time.Since(begin)-due(i))
	}
	select {
	case err := <-failed:
		return summary{}, err
	default:
		return summarize(all), nil
	}
}

// conn is a connection that speaks just enough RESP.
type conn struct {
	net.Conn
	r *bufio.Reader
	w *bufio.Writer
}

func (s *server) dial() (*conn, error) {
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 64<<10)}, nil
}

func (c *conn) send(args ...string) {
	fmt.Fprintf(c.w, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(c.w, "$%d\r\n%s\r\n", len(a), a)
	}
}

// flush sends what was buffered and takes n replies.
func (c *conn) flush(n int) error {
	if err := c.w.Flush(); err != nil {
		return err
	}
	for range n {
		if _, err := c.reply(); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) ask(args ...string) (string, error) {
	c.send(args...)
	if err := c.w.Flush(); err != nil {
		return "", err
	}
	return c.reply()
}

// reply reads a reply of one line, a bulk string or an empty array.
func (c *conn) reply() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if line[0] == '-' {
		return "", fmt.Errorf("the server says %s", strings.TrimSpace(line))
	}
	if line[0] == '$' {
		if n, _ := strconv.Atoi(strings.TrimSpace(line[1:])); n >= 0 {
			_, err = c.r.Discard(n + 2)
		}
	}
	return line, err
}

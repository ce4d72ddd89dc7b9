package large

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/difftest"
)

// client is a connection whose errors end the test.
type client struct {
	*difftest.Client
	t *testing.T
}

// patience is how long a reply may take.
const patience = time.Minute

func dial(t *testing.T, s *difftest.Server) client {
	t.Helper()
	c, err := difftest.Dial(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	c.Patience = patience
	t.Cleanup(c.Close)
	return client{c, t}
}

// do runs a command given as words; an error reply ends the test.
func (c client) do(argv ...string) difftest.Reply {
	c.t.Helper()
	return c.all([][]string{argv})[0]
}

// all runs commands at once and returns the replies; none may be an error.
func (c client) all(commands [][]string) []difftest.Reply {
	c.t.Helper()
	if err := c.Send(commands...); err != nil {
		c.t.Fatal(err)
	}
	replies := make([]difftest.Reply, 0, len(commands))
	for _, argv := range commands {
		r, err := c.Receive()
		if err != nil || r.Kind == '-' {
			c.t.Fatalf("%.200q: %s %v", argv, r.Text, err)
		}
		replies = append(replies, r)
	}
	return replies
}

// number demands that a command answers n.
func (c client) number(n int, argv ...string) {
	c.t.Helper()
	if r := c.do(argv...); string(r.Text) != strconv.Itoa(n) {
		c.t.Fatalf("%q answers %s, want %d", argv, r.Text, n)
	}
}

// bulk runs a command and collects the members that it answers, if those are many: not by way
// of a Reply, which with so many takes more time of this process than of the server.
func (c client) bulk(s *difftest.Server, members map[string]bool, argv ...string) {
	c.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintln(conn, strings.Join(argv, " "))
	in := bufio.NewReaderSize(conn, 1<<20)
	head, err := in.ReadString('\n')
	if err != nil || head[0] == '-' {
		c.t.Fatal(head, err)
	}
	if head[0] != '*' {
		return
	}
	var all bytes.Buffer
	n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	for range 2 * n {
		line, err := in.ReadSlice('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		all.Write(line)
	}
	for line := range strings.Lines(all.String()) {
		if line[0] != '$' {
			members[strings.TrimSpace(line)] = true
		}
	}
}

// used is the memory in use by INFO.
func (c client) used() int64 {
	c.t.Helper()
	_, after, _ := strings.Cut(string(c.do("INFO", "memory").Text), "used_memory:")
	value, _, _ := strings.Cut(after, "\r\n")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// rss is the memory of the process.
func rss(s *difftest.Server) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.PID()))
	if f := strings.Fields(string(b)); len(f) > 1 {
		n, _ := strconv.ParseInt(f[1], 10, 64)
		return n * int64(os.Getpagesize())
	}
	return 0
}

// beside runs fn while another client asks twice a millisecond for a small thing, and
// reports how long both took.
func (c client) beside(s *difftest.Server, what string, fn func()) {
	c.t.Helper()
	other, err := difftest.Dial(s.Addr)
	if err != nil {
		c.t.Fatal(err)
	}
	defer other.Close()
	other.Patience = patience
	stop, waits := make(chan bool), make(chan []time.Duration, 1)
	over := sync.OnceFunc(func() { close(stop) })
	defer over()
	go func() {
		var all []time.Duration
		for {
			select {
			case <-stop:
				waits <- all
				return
			default:
			}
			begin := time.Now()
			if _, err := other.Do("GET", "another"); err != nil {
				waits <- append(all, patience)
				return
			}
			all = append(all, time.Since(begin))
			time.Sleep(500 * time.Microsecond)
		}
	}()
	begin := time.Now()
	fn()
	took := time.Since(begin)
	over()
	all := <-waits
	if len(all) == 0 {
		all = append(all, 0)
	}
	slices.Sort(all)
	c.t.Logf("%-34s %10v; another client waits %v at most, %v at p99", what, took.Round(10*time.Microsecond),
		all[len(all)-1].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond))
}

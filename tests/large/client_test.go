package large

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

// client is a connection to a server that holds a large collection.
type client struct{ testclient.Client }

// patience is how long a reply may take.
const patience = time.Minute

func dial(t *testing.T, s *testserver.Server) client {
	t.Helper()
	c := testclient.Dial(t, s.Addr)
	c.Patience = patience
	return client{c}
}

// number demands that a command answers n.
func (c client) number(n int, argv ...string) {
	c.T.Helper()
	if r := c.Do(argv...); string(r.Text) != strconv.Itoa(n) {
		c.T.Fatalf("%q answers %s, want %d", argv, r.Text, n)
	}
}

// bulk runs a command and collects the members that it answers, if those are many: not by way
// of a Reply, which with so many takes more time of this process than of the server.
func (c client) bulk(s *testserver.Server, members map[string]bool, argv ...string) {
	c.T.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		c.T.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintln(conn, strings.Join(argv, " "))
	in := bufio.NewReaderSize(conn, 1<<20)
	head, err := in.ReadString('\n')
	if err != nil || head[0] == '-' {
		c.T.Fatal(head, err)
	}
	if head[0] != '*' {
		return
	}
	var all bytes.Buffer
	n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	for range 2 * n {
		line, err := in.ReadSlice('\n')
		if err != nil {
			c.T.Fatal(err)
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
	c.T.Helper()
	return c.Number("memory", "used_memory")
}

// beside runs fn while another client asks twice a millisecond for a small thing, and
// reports how long both took.
func (c client) beside(s *testserver.Server, what string, fn func()) {
	c.T.Helper()
	other, err := difftest.Dial(s.Addr)
	if err != nil {
		c.T.Fatal(err)
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
	c.T.Logf("%-34s %10v; another client waits %v at most, %v at p99", what, took.Round(10*time.Microsecond),
		all[len(all)-1].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond))
}

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/server"
	"heddle/server/command"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	"heddle/server/command/pubsub"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	streams "heddle/server/command/stream"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
)

// serveVar, in the environment, makes the test program a server on that port.
const serveVar = "HEDDLE_TEST_SERVE"

func TestMain(m *testing.M) {
	if port := os.Getenv(serveVar); port != "" {
		serveForTest(port)
		return
	}
	goleak.VerifyTestMain(m)
}

// newEngine returns an engine over a fresh keyspace.
func newEngine(log func(string), more ...command.Family) (*dispatch.Engine, *db.Keyspace, error) {
	maxBulk := func() int64 { return 512 << 20 }
	table, err := command.NewTable(append(more, hashes.Family(), lists.Family(), sets.Family(), sortedset.Family(), streams.Family(), pubsub.Family(), str.Family(maxBulk), transactions.Family(), generic.Family(),
		connection.Family(connection.Deps{Version: "7.2.6", Databases: 16}))...)
	if err != nil {
		return nil, nil, err
	}
	ks, err := db.Open(db.Options{})
	if err != nil {
		return nil, nil, err
	}
	return dispatch.New(dispatch.Options{Table: table, Keyspace: ks, Log: log, Oplog: oplog.New(oplog.Options{Account: ks.AddOverhead})}), ks, nil
}

// fixture is a running server.
type fixture struct {
	*server.Server
	t      testing.TB
	engine *dispatch.Engine
	addr   string
	port   int
	log    logBook
	// streams is how many replies of COUNT are under way.
	streams atomic.Int64
	ended   chan error
}

// logBook keeps log lines.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logBook) add(_ server.Level, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// count tells how many lines contain text.
func (l *logBook) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// start runs a server with a fresh keyspace until the end of the test. change
// alters the options first.
func start(t testing.TB, change ...func(*server.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, ended: make(chan error, 1), port: freePort(t)}
	f.addr = "127.0.0.1:" + strconv.Itoa(f.port)
	var ks *db.Keyspace
	var err error
	f.engine, ks, err = newEngine(func(s string) { f.log.add(server.Warning, s) }, countFamily(&f.streams), slowFamily(), observers())
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Engine: f.engine, Settings: server.DefaultSettings(), Bind: []string{"127.0.0.1"}, Port: f.port, Log: f.log.add, Restless: true}
	for _, fn := range change {
		fn(&o)
	}
	if f.Server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	if err := f.Listen(); err != nil {
		f.Close()
		t.Fatal(err)
	}
	go func() { f.ended <- f.Run() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := f.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-f.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if n := f.Clients(); n != 0 {
			t.Errorf("%d clients are left after Shutdown", n)
		}
		if n := f.ClientMemory(); n != 0 {
			t.Errorf("%d bytes of client memory are left after Shutdown", n)
		}
		if n := f.streams.Load(); n != 0 {
			t.Errorf("%d streams are left after Shutdown", n)
		}
		ks.Close()
	})
	return f
}

// client is a blocking connection.
type client struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func (f *fixture) dial() *client { return dialTo(f.t, "tcp", f.addr) }

func dialTo(t testing.TB, network, addr string) *client {
	t.Helper()
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{c, t, bufio.NewReaderSize(c, 64<<10)}
}

// cmd encodes a command.
func cmd(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// send writes bytes.
func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// reply reads one reply as it came.
func (c *client) reply() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return line, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		if _, err := io.ReadFull(c.r, body); err != nil {
			return line, err
		}
		return line + string(body), nil
	case '*':
		for range n {
			part, err := c.reply()
			if line += part; err != nil {
				return line, err
			}
		}
	}
	return line, nil
}

// want reads replies and compares them.
func (c *client) want(replies ...string) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for _, w := range replies {
		got, err := c.reply()
		if err != nil {
			c.t.Fatalf("reading a reply: %v (so far %.100q), want %.100q", err, got, w)
		}
		if got != w {
			c.t.Fatalf("reply %.200q, want %.200q", got, w)
		}
	}
}

// do sends a command and compares its reply.
func (c *client) do(want string, args ...string) {
	c.t.Helper()
	c.send(cmd(args...))
	c.want(want)
}

// wantEnd expects the server to close the connection, after text.
func (c *client) wantEnd(text string) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	got, err := io.ReadAll(c.r)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		c.t.Fatalf("waiting for the end: %v, after %.200q", err, got)
	}
	if string(got) != text {
		c.t.Fatalf("before the end came %.300q, want %.300q", got, text)
	}
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

// pattern returns n bytes that differ from place to place.
func pattern(n int) []byte {
	b := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz-"), n/37+1)
	return b[:n]
}

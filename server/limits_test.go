package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/server"
	"heddle/server/dispatch"
)

func TestMaxClients(t *testing.T) {
	f := start(t, workers(2), func(o *server.Options) { o.Settings.MaxClients = 3 })
	var all []*client
	for range 3 {
		c := f.dial()
		c.do("+PONG\r\n", "ping")
		all = append(all, c)
	}
	f.dial().wantEnd("-ERR max number of clients reached\r\n")
	all[0].Close()
	eventually(t, "a place is free", func() bool { return f.Clients() == 2 })
	f.dial().do("+PONG\r\n", "ping")
	f.Configure(func(s *server.Settings) { s.MaxClients = 4 })
	f.dial().do("+PONG\r\n", "ping")
	f.dial().wantEnd("-ERR max number of clients reached\r\n")
	eventually(t, "seven connections are counted, two of them as rejected", func() bool {
		c := f.engine.Stats().Counters()
		return c.ConnectionsRejected == 2 && c.ConnectionsReceived == 7
	})
}

// hostAddress is an address of this host that is not the loopback, "" if none.
func hostAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

func TestProtectedMode(t *testing.T) {
	host := hostAddress()
	if host == "" {
		t.Skip("this host has no address but the loopback")
	}
	f := start(t, func(o *server.Options) { o.Bind = []string{"*"} })
	outside := net.JoinHostPort(host, strconv.Itoa(f.port))
	c := dialTo(t, "tcp", outside)
	if text, _ := io.ReadAll(c); !bytes.HasPrefix(text, []byte("-DENIED Redis is running in protected mode because")) {
		t.Errorf("an outsider gets %q", text)
	}
	f.dial().do("+PONG\r\n", "ping")
	f.Configure(func(s *server.Settings) { s.ProtectedMode = false })
	dialTo(t, "tcp", outside).do("+PONG\r\n", "ping")
	f.Configure(func(s *server.Settings) { s.ProtectedMode = true })
	f.engine.Configure(func(s *dispatch.Settings) { s.RequirePass = "x" })
	dialTo(t, "tcp", outside).do("+OK\r\n", "auth", "x")
}

// TestNeverReads: a client that sends commands with large replies and reads
// none costs bounded memory, and others are served.
func TestNeverReads(t *testing.T) {
	t.Parallel()
	f := start(t)
	other := f.dial()
	value := string(pattern(10_000))
	other.do("+OK\r\n", "set", "k", value)
	greedy := f.dial()
	request := bytes.Repeat(cmd("GET", "k"), 1000)
	sent, most := 0, 50_000 // 500 MB of replies
	if slowBuild {
		most = 10_000
	}
	for sent < most {
		_ = greedy.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		if _, err := greedy.Write(request); errors.Is(err, os.ErrDeadlineExceeded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		sent += 1000
	}
	eventually(t, "the commands wait", func() bool { m := f.ClientMemory(); return m > 10<<20 && m < 80<<20 })
	before := time.Now()
	for range 100 {
		other.do(bulk(value), "get", "k")
	}
	if d := time.Since(before); d > 2*time.Second {
		t.Errorf("100 commands of another client took %v", d)
	}
	// It is served once it reads.
	for range sent {
		greedy.want(bulk(value))
	}
}

// TestReadsLate: a client that sends a whole pipeline first, whose requests and
// replies both exceed what is buffered for it at once, still gets its replies.
func TestReadsLate(t *testing.T) {
	f := start(t)
	c := f.dial()
	big := string(pattern(4000))
	n := 10_000
	c.send(bytes.Repeat(cmd("ECHO", big), n)) // 40 MB each way
	for range n {
		c.want(bulk(big))
	}
	eventually(t, "all is given back", func() bool { return f.ClientMemory() < 100<<10 })
}

func TestOutputLimits(t *testing.T) {
	t.Parallel()
	f := start(t, func(o *server.Options) {
		o.Settings.Output[dispatch.ClassNormal] = server.OutputLimit{Hard: 1 << 20}
	})
	c, other := f.dial(), f.dial()
	other.do("+OK\r\n", "set", "k", string(pattern(5<<20)))
	other.do("+OK\r\n", "set", "small", string(pattern(10_000)))
	c.send(cmd("get", "k"))
	c.wantEnd("")
	if f.log.count("scheduled to be closed ASAP for overcoming of output buffer limits.") != 1 {
		t.Errorf("the log says %q", f.log.lines)
	}
	slow := f.dial()
	slow.send(bytes.Repeat(cmd("get", "small"), 2000))
	closes := func() int64 { return f.engine.Stats().Counters().OutputLimitCloses }
	eventually(t, "the slow reader is closed", func() bool { return closes() == 2 })
	other.do("+PONG\r\n", "ping")

	f.Configure(func(s *server.Settings) {
		s.Output[dispatch.ClassNormal] = server.OutputLimit{Soft: 100 << 10, SoftSeconds: 1}
	})
	slow = f.dial()
	slow.send(bytes.Repeat(cmd("get", "small"), 2000))
	eventually(t, "the soft limit acts", func() bool { f.Housekeep(1); return closes() == 3 })
	eventually(t, "one client is left", func() bool { return f.Clients() == 1 })
}

func TestQueryLimit(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Settings.QueryLimit = 1 << 20 })
	for _, in := range []string{
		"*2\r\n$3\r\nGET\r\n$3000000\r\n" + string(pattern(2<<20)),                                               // in memory of its own
		"*3\r\n$3\r\nSET\r\n$600000\r\n" + string(pattern(600000)) + "\r\n$600000\r\n" + string(pattern(600000)), // both together
	} {
		c := f.dial()
		_, _ = c.Write([]byte(in))
		c.wantEnd("")
	}
	c := f.dial()
	c.do("+OK\r\n", "multi")
	for range 9 {
		c.do("+QUEUED\r\n", "set", "k", string(pattern(110_000)))
	}
	c.send(cmd("set", "k", string(pattern(110_000))))
	c.wantEnd("")
	c = f.dial()
	for i := range 20 {
		_, _ = c.Write(cmd("watch", string(pattern(60_000))+strconv.Itoa(i)))
	}
	if text, _ := io.ReadAll(c.r); len(text) > 20*len("+OK\r\n") {
		t.Errorf("WATCH of too much gets %.100q", text)
	}
	if f.log.count("Closing client that reached max query buffer length") != 4 {
		t.Errorf("the log says %q", f.log.lines)
	}
	f.dial().do("+OK\r\n", "set", "k", string(pattern(900_000)))
}

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	f := start(t, func(o *server.Options) { o.Settings.Timeout = 1 })
	c := f.dial()
	c.do("+PONG\r\n", "ping")
	eventually(t, "the idle client is closed", func() bool { f.Housekeep(10); return f.Clients() == 0 })
	c.wantEnd("")
}

func TestEvictClients(t *testing.T) {
	f := start(t, workers(2))
	var all []*client
	for i := range 6 {
		c := f.dial()
		c.do("+PONG\r\n", "ping")
		c.send([]byte("*2\r\n$3\r\nGET\r\n$10000000\r\n" + string(pattern((i+1)*1000))))
		all = append(all, c)
	}
	eventually(t, "all hold memory", func() bool { return f.ClientMemory() > 60_000_000 })
	all[0].Close()
	all[1].Close()
	eventually(t, "two have left", func() bool { return f.Clients() == 4 })
	f.Configure(func(s *server.Settings) { s.MaxMemoryClients = 25_000_000 })
	eventually(t, "two are left", func() bool { f.Housekeep(10); return f.Clients() == 2 })
	eventually(t, "two evictions are counted", func() bool { return f.engine.Stats().Counters().ClientsEvicted == 2 })
}

func TestKill(t *testing.T) {
	f := start(t, workers(3))
	admin := f.dial()
	var all []*client
	for range 9 {
		c := f.dial()
		c.do("+PONG\r\n", "ping")
		all = append(all, c)
	}
	for i, c := range all {
		admin.do(":1\r\n", "client", "kill", "addr", c.LocalAddr().String())
		c.wantEnd("")
		eventually(t, "it is gone", func() bool { return f.Clients() == 9-i })
	}
	admin.send(append(cmd("client", "kill", "skipme", "no", "addr", admin.LocalAddr().String()), cmd("ping")...))
	admin.wantEnd(":1\r\n")
}

func TestPause(t *testing.T) {
	f := start(t, workers(2))
	a, b := f.dial(), f.dial()
	a.do("+OK\r\n", "client", "pause", "100000", "write")
	b.send(append(append(cmd("set", "k", "v"), cmd("get", "k")...), cmd("incr", "n")...))
	time.Sleep(20 * time.Millisecond)
	b.send(cmd("ping"))
	a.do("$-1\r\n", "get", "k")
	gone := f.dial()
	gone.send(append(cmd("set", "k", "w"), cmd("get", "k")...))
	time.Sleep(20 * time.Millisecond)
	gone.Close()
	eventually(t, "a waiting client that hangs up is gone", func() bool { return f.Clients() == 2 })
	a.do("+OK\r\n", "client", "unpause")
	b.want("+OK\r\n", bulk("v"), ":1\r\n", "+PONG\r\n")
}

// TestShutdown stops the server amid pipelines: what was executed was answered.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2} {
		f := start(t, workers(n))
		var wg sync.WaitGroup
		clients := 8
		if slowBuild {
			clients = 2
		}
		total := make([]int, clients)
		for i := range total {
			c := f.dial()
			c.do(":1\r\n", "incr", "k"+strconv.Itoa(i))
			go func() {
				for {
					if _, err := c.Write(bytes.Repeat(cmd("incr", "k"+strconv.Itoa(i)), 100)); err != nil {
						return
					}
				}
			}()
			wg.Go(func() {
				total[i] = 1
				for {
					reply, err := c.reply()
					if err != nil {
						return
					}
					if total[i]++; reply != fmt.Sprintf(":%d\r\n", total[i]) {
						t.Errorf("reply %q is not the %dth", reply, total[i])
						return
					}
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		begin := time.Now()
		if err := f.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if d := time.Since(begin); d > 3*time.Second {
			t.Errorf("Shutdown took %v", d)
		}
		wg.Wait()
		tx := f.engine.Keyspace().NewTx()
		for i, n := range total {
			key := []byte("k" + strconv.Itoa(i))
			set := f.engine.Keyspace().AllShards()
			f.engine.Keyspace().Lock(set)
			tx.Begin(0, 1, set, false)
			s, _, err := tx.String(key)
			tx.End()
			f.engine.Keyspace().Unlock(set)
			if err != nil || !s.IsInt || s.N != int64(n) {
				t.Errorf("client %d got %d replies, the counter is at %d (%v)", i, n, s.N, err)
			}
		}
	}
}

func TestDrain(t *testing.T) {
	f := start(t)
	c := f.dial()
	c.do("+PONG\r\n", "ping")
	f.Drain()
	f.dial().wantEnd("-SHUTDOWN Server is shutting down\r\n")
	c.do("+PONG\r\n", "ping")
	select {
	case <-f.Drained():
		t.Fatal("drained with a client")
	default:
	}
	c.Close()
	eventually(t, "drained", func() bool {
		f.Housekeep(10)
		select {
		case <-f.Drained():
			return true
		default:
			return false
		}
	})
}

// TestGarbage throws random bytes at the server, which must live on.
func TestGarbage(t *testing.T) {
	f := start(t, workers(2))
	var wg sync.WaitGroup
	for seed := range uint64(16) {
		c := f.dial()
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			b := make([]byte, 1+r.IntN(100_000))
			alphabet := []byte("*$\r\n0123456789-\"' setgkv\x00\xff")
			for i := range b {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
			_, _ = c.Write(b)
			_ = c.Conn.(*net.TCPConn).CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.Copy(io.Discard, c.r)
			c.Close()
		})
	}
	wg.Wait()
	f.dial().do("+PONG\r\n", "ping")
	eventually(t, "all are gone", func() bool { return f.Clients() == 1 })
	if f.log.count("BUG") != 0 {
		t.Errorf("the log says %q", f.log.lines)
	}
}

// openFiles makes sure that n descriptors fit, or skips the test.
func openFiles(t *testing.T, n uint64) {
	t.Helper()
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	if r.Cur >= n {
		return
	}
	old := r
	r.Cur, r.Max = n, max(n, r.Max)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		t.Skipf("SKIPPED: %d open files are needed, the limit is %d and cannot be raised: %v", n, old.Cur, err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) })
}

// rss is the resident memory of a process.
func rss(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return n * os.Getpagesize()
}

// rawDial connects with as little memory of our own as possible.
func rawDial(t testing.TB, port int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// serveForTest is the main function of the process that startProcess starts: a
// server on a port, until its standard input ends.
func serveForTest(port string) {
	n, _ := strconv.Atoi(port)
	e, _, err := newEngine(func(string) {})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := server.DefaultSettings()
	set.MaxClients = 20_000
	s, err := server.New(server.Options{Engine: e, Settings: set, Workers: 2, Bind: []string{"127.0.0.1"}, Port: n})
	if err == nil {
		err = s.Listen()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		s.Close()
	}()
	_ = s.Run()
}

// startProcess runs a server in a process of its own and returns its number.
func startProcess(t *testing.T, port int) (pid int) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), serveVar+"="+strconv.Itoa(port))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the server process says %q, %v", line, err)
	}
	return c.Process.Pid
}

// TestIdleConnections: 10,000 connections that have run a command cost at most
// 4 KB each.
func TestIdleConnections(t *testing.T) {
	if testing.Short() || slowBuild {
		t.Skip("measures memory")
	}
	const n = 10_000
	openFiles(t, n+500)
	port := freePort(t)
	pid := startProcess(t, port)
	ping, pong := []byte("PING\r\n"), make([]byte, 7)
	connect := func() {
		fd := rawDial(t, port)
		t.Cleanup(func() { _ = unix.Close(fd) })
		if _, err := unix.Write(fd, ping); err != nil {
			t.Fatal(err)
		}
		for have := 0; have < len(pong); {
			k, err := unix.Read(fd, pong[have:])
			if k <= 0 || err != nil {
				t.Fatal(k, err)
			}
			have += k
		}
	}
	for range 100 {
		connect()
	}
	before := rss(t, pid)
	for range n {
		connect()
	}
	grown := rss(t, pid) - before
	t.Logf("%d bytes per idle connection, %d MB at the start", grown/n, before>>20)
	if grown > n*4096 {
		t.Errorf("%d bytes per idle connection, want at most 4096", grown/n)
	}
}

// TestNoDescriptors: with no file descriptor left new connections get an
// error, and the server neither spins nor harms others.
func TestNoDescriptors(t *testing.T) {
	f := start(t)
	c := f.dial()
	c.do("+PONG\r\n", "ping")
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	// The client's end needs one as well: open it first, connect later.
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	low := r
	low.Cur = uint64(fd) + 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &r) }()
	var fill []int
	for {
		d, err := unix.Dup(0)
		if err != nil {
			break
		}
		fill = append(fill, d)
	}
	defer func() {
		for _, d := range fill {
			_ = unix.Close(d)
		}
	}()
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: f.port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 200)
	n, err := unix.Read(fd, b)
	if want := "-ERR max number of clients reached"; err != nil || !strings.HasPrefix(string(b[:max(n, 0)]), want) {
		t.Errorf("a new connection gets %q, %v", b[:max(n, 0)], err)
	}
	cycles := f.engine.Stats().Counters().Cycles
	time.Sleep(50 * time.Millisecond)
	if n := f.engine.Stats().Counters().Cycles - cycles; n > 20 {
		t.Errorf("%d turns with nothing to do", n)
	}
	c.do("+PONG\r\n", "ping")
	if f.log.count("Accepting client connection: accept: Too many open files") != 1 {
		t.Errorf("the log says %q", f.log.lines)
	}
}

// TestLargeReplies: a pipeline of commands with large replies does not pile up
// all of them before the first is sent.
func TestLargeReplies(t *testing.T) {
	t.Parallel()
	f := start(t)
	c := f.dial()
	big := string(pattern(200_000))
	c.do("+OK\r\n", "set", "k", big)
	n := 400
	most := int64(0)
	go func() { _, _ = c.Write(bytes.Repeat(append(cmd("getrange", "k", "0", "-1"), cmd("ping")...), n)) }()
	for range n {
		c.want(bulk(big), "+PONG\r\n")
		most = max(most, f.ClientMemory())
	}
	if most > 40<<20 {
		t.Errorf("%d MB of client memory", most>>20)
	}
}

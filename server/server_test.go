package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/server"
	"heddle/server/dispatch"
)

func workers(n int) func(*server.Options) {
	return func(o *server.Options) { o.Workers = n; o.Settings.MinClientsPerThread = 0 }
}

func TestCommands(t *testing.T) {
	f := start(t)
	c := f.dial()
	c.do("+OK\r\n", "set", "k", "v")
	c.do(bulk("v"), "get", "k")
	c.do("$-1\r\n", "get", "none")
	c.send([]byte("PING\r\n\r\n*0\r\nget k\r\n"))
	c.want("+PONG\r\n", bulk("v"))
	c.do("-ERR unknown command 'nonsense', with args beginning with: 'a' \r\n", "nonsense", "a")
	c.do("+OK\r\n", "multi")
	c.do("+QUEUED\r\n", "incr", "n")
	c.do("*1\r\n:1\r\n", "exec")
	c.send(append(cmd("quit"), cmd("set", "k", "late")...))
	c.wantEnd("+OK\r\n")
	f.dial().do(bulk("v"), "get", "k")
}

// stream makes a random stream of commands and the replies they must give.
func stream(r *rand.Rand, commands int) (in []byte, want []byte) {
	values := map[string]string{}
	for range commands {
		key := "key" + strconv.Itoa(r.IntN(20))
		switch r.IntN(6) {
		case 0, 1:
			size := r.IntN(40)
			if r.IntN(50) == 0 {
				size = r.IntN(200 << 10)
			}
			v := string(pattern(size))
			values[key] = v
			in, want = append(in, cmd("SET", key, v)...), append(want, "+OK\r\n"...)
		case 2, 3:
			in = append(in, cmd("GET", key)...)
			if v, ok := values[key]; ok {
				want = append(want, bulk(v)...)
			} else {
				want = append(want, "$-1\r\n"...)
			}
		case 4:
			in, want = append(in, "ping \"a b\"\r\n"...), append(want, bulk("a b")...)
		default:
			in = append(in, "\r\n*0\r\n*-1\r\n"...)
		}
	}
	return in, want
}

// TestSplits sends streams cut at random places: the replies are those of the
// whole.
func TestSplits(t *testing.T) {
	f := start(t, workers(2))
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		c := f.dial()
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			c.do("+OK\r\n", "select", strconv.FormatUint(seed, 10))
			in, want := stream(r, 300)
			go func() {
				for len(in) > 0 {
					n := 1 + r.IntN(30)
					if r.IntN(3) == 0 {
						n = r.IntN(1 << uint(r.IntN(18)))
					}
					n = min(n, len(in))
					if _, err := c.Write(in[:n]); err != nil {
						return
					}
					in = in[n:]
				}
			}()
			got := make([]byte, len(want))
			_ = c.SetReadDeadline(time.Now().Add(15 * time.Second))
			if n, err := io.ReadFull(c.r, got); err != nil {
				t.Errorf("seed %d: %d of %d bytes: %v", seed, n, len(want), err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("seed %d: the replies differ", seed)
			}
		})
	}
	wg.Wait()
}

// TestDeepPipeline sends a million commands before it reads the first reply.
func TestDeepPipeline(t *testing.T) {
	n := 1_000_000
	if testing.Short() || slowBuild {
		n = 100_000
	}
	f := start(t)
	c := f.dial()
	c.do("+OK\r\n", "set", "k", "01234567890123456789012345678901")
	c.send(bytes.Repeat(cmd("GET", "k"), n))
	want := bytes.Repeat([]byte(bulk("01234567890123456789012345678901")), n)
	got := make([]byte, len(want))
	_ = c.SetReadDeadline(time.Now().Add(15 * time.Second))
	if _, err := io.ReadFull(c.r, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("replies differ, or %v", err)
	}
}

func TestLargeValues(t *testing.T) {
	f := start(t)
	sizes := []int{16<<10 - 1, 32 << 10, 64<<10 - 1, 64 << 10, 1 << 20, 64 << 20}
	if testing.Short() {
		sizes = sizes[:5]
	}
	c, other := f.dial(), f.dial()
	for _, n := range sizes {
		v := pattern(n)
		go func() {
			_, _ = c.Write(cmd("SET", "k", string(v)))
			_, _ = c.Write(cmd("GET", "k"))
		}()
		c.want("+OK\r\n")
		other.do("+PONG\r\n", "ping")
		c.want(bulk(string(v)))
		other.do(":"+strconv.Itoa(n)+"\r\n", "strlen", "k")
	}
	v := string(pattern(100 << 10))
	c.do("+OK\r\n", "mset", "a", v, "b", v, "c", "small", "d", v)
	c.do("*4\r\n"+bulk(v)+bulk(v)+bulk("small")+bulk(v), "mget", "a", "b", "c", "d")
	c.do("+OK\r\n", "multi")
	c.do("+QUEUED\r\n", "set", "k", v)
	c.do("*1\r\n+OK\r\n", "exec")
	c.do(bulk(v), "get", "k")
	c.do("-ERR unknown command '"+v[:128]+"', with args beginning with: \r\n", v)
}

// TestLinearTime: a value ten times as large takes about ten times as long.
func TestLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	f := start(t)
	c := f.dial()
	trip := func(n int) time.Duration {
		v := string(pattern(n))
		best := time.Hour
		for range 3 {
			begin := time.Now()
			go func() { _, _ = c.Write(cmd("SET", "k", v)) }()
			c.want("+OK\r\n")
			c.do(bulk(v), "get", "k")
			best = min(best, time.Since(begin))
		}
		return best
	}
	small, large := trip(6<<20), trip(60<<20)
	if large > 40*small+time.Second/2 {
		t.Errorf("6 MB take %v, 60 MB take %v", small, large)
	}
}

func TestHalfClose(t *testing.T) {
	f := start(t)
	c := f.dial()
	n := 20000
	c.send(bytes.Repeat([]byte("PING\r\n"), n))
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	c.wantEnd(strings.Repeat("+PONG\r\n", n))
	eventually(t, "the connection is gone", func() bool { return f.Clients() == 0 })
}

func TestProtocolErrors(t *testing.T) {
	f := start(t)
	for in, want := range map[string]string{
		"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n":          "-ERR Protocol error: expected '$', got 'f'\r\n",
		"*-10\r\nPING\r\n*x\r\n":                          "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n",
		"*1\r\n$-1\r\n":                                   "-ERR Protocol error: invalid bulk length\r\n",
		"*1\r\n$1000000000000\r\n":                        "-ERR Protocol error: invalid bulk length\r\n",
		"PING\r\n*2147483648\r\n":                         "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n",
		"PING \"x\r\n":                                    "-ERR Protocol error: unbalanced quotes in request\r\n",
		strings.Repeat("x", 70000):                        "-ERR Protocol error: too big inline request\r\n",
		"set k v\r\n*1\r\n$" + strings.Repeat("1", 70000): "+OK\r\n-ERR Protocol error: too big bulk count string\r\n",
		"ping\r\n*" + strings.Repeat("1", 70000):          "+PONG\r\n-ERR Protocol error: too big mbulk count string\r\n",
	} {
		c := f.dial()
		c.send([]byte(in))
		c.wantEnd(want)
	}
}

func TestUnauthenticatedLimits(t *testing.T) {
	f := start(t)
	admin := f.dial()
	admin.do("+PONG\r\n", "ping")
	f.engine.Configure(func(s *dispatch.Settings) { s.RequirePass = "secret" })
	admin.do("+PONG\r\n", "ping")
	for in, want := range map[string]string{
		"*11\r\n$4\r\nAUTH\r\n":          "-ERR Protocol error: unauthenticated multibulk length\r\n",
		"*1\r\n$16385\r\n":               "-ERR Protocol error: unauthenticated bulk length\r\n",
		"get k\r\n*1\r\n$16385\r\n":      "-NOAUTH Authentication required.\r\n-ERR Protocol error: unauthenticated bulk length\r\n",
		"auth wrong\r\n*1\r\n$20000\r\n": "-WRONGPASS invalid username-password pair or user is disabled.\r\n-ERR Protocol error: unauthenticated bulk length\r\n",
	} {
		c := f.dial()
		c.send([]byte(in))
		c.wantEnd(want)
	}
	c := f.dial()
	v := string(pattern(20000))
	c.send(append(append(cmd("auth", "secret"), cmd("set", "k", v)...), cmd("get", "k")...))
	c.want("+OK\r\n", "+OK\r\n", bulk(v))
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	f := start(t, workers(2), func(o *server.Options) { o.Unix = path; o.Port = 0; o.Settings.UnixPerm = 0o700 })
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o700 {
		t.Fatalf("the socket: %v %v", fi, err)
	}
	for range 5 {
		dialTo(t, "unix", path).do("+PONG\r\n", "ping")
	}
	if err := f.SetUnixPerm(0o770); err != nil {
		t.Fatal(err)
	}
	if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o770 {
		t.Fatalf("permissions %v", fi.Mode())
	}
	if err := f.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket file stays")
	}
}

func TestAddresses(t *testing.T) {
	f := start(t, workers(2), func(o *server.Options) { o.Bind = []string{"127.0.0.1", "-203.0.113.9", "::1"} })
	if n := f.Listening(); n != 2 {
		t.Errorf("listens on %d addresses, want 2", n)
	}
	f.dial().do("+PONG\r\n", "ping")
	dialTo(t, "tcp", "[::1]:"+strconv.Itoa(f.port)).do("+PONG\r\n", "ping")
	if f.log.count("Could not create") != 0 {
		t.Error("an optional address was complained about")
	}
}

// TestAddressInUse: a port is not shared with another process by SO_REUSEPORT.
func TestAddressInUse(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := start(t, workers(n))
		s, err := server.New(server.Options{Engine: f.engine, Settings: server.DefaultSettings(), Workers: n,
			Bind: []string{"127.0.0.1"}, Port: f.port, Log: f.log.add})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Listen(); err == nil || err.Error() != "bind: Address already in use" {
			t.Errorf("%d workers: Listen gives %v", n, err)
		}
		if f.log.count(fmt.Sprintf("Warning: Could not create server TCP listening socket 127.0.0.1:%d: bind: Address already in use", f.port)) != 1 {
			t.Errorf("the log says %q", f.log.lines)
		}
		s.Close()
	}
}

func TestRebind(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := start(t, workers(n))
		old := f.dial()
		old.do("+PONG\r\n", "ping")
		next := freePort(t)
		if err := f.Rebind([]string{"127.0.0.1"}, next); err != nil {
			t.Fatal(err)
		}
		old.do("+PONG\r\n", "ping")
		dialTo(t, "tcp", "127.0.0.1:"+strconv.Itoa(next)).do("+PONG\r\n", "ping")
		if c, err := net.Dial("tcp", f.addr); err == nil {
			c.Close()
			t.Error("the old port still takes connections")
		}
		if err := f.Rebind([]string{"203.0.113.9"}, next); err == nil {
			t.Error("an address of another host could be bound")
		}
		dialTo(t, "tcp", "127.0.0.1:"+strconv.Itoa(next)).do("+PONG\r\n", "ping")
		if err := f.Rebind(nil, 0); err != nil || f.Listening() != 0 {
			t.Errorf("no address: %v, %d", err, f.Listening())
		}
	}
}

func TestBalance(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Workers, o.Settings.MinClientsPerThread, o.Restless = 3, 4, false })
	want := func(counts ...int) {
		t.Helper()
		eventually(t, fmt.Sprint("clients per worker ", counts), func() bool { return fmt.Sprint(f.WorkerClients()) == fmt.Sprint(counts) })
	}
	var all []*client
	for i := range 24 {
		all = append(all, f.dial())
		all[i].do("+PONG\r\n", "ping")
		switch i {
		case 3:
			want(4, 0, 0)
		case 9:
			want(4, 4, 2)
		}
	}
	want(8, 8, 8)
	for _, c := range all {
		c.Close()
	}
	want(0, 0, 0)
}

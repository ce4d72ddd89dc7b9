// Package abuse sends a server what no decent client would, while a decent one
// goes on working: no crash, no leak, nobody else harmed.
package abuse

import (
	"fmt"
	"io"
	"math/rand"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

const maxClients = 60

// binary is a server whose invariants are checked.
var binary testserver.Binary

func TestMain(m *testing.M) { binary.Main(m) }

// start runs a server.
func start(t *testing.T, args ...string) *testserver.Server {
	t.Helper()
	path := binary.Path(t, "", testserver.Checked)
	return testserver.Run(t, path, testserver.Options{Args: append(testserver.Args(path, 2), args...)})
}

// abuses are the ways to misbehave over a fresh connection.
func abuses() map[string]func(c *net.TCPConn, rng *rand.Rand) {
	write := func(c *net.TCPConn, s string) { io.WriteString(c, s) }
	return map[string]func(c *net.TCPConn, rng *rand.Rand){
		"random bytes": func(c *net.TCPConn, rng *rand.Rand) {
			b := make([]byte, rng.Intn(20000))
			rng.Read(b)
			c.Write(b)
		},
		"random protocol": func(c *net.TCPConn, rng *rand.Rand) {
			parts := []string{"*", "$", "\r\n", "1", "3", "-1", "99999", "SET", "GET", "k", "\x00", "'", "\"", " ", "*1\r\n$4\r\nPING\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n"}
			for range rng.Intn(400) {
				write(c, parts[rng.Intn(len(parts))])
			}
		},
		"half a frame": func(c *net.TCPConn, rng *rand.Rand) {
			frame := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nh\r\n$%d\r\n%s\r\n", 100000, strings.Repeat("h", 100000))
			write(c, frame[:1+rng.Intn(len(frame)-1)])
		},
		"2^31 arguments": func(c *net.TCPConn, rng *rand.Rand) {
			write(c, "*2147483647\r\n"+strings.Repeat("$1\r\nx\r\n", rng.Intn(5000)))
		},
		"a huge value that never comes": func(c *net.TCPConn, rng *rand.Rand) {
			write(c, "*3\r\n$3\r\nSET\r\n$1\r\nh\r\n$536870912\r\n"+strings.Repeat("x", rng.Intn(100000)))
			time.Sleep(time.Duration(rng.Intn(50)) * time.Millisecond)
		},
		"never reads": func(c *net.TCPConn, rng *rand.Rand) {
			c.SetReadBuffer(4096)
			c.SetWriteDeadline(time.Now().Add(150 * time.Millisecond))
			request := []byte(strings.Repeat("*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n", 200))
			for range 200 {
				if _, err := c.Write(request); err != nil {
					return
				}
			}
		},
		"breaks off in a transaction": func(c *net.TCPConn, rng *rand.Rand) {
			write(c, "WATCH w\r\nMULTI\r\n"+strings.Repeat("INCR w\r\n", rng.Intn(200)))
			c.SetLinger(0)
		},
		"breaks off with a reset": func(c *net.TCPConn, rng *rand.Rand) {
			write(c, strings.Repeat("GET big\r\n", rng.Intn(100)))
			c.SetLinger(0)
		},
		"a crowd": func(c *net.TCPConn, rng *rand.Rand) {
			var crowd []net.Conn
			for range 2 * maxClients {
				if one, err := net.Dial("tcp", c.RemoteAddr().String()); err == nil {
					crowd = append(crowd, one)
				}
			}
			for _, one := range crowd {
				one.Close()
			}
		},
	}
}

// TestAbuse misbehaves in every way at once for a while. The crowd may take all
// places, so the witness keeps its connection.
func TestAbuse(t *testing.T) {
	s := start(t, "--maxclients", strconv.Itoa(maxClients))
	c := testclient.Dial(t, s.Addr)
	c.Do("SET", "big", strings.Repeat("b", 200000))
	before := memory(c)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for name, abuse := range abuses() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			misbehave(s, name, abuse, stop)
		}()
	}
	slowest := witness(t, c, 4*time.Second)
	close(stop)
	wg.Wait()
	t.Logf("slowest reply of the witness: %v", slowest)
	if !s.Alive() {
		t.Fatalf("the server died:\n%s", s.Log())
	}
	settle(t, c, before)
}

func misbehave(s *testserver.Server, name string, abuse func(*net.TCPConn, *rand.Rand), stop chan struct{}) {
	rng := rand.New(rand.NewSource(int64(len(name)) + time.Now().UnixNano()))
	for {
		select {
		case <-stop:
			return
		default:
		}
		conn, err := net.Dial("tcp", s.Addr)
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		abuse(conn.(*net.TCPConn), rng)
		conn.Close()
		time.Sleep(time.Millisecond)
	}
}

// witness sets and reads keys, each answer right, and returns how long the
// slowest took.
func witness(t *testing.T, c testclient.Client, length time.Duration) (slowest time.Duration) {
	t.Helper()
	begin := time.Now()
	for i := 0; time.Since(begin) < length; i++ {
		sent := time.Now()
		c.Do("SET", "witness", strconv.Itoa(i))
		if got := string(c.Do("GET", "witness").Text); got != strconv.Itoa(i) {
			t.Fatalf("read %q, wrote %d", got, i)
		}
		slowest = max(slowest, time.Since(sent))
	}
	if slowest > 3*time.Second {
		t.Errorf("the witness waited %v for a reply", slowest)
	}
	return slowest
}

// settle holds that connections and memory of the others are given back.
func settle(t *testing.T, c testclient.Client, before int64) {
	t.Helper()
	var clients, used int64
	for range 100 {
		clients, used = c.Number("clients", "connected_clients"), memory(c)
		if clients == 1 && used < before+4<<20 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%d clients are left, %d bytes are in use, %d before", clients, used, before)
}

func memory(c testclient.Client) int64 { return c.Number("memory", "used_memory") }

// TestOutOfMemory fills the server beyond its limit: writes are refused in
// Redis' words, reads go on, and room is there again after deletes.
func TestOutOfMemory(t *testing.T) {
	s := start(t, "--maxmemory", "20mb", "--maxmemory-policy", "noeviction")
	c := testclient.Dial(t, s.Addr)
	value := strings.Repeat("v", 10000)
	n := 0
	for ; n < 5000; n++ {
		r, err := c.Client.Do("SET", fmt.Sprintf("k:%d", n), value)
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == '-' {
			if string(r.Text) != "OOM command not allowed when used memory > 'maxmemory'." {
				t.Errorf("refused with %q", r.Text)
			}
			break
		}
	}
	if n < 1000 || n >= 2200 {
		t.Errorf("%d keys of 10 KB fit 20 MB", n)
	}
	if got := string(c.Do("GET", "k:0").Text); got != value {
		t.Errorf("reads a value of %d bytes", len(got))
	}
	c.Do("FLUSHALL")
	c.Do("SET", "k", value)
}

// TestTerminateInPipeline ends the server while a pipeline is under way: what
// was answered is a prefix of it, and the server ends well.
func TestTerminateInPipeline(t *testing.T) {
	s := start(t)
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		for {
			if _, err := io.WriteString(conn, strings.Repeat("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", 100)); err != nil {
				return
			}
		}
	}()
	ended := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { ended <- s.Terminate(5 * time.Second) })
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	b, _ := io.ReadAll(conn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	lines := strings.SplitAfter(string(b), "\r\n")
	for i, line := range lines[:len(lines)-1] {
		if line != fmt.Sprintf(":%d\r\n", i+1) {
			t.Fatalf("reply %d is %q", i+1, line)
		}
	}
	if len(lines) < 10 {
		t.Errorf("only %d replies", len(lines))
	}
}

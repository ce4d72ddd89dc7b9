package migrate

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/server/command/generic"
)

// target is a server that answers as it is told, and notes what it was sent.
type target struct {
	l       net.Listener
	replies func(cmd string) string // "" closes the connection, "wait" answers nothing

	mu    sync.Mutex
	got   []string
	conns int
}

func newTarget(t *testing.T, replies func(cmd string) string) (*target, string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &target{l: l, replies: replies}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			go s.serve(c)
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return s, port
}

func (s *target) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		var n int
		if _, err := fmt.Fscanf(in, "*%d\r\n", &n); err != nil {
			return
		}
		words := make([]string, n)
		for i := range words {
			var size int
			if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
				return
			}
			b := make([]byte, size+2)
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			words[i] = string(b[:size])
		}
		cmd := strings.Join(words, " ")
		s.mu.Lock()
		s.got = append(s.got, cmd)
		reply := s.replies(cmd)
		s.mu.Unlock()
		switch reply {
		case "":
			return
		case "wait":
		default:
			if _, err := c.Write([]byte(reply + "\r\n")); err != nil {
				return
			}
		}
	}
}

// answer changes the replies.
func (s *target) answer(replies func(cmd string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = replies
}

// connections returns how many there were.
func (s *target) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// check compares what was sent since the last time, and how many connections there were.
func (s *target) check(t *testing.T, conns int, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if fmt.Sprint(s.got) != fmt.Sprint(want) || s.conns != conns {
		t.Errorf("%d connections, %q, want %d, %q", s.conns, s.got, conns, want)
	}
	s.got = nil
}

func job(port string) *generic.MoveJob {
	return &generic.MoveJob{Addr: "127.0.0.1", Port: port, DB: 2, Timeout: 2000, Keys: []generic.MoveKey{
		{Key: []byte("a"), Payload: []byte("pa"), TTL: 7}, {Key: []byte("b"), Payload: []byte("pb"), Replace: true}, {Key: []byte("c")},
	}}
}

func ok(string) string { return "+OK" }

func TestMove(t *testing.T) {
	s, port := newTarget(t, ok)
	m := New()
	defer m.Close()
	j := job(port)
	m.Move(j)
	if j.IOError != "" || j.Refused != "" || !j.Keys[0].Done || !j.Keys[1].Done || !j.Keys[2].Done || m.Idle() != 1 {
		t.Fatalf("%+v", j)
	}
	s.check(t, 1, "SELECT 2", "RESTORE a 7 pa", "RESTORE b 0 pb REPLACE", "DEL c")
	m.Move(job(port)) // on the same connection, where the database is selected
	s.check(t, 1, "RESTORE a 7 pa", "RESTORE b 0 pb REPLACE", "DEL c")
	j = job(port)
	j.User, j.Password, j.DB, j.Keys = []byte("u"), []byte("p"), 3, j.Keys[:1]
	m.Move(j)
	j.User, j.DB = nil, 3
	m.Move(j)
	s.check(t, 1, "AUTH u p", "SELECT 3", "RESTORE a 7 pa", "AUTH p", "RESTORE a 7 pa")
}

func TestRefused(t *testing.T) {
	s, port := newTarget(t, func(cmd string) string {
		if strings.HasPrefix(cmd, "RESTORE a") {
			return "-BUSYKEY there"
		}
		return "+OK"
	})
	m := New()
	defer m.Close()
	j := job(port)
	m.Move(j)
	if j.Refused != "BUSYKEY there" || j.Keys[0].Done || !j.Keys[1].Done || m.Idle() != 1 {
		t.Fatalf("%+v", j)
	}
	s.answer(func(string) string { return "-NO" })
	j = job(port)
	j.Password = []byte("p")
	m.Move(j)
	if j.Refused != "NO" || j.Keys[1].Done || j.IOError != "" {
		t.Fatalf("%+v", j)
	}
}

func TestBroken(t *testing.T) {
	closes := 1 // guarded by the target
	s, port := newTarget(t, func(string) string {
		if closes--; closes >= 0 {
			return ""
		}
		return "+OK"
	})
	m := New()
	defer m.Close()
	j := job(port)
	m.Move(j) // the first connection breaks, the second is in order
	if j.IOError != "" || !j.Keys[2].Done || s.connections() != 2 {
		t.Fatalf("%+v", j)
	}
	s.answer(func(string) string { return "" })
	j = job(port)
	if m.Move(j); j.IOError != "reading" && j.IOError != "writing" || m.Idle() != 0 {
		t.Fatalf("%+v", j)
	}
	s, port = newTarget(t, func(string) string { return "wait" })
	j = job(port)
	j.Timeout = 50
	began := time.Now()
	if m.Move(j); j.IOError != "reading" || time.Since(began) > time.Second || s.connections() != 1 {
		t.Fatalf("%+v after %v, %d connections", j, time.Since(began), s.connections())
	}
	_ = s.l.Close()
	if m.Move(j); j.IOError != "writing" {
		t.Fatalf("%+v", j)
	}
	j.Addr = "no.such.host.invalid"
	if m.Move(j); j.IOError != "connecting" {
		t.Fatalf("%+v", j)
	}
}

func TestIdleConnectionsGo(t *testing.T) {
	_, port := newTarget(t, ok)
	m := New()
	m.Move(job(port))
	l := m.idle[0]
	m.expire(l)
	if m.Idle() != 0 {
		t.Fatal("it is still there")
	}
	m.expire(l) // late
	m.Move(job(port))
	m.Close()
	m.Move(job(port))
	if m.Idle() != 0 {
		t.Fatal("a closed Mover keeps connections")
	}
}

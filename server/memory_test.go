package server_test

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLentMemory: a large value on its way to or from the keyspace is part of
// used memory once, and counts in full for the connection.
func TestLentMemory(t *testing.T) {
	const size = 8 << 20
	f := start(t)
	keys := f.engine.Keyspace()
	empty := keys.Used()
	grown := func(from, to int64) func() bool {
		return func() bool { n := keys.Used() - empty; return n >= from && n < to }
	}
	c := f.dial()
	value := string(pattern(size))
	in := cmd("set", "k", value)
	c.send(in[:size/2])
	eventually(t, "the value comes", func() bool { return f.ClientMemory() >= size && grown(size/2-1<<20, size/2+1<<20)() })
	c.send(in[size/2:])
	c.want("+OK\r\n")
	eventually(t, "the value is there", func() bool { return f.ClientMemory() < 1<<20 && grown(size, size+1<<20)() })
	liar := f.dial()
	liar.send(append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nl\r\n$500000000\r\n"), pattern(100_000)...))
	eventually(t, "what was only announced is no memory", func() bool { return f.ClientMemory() > 500_000_000 && grown(size, size+1<<20)() })
	liar.Close()
	eventually(t, "the liar is gone", func() bool { return f.ClientMemory() < 1<<20 })
	var slow []*client
	for range 4 {
		s := f.dial()
		s.send(cmd("get", "k"))
		slow = append(slow, s)
	}
	eventually(t, "four replies wait", func() bool { return f.ClientMemory() >= 4*(size-1<<20) && grown(size, size+1<<20)() })
	c.do(":1\r\n", "del", "k")
	eventually(t, "the replies keep the value", grown(size, size+1<<20))
	for _, s := range slow {
		s.want(bulk(value))
	}
	eventually(t, "all is given back", func() bool { return f.ClientMemory() < 1<<20 && grown(-1<<20, 1<<20)() })
}

// TestHiddenMemory: what a client makes the server keep counts, wherever it is.
func TestHiddenMemory(t *testing.T) {
	const size = 3 << 20
	f := start(t)
	other, c := f.dial(), f.dial()
	between := func(low, high int64) func() bool {
		return func() bool { n := f.ClientMemory(); return n >= low && n < high }
	}
	c.do("+OK\r\n", "client", "setname", string(pattern(size)))
	eventually(t, "a long name counts", between(size, size+1<<20))
	c.do("+OK\r\n", "client", "setname", "short")
	eventually(t, "a short one does not", between(0, 1<<20))
	other.do("+OK\r\n", "client", "pause", "100000", "write")
	c.send(cmd("set", "k", string(pattern(size))))
	eventually(t, "a command that waits counts", between(size, size+1<<20))
	other.do("+OK\r\n", "client", "unpause")
	c.want("+OK\r\n")
	eventually(t, "it does not when it has run", between(0, 1<<20))
}

// TestAsideAtEnd: a client that sends KEYS and then nothing more gets its reply.
func TestAsideAtEnd(t *testing.T) {
	const keys = 12_000 // so many that KEYS runs in a goroutine
	f := start(t)
	c := f.dial()
	request := []string{"mset"}
	for i := range keys {
		request = append(request, strconv.Itoa(i), "v")
	}
	c.do("+OK\r\n", request...)
	c.send(append(cmd("keys", "*"), cmd("ping")...))
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got, err := c.reply(); err != nil || !strings.HasPrefix(got, "*"+strconv.Itoa(keys)) {
		t.Errorf("reply %.20q, %v", got, err)
	}
	c.wantEnd("+PONG\r\n")
}

// TestErrorBehindWait: a protocol error behind a command that waits comes when
// that was answered.
func TestErrorBehindWait(t *testing.T) {
	f := start(t)
	other := f.dial()
	other.do("+OK\r\n", "client", "pause", "100000", "write")
	c := f.dial()
	c.send(append(cmd("set", "k", "v"), "*x\r\n"...))
	eventually(t, "the command waits", func() bool { return f.engine.Clients().Blocked() == 1 })
	other.do("+PONG\r\n", "ping")
	other.do("+OK\r\n", "client", "unpause")
	c.wantEnd("+OK\r\n-ERR Protocol error: invalid multibulk length\r\n")
}

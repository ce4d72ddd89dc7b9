package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// countFamily is a command "count key n": the first n numbers as a stream. After
// failAt of them it panics.
func countFamily(open *atomic.Int64) command.Family {
	return command.Family{Name: "count", Specs: []*command.Spec{{
		Name: "count", Arity: -3, Keys: command.Key(1, command.KeyRO), Group: "generic",
		Read: func(c *command.Call, _ db.View) error {
			c.Args.Key()
			s := &countStream{n: c.Args.Int(), failAt: -1, open: open}
			if c.Args.More() {
				s.failAt = c.Args.Int()
			}
			if err := c.Args.Done(); err != nil {
				return err
			}
			c.Reply.Array(int(s.n))
			c.Reply.Stream(s)
			open.Add(1)
			return nil
		},
	}}}
}

type countStream struct {
	at, n, failAt int64
	open          *atomic.Int64
}

func (s *countStream) Next(w *resp.Writer) bool {
	for s.at < s.n && w.Len() < resp.StreamPiece {
		if s.at == s.failAt {
			panic("as it was asked to")
		}
		w.Double(float64(s.at))
		s.at++
	}
	return s.at < s.n
}

func (s *countStream) Held() int64 { return 0 }

func (s *countStream) Release() { s.open.Add(-1) }

// counted is the reply of count.
func counted(proto, n int) string {
	var w resp.Writer
	w.SetProto(proto)
	w.Array(n)
	for i := range n {
		w.Double(float64(i))
	}
	return string(w.Bytes())
}

// TestStreamSlowReader: a reply of a million elements to a client that reads slowly
// takes hardly any memory, and keeps nobody from the same key.
func TestStreamSlowReader(t *testing.T) {
	const n = 1_000_000
	f := start(t)
	slow, other := f.dial(), f.dial()
	_ = slow.Conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	want := counted(2, n)
	got, buf := make([]byte, 0, len(want)+4096), make([]byte, 128<<10)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	slow.send(append(cmd("count", "k", fmt.Sprint(n)), cmd("ping")...))
	other.do("+OK\r\n", "set", "k", "v")
	for i := 0; len(got) < len(want); i++ {
		k, err := slow.Conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:k]...)
		if i%20 == 0 {
			other.do(bulk("v"), "get", "k")
			if held := f.ClientMemory(); held > 512<<10 {
				t.Fatalf("%d bytes are held for two clients", held)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if made := int64(after.TotalAlloc - before.TotalAlloc); made > int64(len(want))/4 {
		t.Errorf("%d bytes were allocated for a reply of %d", made, len(want))
	}
	if !bytes.Equal(got[:len(want)], []byte(want)) {
		t.Error("the reply is wrong")
	}
	slow.r = bufio.NewReader(io.MultiReader(bytes.NewReader(got[len(want):]), slow.Conn))
	slow.want("+PONG\r\n")
	if left := f.streams.Load(); left != 0 {
		t.Errorf("%d streams were not released", left)
	}
}

// TestStreamPlaces puts streams into transactions, pipelines, between others of another
// version of the protocol, and where no replies are wanted.
func TestStreamPlaces(t *testing.T) {
	f := start(t)
	c := f.dial()
	text := func(s string) {
		t.Helper()
		b := make([]byte, len(s))
		if _, err := io.ReadFull(c.r, b); err != nil || string(b) != s {
			t.Fatalf("got %.100q %v, want %.100q", b, err, s)
		}
	}
	const n = 40_000
	two := counted(2, n)
	c.send(bytes.Join([][]byte{cmd("multi"), cmd("count", "k", fmt.Sprint(n)), cmd("set", "k", "v"), cmd("count", "k", "5"), cmd("exec"), cmd("get", "k")}, nil))
	text("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n" + two + "+OK\r\n" + counted(2, 5) + bulk("v"))
	var in []byte
	for range 100 {
		in = append(in, cmd("count", "k", fmt.Sprint(n))...)
		in = append(in, cmd("ping")...)
	}
	go func() { _, _ = c.Write(in) }()
	for i := range 100 {
		if text(two + "+PONG\r\n"); f.streams.Load() > 2 {
			t.Fatalf("reply %d: %d streams at once", i, f.streams.Load())
		}
	}
	c.send(bytes.Join([][]byte{cmd("client", "reply", "off"), cmd("count", "k", "2000"), cmd("client", "reply", "on")}, nil))
	c.want("+OK\r\n")
	c.send(bytes.Join([][]byte{cmd("client", "reply", "skip"), cmd("count", "k", "2000"), cmd("ping")}, nil))
	c.want("+PONG\r\n")
	c.send(bytes.Join([][]byte{cmd("count", "k", "20"), cmd("hello", "3"), cmd("count", "k", "20")}, nil))
	text(counted(2, 20))
	for line := ""; !strings.HasPrefix(line, "*0"); { // the last of HELLO's answer: no modules
		var err error
		if line, err = c.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	text(counted(3, 20))
	if left := f.streams.Load(); left != 0 {
		t.Errorf("%d streams were not released", left)
	}
}

// TestStreamEnds: a stream is released when its client goes, closes its half of the
// connection, is killed by the end of the server, or when it fails itself.
func TestStreamEnds(t *testing.T) {
	f := start(t)
	gone := f.dial()
	gone.send(cmd("count", "k", "100000000"))
	eventually(t, "the stream begins", func() bool { return f.streams.Load() == 1 })
	gone.Close()
	eventually(t, "it ends with its client", func() bool { return f.streams.Load() == 0 })
	half := f.dial()
	half.send(cmd("count", "k", "100000"))
	_ = half.Conn.(*net.TCPConn).CloseWrite()
	half.wantEnd(counted(2, 100_000))
	broken := f.dial()
	broken.send(cmd("count", "k", "100000", "50000"))
	_ = broken.SetReadDeadline(time.Now().Add(10 * time.Second))
	got, _ := io.ReadAll(broken.r)
	if want := counted(2, 100_000); !strings.HasPrefix(want, string(got)) || len(got) > len(want)/2+resp.StreamPiece {
		t.Errorf("%d bytes of a reply that cannot be ended", len(got))
	}
	if f.log.count("as it was asked to") != 1 {
		t.Error("no word of the failure in the log")
	}
	eventually(t, "all streams are released", func() bool { return f.streams.Load() == 0 })
	f.dial().send(cmd("count", "k", "100000000"))
	eventually(t, "a last one begins", func() bool { return f.streams.Load() == 1 })
}

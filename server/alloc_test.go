package server_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"heddle/db/invariants"
)

// roundTrip sends requests and reads as many bytes of replies.
func roundTrip(tb testing.TB, fd int, requests, replies []byte) {
	if _, err := unix.Write(fd, requests); err != nil {
		tb.Fatal(err)
	}
	for n := 0; n < len(replies); {
		k, err := unix.Read(fd, replies[n:])
		if k <= 0 || err != nil {
			tb.Fatal(k, err)
		}
		n += k
	}
}

// TestNoAllocations: from socket to socket a GET and a SET of an existing key
// allocate nothing, alone and in pipelines.
func TestNoAllocations(t *testing.T) {
	if raceBuild || invariants.Enabled {
		t.Skip("checked builds allocate")
	}
	f := start(t)
	value := string(pattern(32))
	f.dial().do("+OK\r\n", "set", "key", value)
	for _, depth := range []int{1, 16, 100} {
		fd := rawDial(t, f.port)
		requests := bytes.Repeat(append(cmd("GET", "key"), cmd("SET", "key", value)...), depth)
		want := bytes.Repeat([]byte(bulk(value)+"+OK\r\n"), depth)
		replies := make([]byte, len(want))
		for range 100 {
			roundTrip(t, fd, requests, replies)
		}
		if !bytes.Equal(replies, want) {
			t.Fatalf("replies %.200q", replies)
		}
		const rounds = 1000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			roundTrip(t, fd, requests, replies)
		}
		runtime.ReadMemStats(&after)
		_ = unix.Close(fd)
		// The runtime and other tests' remains allocate a little now and then.
		if n := after.Mallocs - before.Mallocs; n > rounds/20 {
			t.Errorf("pipelines of %d: %d allocations in %d rounds", 2*depth, n, rounds)
		}
	}
}

// BenchmarkGet is a GET from socket to socket, with a client that does little.
func BenchmarkGet(b *testing.B) {
	f := start(b)
	value := string(pattern(32))
	f.dial().do("+OK\r\n", "set", "key", value)
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("pipeline=%d", depth), func(b *testing.B) {
			fd := rawDial(b, f.port)
			defer unix.Close(fd)
			requests := bytes.Repeat(cmd("GET", "key"), depth)
			replies := make([]byte, depth*len(bulk(value)))
			b.ReportAllocs()
			for n := 0; n < b.N; n += depth {
				roundTrip(b, fd, requests, replies)
			}
		})
	}
}

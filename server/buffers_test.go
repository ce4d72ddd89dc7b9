package server

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"heddle/resp"
	"heddle/server/poll"
)

// TestInput compares an input buffer with a slice, through all its kinds of
// memory.
func TestInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool buffers
		var in input
		var model []byte
		next := byte(0)
		defer func() { in.release(&pool) }()
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{0, 1, 100, 511, 5000, 70_000, 300_000}).Draw(t, "n")
				b := make([]byte, n)
				for i := range b {
					b[i] = next
					next++
				}
				if !in.append(&pool, b) {
					t.Fatal("out of memory")
				}
				model = append(model, b...)
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, len(model)).Draw(t, "n")
				in.take(&pool, n)
				model = model[n:]
			},
			"takeAll": func(t *rapid.T) {
				in.take(&pool, len(model))
				model = nil
			},
			"reserve": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 4096, 100_000, 1 << 20}).Draw(t, "n")
				if !in.reserve(&pool, n) || in.room() < n {
					t.Fatalf("room for %d after reserve(%d)", in.room(), n)
				}
			},
			"": func(t *rapid.T) {
				if !bytes.Equal(in.bytes(), model) || in.len() != len(model) {
					t.Fatalf("%d bytes, want %d, or they differ", in.len(), len(model))
				}
			},
		})
	})
}

// pair returns two ends of a connection with small buffers.
func pair(t *rapid.T) (ours, theirs int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 8192)
	return fds[0], fds[1]
}

// counter counts releases.
type counter struct{ n int }

func (c *counter) Release() { c.n++ }

// TestOutQueue sends replies through a small socket: what comes out is what was
// written, every external piece is released once, and memory is accounted for.
func TestOutQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool buffers
		var q outQueue
		var v poll.Vec
		var w resp.Writer
		var written, read []byte
		var freed counter
		external, unmade := 0, 0
		ours, theirs := pair(t)
		defer func() { _ = unix.Close(ours); _ = unix.Close(theirs) }()
		receive := func(max int) {
			b := make([]byte, max)
			if n, err := unix.Read(theirs, b); err == nil {
				read = append(read, b[:n]...)
			}
		}
		send := func(t *rapid.T, quota int) {
			if _, _, errno := q.send(&pool, ours, &v, quota); errno != 0 && errno != unix.EAGAIN {
				t.Fatal(errno)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"reply": func(t *rapid.T) {
				w.Reset(pool.get(512))
				for range rapid.IntRange(0, 4).Draw(t, "replies") {
					b := bytes.Repeat([]byte{byte(len(written))}, rapid.SampledFrom([]int{0, 3, 600, 5000, 40_000}).Draw(t, "n"))
					switch rapid.IntRange(0, 2).Draw(t, "how") {
					case 0:
						w.BulkExternal(b, &freed)
						external++
					case 1:
						parts := rapid.IntRange(0, 3).Draw(t, "parts")
						s := &bulkStream{b: b, left: parts, unmade: &unmade, freed: &freed, external: &external}
						if parts > 0 {
							s.nested = rapid.Bool().Draw(t, "nested")
						}
						s.promise()
						w.Stream(s)
						external++
						for range parts {
							written = append(written, s.text()...)
						}
						continue
					default:
						w.Bulk(b)
					}
					var plain resp.Writer
					plain.Bulk(b)
					written = append(written, plain.Bytes()...)
				}
				q.add(&pool, &w, 0)
			},
			"send": func(t *rapid.T) { send(t, rapid.SampledFrom([]int{1, 1000, 100_000}).Draw(t, "quota")) },
			"ask": func(t *rapid.T) {
				q.ask()
				want := int64(0)
				for _, x := range q.list[q.head:] {
					if x.stream != nil {
						want += x.stream.Held()
					}
				}
				if q.kept != want || q.weight() != q.len+want || q.held < want {
					t.Fatalf("streams keep %d bytes of %d, should be %d", q.kept, q.held, want)
				}
			},
			"receive": func(t *rapid.T) { receive(rapid.IntRange(1, 50_000).Draw(t, "max")) },
			"": func(t *rapid.T) {
				if q.len != int64(len(written))-int64(len(read))-inFlight(theirs)-int64(unmade) {
					t.Fatalf("the queue has %d bytes; %d written, %d read, %d under way", q.len, len(written), len(read), inFlight(theirs))
				}
			},
		})
		for !q.empty() || inFlight(theirs) > 0 {
			send(t, 1<<20)
			receive(1 << 20)
		}
		if !bytes.Equal(read, written) {
			t.Fatal("what was read is not what was written")
		}
		if freed.n != external || q.held != 0 || q.len != 0 || q.kept != 0 {
			t.Fatalf("%d of %d external pieces released, %d bytes held, %d left", freed.n, external, q.held, q.len)
		}
	})
}

// bulkStream writes the same bulk string some times, in one way or another.
type bulkStream struct {
	b        []byte
	left     int
	nested   bool // the last time through a stream within the stream
	unmade   *int // bytes that all streams still will write
	freed    *counter
	external *int
}

func (s *bulkStream) text() []byte {
	var w resp.Writer
	w.Bulk(s.b)
	return w.Bytes()
}

func (s *bulkStream) promise() { *s.unmade += s.left * len(s.text()) }

func (s *bulkStream) Next(w *resp.Writer) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	switch {
	case s.left == 0 && s.nested:
		*s.external++
		w.Stream(&bulkStream{b: s.b, left: 1, unmade: s.unmade, freed: s.freed, external: s.external})
		return len(s.b)%2 == 0
	case s.left%2 == 0:
		*s.external++
		w.BulkExternal(s.b, s.freed)
	default:
		w.Bulk(s.b)
	}
	*s.unmade -= len(s.text())
	return true
}

// Held is another number each time.
func (s *bulkStream) Held() int64 { return int64(s.freed.n+s.left) * 1000 }

func (s *bulkStream) Release() { s.freed.Release() }

func inFlight(fd int) int64 {
	n, _ := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return int64(n)
}

package poll_test

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"heddle/server/poll"
)

func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fds[0]); _ = unix.Close(fds[1]) })
	return fds[0], fds[1]
}

func newPoller(t *testing.T) *poll.Poller {
	t.Helper()
	p, err := poll.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestPoller(t *testing.T) {
	p := newPoller(t)
	a, b := pair(t)
	const token = uint64(0xfedcba9876543210)
	if err := p.Add(a, poll.In, token); err != nil {
		t.Fatal(err)
	}
	if err := p.Add(a, poll.In, token); err == nil {
		t.Error("a descriptor could be added twice")
	}
	if n := p.Poll(); n != 0 {
		t.Errorf("%d events before there is one", n)
	}
	if n, errno := poll.Write(b, []byte("x")); n != 1 || errno != 0 {
		t.Fatal(n, errno)
	}
	for range 2 { // level-triggered
		if n := p.Wait(-1); n != 1 {
			t.Fatalf("%d events, want 1", n)
		}
		if tok, what := p.Event(0); tok != token || what != poll.In {
			t.Errorf("token %x, event %x", tok, what)
		}
	}
	if err := p.Modify(a, poll.Out, 7); err != nil {
		t.Fatal(err)
	}
	if n := p.Poll(); n != 1 {
		t.Fatalf("%d events, want 1", n)
	} else if tok, what := p.Event(0); tok != 7 || what != poll.Out {
		t.Errorf("token %x, event %x", tok, what)
	}
	if err := p.Remove(a); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if n := p.Wait(20); n != 0 || time.Since(begin) < 15*time.Millisecond {
		t.Errorf("%d events after %v", n, time.Since(begin))
	}
}

func TestReadWrite(t *testing.T) {
	a, b := pair(t)
	buf := make([]byte, 10)
	if _, errno := poll.Read(a, buf); errno != unix.EAGAIN {
		t.Errorf("reading nothing gives %v", errno)
	}
	if n, errno := poll.Read(a, nil); n != 0 || errno != unix.EAGAIN {
		t.Errorf("reading into nothing gives %d, %v", n, errno)
	}
	if n, errno := poll.Write(b, []byte("hello")); n != 5 || errno != 0 {
		t.Fatal(n, errno)
	}
	if n, errno := poll.Read(a, buf); string(buf[:n]) != "hello" || errno != 0 {
		t.Errorf("read %q, %v", buf[:n], errno)
	}
	_ = unix.Shutdown(b, unix.SHUT_WR)
	if n, errno := poll.Read(a, buf); n != 0 || errno != 0 {
		t.Errorf("the end reads as %d, %v", n, errno)
	}
	_ = unix.Shutdown(b, unix.SHUT_RDWR)
	if _, errno := poll.Write(b, []byte("x")); errno != unix.EPIPE {
		t.Errorf("writing to a closed socket gives %v", errno)
	}
}

func TestWritev(t *testing.T) {
	a, b := pair(t)
	var v poll.Vec
	var want []byte
	for i := range poll.MaxVec {
		part := bytes.Repeat([]byte{byte('a' + i%26)}, i)
		want = append(want, part...)
		if !v.Add(part) {
			t.Fatalf("no room for part %d", i)
		}
	}
	v.Add([]byte("z"))
	if v.Add([]byte("too many")) {
		t.Error("a part too many was taken")
	}
	want = append(want, 'z')
	if v.Len() != len(want) {
		t.Errorf("length %d, want %d", v.Len(), len(want))
	}
	if n, errno := poll.Writev(b, &v); n != len(want) || errno != 0 {
		t.Fatal(n, errno)
	}
	got := make([]byte, len(want)+10)
	if n, _ := poll.Read(a, got); !bytes.Equal(got[:n], want) {
		t.Error("what came differs")
	}
	v.Reset()
	if n, errno := poll.Writev(b, &v); n != 0 || errno != 0 || v.Len() != 0 {
		t.Errorf("an empty vector gives %d, %v", n, errno)
	}
}

func TestWaker(t *testing.T) {
	p := newPoller(t)
	w, err := poll.NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := p.Add(w.FD(), poll.In, 1); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		w.Wake()
		w.Wake()
	}()
	if n := p.Wait(5000); n != 1 {
		t.Fatalf("%d events, want 1", n)
	}
	time.Sleep(5 * time.Millisecond)
	w.Drain()
	w.Drain()
	if n := p.Poll(); n != 0 {
		t.Errorf("%d events after Drain", n)
	}
}

func TestMap(t *testing.T) {
	b, err := poll.Map(8192)
	if err != nil {
		t.Fatal(err)
	}
	b[0], b[8191] = 1, 2
	if b, err = poll.Remap(b, 1<<20); err != nil {
		t.Fatal(err)
	}
	if len(b) != 1<<20 || b[0] != 1 || b[8191] != 2 || b[8192] != 0 {
		t.Error("the bytes are not what they were")
	}
	if err := poll.Unmap(b); err != nil {
		t.Error(err)
	}
}

func BenchmarkReadWrite(b *testing.B) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	buf := make([]byte, 64)
	b.ReportAllocs()
	for range b.N {
		poll.Write(fds[0], buf)
		poll.Read(fds[1], buf)
	}
}

package server_test

import (
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"heddle/server"
)

// TestChaos lets clients on several workers do all that a connection can go
// through at once: pipelines cut anywhere, large values given up half-way,
// replies not read, hang-ups, kills, pauses, other addresses and settings. At
// the end nothing may be left: no connection, no client memory, no memory of a
// value that was deleted.
func TestChaos(t *testing.T) {
	t.Parallel()
	f := start(t, workers(3), func(o *server.Options) { o.Settings.MaxClients = 60 })
	keys := f.engine.Keyspace()
	empty := keys.Used() - keys.Overhead()
	until := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	for seed := range uint64(12) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 3))
			for time.Now().Before(until) {
				visit(r, f.addr)
			}
		})
	}
	wg.Go(func() { unrest(f, until) })
	wg.Wait()
	eventually(t, "all connections are gone", func() bool { return f.Clients() == 0 })
	keys.Whole(1).Flush(-1, false)
	eventually(t, "all memory is given back", func() bool { return keys.Used()-keys.Overhead() <= empty+64<<10 && f.ClientMemory() == 0 })
	if err := keys.Check(); err != nil {
		t.Error(err)
	}
	if f.log.count("BUG") != 0 {
		t.Errorf("the log says %q", f.log.lines)
	}
}

// visit is one connection's life.
func visit(r *rand.Rand, addr string) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second / 2))
	late := r.IntN(4) == 0
	go func() {
		if late {
			time.Sleep(20 * time.Millisecond) // let replies pile up
		}
		_, _ = io.Copy(io.Discard, c)
	}()
	for range 1 + r.IntN(20) {
		b := someCommands(r)
		switch r.IntN(8) {
		case 0:
			b = b[:r.IntN(len(b)+1)] // and then hang up
			_, _ = c.Write(b)
			return
		case 1:
			_, _ = c.Write(b)
			_ = c.(*net.TCPConn).SetLinger(0) // with a reset
			return
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// someCommands returns a pipeline.
func someCommands(r *rand.Rand) (b []byte) {
	key := func() string { return "k" + strconv.Itoa(r.IntN(30)) }
	for range 1 + r.IntN(30) {
		switch r.IntN(12) {
		case 0:
			b = append(b, cmd("set", key(), string(pattern(r.IntN(300<<10))))...)
		case 1:
			b = append(b, cmd("mset", key(), string(pattern(r.IntN(200<<10))), key(), string(pattern(r.IntN(200<<10))))...)
		case 2:
			b = append(b, cmd("append", key(), string(pattern(r.IntN(1000))))...)
		case 3:
			b = append(b, cmd("del", key())...)
		case 4:
			b = append(append(append(b, cmd("multi")...), cmd("set", key(), string(pattern(100<<10)))...), cmd("get", key())...)
			b = append(b, cmd([]string{"exec", "discard", "nonsense"}[r.IntN(3)])...)
		case 5:
			b = append(b, cmd("watch", key(), key())...)
		case 6:
			b = append(b, cmd("client", "reply", []string{"on", "skip", "on", "off"}[r.IntN(4)])...)
		default:
			b = append(b, cmd("get", key())...)
		}
	}
	return b
}

// unrest disturbs the server as administrators and cron do.
func unrest(f *fixture, until time.Time) {
	r := rand.New(rand.NewPCG(99, 3))
	for time.Now().Before(until) {
		time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
		f.Housekeep(10)
		clients := f.engine.Clients()
		switch r.IntN(8) {
		case 0:
			if all := clients.All(); len(all) > 0 {
				clients.Kill(all[r.IntN(len(all))].ID())
			}
		case 1:
			f.engine.Pause(20, r.IntN(2) == 0)
		case 2:
			f.engine.Unpause()
		case 3:
			f.Configure(func(s *server.Settings) {
				s.MaxMemoryClients = []int64{0, 1 << 20}[r.IntN(2)]
				s.Output[0] = server.OutputLimit{Hard: []int64{0, 1 << 20}[r.IntN(2)]}
				s.QueryLimit = []int64{1 << 30, 1 << 20}[r.IntN(2)]
			})
		case 4:
			if err := f.Rebind([]string{"127.0.0.1"}, f.port); err != nil {
				f.t.Errorf("Rebind: %v", err)
			}
		}
	}
	f.engine.Unpause()
	f.Configure(func(s *server.Settings) { s.MaxMemoryClients, s.MaxClients = 0, 1000 })
}

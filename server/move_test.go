package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/server"
	"heddle/server/command"
)

// TestMoving has connections move all the time while each counts for itself, in
// pipelines of any length, in MULTI and with large values: every reply comes, in order, and
// what comes by mail (kills, ends of waits, messages of MONITOR) finds its connection.
func TestMoving(t *testing.T) {
	t.Parallel()
	f := start(t, workers(3), func(o *server.Options) { o.Restless, o.Settings.MinClientsPerThread = true, 100 })
	until := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	for id := range 12 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 9))
			c := f.dial()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			for n := 0; time.Now().Before(until); {
				n = count(r, c, "counter"+strconv.Itoa(id), n)
			}
		})
	}
	wg.Go(func() {
		for time.Now().Before(until) {
			victim := f.dial()
			victim.do("+PONG\r\n", "ping")
			blocked := f.dial()
			blocked.send(cmd("blpop", "nothing", "0"))
			eventually(t, "a client waits", func() bool { return f.engine.Clients().Blocked() == 1 })
			id := int64(0)
			f.engine.Clients().Each(func(i *command.ClientInfo) {
				if i.Addr == victim.LocalAddr().String() {
					id = i.ID
				}
			})
			f.engine.Clients().Kill(id)
			victim.wantEnd("")
			victim.Close()
			f.dial().do(":1\r\n", "rpush", "nothing", "x")
			blocked.want("*2\r\n$7\r\nnothing\r\n$1\r\nx\r\n")
			blocked.Close()
		}
	})
	wg.Wait()
	if f.Moved() == 0 {
		t.Error("nothing moved")
	}
	eventually(t, "the counts agree", func() bool {
		sum := 0
		for _, n := range f.WorkerClients() {
			sum += n
		}
		return sum == f.Clients()
	})
	t.Logf("%d moves; clients per worker %v", f.Moved(), f.WorkerClients())
}

// count sends some commands of a client that has counted to n.
func count(r *rand.Rand, c *client, key string, n int) int {
	var b []byte
	var want []string
	multi := r.IntN(4) == 0
	if multi {
		b, want = append(b, cmd("multi")...), append(want, "+OK\r\n")
	}
	from := n
	for range 1 + r.IntN(40) {
		n++
		b = append(b, cmd("incr", key)...)
		if multi {
			want = append(want, "+QUEUED\r\n")
		} else {
			want = append(want, fmt.Sprintf(":%d\r\n", n))
		}
	}
	if multi {
		b = append(b, cmd("exec")...)
		all := fmt.Sprintf("*%d\r\n", n-from)
		for i := from + 1; i <= n; i++ {
			all += fmt.Sprintf(":%d\r\n", i)
		}
		want = append(want, all)
	}
	cut := r.IntN(len(b) + 1)
	c.send(b[:cut])
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
	}
	c.send(b[cut:])
	c.want(want...)
	return n
}

// TestTrial moves half of the busy connections to the other worker, and back.
func TestTrial(t *testing.T) {
	t.Parallel()
	f := start(t, workers(2), func(o *server.Options) { o.Restless, o.Settings.MinClientsPerThread = false, 100 })
	var stop atomic.Bool
	var wg sync.WaitGroup
	idle := f.dial()
	idle.do("+PONG\r\n", "ping")
	for id := range 8 {
		c := f.dial()
		wg.Go(func() {
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			r := rand.New(rand.NewPCG(uint64(id), 11))
			for n := 0; !stop.Load(); {
				n = count(r, c, "counter"+strconv.Itoa(id), n)
			}
		})
	}
	defer wg.Wait()
	defer stop.Store(true)
	want := func(first, second int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d and %d clients", first, second), func() bool {
			n := f.WorkerClients()
			return n[0] >= first && n[1] >= second && n[0]+n[1] == 9
		})
	}
	want(9, 0)
	for trial := range int64(3) {
		time.Sleep(100 * time.Millisecond) // they are seen to run commands
		f.Shed(0, 1, 0.5, trial+1)
		want(4, 2)
		f.GiveBack(0, 1, trial+1)
		want(9, 0)
	}
	f.Configure(func(s *server.Settings) { s.Balance = false })
	f.Shed(0, 1, 0.5, 9)
	time.Sleep(50 * time.Millisecond)
	want(9, 0)
	// The balancer itself: whatever it finds, all go on.
	f.Configure(func(s *server.Settings) { s.Balance = true })
	for range 4 {
		f.Balance(time.Now(), 2)
		time.Sleep(20 * time.Millisecond)
	}
	idle.do("+PONG\r\n", "ping")
}

// TestMovingModes moves connections that change what they are: subscribers, monitors,
// clients that watch and that wait, and such as are killed or leave in the midst of it.
// No descriptor and no client is left behind.
func TestMovingModes(t *testing.T) {
	f := start(t, workers(3), func(o *server.Options) { o.Restless, o.Settings.MinClientsPerThread = true, 100 })
	first := f.dial()
	first.do("+PONG\r\n", "ping")
	before := descriptors(t)
	until := time.Now().Add(1500 * time.Millisecond)
	var wg sync.WaitGroup
	for id := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 13))
			name := strconv.Itoa(id)
			for time.Now().Before(until) {
				c := f.dial()
				_ = c.SetDeadline(time.Now().Add(time.Minute))
				count(r, c, "modes"+name+"."+strconv.FormatUint(r.Uint64(), 36), 0)
				for range r.IntN(8) {
					mode(r, c, name)
				}
				if r.IntN(3) == 0 {
					c.send(cmd([]string{"monitor", "subscribe", "blpop", "multi"}[r.IntN(4)], "chan"+name, "0"))
				}
				if r.IntN(3) == 0 {
					addr := c.LocalAddr().String()
					f.engine.Clients().Each(func(i *command.ClientInfo) {
						if i.Addr == addr {
							defer f.engine.Clients().Kill(i.ID)
						}
					})
				}
				c.Close()
			}
		})
	}
	wg.Wait()
	eventually(t, "all clients but one are gone", func() bool { return f.Clients() == 1 })
	eventually(t, "their descriptors are closed", func() bool { return descriptors(t) <= before })
	first.do("+PONG\r\n", "ping")
	if f.Moved() == 0 {
		t.Error("nothing moved")
	}
}

// mode makes a connection something and back again.
func mode(r *rand.Rand, c *client, name string) {
	switch r.IntN(4) {
	case 0:
		c.do(confirmation("chan"+name, 1), "subscribe", "chan"+name)
		c.do("*3\r\n"+bulk("unsubscribe")+bulk("chan"+name)+":0\r\n", "unsubscribe", "chan"+name)
	case 1:
		c.do("+OK\r\n", "watch", "modes"+name)
		c.do("+OK\r\n", "unwatch")
	case 2:
		c.do("*-1\r\n", "blpop", "modes:none"+name, "0.001")
	default:
		c.do("+RESET\r\n", "reset")
	}
}

// descriptors is how many files the process has open.
func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

package server_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
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

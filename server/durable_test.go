package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/replication/oplog"
	"heddle/server/command"
	"heddle/server/dispatch"
)

// disk stands for the append-only file of a fixture.
type disk struct {
	f   *fixture
	log *oplog.Log
	r   *oplog.Reader
}

// newDisk shuts the gate: nothing is durable until sync.
func newDisk(f *fixture) *disk {
	l := f.engine.Oplog().(*oplog.Log)
	ks := f.engine.Keyspace()
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	r, err := l.NewReader(l.End())
	if err != nil {
		f.t.Fatal(err)
	}
	f.engine.SetDurable(l.End())
	return &disk{f, l, r}
}

// sync makes durable what was appended so far.
func (d *disk) sync() {
	end := d.log.End()
	d.f.engine.SetDurable(end)
}

// syncing has the disk sync all the time while fn runs: commands may come in parts.
func (d *disk) syncing(fn func()) {
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				d.sync()
			}
		}
	}()
	fn()
	close(stop)
	<-done
}

// close opens the gate for good.
func (d *disk) close() {
	d.f.engine.SetDurable(dispatch.GateOpen)
	d.r.Close()
}

// silent expects no reply for a while.
func (c *client) silent() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if b, err := c.r.Peek(1); err == nil {
		c.t.Fatalf("reply %q before the disk has it", b)
	}
}

// far returns a key of another shard than key.
func (f *fixture) far(key string) string {
	ks := f.engine.Keyspace()
	for i := 0; ; i++ {
		k := "far" + strconv.Itoa(i)
		if ks.ShardOf(ks.Hash([]byte(k))) != ks.ShardOf(ks.Hash([]byte(key))) {
			return k
		}
	}
}

func TestRepliesWaitForDisk(t *testing.T) {
	f := start(t, workers(2))
	other := f.far("k")
	f.dial().do("+OK\r\n", "SET", other, "x")
	d := newDisk(f)
	defer d.close()
	a, b, c := f.dial(), f.dial(), f.dial()
	a.send(append(cmd("SET", "k", "1"), cmd("GET", other)...))
	a.silent()
	b.do("+PONG\r\n", "PING")
	b.do(bulk("x"), "GET", other) // another shard: nothing of it waits
	b.send(cmd("GET", "k"))
	b.silent()
	c.send(cmd("KEYS", "[k]"))
	c.silent()
	a.send(cmd("SET", "k", "2")) // is not run yet
	time.Sleep(20 * time.Millisecond)
	d.syncing(func() {
		a.want("+OK\r\n", bulk("x"))
		b.want(bulk("1"))
		c.want("*1\r\n" + bulk("k"))
		a.want("+OK\r\n")
	})
	// A write that changes nothing tells of what is there.
	a.send(cmd("INCR", "k"))
	eventually(t, "it ran", func() bool { return d.log.End() > f.engine.Durable() })
	b.send(cmd("SET", "k", "9", "NX"))
	b.silent()
	d.syncing(func() {
		a.want(":3\r\n")
		b.want("$-1\r\n")
	})
}

func TestMoreWaitForDisk(t *testing.T) {
	f := start(t, workers(2))
	d := newDisk(f)
	defer d.close()
	a, b, s := f.dial(), f.dial(), f.dial()
	s.do("*3\r\n"+bulk("subscribe")+bulk("news")+":1\r\n", "SUBSCRIBE", "news")
	b.send(cmd("BLPOP", "list", "0"))
	eventually(t, "a client waits", func() bool { return f.engine.Clients().Blocked() == 1 })
	a.send(bytes.Join([][]byte{
		cmd("MULTI"), cmd("RPUSH", "list", "1"), cmd("PUBLISH", "news", "1"), cmd("EXEC"), cmd("CLIENT", "REPLY", "OFF"),
		cmd("RPUSH", "list", "2"), cmd("CLIENT", "REPLY", "ON"), cmd("LLEN", "list"),
	}, nil))
	a.silent()
	b.silent()
	s.silent()
	d.syncing(func() {
		a.want("+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n:1\r\n:1\r\n", "+OK\r\n", ":1\r\n")
		b.want(popped("list", "1"))
		s.want("*3\r\n" + bulk("message") + bulk("news") + bulk("1"))
	})
	// Messages that come while earlier ones wait go out in order.
	b.send(append(cmd("SET", "x", "1"), cmd("PUBLISH", "news", "2")...))
	s.silent()
	a.send(append(cmd("SET", "y", "1"), cmd("PUBLISH", "news", "3")...))
	s.silent()
	d.syncing(func() {
		s.want("*3\r\n"+bulk("message")+bulk("news")+bulk("2"), "*3\r\n"+bulk("message")+bulk("news")+bulk("3"))
		a.want("+OK\r\n", ":1\r\n")
		b.want("+OK\r\n", ":1\r\n")
	})
}

func TestClosingWaitsForDisk(t *testing.T) {
	f := start(t, workers(2))
	d := newDisk(f)
	a, b, c := f.dial(), f.dial(), f.dial()
	a.send(append(cmd("SET", "a", "1"), cmd("QUIT")...))
	a.silent()
	b.send(append(cmd("SET", "b", "1"), "*x\r\n"...))
	b.silent()
	c.send(append(cmd("SET", "c", strings.Repeat("v", 1<<20)), cmd("GET", "c")...))
	_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
	c.silent()
	d.syncing(func() {
		a.wantEnd("+OK\r\n+OK\r\n")
		b.wantEnd("+OK\r\n-ERR Protocol error: invalid multibulk length\r\n")
		c.wantEnd("+OK\r\n" + bulk(strings.Repeat("v", 1<<20)))
	})
	// One that goes away meanwhile is forgotten.
	e := f.dial()
	e.send(cmd("SET", "e", "1"))
	e.silent()
	e.Close()
	d.syncing(func() { eventually(t, "it is gone", func() bool { return f.Clients() == 0 }) })
	d.close()
}

func TestShutdownWaitsForDisk(t *testing.T) {
	f := start(t, workers(2))
	d := newDisk(f)
	a := f.dial()
	a.send(cmd("SET", "a", "1"))
	a.silent()
	done := make(chan error, 1)
	go func() { done <- f.Shutdown(context.Background()) }()
	a.silent()
	d.syncing(func() { a.wantEnd("+OK\r\n") })
	if err := <-done; err != nil {
		t.Error(err)
	}
	d.close()
}

// TestGateModel has many clients work while a disk syncs now and then, and the gate is
// opened and shut: what anybody was told of is durable by then.
func TestGateModel(t *testing.T) {
	f := start(t, workers(3))
	d := newDisk(f)
	stop, synced := make(chan bool), make(chan bool)
	var mu sync.Mutex
	durable := map[string]int{} // the last number of each key that is durable
	go func() {
		defer close(synced)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond):
			}
			b, err := d.r.Next(1<<20, 0)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for e := range b.Entries() {
				parts := strings.Split(string(e.RESP), "\r\n")
				durable[parts[4]], _ = strconv.Atoi(parts[6])
			}
			mu.Unlock()
			d.r.Release(b.End())
			f.engine.SetDurable(b.End())
		}
	}()
	var wg sync.WaitGroup
	for i := range 12 {
		c := f.dial()
		wg.Go(func() { c.gated(i, &mu, durable) })
	}
	wg.Wait()
	close(stop)
	<-synced
	d.close()
}

// gated writes numbers, and reads those of others.
func (c *client) gated(id int, mu *sync.Mutex, durable map[string]int) {
	for n := range 150 {
		key := fmt.Sprintf("key%d", rand.IntN(12))
		if n%3 == 0 {
			key = fmt.Sprintf("key%d", id)
			c.send(cmd("SET", key, strconv.Itoa(n+1)))
		} else {
			c.send(cmd("GET", key))
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		got, err := c.reply()
		if err != nil {
			c.t.Error(err)
			return
		}
		want := n + 1
		if n%3 != 0 {
			want = 0
			if parts := strings.Split(got, "\r\n"); len(parts) > 2 {
				want, _ = strconv.Atoi(parts[1])
			}
		}
		mu.Lock()
		if durable[key] < want {
			c.t.Errorf("told of %s = %d, durable is %d", key, want, durable[key])
		}
		mu.Unlock()
	}
}

// observers are commands that look at the server, and some that look at keys.
func observers() command.Family {
	control := func(name string, acl command.Cat) *command.Spec {
		return &command.Spec{Name: name, Arity: 1, Group: "server", ACL: acl, Control: func(c *command.Call, _ command.Session) error {
			c.Reply.OK()
			return nil
		}}
	}
	return command.Family{Name: "observers", Specs: []*command.Spec{control("observe", command.CatDangerous), control("show", command.CatKeyspace), control("debug", 0)}}
}

// TestObserversDoNotWait: while the disk stands still, what shows no keys is answered.
func TestObserversDoNotWait(t *testing.T) {
	f := start(t)
	d := newDisk(f)
	defer d.close()
	a, b, c := f.dial(), f.dial(), f.dial()
	a.send(cmd("SET", "k", "1"))
	a.silent()
	b.do("+OK\r\n", "OBSERVE")
	b.send(cmd("SHOW"))
	b.silent()
	c.send(cmd("DEBUG"))
	c.silent()
	d.syncing(func() {
		a.want("+OK\r\n")
		b.want("+OK\r\n")
		c.want("+OK\r\n")
	})
}

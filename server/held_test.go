package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/server"
	"heddle/server/dispatch"
)

// large is how many elements the collections of these tests have, each of 500 bytes: more
// than what the system takes for a client that does not read.
const large = 30_000

// fill makes a large collection with a command that takes elements, and step arguments each.
func fill(c *client, name, key string, args func(i int) []string) {
	for i := 0; i < large; i += 100 {
		line := []string{name, key}
		for j := range 100 {
			line = append(line, args(i+j)...)
		}
		c.send(cmd(line...))
		if got, err := c.reply(); err != nil || got[0] != ':' {
			c.t.Fatalf("%s: %q, %v", name, got, err)
		}
	}
}

// element is element i of a collection.
func element(i int) string { return fmt.Sprintf("%0500d", i) }

func fillSet(c *client, key string) {
	fill(c, "sadd", key, func(i int) []string { return []string{element(i)} })
}

// lazyReader sends a command, and has read no more than the beginning of its reply.
func (f *fixture) lazyReader(in []byte) *client {
	f.t.Helper()
	c := f.dial()
	_ = c.Conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	c.send(in)
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(c.Conn, make([]byte, 1)); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// omem adds up what CLIENT LIST says of unsent replies, and of all memory.
func omem(c *client) (out, total int64) {
	c.t.Helper()
	c.send(cmd("client", "list"))
	got, err := c.reply()
	if err != nil {
		c.t.Fatal(err)
	}
	for word := range strings.FieldsSeq(got) {
		if n, ok := strings.CutPrefix(word, "omem="); ok {
			v, _ := strconv.ParseInt(n, 10, 64)
			out += v
		} else if n, ok := strings.CutPrefix(word, "tot-mem="); ok {
			v, _ := strconv.ParseInt(n, 10, 64)
			total += v
		}
	}
	return out, total
}

// TestHeldCollections: a reply of which the client reads nothing costs next to nothing while
// the collection is stored, whatever becomes of that; when its key goes, the client answers
// for the memory, in CLIENT LIST, in the clients' memory, in that of the server, in which it
// does not count twice, and before client-output-buffer-limit.
func TestHeldCollections(t *testing.T) {
	element := func(i int) string { return element(i) }
	for _, x := range []struct {
		name string
		fill func(c *client)
		read []string
	}{
		{"set", func(c *client) { fillSet(c, "k") }, []string{"smembers", "k"}},
		{"set drawn", func(c *client) { fillSet(c, "k") }, []string{"srandmember", "k", "-100000"}},
		{"hash", func(c *client) {
			fill(c, "hset", "k", func(i int) []string { return []string{strconv.Itoa(i), element(i)} })
		}, []string{"hgetall", "k"}},
		{"hash drawn", func(c *client) {
			fill(c, "hset", "k", func(i int) []string { return []string{strconv.Itoa(i), element(i)} })
		}, []string{"hrandfield", "k", "-100000", "withvalues"}},
		{"list", func(c *client) {
			fill(c, "rpush", "k", func(i int) []string { return []string{element(i)} })
		}, []string{"lrange", "k", "0", "-1"}},
		{"sorted set", func(c *client) {
			fill(c, "zadd", "k", func(i int) []string { return []string{strconv.Itoa(i), element(i)} })
		}, []string{"zrange", "k", "0", "-1"}},
		{"sorted set drawn", func(c *client) {
			fill(c, "zadd", "k", func(i int) []string { return []string{strconv.Itoa(i), element(i)} })
		}, []string{"zrandmember", "k", "-100000"}},
		{"sorted set, a sample", func(c *client) {
			fill(c, "zadd", "k", func(i int) []string { return []string{strconv.Itoa(i), element(i)} })
		}, []string{"zrandmember", "k", "29000"}},
		{"stream", func(c *client) {
			for i := 0; i < large; i += 100 {
				var in []byte
				for j := range 100 {
					in = append(in, cmd("xadd", "k", "*", "f", element(i+j))...)
				}
				c.send(in)
				for range 100 {
					if _, err := c.reply(); err != nil {
						c.t.Fatal(err)
					}
				}
			}
		}, []string{"xrange", "k", "-", "+"}},
	} {
		t.Run(x.name, func(t *testing.T) { heldCollection(t, x.fill, x.read) })
	}
}

func heldCollection(t *testing.T, fill func(c *client), read []string) {
	f := start(t)
	keys, c := f.engine.Keyspace(), f.dial()
	empty := keys.Used()
	fill(c)
	size := keys.Objects()
	if size < large*450 {
		t.Fatalf("the collection takes %d bytes", size)
	}
	slow := f.lazyReader(cmd(read...))
	settle := func() {
		f.Housekeep(1)
		c.do("+PONG\r\n", "ping")
	}
	for range 3 {
		settle()
	}
	if out, total := omem(c); out > 300<<10 || total > 400<<10 {
		t.Errorf("while the key is there, %d bytes wait of %d", out, total)
	}
	c.do("+OK\r\n", "rename", "k", "other")
	c.do(":1\r\n", "copy", "other", "k")
	c.do(":1\r\n", "del", "other")
	for range 3 {
		settle()
	}
	if m := f.ClientMemory(); m > 400<<10 {
		t.Errorf("while there is a copy, clients take %d bytes", m)
	}
	c.do(":1\r\n", "del", "k")
	near := func(n int64) bool { return n > size*9/10 && n < size+1<<20 }
	eventually(t, "CLIENT LIST shows it", func() bool {
		settle()
		out, total := omem(c)
		return near(out) && near(total)
	})
	if m, used := f.ClientMemory(), keys.Used()-empty; !near(m) || !near(used) || keys.Objects() != 0 {
		t.Errorf("of %d bytes, clients hold %d, the server %d, collections %d", size, m, used, keys.Objects())
	}
	f.Configure(func(s *server.Settings) {
		s.Output[dispatch.ClassNormal] = server.OutputLimit{Hard: size / 2}
	})
	eventually(t, "the client is cut", func() bool { settle(); return f.Clients() == 1 })
	if f.log.count("scheduled to be closed ASAP for overcoming of output buffer limits.") != 1 {
		t.Errorf("the log says %q", f.log.lines)
	}
	eventually(t, "nothing is left", func() bool { settle(); return f.ClientMemory() < 100<<10 && keys.Used()-empty < 1<<20 })
	slow.Close()
}

// TestHeldShared: readers of one collection share what they hold, also several replies to the
// same client, and what remains is on those that remain. Each has its limit.
func TestHeldShared(t *testing.T) {
	f := start(t, workers(2))
	keys, c := f.engine.Keyspace(), f.dial()
	fillSet(c, "k")
	size := keys.Objects()
	in := append(cmd("multi"), bytes.Repeat(cmd("smembers", "k"), 3)...)
	all := []*client{
		f.lazyReader(cmd("smembers", "k")), f.lazyReader(cmd("smembers", "k")),
		f.lazyReader(append(in, cmd("exec")...)),
	}
	c.send(bytes.Join([][]byte{cmd("multi"), cmd("set", "k", "v"), cmd("get", "k"), cmd("exec")}, nil))
	c.want("+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n+OK\r\n$1\r\nv\r\n")
	between := func(low, high int64) func() bool {
		return func() bool {
			f.Housekeep(1)
			out, _ := omem(c)
			return out > low && out < high && f.ClientMemory() > low && f.ClientMemory() < high
		}
	}
	eventually(t, "all hold it once", between(size*9/10, size+1<<20))
	f.Configure(func(s *server.Settings) {
		s.Output[dispatch.ClassNormal] = server.OutputLimit{Hard: size / 2}
	})
	eventually(t, "the one with three replies is cut, and then another", func() bool { f.Housekeep(1); return f.Clients() <= 2 })
	eventually(t, "the last is cut", func() bool { f.Housekeep(1); return f.Clients() == 1 })
	for _, c := range all {
		c.Close()
	}
	eventually(t, "nothing is left", func() bool { return f.ClientMemory() < 100<<10 })
}

// TestHeldLimits: the soft limit and maxmemory-clients look at what a client holds too.
func TestHeldLimits(t *testing.T) {
	t.Parallel()
	f := start(t, func(o *server.Options) {
		o.Settings.Output[dispatch.ClassNormal] = server.OutputLimit{Soft: large * 100, SoftSeconds: 1}
	})
	c := f.dial()
	slow := func() {
		fillSet(c, "k")
		f.lazyReader(cmd("smembers", "k"))
		time.Sleep(1500 * time.Millisecond)
		f.Housekeep(1)
		if c.do(":1\r\n", "exists", "k"); f.Clients() != 2 {
			t.Error("a client was cut while the key was there")
		}
		c.do(":1\r\n", "del", "k")
	}
	slow()
	eventually(t, "the soft limit acts", func() bool { f.Housekeep(1); return f.Clients() == 1 })
	f.Configure(func(s *server.Settings) {
		s.Output[dispatch.ClassNormal] = server.OutputLimit{}
		s.MaxMemoryClients = large * 100
	})
	slow()
	eventually(t, "the client is evicted", func() bool { f.Housekeep(1); return f.Clients() == 1 })
	if n := f.engine.Stats().Counters(); n.OutputLimitCloses != 1 || n.ClientsEvicted != 1 {
		t.Errorf("%d closes, %d evictions", n.OutputLimitCloses, n.ClientsEvicted)
	}
}

// TestHeldWhileStored: whoever only reads slowly is not cut while the key is there, also when
// its members change; what is gone of it counts.
func TestHeldWhileStored(t *testing.T) {
	f := start(t, func(o *server.Options) {
		o.Settings.Output[dispatch.ClassNormal] = server.OutputLimit{Hard: 1 << 20, Soft: 512 << 10, SoftSeconds: 1}
	})
	c := f.dial()
	fillSet(c, "k")
	slow := f.dial()
	_ = slow.Conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	slow.send(cmd("smembers", "k"))
	var plain int
	_ = slow.SetReadDeadline(time.Now().Add(60 * time.Second))
	line, err := slow.r.ReadString('\n')
	if want := fmt.Sprintf("*%d\r\n", large); err != nil || line != want {
		t.Fatal(line, err)
	}
	for range large {
		b, err := slow.reply()
		if err != nil {
			t.Fatalf("after %d members: %v", plain, err)
		}
		if plain++; plain%2000 == 0 {
			c.do(":1\r\n", "srem", "k", strings.TrimSuffix(strings.SplitN(b, "\r\n", 2)[1], "\r\n"))
			c.do(":1\r\n", "sadd", "k", fmt.Sprintf("new%0500d", plain))
			f.Housekeep(1)
			time.Sleep(100 * time.Millisecond)
		}
	}
	slow.do("+PONG\r\n", "ping")

	slow = f.lazyReader(cmd("smembers", "k"))
	c.send(cmd("spop", "k", strconv.Itoa(large-10)))
	c.r.Reset(io.LimitReader(c.Conn, 8)) // so much of the reply
	if got, err := c.r.ReadString('\n'); err != nil || got != fmt.Sprintf("*%d\r\n", large-10) {
		t.Fatal(got, err)
	}
	eventually(t, "both are cut", func() bool { f.Housekeep(1); return f.Clients() == 1 })
	slow.Close()
}

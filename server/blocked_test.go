package server_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"heddle/server/command"
)

// slowFamily has SLOW, which takes a while.
func slowFamily() command.Family {
	return command.Family{Name: "slow", Specs: []*command.Spec{{
		Name: "slow", Arity: 1, Group: "test", Control: func(c *command.Call, _ command.Session) error {
			time.Sleep(time.Millisecond)
			c.Reply.OK()
			return nil
		},
	}}}
}

func popped(key, value string) string { return "*2\r\n" + bulk(key) + bulk(value) }

// Commands behind one that blocks are run when that is answered, however they are
// spelled and wherever they are cut.
func TestBlockedGoesOn(t *testing.T) {
	f := start(t, workers(2))
	a, b := f.dial(), f.dial()
	big := strings.Repeat("x", 300_000)
	var in bytes.Buffer
	in.Write(cmd("BLPOP", "k", "0"))
	in.WriteString("set \"a b\" 'x\\'y'\r\n")
	in.Write(cmd("GET", "a b"))
	in.Write(cmd("BLPOP", "k", "l", "0"))
	in.Write(cmd("SET", "big", big))
	in.WriteString("strlen big\r\nbrpop k 0.01\r\nping\r\n")
	a.send(in.Bytes()[:40])
	eventually(t, "the client waits", func() bool { return f.engine.Clients().Blocked() == 1 })
	a.send(in.Bytes()[40:])
	b.send(append(cmd("RPUSH", "k", "1"), cmd("LLEN", "k")...))
	b.want(":1\r\n", ":0\r\n")
	a.want(popped("k", "1"), "+OK\r\n", bulk("x'y"))
	eventually(t, "the client waits", func() bool { return f.engine.Clients().Blocked() == 1 })
	b.do(":1\r\n", "RPUSH", "l", big)
	a.want(popped("l", big), "+OK\r\n", ":300000\r\n", "*-1\r\n", "+PONG\r\n")
}

// What a client finds that pushed is what those who waited left, on any worker.
func TestBlockedServedAtOnce(t *testing.T) {
	f := start(t, workers(3))
	b := f.dial()
	for range 50 {
		a, c := f.dial(), f.dial()
		a.send(cmd("BLPOP", "x", "k", "0"))
		c.send(cmd("BLMOVE", "x", "y", "LEFT", "LEFT", "0"))
		eventually(t, "two clients wait", func() bool { return f.engine.Clients().Blocked() == 2 })
		b.send(bytes.Join([][]byte{cmd("RPUSH", "k", "1"), cmd("LLEN", "k"), cmd("RPUSH", "x", "2"), cmd("EXISTS", "x"), cmd("LPOP", "y")}, nil))
		b.want(":1\r\n", ":0\r\n", ":1\r\n", ":0\r\n", bulk("2"))
		a.want(popped("k", "1"))
		c.want(bulk("2"))
		a.Close()
		c.Close()
	}
}

// An element stays when the client that waited for it is gone.
func TestBlockedClientGoes(t *testing.T) {
	f := start(t, workers(2))
	a, b := f.dial(), f.dial()
	a.send(cmd("BLPOP", "k", "l", "100"))
	eventually(t, "the client waits", func() bool { return f.engine.Clients().Blocked() == 1 })
	a.Close()
	eventually(t, "the client is gone", func() bool { return f.engine.Clients().Blocked() == 0 })
	b.do(":1\r\n", "RPUSH", "k", "1")
	b.do(":1\r\n", "LLEN", "k")
	if r := f.engine.Clients(); r.BlockingKeys() != 0 || r.Timed() != 0 {
		t.Errorf("%d keys, %d timeouts", r.BlockingKeys(), r.Timed())
	}
}

// Waits end on time, to the millisecond where the machine lets them.
func TestBlockedTimeout(t *testing.T) {
	f := start(t)
	a := f.dial()
	best := time.Hour
	for range 20 {
		begin := time.Now()
		a.do("*-1\r\n", "BLPOP", "k", "0.01")
		took := time.Since(begin)
		if took < 10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		best = min(best, took)
	}
	if best > 15*time.Millisecond {
		t.Errorf("it took %v at least", best)
	}
}

// A pipeline of slow commands keeps nobody else waiting to its end.
func TestSlowPipeline(t *testing.T) {
	f := start(t)
	a, b := f.dial(), f.dial()
	b.do("+PONG\r\n", "PING")
	const n = 300
	a.send(bytes.Repeat(cmd("SLOW"), n))
	begin := time.Now()
	for range 5 {
		b.do("+PONG\r\n", "PING")
	}
	if took := time.Since(begin); took > n*time.Millisecond/2 {
		t.Errorf("five pings took %v", took)
	}
	for range n {
		a.want("+OK\r\n")
	}
}

// Package stress runs all commands of several keys, and all that block, at random on
// a few keys from many clients over more workers than the machine has processors. A
// watchdog finds deadlocks; in the end nothing may be lost or doubled that was only
// moved about.
package stress

import (
	"flag"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

const (
	clients = 16
	workers = 8
)

var (
	length = flag.Duration("length", 3*time.Second, "how long each stress test runs")
	seed   = flag.Int64("seed", 0, "seed; 0: by the clock")
	race   = flag.Bool("server-race", false, "run a server with the race detector")
)

// binary is a server whose invariants are checked.
var binary testserver.Binary

func TestMain(m *testing.M) { binary.Main(m) }

// start runs a server.
func start(t *testing.T, args ...string) *testserver.Server {
	t.Helper()
	mode := testserver.Checked
	if *race {
		mode = testserver.Raced
	}
	path := binary.Path(t, "", mode)
	s := testserver.Run(t, path, testserver.Options{Args: append(testserver.Args(path, workers), args...)})
	t.Cleanup(func() {
		if !s.Alive() && !t.Failed() {
			t.Errorf("the server ended:\n%s", s.Log())
		}
	})
	return s
}

// stress is one run of many clients.
type stress struct {
	t     *testing.T
	s     *testserver.Server
	steps [clients]atomic.Int64
	all   atomic.Int64
	until time.Time
	wg    sync.WaitGroup
}

// client is one of them.
type client struct {
	*difftest.Client
	run  *stress
	rng  *rand.Rand
	name string
	// killable says that somebody else may close its connection.
	killable bool
}

// run has clients take steps until time is up.
func (st *stress) run(step func(c *client)) {
	base := *seed
	if base == 0 {
		base = time.Now().UnixNano()
	}
	st.t.Logf("seed %d", base)
	st.until = time.Now().Add(*length)
	for i := range clients {
		c := &client{run: st, rng: rand.New(rand.NewSource(base + int64(i))), name: fmt.Sprintf("client%d", i)}
		st.wg.Go(func() {
			c.dial()
			defer func() { c.Close() }()
			for time.Now().Before(st.until) && !st.t.Failed() {
				step(c)
				st.steps[i].Add(1)
				st.all.Add(1)
			}
			st.steps[i].Store(-1)
		})
	}
	st.watch()
	st.t.Logf("%d steps", st.all.Load())
}

// patience is how long a client may take for a step: it asks for short timeouts.
const patience = 20 * time.Second

// watch waits for the clients, and ends the test with the server's stacks when one
// does not get on.
func (st *stress) watch() {
	done := make(chan struct{})
	go func() { st.wg.Wait(); close(done) }()
	var last [clients]int64
	var since [clients]time.Time
	for {
		select {
		case <-done:
			return
		case <-time.After(200 * time.Millisecond):
		}
		for i := range clients {
			n := st.steps[i].Load()
			if n != last[i] || n == -1 || since[i].IsZero() {
				last[i], since[i] = n, time.Now()
			}
			if time.Since(since[i]) > patience {
				st.t.Errorf("client %d does not get on:\n%s", i, st.s.Stacks())
				return
			}
		}
	}
}

func (c *client) dial() {
	var err error
	if c.Client, err = difftest.Dial(c.run.s.Addr); err != nil {
		c.run.t.Error(err)
		return
	}
	c.do("CLIENT", "SETNAME", c.name)
}

// do runs a command, given as words. A connection that was killed is opened anew,
// and the reply lost.
func (c *client) do(argv ...string) (r difftest.Reply, ok bool) {
	r, err := c.Do(argv...)
	if err != nil {
		if c.killable {
			c.Close()
			c.dial()
		} else {
			c.run.t.Errorf("%v: %v", argv, err)
		}
		return r, false
	}
	if r.Kind == '-' {
		c.checkError(argv, string(r.Text))
		return r, false
	}
	return r, true
}

// checkError refuses errors that no command here should answer.
func (c *client) checkError(argv []string, text string) {
	for _, good := range []string{"WRONGTYPE", "NOGROUP", "BUSYGROUP", "UNBLOCKED", "EXECABORT", "ERR no such key", "ERR index out of range",
		"ERR source and destination objects are the same", "ERR One or more scores can't be converted", "ERR hash value is not",
		"ERR value is not an integer", "ERR The ID specified", "ERR No such client", "ERR value is not a valid float", "ERR could not", "ERR Background",
		"ERR The XGROUP subcommand requires the key", "ERR the new object pointed", "ERR object is not", "BUSYKEY", "ERR resulting score", "ERR syntax", "ERR The specified keys must", "ERR source and destination objects", "ERR DB index", "ERR EXEC without MULTI", "INVALIDOBJ"} {
		if strings.HasPrefix(text, good) {
			return
		}
	}
	c.run.t.Errorf("%v: %s", argv, text)
}

// pick returns one of some.
func (c *client) pick(some ...string) string { return some[c.rng.Intn(len(some))] }

// key returns one of a kind of keys, and now and then one of any.
func (c *client) key(kind string) string {
	if c.rng.Intn(12) == 0 {
		kind = c.pick("l", "s", "z", "h", "p", "x")
	}
	return kind + string(rune('0'+c.rng.Intn(3)))
}

// chaos is commands in which l, s, z, h, p, x stand for a key of that kind, v for a
// value, n for a small number, t for a short timeout in seconds, m in milliseconds.
const chaos = `RPUSH l v v|LPUSH l v|LPOP l|RPOP l n|LMOVE l l LEFT RIGHT|RPOPLPUSH l l|LMPOP 3 l l l LEFT COUNT n|LREM l n v|LTRIM l n 20|LINSERT l BEFORE v v|LRANGE l 0 -1
BLPOP l l l t|BRPOP l t|BLMOVE l l LEFT LEFT t|BRPOPLPUSH l l t|BLMPOP t 2 l l RIGHT|BZPOPMIN z z t|BZPOPMAX z t|BZMPOP t 2 z z MIN COUNT n
XREAD COUNT 5 BLOCK m STREAMS x x $ $|XREADGROUP GROUP g c COUNT 2 BLOCK m STREAMS x x > >|XADD x MAXLEN ~ 100 * f v|XGROUP CREATE x g $ MKSTREAM|XGROUP DESTROY x g|XTRIM x MAXLEN 5|XAUTOCLAIM x g c 0 0
SADD s v v v|SREM s v|SPOP s n|SMOVE s s v|SINTERSTORE s s s|SUNIONSTORE s s s s|SDIFFSTORE s s s|SINTERCARD 2 s s|SUNION s s s
ZADD z n v n v|ZREM z v|ZPOPMIN z|ZUNIONSTORE z 3 z z s|ZINTERSTORE z 2 z z|ZDIFFSTORE z 2 z z|ZRANGESTORE z z 0 3|ZMPOP 2 z z MAX|ZINCRBY z n v|ZUNION 2 z z
HSET h v v|HDEL h v|HINCRBY h v n|HGETALL h|HRANDFIELD h n
SET p v|APPEND p v|MSET p v p v|MGET p p l|MSETNX p v p v|BITOP OR p p p|PFADD p v|PFMERGE p p p|PFCOUNT p p|DEL p l|UNLINK s z|EXISTS l s z|TOUCH p l|GETDEL p|LCS p p
SORT l BY w* GET # STORE l|SORT s LIMIT 0 n ALPHA STORE l|SORT_RO z BY nosort GET p*|RENAME l l|RENAME z z|RENAMENX s s|COPY l l REPLACE|COPY z z DB 1 REPLACE|COPY x x REPLACE|MOVE l 1|MOVE x 1
GEOADD z n n v|GEOSEARCHSTORE z z FROMLONLAT n n BYRADIUS 500 km|EXPIRE l 100|PEXPIRE p m|PEXPIRE l m|PERSIST l|RANDOMKEY|SCAN 0|KEYS l*|DBSIZE
SWAPDB 0 1|SWAPDB 1 2|FLUSHALL|FLUSHDB ASYNC|SELECT 1|SELECT 0|SELECT 0|WATCH l z|UNWATCH|CLIENT LIST|OBJECT ENCODING l|DEBUG SLEEP 0.0005|INFO clients|TYPE x`

// command makes a random command.
func (c *client) command(lines []string) []string {
	argv := strings.Fields(lines[c.rng.Intn(len(lines))])
	for i, a := range argv[1:] {
		switch a {
		case "l", "s", "z", "h", "p", "x":
			a = c.key(a)
		case "v":
			a = fmt.Sprint("value", c.rng.Intn(12))
		case "n":
			a = fmt.Sprint(1 + c.rng.Intn(4))
		case "t":
			a = fmt.Sprintf("0.0%d", 1+c.rng.Intn(9))
		case "m":
			a = fmt.Sprint(1 + c.rng.Intn(30))
		}
		argv[i+1] = a
	}
	return argv
}

// TestEverything is all of it, alone and in transactions, while clients are
// unblocked and killed.
func TestEverything(t *testing.T) {
	st := &stress{t: t, s: start(t, "--list-max-listpack-size", "8", "--zset-max-listpack-entries", "8", "--set-max-listpack-entries", "8", "--hash-max-listpack-entries", "8")}
	lines := strings.Split(strings.ReplaceAll(chaos, "\n", "|"), "|")
	st.run(func(c *client) {
		c.killable = true
		switch c.rng.Intn(40) {
		case 0, 1, 2, 3, 4:
			c.do("MULTI")
			for range 1 + c.rng.Intn(5) {
				if argv := c.command(lines); argv[0] != "WATCH" {
					c.do(argv...)
				}
			}
			c.do("EXEC")
		case 5, 6:
			c.do("CLIENT", "UNBLOCK", fmt.Sprint(1+c.rng.Intn(100)), c.pick("TIMEOUT", "ERROR"))
		case 7:
			if c.rng.Intn(5) == 0 {
				c.do("CLIENT", "KILL", "ID", fmt.Sprint(3+c.rng.Intn(200)))
			} else if c.rng.Intn(5) == 0 {
				c.do("CLIENT", "PAUSE", "2", c.pick("WRITE", "ALL"))
			}
		default:
			c.do(c.command(lines)...)
		}
	})
	st.settled()
}

// settled checks that nothing is left of clients that are gone.
func (st *stress) settled() {
	if st.t.Failed() {
		return
	}
	c := testclient.Dial(st.t, st.s.Addr)
	var info string
	for range 100 {
		info = string(c.Do("INFO", "clients").Text)
		left := false
		for _, field := range []string{"connected_clients:1", "blocked_clients:0", "clients_in_timeout_table:0", "total_blocking_keys:0", "total_blocking_keys_on_nokey:0"} {
			left = left || !strings.Contains(info, field+"\r\n")
		}
		if !left {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	st.t.Errorf("something is left of clients that are gone:\n%s", info)
}

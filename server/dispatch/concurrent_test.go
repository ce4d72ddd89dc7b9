package dispatch_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"heddle/db"
	"heddle/server/command"
	"heddle/server/dispatch"
)

// worker is a goroutine with an executor, as the server has them.
type worker struct {
	x     *dispatch.Executor
	mu    sync.Mutex
	mail  []func()
	bell  chan struct{}
	conns []*workerConn
}

type workerConn struct {
	nullConn
	wk *worker
	c  *dispatch.Client
}

func (c *workerConn) Post(fn func()) {
	c.wk.mu.Lock()
	c.wk.mail = append(c.wk.mail, fn)
	c.wk.mu.Unlock()
	select {
	case c.wk.bell <- struct{}{}:
	default:
	}
}

func newWorker(e *dispatch.Engine) *worker {
	return &worker{x: e.NewExecutor(), bell: make(chan struct{}, 1)}
}

func (w *worker) connect() *workerConn {
	c := &workerConn{wk: w}
	c.c = w.x.NewClient(c)
	w.conns = append(w.conns, c)
	return c
}

func (w *worker) drain() {
	w.x.Expire()
	w.mu.Lock()
	mail := w.mail
	w.mail = nil
	w.mu.Unlock()
	for _, fn := range mail {
		fn()
	}
}

func (w *worker) do(c *workerConn, args ...string) string {
	argv := make([][]byte, len(args))
	for i, a := range args {
		argv[i] = []byte(a)
	}
	w.x.RunBatch([]dispatch.Pending{{Client: c.c, Argv: argv}})
	return c.take()
}

func (c *workerConn) take() string {
	s := string(c.w.Bytes())
	c.w.Reset(nil)
	return s
}

// waitFor handles mail until the client is free and returns its reply.
func (w *worker) waitFor(c *workerConn, limit time.Duration) (string, bool) {
	deadline := time.After(limit)
	for {
		w.drain()
		if !c.c.Blocked() {
			return c.take(), true
		}
		select {
		case <-w.bell:
		case <-deadline:
			return "", false
		}
	}
}

func testEngine(t *testing.T, more ...command.Family) *dispatch.Engine {
	t.Helper()
	table, err := command.NewTable(append(more, families()...)...)
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ks.Check(); err != nil {
			t.Error(err)
		}
		ks.Close()
	})
	return dispatch.New(dispatch.Options{Table: table, Keyspace: ks, Log: func(line string) { t.Error(line) }})
}

// TestWaitersGetAll hands items from producers to consumers on other workers
// through a few keys. Every item is taken exactly once, and nobody sleeps while
// there is one.
func TestWaitersGetAll(t *testing.T) {
	const producers, consumers, items = 2, 3, 150
	e := testEngine(t)
	var wg sync.WaitGroup
	got := make([]map[string]bool, consumers)
	for i := range consumers {
		got[i] = map[string]bool{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := newWorker(e)
			c := w.connect()
			for {
				reply := w.do(c, "await", "q0", "q1", "q2", "stop"+strconv.Itoa(i), "0")
				if reply == "" {
					var ok bool
					if reply, ok = w.waitFor(c, 10*time.Second); !ok {
						t.Errorf("consumer %d waits for ever", i)
						return
					}
				}
				parts := bytes.Split([]byte(reply), []byte("\r\n"))
				if len(parts) < 5 {
					t.Errorf("reply %q", reply)
					return
				}
				if bytes.HasPrefix(parts[2], []byte("stop")) {
					c.c.Close()
					return
				}
				got[i][string(parts[4])] = true
			}
		}()
	}
	var made sync.WaitGroup
	for p := range producers {
		made.Add(1)
		go func() {
			defer made.Done()
			w := newWorker(e)
			c := w.connect()
			defer c.c.Close()
			for n := 0; n < items; {
				if w.do(c, "setnx", fmt.Sprintf("q%d", n%3), fmt.Sprintf("item-%d-%d", p, n)) == ":1\r\n" {
					n++
				}
			}
		}()
	}
	made.Wait()
	w := newWorker(e)
	c := w.connect()
	for i := range consumers {
		w.do(c, "set", "stop"+strconv.Itoa(i), "1")
	}
	wg.Wait()
	c.c.Close()
	total := 0
	for _, g := range got {
		total += len(g)
	}
	left := 0
	for i := range 3 {
		if w.do(w.connect(), "exists", fmt.Sprintf("q%d", i)) == ":1\r\n" {
			left++
		}
	}
	if total+left != producers*items {
		t.Errorf("%d items taken and %d left of %d", total, left, producers*items)
	}
	if n := e.Clients().Blocked(); n != 0 {
		t.Errorf("%d clients blocked", n)
	}
}

// TestExecIsAtomic moves units between counters in transactions on several
// workers, while others look at all counters in one: the sum never changes.
func TestExecIsAtomic(t *testing.T) {
	const counters, rounds = 10, 300
	e := testEngine(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := newWorker(e)
			c := w.connect()
			defer c.c.Close()
			rnd := rand.New(rand.NewPCG(uint64(g), 2))
			for range rounds {
				if g%2 == 0 {
					w.do(c, "multi")
					w.do(c, "incr", fmt.Sprintf("c%d", rnd.IntN(counters)))
					w.do(c, "decr", fmt.Sprintf("c%d", rnd.IntN(counters)))
					w.do(c, "exec")
					continue
				}
				if sum := sumOf(w.do(c, mgetAll(counters)...)); sum != 0 {
					t.Errorf("sum %d", sum)
				}
			}
		}()
	}
	wg.Wait()
}

func mgetAll(n int) []string {
	args := []string{"mget"}
	for i := range n {
		args = append(args, fmt.Sprintf("c%d", i))
	}
	return args
}

func sumOf(reply string) (sum int64) {
	lines := bytes.Split([]byte(reply), []byte("\r\n"))
	for i, l := range lines {
		if len(l) > 1 && l[0] == '$' && l[1] != '-' {
			n, _ := strconv.ParseInt(string(lines[i+1]), 10, 64)
			sum += n
		}
	}
	return sum
}

// TestWatchIsOptimistic increments a counter with WATCH, GET, MULTI, SET, EXEC
// on several workers: no increment is lost.
func TestWatchIsOptimistic(t *testing.T) {
	const workers, each = 4, 150
	e := testEngine(t)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := newWorker(e)
			c := w.connect()
			defer c.c.Close()
			for done := 0; done < each; {
				w.do(c, "watch", "n")
				sum := sumOf(w.do(c, "mget", "n"))
				w.do(c, "multi")
				w.do(c, "set", "n", strconv.FormatInt(sum+1, 10))
				w.do(c, "set", "other", "x")
				if reply := w.do(c, "exec"); reply[0] == '*' && reply[1] == '2' {
					done++
				}
			}
		}()
	}
	wg.Wait()
	w := newWorker(e)
	if got := sumOf(w.do(w.connect(), "mget", "n")); got != workers*each {
		t.Errorf("counted to %d, want %d", got, workers*each)
	}
}

// TestPauseUnderLoad pauses and unpauses while workers write: every command is
// answered in the end.
func TestPauseUnderLoad(t *testing.T) {
	e := testEngine(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := newWorker(e)
			c := w.connect()
			defer c.c.Close()
			for {
				select {
				case <-stop:
					return
				default:
				}
				reply := w.do(c, "incr", "n"+strconv.Itoa(g))
				if c.c.Blocked() {
					var ok bool
					if reply, ok = w.waitFor(c, 10*time.Second); !ok {
						t.Error("held back for ever")
						return
					}
				}
				if reply[0] != ':' {
					t.Errorf("reply %q", reply)
				}
			}
		}()
	}
	for i := range 100 {
		e.Pause(db.Millis(1+i%3), i%2 == 0)
		if i%3 == 0 {
			e.Unpause()
		}
		time.Sleep(time.Millisecond)
	}
	e.Unpause()
	close(stop)
	wg.Wait()
}

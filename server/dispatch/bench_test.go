package dispatch_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/connection"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
)

// benchEngine is an engine over a keyspace with the system's clock.
func benchEngine(tb testing.TB) *dispatch.Engine {
	tb.Helper()
	table, err := command.NewTable(
		str.Family(func() int64 { return 512 << 20 }), transactions.Family(),
		connection.Family(connection.Deps{Version: "7.2.6", Databases: 16}))
	if err != nil {
		tb.Fatal(err)
	}
	ks, err := db.Open(db.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(ks.Close)
	return dispatch.New(dispatch.Options{Table: table, Keyspace: ks})
}

// nullConn is a connection whose replies nobody reads.
type nullConn struct{ w resp.Writer }

func (c *nullConn) Writer() *resp.Writer { return &c.w }
func (c *nullConn) Kill()                {}
func (c *nullConn) Post(fn func())       { fn() }
func (c *nullConn) RemoteAddr() string   { return "127.0.0.1:1" }
func (c *nullConn) LocalAddr() string    { return "127.0.0.1:2" }
func (c *nullConn) FD() int              { return 3 }
func (c *nullConn) Worker() int          { return 0 }
func (c *nullConn) Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64) {
	return
}

// driver runs batches for one goroutine.
type driver struct {
	x     *dispatch.Executor
	conn  *nullConn
	batch []dispatch.Pending
}

const batchSize = 16

func newDriver(e *dispatch.Engine) *driver {
	d := &driver{x: e.NewExecutor(), conn: &nullConn{}, batch: make([]dispatch.Pending, batchSize)}
	c := d.x.NewClient(d.conn)
	for i := range d.batch {
		d.batch[i].Client = c
	}
	return d
}

func (d *driver) run(n int) {
	d.x.RunBatch(d.batch[:n])
	d.conn.w.Reset(d.conn.w.Bytes())
}

// do runs one command.
func (d *driver) do(args ...string) {
	argv := make([][]byte, len(args))
	for i, a := range args {
		argv[i] = []byte(a)
	}
	d.batch[0].Argv = argv
	d.run(1)
}

// workload makes commands: argv is ready before the clock runs.
type workload func(rnd *rand.Rand) [][]byte

const benchKeys = 100_000

var benchValue = []byte("0123456789abcdef0123456789abcdef")

func key(i int) []byte { return fmt.Appendf(nil, "key:%011d", i) }

func get(i int) [][]byte { return [][]byte{[]byte("get"), key(i)} }
func set(i int) [][]byte { return [][]byte{[]byte("set"), key(i), benchValue} }
func incr(i int) [][]byte {
	return [][]byte{[]byte("incr"), fmt.Appendf(nil, "counter:%d", i)}
}

func mixed(pick func(*rand.Rand) int) workload {
	return func(rnd *rand.Rand) [][]byte {
		switch i := pick(rnd); rnd.IntN(3) {
		case 0:
			return get(i)
		case 1:
			return set(i)
		default:
			return incr(i)
		}
	}
}

func uniform(rnd *rand.Rand) int { return rnd.IntN(benchKeys) }
func single(*rand.Rand) int      { return 7 }

// drive runs b.N commands on so many goroutines.
func drive(b *testing.B, e *dispatch.Engine, goroutines int, w workload) {
	const prepared = 1 << 14
	b.ReportAllocs()
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for g := range goroutines {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			d := newDriver(e)
			list := make([][][]byte, prepared)
			for i := range list {
				list[i] = w(rnd)
			}
			ready.Done()
			<-start
			for n, at := b.N/goroutines, 0; n > 0; n -= batchSize {
				for i := range d.batch {
					d.batch[i].Argv = list[at&(prepared-1)]
					at++
				}
				d.run(min(n, batchSize))
			}
		}()
	}
	ready.Wait()
	b.ResetTimer()
	close(start)
	done.Wait()
}

func fill(e *dispatch.Engine) {
	d := newDriver(e)
	for i := range benchKeys {
		d.batch[0].Argv = set(i)
		d.run(1)
	}
}

func BenchmarkBatch(b *testing.B) {
	e := benchEngine(b)
	fill(e)
	for _, w := range []struct {
		name string
		load workload
	}{
		{"get/uniform", func(r *rand.Rand) [][]byte { return get(uniform(r)) }},
		{"set/uniform", func(r *rand.Rand) [][]byte { return set(uniform(r)) }},
		{"incr/uniform", func(r *rand.Rand) [][]byte { return incr(uniform(r)) }},
		{"mixed/uniform", mixed(uniform)},
		{"get/single", func(r *rand.Rand) [][]byte { return get(single(r)) }},
		{"mixed/single", mixed(single)},
	} {
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", w.name, n), func(b *testing.B) { drive(b, e, n, w.load) })
		}
	}
}

// BenchmarkExec is MULTI, ten SETs of random keys, EXEC.
func BenchmarkExec(b *testing.B) {
	e := benchEngine(b)
	fill(e)
	for _, goroutines := range []int{1, 2} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			b.ReportAllocs()
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Add(1)
				go func() {
					defer wg.Done()
					rnd := rand.New(rand.NewPCG(uint64(g), 1))
					list := make([][][]byte, 1<<12)
					for i := range list {
						list[i] = set(uniform(rnd))
					}
					d := newDriver(e)
					d.batch[0].Argv = [][]byte{[]byte("multi")}
					d.batch[11].Argv = [][]byte{[]byte("exec")}
					for n, at := b.N/goroutines, 0; n > 0; n-- {
						for i := range 10 {
							d.batch[i+1].Argv = list[at&(1<<12-1)]
							at++
						}
						d.run(12)
					}
				}()
			}
			wg.Wait()
		})
	}
}

// TestNoAllocations holds the short way to what it promises.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checked builds allocate")
	}
	e := benchEngine(t)
	d := newDriver(e)
	d.do("set", "k", string(benchValue))
	d.do("set", "n", "1")
	for name, argv := range map[string][][]byte{
		"get":    {[]byte("get"), []byte("k")},
		"set":    {[]byte("set"), []byte("k"), benchValue},
		"incr":   {[]byte("incr"), []byte("n")},
		"strlen": {[]byte("strlen"), []byte("k")},
		"mget":   {[]byte("mget"), []byte("k"), []byte("n")},
		"mset":   {[]byte("mset"), []byte("k"), benchValue, []byte("n"), []byte("1")},
	} {
		for i := range d.batch {
			d.batch[i].Argv = argv
		}
		if n := testing.AllocsPerRun(100, func() { d.run(batchSize) }); n != 0 {
			t.Errorf("%s: %.1f allocations in a batch", name, n)
		}
	}
}

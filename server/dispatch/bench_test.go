package dispatch_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"heddle/db"
	"heddle/db/arena"
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
	ks, err := db.Open(db.Options{Arena: arena.Options{HugePages: 64 << 20}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(ks.Close)
	return dispatch.New(dispatch.Options{Table: table, Keyspace: ks})
}

// nullConn is a connection whose replies nobody reads.
type nullConn struct {
	w resp.Writer
	_ [128]byte // keeps it off the lines of another goroutine's
}

func (c *nullConn) Writer() *resp.Writer { return &c.w }
func (c *nullConn) Kill()                {}
func (c *nullConn) Post(fn func())       { fn() }
func (c *nullConn) Push(head byte, rest []byte, free resp.Releaser) {
	c.w.PushRaw(head, rest, free)
}
func (c *nullConn) RemoteAddr() string { return "127.0.0.1:1" }
func (c *nullConn) LocalAddr() string  { return "127.0.0.1:2" }
func (c *nullConn) FD() int            { return 3 }
func (c *nullConn) Worker() int        { return 0 }
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

const benchKeys = 100_000

var benchValue = []byte("0123456789abcdef0123456789abcdef")

const keyDigits = 11

// template is a command whose key changes: it is spelled anew in its own
// buffer, as commands in a connection's buffer are, instead of thousands of
// prepared commands whose memory would be what is measured.
type template struct {
	argv [][]byte
	key  []byte // the digits
}

func newTemplate(name, prefix string, rest ...[]byte) *template {
	key := append([]byte(prefix), "00000000000"...)
	return &template{argv: append([][]byte{[]byte(name), key}, rest...), key: key[len(prefix):]}
}

func (t *template) with(i int) [][]byte {
	for at := keyDigits - 1; at >= 0; at-- {
		t.key[at] = byte('0' + i%10)
		i /= 10
	}
	return t.argv
}

// op is one of the commands measured; counters have keys of their own.
type op int

const (
	opGet op = iota
	opSet
	opIncr
	opCount
	opMixed = opCount // each of them in turn at random
)

// slot has the templates for one place in a batch.
type slot [opCount]*template

func newSlot() *slot {
	return &slot{
		opGet:  newTemplate("get", "key:"),
		opSet:  newTemplate("set", "key:", benchValue),
		opIncr: newTemplate("incr", "cnt:"),
	}
}

func (s *slot) make(o op, rnd *rand.PCG, keys uint64) [][]byte {
	r := rnd.Uint64()
	if o == opMixed {
		o = op(r >> 32 % uint64(opCount))
	}
	return s[o].with(int(r & (1<<32 - 1) * keys >> 32))
}

// drive runs b.N commands on so many goroutines.
func drive(b *testing.B, e *dispatch.Engine, goroutines int, o op, keys uint64) {
	b.ReportAllocs()
	each(b, goroutines, func(g int) func() {
		d, rnd := newDriver(e), rand.NewPCG(uint64(g), 1)
		slots := make([]*slot, batchSize)
		for i := range slots {
			slots[i] = newSlot()
		}
		return func() {
			for n := b.N / goroutines; n > 0; n -= batchSize {
				for i := range d.batch {
					d.batch[i].Argv = slots[i].make(o, rnd, keys)
				}
				d.run(min(n, batchSize))
			}
		}
	})
}

// each runs what prepare returns on so many goroutines at once.
func each(b *testing.B, goroutines int, prepare func(g int) func()) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for g := range goroutines {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			run := prepare(g)
			ready.Done()
			<-start
			run()
		}()
	}
	ready.Wait()
	b.ResetTimer()
	before := cpuNanos()
	close(start)
	done.Wait()
	b.ReportMetric(float64(cpuNanos()-before)/float64(b.N), "cpu-ns/op")
}

// cpuNanos is the processor time of this process: what a command costs,
// whatever else runs on the machine.
func cpuNanos() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func fill(e *dispatch.Engine) { fillTo(e, benchKeys) }

func fillTo(e *dispatch.Engine, keys int) {
	d, t := newDriver(e), newSlot()
	for i := range keys {
		d.batch[0].Argv = t[opSet].with(i)
		d.run(1)
	}
}

func BenchmarkBatch(b *testing.B) {
	e := benchEngine(b)
	fill(e)
	for _, w := range []struct {
		name string
		op   op
		keys uint64
	}{
		{"get/uniform", opGet, benchKeys},
		{"set/uniform", opSet, benchKeys},
		{"incr/uniform", opIncr, benchKeys},
		{"mixed/uniform", opMixed, benchKeys},
		{"get/single", opGet, 1},
		{"incr/single", opIncr, 1},
	} {
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", w.name, n), func(b *testing.B) { drive(b, e, n, w.op, w.keys) })
		}
	}
}

// BenchmarkAlone is a batch of one GET: what an unpipelined command costs.
func BenchmarkAlone(b *testing.B) {
	e := benchEngine(b)
	fill(e)
	d, rnd, s := newDriver(e), rand.NewPCG(1, 1), newSlot()
	b.ReportAllocs()
	for b.Loop() {
		d.batch[0].Argv = s.make(opGet, rnd, benchKeys)
		d.run(1)
	}
}

// BenchmarkPing is a command that takes the long way.
func BenchmarkPing(b *testing.B) {
	d := newDriver(benchEngine(b))
	for i := range d.batch {
		d.batch[i].Argv = [][]byte{[]byte("ping")}
	}
	b.ReportAllocs()
	for n := b.N; n > 0; n -= batchSize {
		d.run(batchSize)
	}
}

// BenchmarkExec is MULTI, ten SETs of random keys, EXEC.
func BenchmarkExec(b *testing.B) {
	e := benchEngine(b)
	fill(e)
	for _, goroutines := range []int{1, 2} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			b.ReportAllocs()
			each(b, goroutines, func(g int) func() { return execs(e, g, b.N/goroutines) })
		})
	}
}

// execs prepares n transactions.
func execs(e *dispatch.Engine, g, n int) func() {
	const sets = 10
	d, rnd := newDriver(e), rand.NewPCG(uint64(g), 1)
	slots := make([]*slot, sets)
	for i := range slots {
		slots[i] = newSlot()
	}
	d.batch[0].Argv = [][]byte{[]byte("multi")}
	d.batch[sets+1].Argv = [][]byte{[]byte("exec")}
	return func() {
		for range n {
			for i := range sets {
				d.batch[i+1].Argv = slots[i].make(opSet, rnd, benchKeys)
			}
			d.run(sets + 2)
		}
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

// BenchmarkMillions is GETs of 10 million keys, of which the caches hold none: what is
// left of the wait for memory. To be compared with BenchmarkBatch/get.
func BenchmarkMillions(b *testing.B) {
	const keys = 10_000_000
	e := benchEngine(b)
	fillTo(e, keys)
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprint("batch=", n), func(b *testing.B) {
			d, rnd := newDriver(e), rand.NewPCG(1, 1)
			slots := make([]*slot, n)
			d.batch = make([]dispatch.Pending, n)
			c := d.x.NewClient(d.conn)
			for i := range slots {
				slots[i], d.batch[i].Client = newSlot(), c
			}
			b.ResetTimer()
			for left := b.N; left > 0; left -= n {
				for i := range d.batch {
					d.batch[i].Argv = slots[i].make(opGet, rnd, keys)
				}
				d.run(n)
			}
		})
	}
}

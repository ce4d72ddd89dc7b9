// Package crash kills the server at random moments, under load and while it saves, rewrites
// and loads, starts it again, and holds that what was acknowledged is there, that
// transactions are whole or absent, and that nothing else came about.
//
// Each client writes keys of its own in a known order, so what is found must be the state
// behind one of its units: no earlier one than the last that was acknowledged (with
// appendfsync always), than two seconds before (everysec), or than the save (RDB files).
// What clients share is checked by what cannot change: sums, tokens, an order of lines.
package crash

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
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
	accounts = 12
	tokens   = 30
	filler   = 20000 // keys that never change, so that loading takes a while
	patience = 20 * time.Second
)

var (
	server  = flag.String("server", "", "the server under test; empty: ours, built with its invariants checked. redis-server proves the tests themselves")
	length  = flag.Duration("length", 12*time.Second, "how long all of it runs; two thirds of that are for appendfsync always")
	seed    = flag.Int64("seed", 0, "seed; 0: by the clock")
	clients = flag.Int("clients", 16, "clients at once")
	keep    = flag.String("keep", "", "directory that gets what the killed server left, when a fault is found in it")
)

// binary is the server under test.
var binary testserver.Binary

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	binary.Main(m)
}

// run is a history of crashes of one server.
type run struct {
	t       *testing.T
	rng     *rand.Rand
	path    string // of the server
	dir     string
	args    []string
	clients []*client
	acked   atomic.Int64
	// counterBase is where the shared counter was at the begin of the cycle.
	counterBase int64
	// damage, if set, is done to the files of the killed server: to see that it is found.
	damage func(dir string)
	cycles int
	s      *testserver.Server
}

func newRun(t *testing.T, args ...string) *run {
	r := &run{t: t, rng: rand.New(rand.NewSource(*seed)), path: binary.Path(t, *server, testserver.Checked), dir: t.TempDir()}
	r.args = append(testserver.Args(r.path, 2), args...)
	for i := range *clients {
		r.clients = append(r.clients, newClient(r, i, *seed+int64(i)))
	}
	t.Logf("seed %d", *seed)
	return r
}

// start starts the server on what the last one left. One time in three it is killed again
// while it loads.
func (r *run) start() (*testserver.Server, error) {
	for r.cycles > 0 && r.rng.Intn(3) == 0 {
		s, err := testserver.Spawn(r.path, testserver.Options{Dir: r.dir, Args: r.args})
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(r.rng.Intn(200)) * time.Millisecond)
		s.Kill()
	}
	s, err := testserver.Start(r.path, testserver.Options{Dir: r.dir, Wait: patience, Args: r.args})
	if err != nil {
		return nil, err
	}
	r.t.Cleanup(s.Kill)
	if r.cycles == 0 {
		r.setUp(s)
	}
	return s, nil
}

// setUp makes what is there before the first cycle.
func (r *run) setUp(s *testserver.Server) {
	c := testclient.Dial(r.t, s.Addr)
	commands := [][]string{{"SELECT", "8"}}
	for i := range tokens {
		commands = append(commands, []string{"RPUSH", "tokens:l" + strconv.Itoa(i%4), "token" + strconv.Itoa(i)},
			[]string{"SADD", "tokens:S" + strconv.Itoa(i%4), "token" + strconv.Itoa(i)})
	}
	commands = append(commands, []string{"SELECT", "9"})
	for i := range filler {
		commands = append(commands, []string{"SET", "filler:" + strconv.Itoa(i), strings.Repeat("f", i%100)})
	}
	c.All(append(commands, []string{"SAVE"}))
}

// journal is the list to which all clients append in this cycle.
func (r *run) journal() string { return "journal:" + strconv.Itoa(r.cycles) }

// cycle lets the clients work for a while beside work, which returns the cuts that may be
// found, or nil for all that was acknowledged; kills the server, starts it again and
// compares.
func (r *run) cycle(work func(until time.Time) []cut) (faults []string) {
	var err error
	if r.s == nil {
		if r.s, err = r.start(); err != nil {
			r.t.Fatal(err)
		}
	}
	r.cycles++
	r.forget("journal:" + strconv.Itoa(r.cycles-1))
	var wg sync.WaitGroup
	var stop atomic.Bool
	for _, c := range r.clients {
		wg.Go(func() { c.work(r.s.Addr, &stop) })
	}
	cuts := work(time.Now().Add(time.Duration(300+r.rng.Intn(2200)) * time.Millisecond))
	if !r.s.Alive() {
		r.t.Fatalf("the server ended by itself:\n%s", r.s.Log())
	}
	r.s.Kill()
	killed := time.Now()
	stop.Store(true)
	wg.Wait()
	switch {
	case slices.Contains(r.args, "everysec"):
		cuts = []cut{r.recent(killed)}
	case cuts == nil:
		cuts = []cut{r.now()}
	}
	if r.damage != nil {
		r.damage(r.dir)
	}
	if *keep != "" {
		os.RemoveAll(*keep)
		if err := os.CopyFS(*keep, os.DirFS(r.dir)); err != nil {
			r.t.Error(err)
		}
	}
	if r.s, err = r.start(); err != nil {
		return []string{err.Error()}
	}
	if faults = r.verify(r.s, cuts); len(faults) > 0 {
		faults = append(faults, "log: "+r.s.Log())
	}
	return faults
}

// recent is the cut that everysec allows: what was acknowledged two seconds before the end.
func (r *run) recent(killed time.Time) cut {
	l := r.low(killed.Add(-2 * time.Second))
	l.counter = r.counterBase
	for i := range l.journal {
		l.journal[i] = 0
	}
	return r.between("two seconds before the end", l)
}

// forget deletes the journal of the last cycle, lest they grow for an hour. It is of no
// interest whether that is lost.
func (r *run) forget(journal string) {
	c := testclient.Dial(r.t, r.s.Addr)
	defer c.Close()
	c.All([][]string{{"SELECT", "8"}, {"DEL", journal}})
}

// disturb has the server save and rewrite at random until the time is over.
func (r *run) disturb(until time.Time, commands ...string) {
	c, err := difftest.Dial(r.s.Addr)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer c.Close()
	for time.Now().Before(until) {
		if left := time.Until(until); r.rng.Intn(2) == 0 && len(commands) > 0 {
			// Errors are not of interest: one of both may be under way.
			if _, err := c.Do(strings.Fields(commands[r.rng.Intn(len(commands))])...); err != nil {
				r.t.Error(err)
			}
		} else {
			time.Sleep(min(left, time.Duration(r.rng.Intn(150))*time.Millisecond))
		}
	}
}

// last runs cycles for a part of the whole length and reports the first that finds faults.
func (r *run) last(part time.Duration, work func(until time.Time) []cut) {
	for end := time.Now().Add(part); time.Now().Before(end) && !r.t.Failed(); {
		if faults := r.cycle(work); len(faults) > 0 {
			r.t.Errorf("cycle %d:\n%s", r.cycles, strings.Join(faults, "\n"))
		}
	}
	r.t.Logf("%d crashes, %d units acknowledged", r.cycles, r.acked.Load())
}

func (r *run) disturbed(until time.Time) []cut {
	r.disturb(until, "BGSAVE", "BGREWRITEAOF", "BGREWRITEAOF", "BGSAVE SCHEDULE", "CONFIG SET auto-aof-rewrite-percentage 10", "CONFIG SET auto-aof-rewrite-percentage 100")
	return nil
}

// aof are the arguments of a server whose AOF is often rewritten.
func aof(fsync string) []string {
	return []string{"--appendonly", "yes", "--appendfsync", fsync, "--auto-aof-rewrite-min-size", "300kb", "--auto-aof-rewrite-percentage", "40"}
}

func TestAlways(t *testing.T) {
	r := newRun(t, aof("always")...)
	r.last(*length*2/3, r.disturbed)
}

func TestEverySecond(t *testing.T) {
	r := newRun(t, aof("everysec")...)
	r.last(*length/6, r.disturbed)
}

// TestSaves holds that without an AOF the last save that was completed is there, or a later
// one, whole: of all clients the state at one instant.
func TestSaves(t *testing.T) {
	r := newRun(t)
	r.last(*length/6, r.saves)
}

// saves has the server save again and again, and returns the states that may be found.
func (r *run) saves(until time.Time) []cut {
	c := testclient.Dial(r.t, r.s.Addr)
	defer c.Close()
	saving := func() bool { return c.Field("persistence", "rdb_bgsave_in_progress") != "0" }
	start := low{units: make([]int, len(r.clients)), journal: make([]int, len(r.clients))}
	cuts := []cut{r.between("the begin", start)}
	for i := range r.clients {
		cuts[0].units[i][1], cuts[0].journal[i][1] = 0, 0
	}
	for time.Now().Before(until) {
		before := r.low(time.Now())
		c.Do("BGSAVE")
		cuts = append(cuts, r.between(fmt.Sprint("save ", len(cuts)), before))
		for saving() && time.Now().Before(until) {
			time.Sleep(2 * time.Millisecond)
		}
		if !saving() {
			cuts = cuts[len(cuts)-1:] // it is complete: no earlier one may be found
		}
		time.Sleep(time.Duration(r.rng.Intn(100)) * time.Millisecond)
	}
	return cuts
}

package linearize

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"heddle/difftest"
	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

const (
	clients = 8
	workers = 8
)

// binary is a server whose invariants are checked.
var binary testserver.Binary

func TestMain(m *testing.M) { binary.Main(m) }

// start runs a server with memory for so much that filler must push out older keys with a
// time to live.
func start(t *testing.T) *testserver.Server {
	t.Helper()
	path := binary.Path(t, "", testserver.Checked)
	args := append(testserver.Args(path, workers), "--maxmemory", "24mb", "--maxmemory-policy", "volatile-ttl")
	return testserver.Run(t, path, testserver.Options{Args: args})
}

// fill writes keys with a time to live until stopped, so that eviction is
// always under way, and some that expire.
func fill(t *testing.T, s *testserver.Server) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := difftest.Dial(s.Addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			value := strings.Repeat("x", 2000)
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				ttl := "100000"
				if n%4 == 0 {
					ttl = "5"
				}
				if _, err := c.Do("SET", fmt.Sprintf("filler:%d:%d", i, n), value, "PX", ttl); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	return func() { close(done); wg.Wait() }
}

// enough is how many operations a history needs to say something.
const enough = 1000

// record runs a function on clients connections at once until time is up, or
// on a slow machine until there is enough, and gathers the operations that it
// returns.
func record(t *testing.T, s *testserver.Server, length time.Duration, do func(c *difftest.Client, rng *rand.Rand, now func() int64) porcupine.Operation) []porcupine.Operation {
	t.Helper()
	begin := time.Now()
	var count atomic.Int64
	more := func() bool {
		took := time.Since(begin)
		return !t.Failed() && (took < length || count.Load() < enough && took < 30*time.Second)
	}
	now := func() int64 { return int64(time.Since(begin)) }
	histories := make([][]porcupine.Operation, clients)
	var wg sync.WaitGroup
	for id := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := difftest.Dial(s.Addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			rng := rand.New(rand.NewSource(begin.UnixNano() + int64(id)))
			for more() {
				count.Add(1)
				o := do(c, rng, now)
				o.ClientId = id
				histories[id] = append(histories[id], o)
			}
		}()
	}
	wg.Wait()
	var all []porcupine.Operation
	for _, h := range histories {
		all = append(all, h...)
	}
	return all
}

// text is a reply as the models spell it.
func text(t *testing.T, r difftest.Reply, err error) string {
	switch {
	case err != nil:
		t.Error(err)
		return ""
	case r.Null:
		return "(nil)"
	case r.Kind == '-' && strings.HasPrefix(string(r.Text), "OOM"):
		return refused
	case r.Kind == '-':
		t.Errorf("error reply %q", r.Text)
	}
	return string(r.Text)
}

func check(t *testing.T, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	t.Logf("%d operations", len(history))
	if len(history) < enough {
		t.Errorf("only %d operations were recorded", len(history))
	}
	if result := porcupine.CheckOperationsTimeout(model, history, time.Minute); result != porcupine.Ok {
		t.Errorf("history of %d operations: %s", len(history), result)
	}
}

// awaitPressure returns once keys are evicted and expire, all the time.
func awaitPressure(t *testing.T, s *testserver.Server) {
	t.Helper()
	c := testclient.Dial(t, s.Addr)
	for range 300 {
		if c.Number("stats", "evicted_keys") > 0 && c.Number("stats", "expired_keys") > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no key was evicted or expired")
}

// TestKeys checks histories of single-key commands on few keys, some of which
// expire and are evicted meanwhile.
func TestKeys(t *testing.T) {
	s := start(t)
	defer fill(t, s)()
	awaitPressure(t, s)
	var unique atomic.Int64
	for round := range 3 {
		history := record(t, s, 700*time.Millisecond, func(c *difftest.Client, rng *rand.Rand, now func() int64) porcupine.Operation {
			o := op{key: rng.Intn(3), arg: strconv.FormatInt(unique.Add(1000), 10), ttl: time.Duration(1+rng.Intn(30)) * time.Millisecond}
			key := fmt.Sprintf("k:%d:%d", round, o.key)
			o.kind = []string{"get", "get", "get", "exists", "set", "set", "setpx", "setpx", "getset", "getdel", "del", "incr", "incr", "setnx", "persist", "pexpire"}[rng.Intn(16)]
			argv := []string{o.kind, key}
			switch o.kind {
			case "set", "getset", "setnx":
				argv = append(argv, o.arg)
			case "setpx":
				argv = []string{"set", key, o.arg, "PX", strconv.FormatInt(o.ttl.Milliseconds(), 10)}
			case "pexpire":
				argv = append(argv, strconv.FormatInt(o.ttl.Milliseconds(), 10))
			}
			o.call = now()
			r, err := c.Do(argv...)
			o.ret = now()
			return porcupine.Operation{Input: o, Call: o.call, Output: text(t, r, err), Return: o.ret}
		})
		check(t, keyModel(true), history)
	}
}

// TestSeveralKeys checks histories of commands and transactions on several
// keys, which never vanish, while others do.
func TestSeveralKeys(t *testing.T) {
	s := start(t)
	defer fill(t, s)()
	awaitPressure(t, s)
	var unique atomic.Int64
	for round := range 3 {
		keys := make([]string, nKeys)
		argv := []string{"MSET"}
		for i := range keys {
			keys[i] = fmt.Sprintf("m:%d:%d", round, i)
			argv = append(argv, keys[i], "0")
		}
		setUp(t, s, argv)
		history := record(t, s, 400*time.Millisecond, func(c *difftest.Client, rng *rand.Rand, now func() int64) porcupine.Operation {
			o := multiOp{kind: []string{"mget", "mget", "mset", "incrboth", "incrboth", "cas"}[rng.Intn(6)], a: rng.Intn(nKeys)}
			o.b = (o.a + 1 + rng.Intn(nKeys-1)) % nKeys
			for i := range o.values {
				o.values[i] = strconv.FormatInt(unique.Add(1000), 10)
			}
			call := now()
			out := runMulti(t, c, &o, keys)
			return porcupine.Operation{Input: o, Call: call, Output: out, Return: now()}
		})
		check(t, multiModel(), history)
	}
}

// TestLists checks histories of pushes, pops, moves, and pops and moves that block,
// on few lists.
func TestLists(t *testing.T) {
	s := start(t)
	var unique atomic.Int64
	for round := range 5 {
		history := record(t, s, 300*time.Millisecond, func(c *difftest.Client, rng *rand.Rand, now func() int64) porcupine.Operation {
			o := listOp{from: rng.Intn(nLists), to: rng.Intn(nLists), arg: strconv.FormatInt(unique.Add(1), 10)}
			o.kind = []string{"rpush", "rpush", "lpush", "lpop", "rpop", "blpop", "brpop", "lmove", "blmove", "lrange"}[rng.Intn(10)]
			call := now()
			out := runList(t, c, o, fmt.Sprintf("l:%d:", round))
			return porcupine.Operation{Input: o, Call: call, Output: out, Return: now()}
		})
		check(t, listModel(), history)
	}
}

// runList runs an operation and returns its answer.
func runList(t *testing.T, c *difftest.Client, o listOp, prefix string) string {
	from, to := prefix+strconv.Itoa(o.from), prefix+strconv.Itoa(o.to)
	argv := []string{o.kind, from}
	switch o.kind {
	case "rpush", "lpush":
		argv = append(argv, o.arg)
	case "blpop", "brpop":
		argv = append(argv, to, "0.01")
	case "lmove":
		argv = append(argv, to, "RIGHT", "LEFT")
	case "blmove":
		argv = append(argv, to, "RIGHT", "LEFT", "0.01")
	case "lrange":
		argv = append(argv, "0", "-1")
	}
	r, err := c.Do(argv...)
	out := text(t, r, err)
	switch {
	case r.Null || o.kind[0] != 'b' && o.kind != "lrange" || o.kind == "blmove":
		return out
	case o.kind == "lrange":
		out = ""
		for i, e := range r.Elems {
			out += strings.Repeat(",", min(i, 1)) + string(e.Text)
		}
		return out
	}
	return strings.TrimPrefix(string(r.Elems[0].Text), prefix) + ":" + string(r.Elems[1].Text)
}

func setUp(t *testing.T, s *testserver.Server, argv []string) {
	t.Helper()
	c, err := difftest.Dial(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 100 { // until eviction has made room
		if r, err := c.Do(argv...); text(t, r, err) == "OK" {
			return
		}
	}
	t.Fatal("no room for the keys")
}

// runMulti runs an operation and returns its answer.
func runMulti(t *testing.T, c *difftest.Client, o *multiOp, keys []string) (out [nKeys]string) {
	do := func(argv ...string) difftest.Reply {
		r, err := c.Do(argv...)
		if s := text(t, r, err); s == refused {
			out[0] = refused
		}
		return r
	}
	switch o.kind {
	case "mget":
		for i, e := range do(append([]string{"MGET"}, keys...)...).Elems {
			out[i] = text(t, e, nil)
		}
	case "mset":
		argv := []string{"MSET"}
		for i, k := range keys {
			argv = append(argv, k, o.values[i])
		}
		do(argv...)
	case "incrboth":
		do("MULTI")
		do("INCR", keys[o.a])
		do("INCR", keys[o.b])
		endMulti(t, c, &out)
	case "cas":
		do("WATCH", keys[o.a])
		o.old = text(t, do("GET", keys[o.a]), nil)
		do("MULTI")
		do("SET", keys[o.a], o.values[0])
		endMulti(t, c, &out)
	}
	return out
}

// endMulti ends a transaction. One that was refused, whole or because a command was
// not queued, is an answer too.
func endMulti(t *testing.T, c *difftest.Client, out *[nKeys]string) {
	r, err := c.Do("EXEC")
	switch {
	case err != nil:
		t.Error(err)
	case r.Kind == '-' && (out[0] == refused || strings.Contains(string(r.Text), "OOM")):
		out[0] = refused
	case r.Null:
		out[0] = "(nil)"
	case r.Kind != '*':
		t.Errorf("EXEC: %q", r.Raw)
	}
	for i, e := range r.Elems {
		out[i] = text(t, e, nil)
	}
}

// TestModelsRefuse holds that the models refuse histories that are wrong.
func TestModelsRefuse(t *testing.T) {
	ms := int64(time.Millisecond)
	f := func(name string, want bool, model porcupine.Model, history ...porcupine.Operation) {
		t.Helper()
		if porcupine.CheckOperations(model, history) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
	at := func(call, ret int64, kind, arg, out string) porcupine.Operation {
		o := op{kind: kind, arg: arg, ttl: 10 * time.Millisecond, call: call * ms, ret: ret * ms}
		return porcupine.Operation{ClientId: int(call), Input: o, Call: o.call, Output: out, Return: o.ret}
	}
	keys := keyModel(false)
	f("read of what was written", true, keys, at(0, 1, "set", "7", "OK"), at(2, 3, "get", "", "7"))
	f("stale read", false, keys, at(0, 1, "set", "7", "OK"), at(2, 3, "set", "8", "OK"), at(4, 5, "get", "", "7"))
	f("either order", true, keys, at(0, 9, "set", "7", "OK"), at(1, 8, "set", "8", "OK"), at(10, 11, "get", "", "7"))
	f("lost write", false, keys, at(0, 1, "set", "7", "OK"), at(2, 3, "get", "", "(nil)"))
	f("lost increment", false, keys, at(0, 5, "incr", "", "1"), at(1, 4, "incr", "", "1"))
	f("expired", true, keys, at(0, 1, "setpx", "7", "OK"), at(5, 12, "get", "", "(nil)"))
	f("never expires", false, keys, at(0, 1, "setpx", "7", "OK"), at(90, 91, "get", "", "7"))
	f("expires too early", false, keys, at(0, 1, "setpx", "7", "OK"), at(2, 3, "persist", "", "1"), at(90, 91, "get", "", "(nil)"))
	f("comes back", false, keyModel(true), at(0, 1, "setpx", "7", "OK"), at(2, 3, "get", "", "(nil)"), at(4, 5, "get", "", "7"))
	f("evicted", true, keyModel(true), at(0, 1, "setpx", "7", "OK"), at(2, 3, "get", "", "(nil)"))

	list := func(call, ret int64, kind, arg, out string) porcupine.Operation {
		return porcupine.Operation{ClientId: int(call), Input: listOp{kind: kind, from: 0, to: 1, arg: arg}, Call: call, Output: out, Return: ret}
	}
	f("served later", true, listModel(), list(0, 5, "blpop", "", "0:7"), list(1, 2, "rpush", "7", "1"))
	f("served twice", false, listModel(), list(0, 5, "blpop", "", "0:7"), list(1, 2, "rpush", "7", "1"), list(0, 6, "brpop", "", "0:7"))
	f("sleeps", false, listModel(), list(0, 1, "rpush", "7", "1"), list(2, 50, "blpop", "", "(nil)"))
	f("times out", true, listModel(), list(0, 50, "rpush", "7", "1"), list(2, 50, "blpop", "", "(nil)"))
	f("moved", true, listModel(), list(0, 9, "blmove", "", "8"), list(1, 2, "rpush", "7", "1"), list(3, 4, "rpush", "8", "2"), list(10, 11, "lrange", "", "7"))
	f("lost", false, listModel(), list(0, 1, "rpush", "7", "1"), list(2, 3, "lmove", "", "7"), list(4, 5, "blpop", "", "(nil)"))
	f("wrong end", false, listModel(), list(0, 1, "rpush", "7", "1"), list(2, 3, "rpush", "8", "2"), list(4, 5, "rpop", "", "7"))

	multi := func(call, ret int64, kind string, values, out [nKeys]string) porcupine.Operation {
		return porcupine.Operation{ClientId: int(call), Input: multiOp{kind: kind, a: 0, b: 1, old: "5", values: values}, Call: call, Output: out, Return: ret}
	}
	none := [nKeys]string{}
	f("torn write", false, multiModel(), multi(0, 1, "mset", [nKeys]string{"1", "1", "1"}, none), multi(2, 5, "mset", [nKeys]string{"2", "2", "2"}, none),
		multi(3, 4, "mget", none, [nKeys]string{"1", "2", "2"}))
	f("transaction", true, multiModel(), multi(0, 5, "incrboth", none, [nKeys]string{"1", "1"}), multi(1, 4, "incrboth", none, [nKeys]string{"2", "2"}))
	f("torn transaction", false, multiModel(), multi(0, 5, "incrboth", none, [nKeys]string{"1", "2"}), multi(1, 4, "incrboth", none, [nKeys]string{"2", "1"}))
	f("swap of what was not there", false, multiModel(), multi(0, 1, "cas", [nKeys]string{"9"}, [nKeys]string{"OK"}))
}

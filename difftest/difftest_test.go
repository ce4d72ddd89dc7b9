package difftest

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"

	"heddle/tests/testserver"
)

var binary testserver.Binary

func TestMain(m *testing.M) { binary.Main(m) }

// oracle starts redis-server for the length of a test.
func oracle(t *testing.T, args ...string) *testserver.Server {
	t.Helper()
	return testserver.RunRedis(t, testserver.Options{Args: args})
}

// heddle starts a server of ours, in a checked build.
func heddle(t *testing.T, workers int) *testserver.Server {
	t.Helper()
	path := binary.Path(t, "", testserver.Checked)
	return testserver.Run(t, path, testserver.Options{Args: testserver.Args(path, workers)})
}

// TestHeddle compares a server of ours, in a checked build, with redis-server.
func TestHeddle(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	compareAll(t, oracle(t), heddle(t, 2), 20000)
}

// TestOracleWithItself holds that no template depends on chance or time.
func TestOracleWithItself(t *testing.T) {
	compareAll(t, oracle(t), oracle(t), 10000)
}

func compareAll(t *testing.T, theirs, ours *testserver.Server, n int) {
	t.Helper()
	var out bytes.Buffer
	result, err := Compare(theirs.Addr, ours.Addr, Config{
		Options: Options{Seed: 20240917, Conns: 6, Keys: 24}, N: n, MaxFailures: 5, Out: &out})
	if err != nil {
		t.Fatalf("%v\nlog: %s", err, ours.Log())
	}
	if len(result.Failures) > 0 {
		t.Error(out.String())
	}
	if result.Commands < n && len(result.Failures) == 0 {
		t.Errorf("ran %d commands of %d", result.Commands, n)
	}
}

// TestFindsDifference holds that a difference is found and cut down to the one
// command that shows it.
func TestFindsDifference(t *testing.T) {
	theirs, ours := oracle(t), oracle(t, "--databases", "2")
	var out bytes.Buffer
	result, err := Compare(theirs.Addr, ours.Addr, Config{
		Options: Options{Seed: 3, Conns: 2, Keys: 10, Groups: []string{"string", "connection"}}, N: 5000, MaxFailures: 1, Out: &out})
	if err != nil || len(result.Failures) != 1 {
		t.Fatalf("%v, %d failures\n%s", err, len(result.Failures), &out)
	}
	f := result.Failures[0]
	if len(f.History) != 1 || !f.History[0].is("select") || !strings.Contains(out.String(), "seed 3") {
		t.Errorf("shrunk to %d steps:\n%s", len(f.History), &out)
	}
}

func TestSameSeedSameCommands(t *testing.T) {
	stream := func() (list []string) {
		g, err := NewGenerator(Options{Seed: 9, Conns: 3, Keys: 5})
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			for _, s := range g.Batch() {
				list = append(list, s.String())
			}
		}
		return list
	}
	if !reflect.DeepEqual(stream(), stream()) {
		t.Error("two generators of one seed differ")
	}
	if _, err := NewGenerator(Options{Groups: []string{"nosuch"}}); err == nil {
		t.Error("a group that does not exist is taken")
	}
}

// TestTemplates expands every template many times: each value exists, and the
// command's name stands first.
func TestTemplates(t *testing.T) {
	g, err := NewGenerator(Options{Seed: 1, Conns: 1, Keys: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tpl := range g.templates {
		for range 50 {
			argv := tpl.body.expand(g, nil)
			if !strings.EqualFold(string(argv[0]), tpl.name) {
				t.Fatalf("%s made %q", tpl.name, argv)
			}
			if !tpl.fixed {
				argv = g.garble(tpl, argv)
			}
			if !strings.EqualFold(string(argv[0]), tpl.name) {
				t.Fatalf("%s garbled to %q", tpl.name, argv)
			}
		}
	}
}

func TestReadReply(t *testing.T) {
	f := func(raw string, kind byte, elems int) {
		t.Helper()
		r, err := readReply(bufio.NewReader(strings.NewReader(raw + "+next\r\n")))
		if err != nil || string(r.Raw) != raw || r.Kind != kind || len(r.Elems) != elems {
			t.Errorf("%q: %+v, %v", raw, r, err)
		}
	}
	f("+OK\r\n", '+', 0)
	f("-ERR x\r\n", '-', 0)
	f(":-5\r\n", ':', 0)
	f("$-1\r\n", '$', 0)
	f("$3\r\na\r\n\r\n", '$', 0)
	f("*-1\r\n", '*', 0)
	f("*2\r\n*1\r\n:1\r\n$1\r\nx\r\n", '*', 2)
	f("%2\r\n+a\r\n_\r\n+b\r\n,1.5\r\n", '%', 4)
	f("~1\r\n#t\r\n", '~', 1)
	f("=7\r\ntxt:abc\r\n", '=', 0)
	f("|1\r\n+k\r\n+v\r\n:1\r\n", '|', 3)
	for _, raw := range []string{"x\r\n", "$a\r\n", "*-2\r\n", "$5\r\nab", "*2\r\n:1\r\n", "\r\n"} {
		if r, err := readReply(bufio.NewReader(strings.NewReader(raw))); err == nil {
			t.Errorf("%q was read as %+v", raw, r)
		}
	}
}

func TestMatchers(t *testing.T) {
	f := func(name, want, got string, same bool) {
		t.Helper()
		a, _ := parseReply([]byte(want))
		b, _ := parseReply([]byte(got))
		if matchers()[name].same(a, b) != same {
			t.Errorf("%s: %q and %q: not %v", name, want, got, same)
		}
	}
	f("second", ":100\r\n", ":99\r\n", true)
	f("second", ":100\r\n", ":98\r\n", false)
	f("second", ":0\r\n", ":-1\r\n", false)
	f("milliseconds", ":9000\r\n", "-ERR\r\n", false)
	f("unordered", "*2\r\n+a\r\n+b\r\n", "*2\r\n+b\r\n+a\r\n", true)
	f("unordered", "*2\r\n+a\r\n+b\r\n", "*2\r\n+b\r\n+b\r\n", false)
	f("pairs", "*4\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "*4\r\n+b\r\n:2\r\n+a\r\n:1\r\n", true)
	f("pairs", "*4\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "*4\r\n+b\r\n:1\r\n+a\r\n:2\r\n", false)
	f("shape", "$1\r\na\r\n", "$2\r\nbc\r\n", true)
	f("shape", "$1\r\na\r\n", "$-1\r\n", false)
	f("shape", "-ERR a\r\n", "-ERR b\r\n", false)
	f("hello", "%2\r\n+version\r\n+7.0\r\n+mode\r\n+x\r\n", "%2\r\n+version\r\n+7.2\r\n+mode\r\n+x\r\n", true)
	f("hello", "%2\r\n+version\r\n+7.0\r\n+mode\r\n+x\r\n", "%2\r\n+version\r\n+7.2\r\n+mode\r\n+y\r\n", false)
}

// TestComparisonInMulti holds that EXEC's replies are compared by the rules of
// the queued commands.
func TestComparisonInMulti(t *testing.T) {
	m := matchers()
	reply := func(raw string) Reply { r, _ := parseReply([]byte(raw)); return r }
	var c comparison
	queued := reply("+QUEUED\r\n")
	c.same(Step{Argv: words("MULTI")}, reply("+OK\r\n"), reply("+OK\r\n"))
	c.same(Step{Argv: words("TTL", "k"), Match: m["second"]}, queued, queued)
	c.same(Step{Argv: words("MULTI")}, reply("-ERR\r\n"), reply("-ERR\r\n"))
	c.same(Step{Argv: words("GET", "k"), Match: exact}, queued, queued)
	exec := Step{Argv: words("exec"), Match: exact}
	if !c.same(exec, reply("*2\r\n:10\r\n+a\r\n"), reply("*2\r\n:9\r\n+a\r\n")) {
		t.Error("a TTL within EXEC must be compared as a TTL")
	}
	c.queue = []Step{{Match: m["second"]}, {Match: exact}}
	if c.same(exec, reply("*2\r\n:10\r\n+a\r\n"), reply("*2\r\n:10\r\n+b\r\n")) {
		t.Error("a GET within EXEC must be compared as a GET")
	}
}

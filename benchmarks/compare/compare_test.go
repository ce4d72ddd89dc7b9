package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/tests/testserver"
)

func TestReplies(t *testing.T) {
	stream := []byte(strings.Repeat("+OK\r\n$3\r\nabc\r\n$-1\r\n$0\r\n\r\n:5\r\n-ERR x\r\n_\r\n*0\r\n*-1\r\n*2\r\n*2\r\n$1\r\na\r\n:1\r\n*0\r\n", 20))
	for piece := 1; piece < 40; piece++ {
		var c loadConn
		got, bad := 0, 0
		for b := stream; len(b) > 0; {
			n := min(piece, len(b))
			g, e, err := c.replies(bytes.Clone(b[:n]))
			if err != nil {
				t.Fatal(err)
			}
			got, bad, b = got+g, bad+e, b[n:]
		}
		if got != 200 || bad != 20 {
			t.Errorf("in pieces of %d: %d replies, %d errors", piece, got, bad)
		}
	}
	var c loadConn
	if _, _, err := c.replies([]byte("hello\r\n")); err == nil {
		t.Error("a line that is no reply is taken")
	}
}

func TestCommands(t *testing.T) {
	l := &loader{load: load{gets: 10, keys: 1000}, rng: nil, end: 1000, payload: []byte("v")}
	l.ordered = true
	var out []byte
	for range 22 {
		out = l.command(out)
	}
	if sets := bytes.Count(out, []byte("SET")); sets != 2 {
		t.Errorf("%d SETs in 22 commands of 10:1", sets)
	}
	if got := string(appendKey(nil, 1234567)); got != "key:00001234567\r\n" {
		t.Errorf("key %q", got)
	}
}

func TestParseTools(t *testing.T) {
	s, n, err := parseMemtier("Type  Ops/sec\nSets 1 2\nTotals    110000.50   10000.00  90000.00  0.455 0.415 1.500 2.111 5000.00\n", 2*time.Second)
	if err != nil || s.opsPerSecond != 110000.5 || s.p50 != 415 || s.p99 != 1500 || s.p999 != 2111 || n != 220001 {
		t.Errorf("memtier: %+v, %d, %v", s, n, err)
	}
	s, err = parseRedisBenchmark([]byte("\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n" +
		"\"GET\",\"142857.14\",\"0.195\",\"0.080\",\"0.191\",\"0.223\",\"0.279\",\"0.303\"\n"))
	if err != nil || s.opsPerSecond != 142857.14 || s.p50 != 191 || s.p99 != 279 || s.p999 != 303 {
		t.Errorf("redis-benchmark: %+v, %v", s, err)
	}
	for _, name := range []string{"own", "auto"} {
		if _, err := chooseTool(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := chooseTool("nosuch"); err == nil {
		t.Error("a tool that does not exist is taken")
	}
}

func TestReport(t *testing.T) {
	if m := median([]float64{3, 1, 2}); m != 2 {
		t.Errorf("median %v", m)
	}
	if m := median([]float64{4, 1, 2, 3}); m != 2.5 {
		t.Errorf("median %v", m)
	}
	if got := cell([]float64{2, 4, 3}, []float64{4, 4, 4}, "%.0f", false); got != "3 0.75x (0.50-1.00)" {
		t.Errorf("cell %q", got)
	}
	r := row{name: "w", servers: []string{"a", "b"}, samples: map[string][]sample{"a": {{opsPerSecond: 10}}, "b": {{opsPerSecond: 20}}}}
	var out bytes.Buffer
	if r.write(&out, "b"); !strings.Contains(out.String(), "10 0.50x (0.50-0.50)") {
		t.Error(out.String())
	}
}

// TestTypes runs the workloads and data sets of the data types for a moment,
// redis-server on both sides.
func TestTypes(t *testing.T) {
	path := testserver.Redis(t)
	o := options{heddle: path, others: "redis-server", baseline: "redis-server", toolName: "own", suite: "types", scale: 0.001, turns: 1, pipelines: "16",
		serverThreads: 1, load: load{conns: 5, threads: 1}}
	var out bytes.Buffer
	if err := o.run(&out); err != nil {
		t.Fatal(err)
	}
	for _, w := range typeWorkloads(1) {
		if !strings.Contains(out.String(), "\n"+w.name+", ") {
			t.Errorf("%q is missing in\n%s", w.name, &out)
		}
	}
	o.suite, o.only = "memory", "hashes of 100"
	if err := o.run(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\nhashes of 100"); got != 2 {
		t.Errorf("%d data sets in\n%s", got, &out)
	}
}

// TestCompare runs the whole program for a moment, redis-server on both sides.
func TestCompare(t *testing.T) {
	path := testserver.Redis(t)
	record := filepath.Join(t.TempDir(), "history")
	o := options{heddle: path, others: "redis-server,nosuchserver", baseline: "redis-server", toolName: "own", keys: "1000", pipelines: "1,16", turns: 1,
		serverThreads: 1, record: record, load: load{conns: 5, threads: 2, gets: 10, value: 32, duration: 100 * time.Millisecond}}
	var out bytes.Buffer
	if err := o.run(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1000 keys, pipeline 1\n", "1000 keys, pipeline 16\n", "cpu us/op", "bytes of RSS a key"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	if b, _ := os.ReadFile(record); bytes.Count(b, []byte("\n")) != 2 {
		t.Errorf("recorded %s", b)
	}
}

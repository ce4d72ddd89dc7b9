package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// sample is what one turn of one workload on one server came to.
type sample struct {
	opsPerSecond   float64
	p50, p99, p999 float64 // microseconds
	cpuPerOp       float64 // microseconds of the server
	errors         int
}

// tool drives a server; its name is what -tool takes.
type tool struct {
	name string
	run  func(s *server, l load) (sample, int, error) // with the number of operations
}

// tools are the load generators, the preferred first.
func tools() []tool {
	return []tool{{"memtier_benchmark", runMemtier}, {"own", runOwn}, {"redis-benchmark", runRedisBenchmark}}
}

// chooseTool finds a tool by name; "auto" is memtier_benchmark if it is on
// PATH, else our own.
func chooseTool(name string) (tool, error) {
	for _, t := range tools() {
		if t.name == name {
			return t, nil
		}
		if _, err := exec.LookPath(t.name); name == "auto" && (err == nil || t.name == "own") {
			return t, nil
		}
	}
	return tool{}, fmt.Errorf("no load tool %q", name)
}

func runOwn(s *server, l load) (sample, int, error) {
	l.addr = s.Addr
	o, err := l.run()
	us := func(q float64) float64 { return float64(o.latency.Quantile(q)) / 1e3 }
	return sample{opsPerSecond: o.perSecond(), p50: us(0.5), p99: us(0.99), p999: us(0.999), errors: o.errors}, o.ops, err
}

func runMemtier(s *server, l load) (sample, int, error) {
	host, port, _ := net.SplitHostPort(s.Addr)
	cmd := exec.Command("memtier_benchmark", "-s", host, "-p", port, "-t", strconv.Itoa(l.threads), "-c", strconv.Itoa(max(1, l.conns/l.threads)),
		"--pipeline", strconv.Itoa(l.pipeline), "--ratio", fmt.Sprintf("1:%d", l.gets), "-d", strconv.Itoa(l.value), "--key-prefix", "key:",
		"--key-minimum", "10000000000", "--key-maximum", strconv.Itoa(10000000000+l.keys-1), "--key-pattern", "R:R",
		"--test-time", strconv.Itoa(int(l.duration.Seconds())), "--hide-histogram", "--print-percentiles", "50,99,99.9")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return sample{}, 0, fmt.Errorf("%w: %s", err, out)
	}
	return parseMemtier(string(out), l.duration)
}

// parseMemtier reads the line of totals: operations a second, hits, misses,
// average latency, the three percentiles in milliseconds, KB a second.
func parseMemtier(out string, took time.Duration) (sample, int, error) {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 8 || f[0] != "Totals" {
			continue
		}
		var n [8]float64
		for i := 1; i < 8; i++ {
			n[i], _ = strconv.ParseFloat(f[i], 64)
		}
		return sample{opsPerSecond: n[1], p50: n[5] * 1e3, p99: n[6] * 1e3, p999: n[7] * 1e3}, int(n[1] * took.Seconds()), nil
	}
	return sample{}, 0, fmt.Errorf("memtier_benchmark printed no totals: %s", out)
}

// runRedisBenchmark runs SET, then GET for as long as the ratio asks: it knows
// no mix of both. It needs a number of requests: a probe finds how many fit
// the time.
func runRedisBenchmark(s *server, l load) (sample, int, error) {
	probe, _, err := redisBenchmark(s, l, "get", 20000*max(1, l.pipeline/4))
	if err != nil {
		return sample{}, 0, err
	}
	total := probe.opsPerSecond * l.duration.Seconds()
	sets := max(1000, int(total/float64(l.gets+1)))
	set, nSet, err := redisBenchmark(s, l, "set", sets)
	if err != nil {
		return sample{}, 0, err
	}
	get, nGet, err := redisBenchmark(s, l, "get", sets*max(1, l.gets))
	n := nSet + nGet
	get.opsPerSecond = float64(n) / (float64(nSet)/set.opsPerSecond + float64(nGet)/get.opsPerSecond)
	return get, n, err
}

func redisBenchmark(s *server, l load, test string, n int) (sample, int, error) {
	host, port, _ := net.SplitHostPort(s.Addr)
	out, err := exec.Command("redis-benchmark", "-h", host, "-p", port, "-t", test, "-n", strconv.Itoa(n), "-c", strconv.Itoa(l.conns),
		"-P", strconv.Itoa(l.pipeline), "-d", strconv.Itoa(l.value), "-r", strconv.Itoa(l.keys), "--csv").CombinedOutput()
	if err != nil {
		return sample{}, 0, fmt.Errorf("%w: %s", err, out)
	}
	sample, err := parseRedisBenchmark(out)
	return sample, n, err
}

var csvRow = regexp.MustCompile(`(?m)^"(SET|GET)".*$`)

// parseRedisBenchmark reads the last row of --csv: test, requests a second,
// average, min, p50, p95, p99, max in milliseconds. It has no p99.9; the
// maximum stands for it.
func parseRedisBenchmark(out []byte) (sample, error) {
	rows := csvRow.FindAll(out, -1)
	if len(rows) == 0 {
		return sample{}, fmt.Errorf("redis-benchmark printed no result: %s", out)
	}
	f, err := csv.NewReader(bytes.NewReader(rows[len(rows)-1])).Read()
	if err != nil || len(f) < 8 {
		return sample{}, fmt.Errorf("redis-benchmark printed %q", rows[len(rows)-1])
	}
	var n [8]float64
	for i := 1; i < 8; i++ {
		n[i], _ = strconv.ParseFloat(f[i], 64)
	}
	return sample{opsPerSecond: n[1], p50: n[4] * 1e3, p99: n[6] * 1e3, p999: n[7] * 1e3}, nil
}

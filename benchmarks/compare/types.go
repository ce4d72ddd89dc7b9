package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"heddle/benchmarks/target"
)

// maker appends the command of number i to out.
type maker = func(out []byte, i int, rng *rand.Rand) []byte

// typeWorkload is a command of a data type: so many times after a preparation,
// which is not measured. Every turn begins with no keys.
type typeWorkload struct {
	name         string
	ops          int
	prepare      maker
	prepareCount int
	command      maker
}

// cmd appends a command to out.
func cmd(out []byte, args ...string) []byte {
	out = append(strconv.AppendInt(append(out, '*'), int64(len(args)), 10), '\r', '\n')
	for _, a := range args {
		out = append(strconv.AppendInt(append(out, '$'), int64(len(a)), 10), '\r', '\n')
		out = append(append(out, a...), '\r', '\n')
	}
	return out
}

// name is a word with a number behind it.
func name(word string, n int) string { return word + strconv.Itoa(n) }

// scaled is n times scale, but enough to be something.
func scaled(n int, scale float64) int { return max(int(float64(n)*scale), 1000) }

// typeWorkloads are the commands that are compared. Collections are of some
// hundred elements, but for those of a million.
func typeWorkloads(scale float64) []typeWorkload {
	ops, million, lists := scaled(2_000_000, scale), scaled(1_000_000, scale), scaled(4000, scale)
	hset := func(out []byte, i int, rng *rand.Rand) []byte {
		return cmd(out, "HSET", name("hash:", rng.IntN(lists)), name("field:", rng.IntN(100)), name("value:", i))
	}
	lpush := func(out []byte, i int, _ *rand.Rand) []byte {
		return cmd(out, "LPUSH", name("list:", i%lists), name("element:", i))
	}
	sadd := func(out []byte, i int, _ *rand.Rand) []byte {
		return cmd(out, "SADD", name("set:", i%lists), name("member:", i))
	}
	zadd := func(out []byte, i int, rng *rand.Rand) []byte {
		return cmd(out, "ZADD", name("zset:", rng.IntN(lists)), strconv.Itoa(rng.IntN(1_000_000)), name("member:", rng.IntN(200)))
	}
	bigZAdd := func(out []byte, i int, rng *rand.Rand) []byte {
		return cmd(out, "ZADD", "big", strconv.Itoa(rng.IntN(1_000_000_000)), name("member:", i%million))
	}
	fill := ops / 2
	return []typeWorkload{
		{name: "HSET", ops: ops, prepare: hset, prepareCount: fill, command: hset},
		{name: "HGET", ops: ops, prepare: hset, prepareCount: fill, command: func(out []byte, _ int, rng *rand.Rand) []byte {
			return cmd(out, "HGET", name("hash:", rng.IntN(lists)), name("field:", rng.IntN(100)))
		}},
		{name: "LPUSH", ops: ops, command: lpush},
		{name: "LPOP", ops: ops, prepare: lpush, prepareCount: ops, command: func(out []byte, i int, _ *rand.Rand) []byte {
			return cmd(out, "LPOP", name("list:", i%lists))
		}},
		{name: "LPUSH and RPOP of a short list", ops: ops, prepare: lpush, prepareCount: 20 * lists, command: func(out []byte, i int, rng *rand.Rand) []byte {
			if i/lists%2 == 0 {
				return lpush(out, i, rng)
			}
			return cmd(out, "RPOP", name("list:", i%lists))
		}},
		{name: "SADD", ops: ops, command: sadd},
		{name: "SPOP", ops: ops, prepare: sadd, prepareCount: ops, command: func(out []byte, i int, _ *rand.Rand) []byte {
			return cmd(out, "SPOP", name("set:", i%lists))
		}},
		{name: "ZADD", ops: ops, prepare: zadd, prepareCount: fill, command: zadd},
		{name: "ZRANGE of 10", ops: ops, prepare: zadd, prepareCount: fill, command: func(out []byte, _ int, rng *rand.Rand) []byte {
			from := rng.IntN(100)
			return cmd(out, "ZRANGE", name("zset:", rng.IntN(lists)), strconv.Itoa(from), strconv.Itoa(from+9))
		}},
		{name: "XADD", ops: ops, command: func(out []byte, i int, rng *rand.Rand) []byte {
			return cmd(out, "XADD", name("stream:", i%lists), "*", "sensor", name("", rng.IntN(1000)), "temperature", name("2", rng.IntN(1000)))
		}},
		{name: "ZADD to a million", ops: ops, prepare: bigZAdd, prepareCount: million, command: func(out []byte, _ int, rng *rand.Rand) []byte {
			return bigZAdd(out, rng.IntN(million), rng)
		}},
		{name: "ZRANK in a million", ops: ops, prepare: bigZAdd, prepareCount: million, command: func(out []byte, _ int, rng *rand.Rand) []byte {
			return cmd(out, "ZRANK", "big", name("member:", rng.IntN(million)))
		}},
	}
}

// types compares the commands of the data types, one server after the other in
// each turn.
func (o options) types(w io.Writer, kinds []target.Kind, pipelines []int) error {
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.Stop()
		}
	}()
	for _, k := range kinds {
		if k.Floor {
			continue
		}
		s, err := o.start(k)
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	writeHead(w, servers, "own", o.load, o.turns)
	for _, t := range typeWorkloads(o.scale) {
		if !strings.Contains(t.name, o.only) {
			continue
		}
		for _, p := range pipelines {
			if err := o.typeWorkload(w, servers, t, p); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return nil
}

func (o options) typeWorkload(w io.Writer, servers []*server, t typeWorkload, pipeline int) error {
	r := row{name: fmt.Sprintf("%s, pipeline %d, %d times", t.name, pipeline, t.ops), samples: map[string][]sample{}}
	for _, s := range servers {
		r.servers = append(r.servers, s.Name)
	}
	for turn := range o.turns {
		for i := range servers {
			s := servers[(i+turn)%len(servers)]
			result, err := o.typeTurn(s, t, pipeline)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			r.samples[s.Name] = append(r.samples[s.Name], result)
		}
	}
	r.write(w, o.baseline)
	return r.record(o.record, servers, load{keys: t.ops, pipeline: pipeline, conns: o.load.conns}, "own: "+t.name)
}

// typeTurn runs one workload on one server.
func (o options) typeTurn(s *server, t typeWorkload, pipeline int) (sample, error) {
	if _, err := s.Ask("FLUSHALL"); err != nil {
		return sample{}, err
	}
	if t.prepare != nil {
		if err := s.fillBy(t.prepare, t.prepareCount); err != nil {
			return sample{}, err
		}
	}
	time.Sleep(300 * time.Millisecond) // what the server does afterwards is not ours
	before, err := s.CPU()
	if err != nil {
		return sample{}, err
	}
	result, ops, err := runOwn(s, load{conns: o.load.conns, threads: o.load.threads, pipeline: pipeline, keys: t.ops, ordered: true, make: t.command})
	if err != nil {
		return sample{}, err
	}
	after, err := s.CPU()
	if err == nil && result.errors > 0 {
		err = fmt.Errorf("%d error replies", result.errors)
	}
	result.cpuPerOp = float64((after - before).Microseconds()) / float64(max(1, ops))
	return result, err
}

// fillBy runs commands 0 to n-1.
func (s *server) fillBy(m maker, n int) error {
	o, err := load{addr: s.Addr, conns: 1, threads: 1, pipeline: 100, keys: n, ordered: true, make: m}.run()
	if err == nil && o.errors > 0 {
		err = fmt.Errorf("%d errors while filling", o.errors)
	}
	return err
}

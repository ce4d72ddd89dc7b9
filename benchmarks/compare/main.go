// Command compare runs this server and others in turn under the same load and
// prints, for each workload, operations a second, latencies, the server's CPU
// time per operation and its memory per key, as ratios to a baseline with their
// spread.
//
// A figure by itself says little on a machine that others use too: every turn
// runs all servers one after the other, ratios are taken within a turn, and
// what is reported is the median of the turns. CPU time per operation depends
// least on the neighbours. floor.c, if it is there, answers without doing
// anything: what it costs is the sockets.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"heddle/benchmarks/target"
)

type options struct {
	heddle, others, floor, baseline, toolName string
	keys, pipelines                           string
	suite, only                               string
	scale                                     float64
	turns, serverThreads                      int
	extra, record                             string
	load                                      load
}

func main() {
	var o options
	flag.StringVar(&o.heddle, "heddle", "bin/heddle-server", "our server's binary")
	flag.StringVar(&o.others, "others", "redis-server,keydb-server,valkey-server", "other servers, taken if they are on PATH")
	flag.StringVar(&o.floor, "floor", "../shared/tools/floor.c", "a server that does nothing, as the limit; built with gcc if it is there")
	flag.StringVar(&o.baseline, "baseline", "redis-server", "the server that ratios refer to")
	flag.StringVar(&o.toolName, "tool", "auto", "memtier_benchmark, own or redis-benchmark; auto: the first if it is on PATH, else own")
	flag.StringVar(&o.suite, "suite", "keys", "what to compare, separated by commas: keys (GET and SET), types (commands of the data types), memory (of large and small collections)")
	flag.StringVar(&o.only, "only", "", "of types and memory only those whose name holds this")
	flag.Float64Var(&o.scale, "scale", 1, "factor on the numbers of commands and elements of types and memory")
	flag.StringVar(&o.keys, "keys", "10000", "sizes of the keyspace, separated by commas, such as 10000,10000000")
	flag.StringVar(&o.pipelines, "pipelines", "1,16,64", "commands in a batch")
	flag.IntVar(&o.turns, "turns", 5, "turns of each server and workload")
	flag.IntVar(&o.serverThreads, "server-threads", 1, "threads of the servers that have them")
	flag.StringVar(&o.extra, "args", "", "more arguments for our server")
	flag.StringVar(&o.record, "record", "", "file to which each workload is added as a line of JSON")
	flag.IntVar(&o.load.conns, "conns", 50, "connections")
	flag.IntVar(&o.load.threads, "load-threads", 1, "threads of the load generator")
	flag.IntVar(&o.load.gets, "gets", 10, "GETs for each SET")
	flag.IntVar(&o.load.value, "value", 32, "bytes of a value")
	flag.DurationVar(&o.load.duration, "time", 5*time.Second, "length of a turn")
	flag.Parse()
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func (o options) run(w io.Writer) error {
	var sizes []int
	var err error
	if o.keys != "" {
		if sizes, err = numbers(o.keys); err != nil {
			return err
		}
	}
	pipelines, err := numbers(o.pipelines)
	if err != nil {
		return err
	}
	tool, err := chooseTool(o.toolName)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	kinds, err := target.Find(o.heddle, o.others, o.floor, tmp)
	if err != nil {
		return err
	}
	for _, suite := range strings.Split(o.suite, ",") {
		switch suite {
		case "", "keys":
			for i, size := range sizes {
				if err := o.size(w, kinds, tool, size, pipelines, i == 0); err != nil {
					return err
				}
			}
		case "types":
			err = o.types(w, kinds, pipelines)
		case "memory":
			err = o.memory(w, kinds)
		default:
			err = fmt.Errorf("no suite %q", suite)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// size compares all servers with one number of keys.
func (o options) size(w io.Writer, kinds []target.Kind, t tool, keys int, pipelines []int, head bool) error {
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.Stop()
		}
	}()
	for _, k := range kinds {
		s, err := o.start(k)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		if !k.Floor {
			if err := s.fill(keys, o.load.value); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	if head {
		writeHead(w, servers, t.name, o.load, o.turns)
	}
	writeMemory(w, servers, keys, o.baseline)
	for _, p := range pipelines {
		l := o.load
		l.keys, l.pipeline = keys, p
		row, err := o.workload(servers, t, l)
		if err != nil {
			return err
		}
		row.write(w, o.baseline)
		if err := row.record(o.record, servers, l, t.name); err != nil {
			return err
		}
	}
	return nil
}

// server is a server under comparison.
type server struct {
	*target.Server
	emptyRSS int64 // bytes of memory before there were keys
	fullRSS  int64 // with all
}

func (o options) start(k target.Kind) (*server, error) {
	var extra []string
	if k.Name == "heddle" {
		extra = strings.Fields(o.extra)
	}
	s, err := target.Start(k, target.Options{Threads: o.serverThreads, Args: extra})
	if err != nil {
		return nil, err
	}
	return &server{Server: s, emptyRSS: s.Settle()}, nil
}

// fill sets every key once.
func (s *server) fill(keys, value int) error {
	o, err := load{addr: s.Addr, conns: 20, threads: 1, pipeline: 50, gets: -1, keys: keys, value: value, ordered: true}.run()
	if err == nil && o.errors > 0 {
		err = fmt.Errorf("%d errors while the keys were set", o.errors)
	}
	time.Sleep(time.Second)
	s.fullRSS = s.RSS()
	return err
}

// workload runs one load on every server, turn by turn.
func (o options) workload(servers []*server, t tool, l load) (row, error) {
	r := row{name: fmt.Sprintf("%d keys, pipeline %d", l.keys, l.pipeline), samples: map[string][]sample{}}
	for _, s := range servers {
		r.servers = append(r.servers, s.Name)
	}
	for turn := range o.turns {
		for i := range servers {
			s := servers[(i+turn)%len(servers)] // nobody is always first
			before, err := s.CPU()
			if err != nil {
				return r, err
			}
			result, ops, err := t.run(s, l)
			if err != nil {
				return r, fmt.Errorf("%s: %w", s.Name, err)
			}
			after, err := s.CPU()
			if err != nil {
				return r, err
			}
			if result.errors > 0 {
				return r, fmt.Errorf("%s: %d error replies", s.Name, result.errors)
			}
			result.cpuPerOp = float64((after - before).Microseconds()) / float64(max(1, ops))
			r.samples[s.Name] = append(r.samples[s.Name], result)
		}
	}
	return r, nil
}

func numbers(list string) ([]int, error) {
	var out []int
	for _, f := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("not a list of numbers: %q", list)
		}
		out = append(out, n)
	}
	return out, nil
}

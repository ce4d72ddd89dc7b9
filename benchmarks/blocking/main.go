// Command blocking measures what it costs a server to hand an element to a client
// that waits for it: thousands of clients, each blocked on a list by BLPOP, and one
// producer that pushes to these lists. It starts this server and redis-server in
// turn and compares their CPU time per delivered element.
//
// A list is pushed to only after its client had the element before and asked again,
// so nearly every element meets a client that waits.
//
//	go run ./benchmarks/blocking -heddle bin/heddle-server -threads 1,2
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"heddle/tests/testserver"
)

type options struct {
	heddle, redis string
	threads       string
	args          string
	clients       int
	pipeline      int
	size          int
	timeout       string
	turns         int
	span          time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.heddle, "heddle", "bin/heddle-server", "our server's binary")
	flag.StringVar(&o.redis, "redis", "redis-server", "the server to compare with")
	flag.StringVar(&o.threads, "threads", "1,2", "--server-threads of ours, each compared")
	flag.StringVar(&o.args, "args", "", "more arguments for ours")
	flag.IntVar(&o.clients, "clients", 5000, "clients, each blocked on a list of its own")
	flag.IntVar(&o.pipeline, "pipeline", 16, "elements that the producer pushes before it reads the replies")
	flag.IntVar(&o.size, "size", 32, "bytes of an element")
	flag.StringVar(&o.timeout, "timeout", "0", "the timeout that clients ask for, in seconds")
	flag.IntVar(&o.turns, "turns", 5, "rounds")
	flag.DurationVar(&o.span, "time", 3*time.Second, "length of a round for each server")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "blocking:", err)
		os.Exit(1)
	}
}

// contender is a server under comparison and what it did.
type contender struct {
	name   string
	server *testserver.Server
	costs  []float64 // microseconds of CPU per element, by round
}

func (o options) run() error {
	fmt.Printf("%d clients blocked on lists of their own, one producer, pipeline %d, %d bytes, timeout %s, %d rounds of %v; %d CPUs\n",
		o.clients, o.pipeline, o.size, o.timeout, o.turns, o.span, runtime.NumCPU())
	var all []*contender
	add := func(name, binary string, args ...string) error {
		s, err := testserver.Start(binary, testserver.Options{Args: args})
		if err == nil {
			all = append(all, &contender{name: name, server: s})
		}
		return err
	}
	defer func() {
		for _, c := range all {
			c.server.Stop()
		}
	}()
	if err := add("redis", o.redis); err != nil {
		return err
	}
	for _, n := range strings.Split(o.threads, ",") {
		args := append([]string{"--server-threads", n}, strings.Fields(o.args)...)
		if err := add("heddle/"+n, o.heddle, args...); err != nil {
			return err
		}
	}
	for turn := range o.turns {
		fmt.Printf("round %d:", turn+1)
		for _, c := range all {
			r, err := o.round(c.server)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.costs = append(c.costs, r.cost())
			fmt.Printf("  %s %.2f us, %.0f/s", c.name, r.cost(), float64(r.elements)/r.took.Seconds())
		}
		fmt.Println()
	}
	for _, c := range all[1:] {
		ratios := make([]float64, o.turns)
		for i := range ratios {
			ratios[i] = c.costs[i] / all[0].costs[i]
		}
		slices.Sort(ratios)
		fmt.Printf("CPU per delivered element, %s / redis: median %.2f, from %.2f to %.2f\n", c.name, ratios[o.turns/2], ratios[0], ratios[o.turns-1])
	}
	return nil
}

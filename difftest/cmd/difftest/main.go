// Command difftest compares this server with redis-server on random commands.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"heddle/difftest"
	"heddle/tests/testserver"
)

func main() {
	var (
		heddle  = flag.String("heddle", "bin/heddle-server", "our server's binary")
		oracle  = flag.String("redis", "redis-server", "redis-server 7.0.15")
		n       = flag.Int("n", 100000, "commands for each number of workers")
		workers = flag.String("workers", "1", "numbers of workers, separated by commas")
		seed    = flag.Int64("seed", 0, "seed of the commands; 0 takes the clock")
		groups  = flag.String("groups", "", "command groups, separated by commas; empty takes all of "+strings.Join(difftest.GroupNames(), ","))
		keys    = flag.Int("keys", 24, "number of ordinary keys")
		conns   = flag.Int("conns", 0, "connections; 0 takes 4 a worker, 16 at most")
		most    = flag.Int("failures", 10, "give up after so many different mismatches")
		events  = flag.Bool("events", false, "compare keyspace events, too")
		list    = flag.Bool("differences", false, "list the deliberate differences and end")
		all     = flag.Bool("enumerate", false, "run all cases that follow from COMMAND DOCS, not random ones")
		only    = flag.String("only", "", "with -enumerate: a command")
	)
	flag.Parse()
	if *list {
		for _, d := range difftest.Differences() {
			fmt.Println(d)
		}
		return
	}
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	if *all {
		if err := enumerate(*heddle, *oracle, *only, *most); err != nil {
			fmt.Fprintln(os.Stderr, "difftest:", err)
			os.Exit(1)
		}
		return
	}
	options := difftest.Options{Seed: *seed, Conns: *conns, Keys: *keys, Events: *events}
	if *groups != "" {
		options.Groups = strings.Split(*groups, ",")
	}
	failed := false
	for _, w := range strings.Split(*workers, ",") {
		count, err := strconv.Atoi(w)
		if err == nil {
			var ok bool
			ok, err = compare(*heddle, *oracle, count, difftest.Config{Options: options, N: *n, MaxFailures: *most, Out: os.Stdout})
			failed = failed || !ok
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "difftest:", err)
			os.Exit(2)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// start starts both servers.
func start(oracle, heddle string, workers int) (theirs, ours *testserver.Server, err error) {
	if theirs, err = testserver.Start(oracle, testserver.Options{Args: testserver.Args(oracle, workers)}); err != nil {
		return nil, nil, err
	}
	if ours, err = testserver.Start(heddle, testserver.Options{Args: testserver.Args(heddle, workers)}); err != nil {
		theirs.Stop()
		return nil, nil, err
	}
	return theirs, ours, nil
}

// compare runs both servers with a number of workers and reports whether all
// replies were equal.
func compare(heddle, oracle string, workers int, c difftest.Config) (bool, error) {
	if c.Conns == 0 {
		c.Conns = min(4*workers, 16)
	}
	theirs, ours, err := start(oracle, heddle, workers)
	if err != nil {
		return false, err
	}
	defer theirs.Stop()
	defer ours.Stop()
	result, err := difftest.Compare(theirs.Addr, ours.Addr, c)
	if !ours.Alive() {
		return false, fmt.Errorf("our server died; its log ends:\n%s", ours.Log())
	}
	if err != nil {
		return false, fmt.Errorf("%w\nwhat our server was doing:\n%s", err, ours.Stacks())
	}
	fmt.Printf("workers %d: %d commands, %d different mismatches, seed %d, %.1f s\n",
		workers, result.Commands, len(result.Failures), c.Seed, result.Took.Seconds())
	return len(result.Failures) == 0, nil
}

// enumerate runs all cases in both protocols.
func enumerate(heddle, oracle, only string, most int) error {
	theirs, ours, err := start(oracle, heddle, 1)
	if err != nil {
		return err
	}
	defer theirs.Stop()
	defer ours.Stop()
	total := 0
	for proto := 2; proto <= 3; proto++ {
		start := time.Now()
		cases, failed, err := difftest.Enumerate(theirs.Addr, ours.Addr,
			difftest.Enumerated{Only: only, Every: 1, Proto: proto, Large: proto == 3, Most: most, Out: os.Stdout})
		if err != nil {
			return fmt.Errorf("%w\nlog: %s", err, ours.Log())
		}
		fmt.Printf("RESP%d: %d cases, %d differ, %.1f s\n", proto, cases, failed, time.Since(start).Seconds())
		total += failed
	}
	if total > 0 {
		return fmt.Errorf("%d cases differ", total)
	}
	return nil
}

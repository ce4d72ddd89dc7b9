// Command pubsub measures how many messages a server delivers for a second of its
// CPU time: one publisher, many subscribers of one channel, this server and
// redis-server in turn, several rounds, each of which waits until everybody has got
// every message. It starts the servers itself.
//
//	go run ./benchmarks/pubsub -heddle bin/heddle-server -pipeline 1
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
	args          string
	subscribers   int
	pipeline      int
	window        int
	size          int
	turns         int
	span          time.Duration
	patterns      bool
}

func main() {
	var o options
	flag.StringVar(&o.heddle, "heddle", "bin/heddle-server", "our server's binary")
	flag.StringVar(&o.redis, "redis", "redis-server", "the server to compare with")
	flag.StringVar(&o.args, "args", "--server-threads 2", "more arguments for ours")
	flag.IntVar(&o.subscribers, "subscribers", 1000, "connections that subscribe")
	flag.IntVar(&o.pipeline, "pipeline", 1, "messages that the publisher sends before it reads the replies")
	flag.IntVar(&o.window, "window", 64, "messages that the publisher may be ahead of the subscribers")
	flag.IntVar(&o.size, "size", 32, "bytes of a message")
	flag.IntVar(&o.turns, "turns", 5, "rounds")
	flag.DurationVar(&o.span, "time", 3*time.Second, "length of a round for each server")
	flag.BoolVar(&o.patterns, "patterns", false, "subscribe to a pattern instead of the channel")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "pubsub:", err)
		os.Exit(1)
	}
}

// result is what a server did in a round.
type result struct {
	messages int64
	took     time.Duration
	cpu      time.Duration
}

func (r result) perCPU() float64    { return float64(r.messages) / r.cpu.Seconds() }
func (r result) perSecond() float64 { return float64(r.messages) / r.took.Seconds() }

func (o options) run() error {
	fmt.Printf("%d subscribers, %d bytes, pipeline %d, window %d, %d rounds of %v; %d CPUs; ours: %s\n",
		o.subscribers, o.size, o.pipeline, o.window, o.turns, o.span, runtime.NumCPU(), o.args)
	ours, err := testserver.Start(o.heddle, testserver.Options{Args: strings.Fields(o.args)})
	if err != nil {
		return err
	}
	defer ours.Stop()
	theirs, err := testserver.Start(o.redis, testserver.Options{})
	if err != nil {
		return err
	}
	defer theirs.Stop()
	var ratios []float64
	for turn := range o.turns {
		a, err := o.round(ours)
		if err != nil {
			return fmt.Errorf("heddle: %w", err)
		}
		b, err := o.round(theirs)
		if err != nil {
			return fmt.Errorf("redis: %w", err)
		}
		ratio := a.perCPU() / b.perCPU()
		ratios = append(ratios, ratio)
		fmt.Printf("round %d: heddle %9.0f messages/CPU s, %9.0f/s; redis %9.0f messages/CPU s, %9.0f/s; ratio %.2f\n",
			turn+1, a.perCPU(), a.perSecond(), b.perCPU(), b.perSecond(), ratio)
	}
	slices.Sort(ratios)
	fmt.Printf("messages per CPU second, heddle/redis: median %.2f, from %.2f to %.2f\n",
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	return nil
}

// Package difftest runs one stream of random commands against redis-server and
// against this server, over TCP, and compares the replies byte for byte.
//
// Commands come from weighted templates (commands.go) with a bias to values at
// which programs break (values.go). They are spread over several connections,
// sent in pipelined batches, inside MULTI and outside, in RESP2 and RESP3, as
// arrays and inline; a batch is answered before the next is sent, so that both
// servers see one order. Replies that depend on time or on the server's own
// state are compared by a weaker rule that the template names (compare.go), those
// that are drawn at random against the collection (drawn.go). Each few thousand
// commands the whole keyspaces are compared, and, if wanted, behind each batch the
// keyspace events (state.go).
// After a mismatch the history is run again in parts until the fewest commands
// that show it are left.
package difftest

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// era is the number of commands after which both servers are emptied, so that
// a history stays short enough to shrink.
const era = 5000

// Config says what Compare runs.
type Config struct {
	Options
	N           int       // commands
	MaxFailures int       // different commands that may fail before it gives up
	Out         io.Writer // for mismatches
}

// Result is what came of a run.
type Result struct {
	Commands int
	Failures []Failure
	Took     time.Duration
}

// Failure is a mismatch with the history that leads to it.
type Failure struct {
	Mismatch *Mismatch
	History  []Step // the fewest steps; all of the era's if it came only once
	Once     bool   // it did not come again when the history was run again
}

// Compare runs random commands on the servers at two addresses.
func Compare(oracle, ours string, c Config) (Result, error) {
	g, err := NewGenerator(c.Options)
	if err != nil {
		return Result{}, err
	}
	p, err := NewPair(oracle, ours, c.Conns)
	if err != nil {
		return Result{}, err
	}
	defer p.Close()
	if c.Events {
		if err := p.Listen(); err != nil {
			return Result{}, err
		}
	}
	run := &run{Config: c, gen: g, pair: p, seen: map[string]bool{}}
	start := time.Now()
	err = run.loop()
	run.Took = time.Since(start)
	return run.Result, err
}

type run struct {
	Config
	Result
	gen     *Generator
	pair    *Pair
	history []Step
	seen    map[string]bool // names of commands that failed
}

func (r *run) loop() error {
	if err := r.reset(); err != nil {
		return err
	}
	for r.Commands < r.N && len(r.Failures) < r.MaxFailures {
		if len(r.history) > era {
			if err := r.endEra(); err != nil {
				return err
			}
		}
		batch := r.gen.Batch()
		r.Commands += len(batch)
		if err := r.step(batch); err != nil {
			return err
		}
	}
	return r.endEra()
}

// step runs a batch.
func (r *run) step(batch []Step) error {
	m, err := r.pair.Run(batch)
	r.history = append(r.history, batch...)
	if err == nil && m != nil {
		err = r.failed(m, batch)
	}
	return err
}

// endEra compares all keys and begins anew.
func (r *run) endEra() error {
	if err := r.step([]Step{r.gen.Digest()}); err != nil {
		return err
	}
	return r.reset()
}

func (r *run) reset() error {
	r.history = r.history[:0]
	r.gen.Fresh()
	return r.pair.Reset()
}

// failed shrinks and reports a mismatch, unless the command has failed before
// in this run, and begins anew.
func (r *run) failed(m *Mismatch, batch []Step) error {
	name := m.name()
	if !r.seen[name] {
		r.seen[name] = true
		// what came behind the step in its batch has no part in it
		end := len(r.history)
		for m.What == "" && end > len(r.history)-len(batch)+1 && !sameCommand(r.history[end-1], m.Step) {
			end--
		}
		history := append([]Step{}, r.history[:end]...)
		f := Failure{Mismatch: m}
		if least, again := Shrink(r.pair, history, m.Key); least != nil {
			f.History, f.Mismatch = least, again
		} else {
			f.Once, f.History = true, history[max(0, len(history)-20):]
		}
		r.Failures = append(r.Failures, f)
		fmt.Fprintf(r.Out, "MISMATCH after %d commands, seed %d\n%s\n", r.Commands, r.Seed, f)
	}
	return r.reset()
}

// name is what mismatches are told apart by: the command, its first word behind that,
// and the kinds of the two replies.
func (m *Mismatch) name() string {
	if m.What != "" {
		_, kind, _ := strings.Cut(m.What, "; type ")
		if m.Key == "" {
			return m.What
		}
		return "digest " + kind
	}
	if m.Step.Raw != nil && len(m.Step.Argv) == 0 {
		return string(m.Step.Raw)
	}
	name := strings.ToLower(string(m.Step.Argv[0]))
	switch name {
	case "client", "object", "config", "command", "memory", "debug", "hello", "info":
		if len(m.Step.Argv) > 1 {
			name += " " + strings.ToLower(string(m.Step.Argv[1]))
		}
	}
	return fmt.Sprintf("%s %c %c", name, m.Want.Kind, m.Got.Kind)
}

// String shows the history and the answers.
func (f Failure) String() string {
	var b strings.Builder
	if f.Once {
		b.WriteString("it did not come again; the last steps were:\n")
	}
	for _, s := range f.History {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	b.WriteString(f.Mismatch.Describe())
	b.WriteByte('\n')
	return b.String()
}

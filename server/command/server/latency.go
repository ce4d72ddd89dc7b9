package admin

import (
	"fmt"
	"strings"

	"heddle/resp"
	"heddle/server/command"
	"heddle/server/stats"
)

// latencySpec: LATENCY LATEST | HISTORY event | RESET [event ...] | GRAPH event |
// DOCTOR | HISTOGRAM [command ...] | HELP
func (f *family) latencySpec() *command.Spec {
	special := []string{tipNondetermined, tipAllNodes, tipSpecialRequest}
	return &command.Spec{Name: "latency", Arity: -2, Group: group, Sub: []*command.Spec{
		simpleSub("doctor", 2, adminFlags, f.latencyDoctor, special...),
		simpleSub("graph", 3, adminFlags, f.latencyGraph, special...),
		simpleSub("help", 2, command.Loading|command.Stale, latencyHelp),
		simpleSub("histogram", -2, adminFlags, f.latencyHistogram, special...),
		simpleSub("history", 3, adminFlags, f.latencyHistory, special...),
		simpleSub("latest", 2, adminFlags, f.latencyLatest, special...),
		simpleSub("reset", -2, adminFlags, f.latencyReset, tipAllNodes, tipSum),
	}}
}

func (f *family) latencyLatest(c *command.Call, _ command.Session) error {
	events := f.d.Stats.Latency.Events()
	c.Reply.Array(len(events))
	for i := range events {
		e := &events[i]
		last := e.Samples[len(e.Samples)-1]
		c.Reply.Array(4)
		c.Reply.BulkString(e.Name)
		c.Reply.Int(last.Unix)
		c.Reply.Int(last.Millis)
		c.Reply.Int(e.Max)
	}
	return nil
}

func (f *family) latencyHistory(c *command.Call, _ command.Session) error {
	e, _ := f.d.Stats.Latency.Event(string(c.Args.Bytes()))
	c.Reply.Array(len(e.Samples))
	for _, s := range e.Samples {
		c.Reply.Array(2)
		c.Reply.Int(s.Unix)
		c.Reply.Int(s.Millis)
	}
	return nil
}

func (f *family) latencyReset(c *command.Call, _ command.Session) error {
	var names []string
	for _, n := range c.Args.Rest() {
		names = append(names, string(n))
	}
	c.Reply.Int(int64(f.d.Stats.Latency.Reset(names...)))
	return nil
}

func (f *family) latencyGraph(c *command.Call, _ command.Session) error {
	name := c.Args.Bytes()
	e, ok := f.d.Stats.Latency.Event(string(name))
	if !ok {
		return command.Errorf("ERR No samples available for event '%s'", name)
	}
	c.Reply.Verbatim("txt", []byte(drawSpikes(&e, f.d.Server.Micros()/1e6)))
	return nil
}

// How wide and high a graph of spikes is, in characters.
const (
	graphWidth  = 80
	graphHeight = 4
)

// drawSpikes draws the latest spikes as columns, the oldest first, each with
// its age below, written downwards.
func drawSpikes(e *stats.LatencyEvent, now int64) string {
	samples := e.Samples[max(0, len(e.Samples)-graphWidth):]
	low, high := samples[0].Millis, samples[0].Millis
	for _, s := range samples {
		low, high = min(low, s.Millis), max(high, s.Millis)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n", e.Name, high, low, e.Max)
	b.WriteString(strings.Repeat("-", graphWidth) + "\n")
	for row := graphHeight; row >= 1; row-- {
		for _, s := range samples {
			level := 1
			if high > low {
				level += int((s.Millis - low) * (graphHeight - 1) / (high - low))
			}
			b.WriteByte(columnMark(level, row))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	writeAges(&b, samples, now)
	return b.String()
}

func columnMark(level, row int) byte {
	switch {
	case level == row:
		return '#'
	case level > row:
		return '|'
	}
	return ' '
}

func writeAges(b *strings.Builder, samples []stats.LatencySample, now int64) {
	ages := make([]string, len(samples))
	longest := 0
	for i, s := range samples {
		ages[i] = age(now - s.Unix)
		longest = max(longest, len(ages[i]))
	}
	for row := range longest {
		for _, a := range ages {
			if row < len(a) {
				b.WriteByte(a[row])
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
}

// age writes seconds in the largest unit that fits.
func age(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", max(seconds, 0))
	case seconds < 3600:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 24*3600:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/(24*3600))
}

// latencyHistogram answers with cumulative counts per command. The name of a
// container stands for all its subcommands.
func (f *family) latencyHistogram(c *command.Call, _ command.Session) error {
	var specs []*command.Spec
	if names := c.Args.Rest(); len(names) == 0 {
		specs = f.d.Table().All()
	} else {
		for _, n := range names {
			if s := f.d.Table().Find(n); s != nil {
				specs = append(append(specs, s), s.Sub...)
			}
		}
	}
	var out resp.Writer
	out.SetProto(c.Reply.Proto())
	n := 0
	for _, s := range specs {
		if h := f.d.Stats.Histogram(s.ID()); h != nil {
			writeHistogram(&out, s.FullName(), h)
			n++
		}
	}
	c.Reply.Map(n)
	c.Reply.Raw(out.Bytes())
	return nil
}

func writeHistogram(w *resp.Writer, name string, h *stats.Histogram) {
	var below [][2]int64
	h.Below(1024, func(limit, count int64) { below = append(below, [2]int64{limit / 1000, count}) })
	w.BulkString(name)
	w.Map(2)
	w.BulkString("calls")
	w.Int(h.Count())
	w.BulkString("histogram_usec")
	w.Map(len(below))
	for _, b := range below {
		w.Int(b[0])
		w.Int(b[1])
	}
}

// latencyDoctor says what the samples mean and what may help.
func (f *family) latencyDoctor(c *command.Call, _ command.Session) error {
	c.Reply.Verbatim("txt", []byte(f.diagnoseLatency()))
	return nil
}

func (f *family) diagnoseLatency() string {
	l := &f.d.Stats.Latency
	if l.Threshold() == 0 {
		return "The latency monitor is switched off. CONFIG SET latency-monitor-threshold <milliseconds> " +
			"makes it keep everything that takes at least that long.\n"
	}
	events := l.Events()
	if len(events) == 0 {
		return fmt.Sprintf("Nothing took %d ms or longer since the monitor was switched on or reset.\n", l.Threshold())
	}
	var b strings.Builder
	b.WriteString("What took too long, and what may help:\n\n")
	for i := range events {
		e := &events[i]
		sum := int64(0)
		for _, s := range e.Samples {
			sum += s.Millis
		}
		fmt.Fprintf(&b, "%d. %s: %d spikes of %d ms on average, the worst %d ms.\n   %s\n",
			i+1, e.Name, len(e.Samples), sum/int64(len(e.Samples)), e.Max, latencyAdvice(e.Name))
	}
	return b.String()
}

func latencyAdvice(event string) string {
	switch event {
	case stats.EventCommand:
		return "Commands that look at much data at once: SLOWLOG GET names them. Prefer SCAN over KEYS, and smaller collections."
	case stats.EventFastCommand:
		return "Even cheap commands were held up: look for swapping, for other processes on these CPUs, for a virtual machine that is short of time."
	case stats.EventExpire:
		return "Many keys expire in the same instant: spread their times to live."
	case stats.EventEviction:
		return "Memory is short and eviction cannot keep up: raise maxmemory, or write less at once."
	case stats.EventDefrag:
		return "Compaction works too hard: lower active-defrag-cycle-max."
	}
	return "See what runs at those moments (LATENCY HISTORY " + event + ")."
}

func latencyHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"DOCTOR",
		"    A report for people: what takes long, and what may help.",
		"GRAPH <event>",
		"    The latest spikes of <event>, drawn.",
		"HISTOGRAM [<command> ...]",
		"    How many calls of each command took how long at most.",
		"HISTORY <event>",
		"    The latest spikes of <event>, each with time and milliseconds.",
		"LATEST",
		"    The last spike of each event, and the longest.",
		"RESET [<event> ...]",
		"    Forget the spikes of the named events, or of all.",
	)
}

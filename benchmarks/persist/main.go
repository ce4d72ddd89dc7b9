// Command persist compares what persistence costs here and with redis-server: how long
// saving and loading take, what memory and which delays a save costs while others write,
// and how fast an append-only file is written.
//
// Each turn runs both servers one after the other on the same data; ratios are taken within
// a turn, and what is printed is the median of the turns. Delays are counted from the
// instant at which a write was due, not at which it could be sent, so that a stall counts
// for all whom it met.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/benchmarks/target"
)

type options struct {
	heddle, redis string
	dir           string
	keys, turns   int
	saves         int
	rate          int
	quiet, steady time.Duration
	extra, only   string
}

func main() {
	var o options
	flag.StringVar(&o.heddle, "heddle", "bin/heddle-server", "our server's binary")
	flag.StringVar(&o.redis, "redis", "redis-server", "the server to compare with")
	flag.StringVar(&o.dir, "dir", "", "directory on the disk to measure; empty: the system's for temporary files")
	flag.IntVar(&o.keys, "keys", 10_000_000, "small keys; collections with as many elements in all come on top")
	flag.IntVar(&o.turns, "turns", 3, "turns of both servers")
	flag.IntVar(&o.saves, "saves", 3, "saves beside writes in each turn")
	flag.IntVar(&o.rate, "rate", 30_000, "writes a second while it is saved")
	flag.DurationVar(&o.quiet, "quiet", 10*time.Second, "length of the writes before each save")
	flag.DurationVar(&o.steady, "time", 8*time.Second, "length of each load of an append-only file")
	flag.StringVar(&o.extra, "args", "", "more arguments for our server")
	flag.StringVar(&o.only, "only", "", "only parts whose name holds this: save, append, load")
	flag.Parse()
	o.turns, o.saves = max(1, o.turns), max(1, o.saves)
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "persist:", err)
		os.Exit(1)
	}
}

// part is one of the things that are measured, on a server that the part starts.
type part struct {
	name string
	run  func(o options, k target.Kind, dir string) (map[string]float64, error)
}

func parts() []part {
	return []part{{"save", measureSave}, {"append", measureAppend}, {"load", measureLoadAOF}}
}

func (o options) run(w io.Writer) error {
	kinds, err := target.Find(o.heddle, o.redis, "", "")
	if err != nil {
		return err
	}
	if len(kinds) < 2 {
		return fmt.Errorf("%s is not there", o.redis)
	}
	kinds[1].Name = "redis"
	fmt.Fprintf(w, "%s: %d keys, %d turns, %d writes a second\n", strings.Join(os.Args, " "), o.keys, o.turns, o.rate)
	results := map[string][]map[string]float64{}
	for turn := range o.turns {
		for i := range kinds {
			k := kinds[(i+turn)%len(kinds)] // nobody is always first
			all := map[string]float64{}
			for _, p := range parts() {
				if !strings.Contains(p.name, o.only) {
					continue
				}
				if err := o.measure(p, k, all); err != nil {
					return fmt.Errorf("%s, %s: %w", k.Name, p.name, err)
				}
			}
			results[k.Name] = append(results[k.Name], all)
			fmt.Fprintf(os.Stderr, "turn %d, %s: %v\n", turn+1, k.Name, all)
		}
	}
	report(w, results)
	return nil
}

func (o options) measure(p part, k target.Kind, all map[string]float64) error {
	dir, err := os.MkdirTemp(o.dir, "persist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	got, err := p.run(o, k, dir)
	for name, v := range got {
		all[name] = v
	}
	return err
}

// measureSave times saves and loads of an RDB file, and looks at writes beside them.
func measureSave(o options, k target.Kind, dir string) (map[string]float64, error) {
	s, err := o.start(k, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if s != nil {
			s.Kill()
		}
	}()
	if err := s.fill(o.keys); err != nil {
		return nil, err
	}
	got := map[string]float64{}
	time.Sleep(2 * time.Second)
	took, err := s.save()
	if err != nil {
		return nil, err
	}
	got["BGSAVE, idle, s"] = took.Seconds()
	if err := s.underLoad(o, got); err != nil {
		return nil, err
	}
	s.Kill()
	begin := time.Now()
	if s, err = o.start(k, dir); err != nil {
		return nil, err
	}
	got["load RDB, s"] = time.Since(begin).Seconds()
	got["RDB file, MB"] = sizeOf(filepath.Join(dir, "dump.rdb"))
	return got, s.holds(o.keys)
}

// underLoad writes at a steady rate, without a save and with one, in turn. Delays are those of
// all rounds together: one standstill of a shared machine in the seconds of a save is all of
// its p99.9.
func (s *server) underLoad(o options, got map[string]float64) error {
	p := newPacer(s.Addr, o.rate, o.keys)
	calm, saving := &paced{}, &paced{}
	var calmStood, savingStood time.Duration
	var took, peaks, alls, befores []float64
	for range o.saves {
		stood := watchMachine()
		err := p.run(calm, func() error { time.Sleep(o.quiet); return nil })
		calmStood = max(calmStood, stood())
		if err != nil {
			return err
		}
		before := s.memory()
		stood = watchMachine()
		watch := s.watchMemory()
		err = p.run(saving, func() error {
			d, err := s.save()
			took = append(took, d.Seconds())
			return err
		})
		peak, all := watch()
		savingStood = max(savingStood, stood())
		if err != nil {
			return err
		}
		befores, peaks, alls = append(befores, before), append(peaks, peak/before), append(alls, all/before)
	}
	got["rate kept, percent"] = min(p.kept(calm), p.kept(saving))
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	got["BGSAVE, writes, s"] = median(took)
	got["peak / before"] = slices.Max(peaks)
	got["peak with child / before"] = slices.Max(alls)
	got["memory before, MB"] = median(befores)
	got["p99.9 without, ms"] = ms(calm.latency.Quantile(0.999))
	got["p99.9 in save, ms"] = ms(saving.latency.Quantile(0.999))
	got["p99.9, save / without"] = got["p99.9 in save, ms"] / got["p99.9 without, ms"]
	got["longest without, ms"] = ms(calm.latency.Quantile(1))
	got["longest in save, ms"] = ms(saving.latency.Quantile(1))
	got["machine stood without, ms"] = ms(calmStood)
	got["machine stood in save, ms"] = ms(savingStood)
	got["longest not sent, ms"] = ms(saving.late.Quantile(1))
	got["p99.9 not sent, ms"] = ms(saving.late.Quantile(0.999))
	got["latest fork, ms"] = s.number("stats", "latest_fork_usec") / 1000
	return nil
}

// measureAppend writes an append-only file under two policies.
func measureAppend(o options, k target.Kind, dir string) (map[string]float64, error) {
	got := map[string]float64{}
	for _, l := range []struct {
		name, fsync     string
		conns, pipeline int
	}{{"always", "always", 50, 1}, {"everysec", "everysec", 50, 1}, {"everysec pipeline 16", "everysec", 50, 16}} {
		sub := filepath.Join(dir, strings.ReplaceAll(l.name, " ", "-"))
		if err := os.Mkdir(sub, 0o755); err != nil {
			return nil, err
		}
		s, err := o.start(k, sub, "--appendonly", "yes", "--appendfsync", l.fsync, "--auto-aof-rewrite-percentage", "0")
		if err != nil {
			return nil, err
		}
		before, err := s.CPU()
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		ops, err := s.closedLoop(l.conns, l.pipeline, o.steady)
		took := time.Since(begin)
		after, cpuErr := s.CPU()
		s.Kill()
		if err := errors.Join(err, cpuErr); err != nil {
			return nil, err
		}
		spent := after - before
		got[l.name+", ops/s"] = float64(ops) / took.Seconds()
		got[l.name+", CPU us/op"] = float64(spent.Microseconds()) / float64(max(1, ops))
	}
	return got, nil
}

// measureLoadAOF loads an append-only file of commands, one for each small key.
func measureLoadAOF(o options, k target.Kind, dir string) (map[string]float64, error) {
	args := []string{"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"}
	s, err := o.start(k, dir, args...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if s != nil {
			s.Kill()
		}
	}()
	if err := s.fill(o.keys); err != nil {
		return nil, err
	}
	if err := s.Terminate(loading); err != nil {
		return nil, err
	}
	begin := time.Now()
	if s, err = o.start(k, dir, args...); err != nil {
		return nil, err
	}
	return map[string]float64{"load AOF, s": time.Since(begin).Seconds()}, s.holds(o.keys)
}

// goals are what is asked of us: of the ratio to redis-server, or of our own figure.
var goals = map[string]struct {
	most, least float64
	own         bool
}{
	"BGSAVE, idle, s":                 {most: 0.7},
	"BGSAVE, writes, s":               {most: 0.7},
	"load RDB, s":                     {most: 0.6},
	"load AOF, s":                     {most: 0.7},
	"peak / before":                   {most: 1.15, own: true},
	"p99.9, save / without":           {most: 1.5, own: true},
	"longest in save, ms":             {most: 5, own: true},
	"always, ops/s":                   {least: 1.5},
	"everysec, CPU us/op":             {most: 0.9},
	"everysec pipeline 16, CPU us/op": {most: 0.9},
}

// report prints medians, the median of the turns' ratios, and the goals.
func report(w io.Writer, results map[string][]map[string]float64) {
	names := map[string]bool{}
	for _, turn := range results["redis"] {
		for name := range turn {
			names[name] = true
		}
	}
	var list []string
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	fmt.Fprintf(w, "%-34s %12s %12s %8s  %s\n", "", "heddle", "redis", "ratio", "goal")
	for _, name := range list {
		var ours, theirs, ratios []float64
		for i := range results["redis"] {
			a, b := results["heddle"][i][name], results["redis"][i][name]
			ours, theirs = append(ours, a), append(theirs, b)
			if b != 0 {
				ratios = append(ratios, a/b)
			}
		}
		fmt.Fprintf(w, "%-34s %12.3f %12.3f %8.2f  %s\n", name, median(ours), median(theirs), median(ratios), verdict(name, median(ours), median(ratios)))
	}
}

func verdict(name string, own, ratio float64) string {
	g, ok := goals[name]
	if !ok {
		return ""
	}
	v, of := ratio, "ratio"
	if g.own {
		v, of = own, "ours"
	}
	text, met := fmt.Sprintf("%s at most %v", of, g.most), v <= g.most
	if g.least > 0 {
		text, met = fmt.Sprintf("%s at least %v", of, g.least), v >= g.least
	}
	if met {
		return text + ": met"
	}
	return text + ": MISSED"
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

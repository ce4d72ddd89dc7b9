package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is a workload with the samples of every server, one a turn.
type row struct {
	name    string
	servers []string // in order of the columns
	samples map[string][]sample
}

// metric is a figure that is reported of a workload.
type metric struct {
	name string
	of   func(sample) float64
	unit string
}

func metrics() []metric {
	return []metric{
		{"ops/s", func(s sample) float64 { return s.opsPerSecond }, "%.0f"},
		{"p50 us", func(s sample) float64 { return s.p50 }, "%.0f"},
		{"p99 us", func(s sample) float64 { return s.p99 }, "%.0f"},
		{"p99.9 us", func(s sample) float64 { return s.p999 }, "%.0f"},
		{"cpu us/op", func(s sample) float64 { return s.cpuPerOp }, "%.3f"},
	}
}

// median of a list that is not empty.
func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// ratios divides each turn's value by the baseline's of the same turn.
func ratios(values, baseline []float64) []float64 {
	list := make([]float64, 0, len(values))
	for i := range values {
		if i < len(baseline) && baseline[i] != 0 {
			list = append(list, values[i]/baseline[i])
		}
	}
	return list
}

// write prints a workload: medians, and for every server but the baseline the
// median of the turns' ratios with its spread.
func (r row) write(w io.Writer, baseline string) {
	fmt.Fprintf(w, "\n%s\n%-12s", r.name, "")
	for _, name := range r.servers {
		fmt.Fprintf(w, " %28s", name)
	}
	fmt.Fprintln(w)
	for _, m := range metrics() {
		fmt.Fprintf(w, "%-12s", m.name)
		base := r.values(baseline, m)
		for _, name := range r.servers {
			fmt.Fprintf(w, " %28s", cell(r.values(name, m), base, m.unit, name == baseline))
		}
		fmt.Fprintln(w)
	}
}

func (r row) values(name string, m metric) []float64 {
	var list []float64
	for _, s := range r.samples[name] {
		list = append(list, m.of(s))
	}
	return list
}

func cell(values, base []float64, unit string, isBase bool) string {
	if len(values) == 0 {
		return "-"
	}
	text := fmt.Sprintf(unit, median(values))
	if quotients := ratios(values, base); !isBase && len(quotients) > 0 {
		text += fmt.Sprintf(" %.2fx (%.2f-%.2f)", median(quotients), slices.Min(quotients), slices.Max(quotients))
	}
	return text
}

// record adds the workload to a file of JSON lines, with all that is needed to
// compare it with later ones. No file, no record.
func (r row) record(file string, servers []*server, l load, tool string) error {
	if file == "" {
		return nil
	}
	type result struct {
		Line, Version string
		RSS           int64
		Medians       map[string]float64
	}
	line := struct {
		Time, Host, CPU, Commit, Tool            string
		CPUs, Keys, Pipeline, Conns, Gets, Value int
		Servers                                  map[string]result
	}{time.Now().UTC().Format(time.RFC3339), hostname(), cpuModel(), commit(), tool,
		runtime.NumCPU(), l.keys, l.pipeline, l.conns, l.gets, l.value, map[string]result{}}
	for _, s := range servers {
		medians := map[string]float64{}
		for _, m := range metrics() {
			if values := r.values(s.Name, m); len(values) > 0 {
				medians[m.name] = median(values)
			}
		}
		line.Servers[s.Name] = result{s.Line(), s.Version(), s.fullRSS, medians}
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(b, '\n'))
	return err
}

func commit() string {
	out, _ := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	return strings.TrimSpace(string(out))
}

// writeHead prints what is needed to judge the figures.
func writeHead(w io.Writer, servers []*server, tool string, l load, turns int) {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(w, "%s, %s, %d CPUs (%s), Linux %s, %s, commit %s\n", time.Now().UTC().Format("2006-01-02 15:04"), hostname(), runtime.NumCPU(), cpuModel(),
		strings.TrimSpace(string(kernel)), runtime.Version(), commit())
	fmt.Fprintf(w, "load: %s, %d connections on %d threads, GET:SET %d:1, %d-byte values, %v a turn, %d turns each, in turn\n",
		tool, l.conns, l.threads, l.gets, l.value, l.duration, turns)
	for _, s := range servers {
		fmt.Fprintf(w, "%-14s %-10s %s\n", s.Name, s.Version(), s.Line())
	}
}

func hostname() string {
	name, _ := os.Hostname()
	return name
}

func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimLeft(strings.TrimSpace(name), ": \t")
		}
	}
	return runtime.GOARCH
}

// writeMemory prints the memory of each server at a size of the keyspace.
func writeMemory(w io.Writer, servers []*server, keys int, baseline string) {
	perKey := map[string]float64{}
	for _, s := range servers {
		perKey[s.Name] = float64(s.fullRSS-s.emptyRSS) / float64(keys)
	}
	fmt.Fprintf(w, "\nmemory with %d keys of 15 bytes\n", keys)
	for _, s := range servers {
		if s.fullRSS == 0 {
			continue
		}
		fmt.Fprintf(w, "%-14s empty %6.1f MB, full %8.1f MB, %6.1f bytes of RSS a key, all told %6.1f", s.Name,
			float64(s.emptyRSS)/(1<<20), float64(s.fullRSS)/(1<<20), perKey[s.Name], float64(s.fullRSS)/float64(keys))
		if base := perKey[baseline]; s.Name != baseline && base > 0 {
			fmt.Fprintf(w, ", %.2fx", perKey[s.Name]/base)
		}
		fmt.Fprintln(w)
	}
}

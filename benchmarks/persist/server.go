package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"heddle/benchmarks/target"
)

// server is a running server.
type server struct{ *target.Server }

// loading is how long a server may take to load and answer.
const loading = 30 * time.Minute

// start runs a server on the files in dir and returns once it answers.
func (o options) start(k target.Kind, dir string, args ...string) (*server, error) {
	if k.Name == "heddle" {
		args = append(args, strings.Fields(o.extra)...)
	}
	s, err := target.Start(k, target.Options{Args: args, Dir: dir, Wait: loading})
	if err != nil {
		return nil, err
	}
	return &server{s}, nil
}

func (s *server) number(section, name string) float64 {
	n, _ := strconv.ParseFloat(s.Field(section, name), 64)
	return n
}

// save has the server save in the background, and returns how long that took.
func (s *server) save() (time.Duration, error) {
	begin := time.Now()
	if reply, err := s.Ask("BGSAVE"); err != nil || strings.HasPrefix(reply, "-") {
		return 0, fmt.Errorf("BGSAVE: %s %w", reply, err)
	}
	for s.Field("persistence", "rdb_bgsave_in_progress") != "0" {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(begin)
	if status := s.Field("persistence", "rdb_last_bgsave_status"); status != "ok" {
		return 0, fmt.Errorf("BGSAVE ended with %q", status)
	}
	return took, nil
}

// holds checks that all small keys are there.
func (s *server) holds(keys int) error {
	reply, err := s.Ask("DBSIZE")
	if n, _ := strconv.Atoi(strings.TrimPrefix(reply, ":")); err == nil && n < keys {
		err = fmt.Errorf("%s keys after loading %d", reply, keys)
	}
	return err
}

// memory is what the process itself holds, in MB.
func (s *server) memory() float64 { return statusMB(s.PID(), "status", "VmRSS:") }

// statusMB adds up the lines of a file in /proc/PID that begin with name.
func statusMB(pid int, file, name string) (mb float64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, name) {
			n, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			mb += n / 1024
		}
	}
	return mb
}

// watchMemory looks at the process every tenth of a second until the function that it
// returns is called: that gives the most that the process held, and the most that it and
// its children held together, of which shared pages count once. Of the children only, since
// to look so closely stops a process for a moment.
func (s *server) watchMemory() func() (own, all float64) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	var own, all float64
	go func() {
		defer close(stopped)
		for {
			mine := s.memory()
			together := mine
			for _, pid := range children(s.PID()) {
				together += statusMB(pid, "smaps_rollup", "Private_")
			}
			own, all = max(own, mine), max(all, together)
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() (float64, float64) {
		close(stop)
		<-stopped
		return own, all
	}
}

func children(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		b, _ := os.ReadFile(name)
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

func sizeOf(name string) float64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return float64(info.Size()) / (1 << 20)
}

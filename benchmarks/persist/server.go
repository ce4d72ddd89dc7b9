package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kind says how to start a server.
type kind struct {
	name, path string
	args       []string
}

// server is a running server.
type server struct {
	kind
	addr string
	cmd  *exec.Cmd
	done chan struct{}
}

// loading is how long a server may take to load and answer.
const loading = 30 * time.Minute

// start runs a server on the files in dir and returns once it answers PING.
func start(k kind, dir string, args ...string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{kind: k, addr: l.Addr().String(), done: make(chan struct{})}
	l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir}, args...)
	s.cmd = exec.Command(k.path, append(args, k.args...)...)
	if s.cmd.Stdout, err = os.Create(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	for end := time.Now().Add(loading); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.done:
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("%s ended at once: %s", k.name, log)
		default:
		}
		if reply, err := s.ask("PING"); err == nil && reply == "+PONG" {
			return s, nil
		}
	}
	s.kill()
	return nil, fmt.Errorf("%s does not answer", k.name)
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.done
}

// shutDown ends the server as its user would, so that all is in its files.
func (s *server) shutDown() error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		return nil
	case <-time.After(loading):
		return errors.New("the server does not end")
	}
}

// ask sends an inline command on a connection of its own, and returns the reply's text.
func (s *server) ask(line string) (string, error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "%s\r\n", line)
	in := bufio.NewReader(c)
	reply, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Sscanf(reply, "$%d\r\n", &n); err == nil && n > 0 {
		body := make([]byte, n)
		_, err := io.ReadFull(in, body)
		return string(body), err
	}
	return strings.TrimSpace(reply), nil
}

// field returns a field of a section of INFO.
func (s *server) field(section, name string) string {
	info, _ := s.ask("INFO " + section)
	_, after, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

func (s *server) number(section, name string) float64 {
	n, _ := strconv.ParseFloat(s.field(section, name), 64)
	return n
}

// save has the server save in the background, and returns how long that took.
func (s *server) save() (time.Duration, error) {
	begin := time.Now()
	if reply, err := s.ask("BGSAVE"); err != nil || strings.HasPrefix(reply, "-") {
		return 0, fmt.Errorf("BGSAVE: %s %w", reply, err)
	}
	for s.field("persistence", "rdb_bgsave_in_progress") != "0" {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(begin)
	if status := s.field("persistence", "rdb_last_bgsave_status"); status != "ok" {
		return 0, fmt.Errorf("BGSAVE ended with %q", status)
	}
	return took, nil
}

// holds checks that all small keys are there.
func (s *server) holds(keys int) error {
	reply, err := s.ask("DBSIZE")
	if n, _ := strconv.Atoi(strings.TrimPrefix(reply, ":")); err == nil && n < keys {
		err = fmt.Errorf("%s keys after loading %d", reply, keys)
	}
	return err
}

// cpu is the time that the process has spent, its ended children too.
func (s *server) cpu() time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	var ticks int64
	for i := 11; i < 15 && i < len(fields); i++ {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// memory is what the process itself holds, in MB.
func (s *server) memory() float64 { return statusMB(s.cmd.Process.Pid, "status", "VmRSS:") }

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
			for _, pid := range children(s.cmd.Process.Pid) {
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

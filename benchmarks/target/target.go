// Package target starts the servers that benchmarks measure, and tells what they take:
// processor time, memory, what INFO says.
package target

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

// Server is a running server. It ends with the process that started it.
type Server struct {
	Name string
	Line string // its command line
	Addr string

	cmd  *exec.Cmd
	dir  string
	temp bool // dir is its own
	mute bool // it knows no commands
	done chan struct{}
}

// Kind says how to start a server.
type Kind struct {
	Name    string
	Path    string
	Threads bool // it knows --server-threads
	Floor   bool // it is floor.c, which has no data and takes only a port
}

// Find lists what can be compared: ours, those of the given names that
// are on PATH, and floor.c, built, if it is there.
func Find(heddle, others, floor, tmp string) ([]Kind, error) {
	path, err := filepath.Abs(heddle)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; make build", err)
	}
	list := []Kind{{Name: "heddle", Path: path, Threads: !strings.HasPrefix(filepath.Base(path), "redis")}}
	for _, name := range strings.Split(others, ",") {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			list = append(list, Kind{Name: filepath.Base(name), Path: path, Threads: strings.Contains(name, "keydb")})
		}
	}
	if _, err := os.Stat(floor); err == nil {
		binary := filepath.Join(tmp, "floor")
		if out, err := exec.Command("gcc", "-O2", "-o", binary, floor).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "floor.c: %v\n%s", err, out)
		} else {
			list = append(list, Kind{Name: "floor", Path: binary, Floor: true})
		}
	}
	return list, nil
}

// Options say how a server is started.
type Options struct {
	Threads int      // of those that know --server-threads; 0: as many as they like
	Args    []string // more arguments
	// Dir is the folder for its files, which stays; empty: one of its own, removed by Stop.
	Dir string
	// Wait is how long it may take to load and to answer; 0: some seconds.
	Wait time.Duration
}

// Start runs a server on a free port, without persistence unless the arguments say
// otherwise, and returns once it answers. Its log goes to a file in its folder.
func Start(k Kind, o Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	s := &Server{Name: k.Name, Addr: addr, dir: o.Dir, temp: o.Dir == "", mute: k.Floor, done: make(chan struct{})}
	if s.temp {
		if s.dir, err = os.MkdirTemp("", "target"); err != nil {
			return nil, err
		}
	}
	args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", s.dir}
	if k.Threads && o.Threads > 0 {
		args = append(args, "--server-threads", strconv.Itoa(o.Threads))
	}
	if args = append(args, o.Args...); k.Floor {
		args = []string{port}
	}
	s.cmd = exec.Command(k.Path, args...)
	s.Line = filepath.Base(k.Path) + " " + strings.Join(args, " ")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd.Stdout = log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	if o.Wait == 0 {
		o.Wait = 6 * time.Second
	}
	if err := s.await(o.Wait); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%s: %w", s.Line, err)
	}
	return s, nil
}

// await returns when the server answers PING, or, if it knows no commands, takes connections.
func (s *Server) await(most time.Duration) error {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.done:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("ended at once: %s", log)
		default:
		}
		if !s.mute {
			if reply, err := s.Ask("PING"); err == nil && reply == "+PONG" {
				return nil
			}
		} else if c, err := net.Dial("tcp", s.Addr); err == nil {
			return c.Close()
		}
	}
	return errors.New("does not answer")
}

// Settle waits until what a start leaves behind is over, and returns the memory of the
// server as it is, in bytes.
func (s *Server) Settle() int64 {
	time.Sleep(200 * time.Millisecond)
	return s.RSS()
}

// PID is the number of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Stop ends the server and removes its folder, if that is its own. It may be asked for more than once.
func (s *Server) Stop() {
	if s.ShutDown(10*time.Second) != nil {
		s.Kill()
	}
	if s.temp {
		os.RemoveAll(s.dir)
	}
}

// ShutDown ends the server as its user would, so that all is in its files.
func (s *Server) ShutDown(most time.Duration) error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		return nil
	case <-time.After(most):
		return errors.New("the server does not end")
	}
}

// Kill ends the server at once.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.done
}

// CPU is the time that the process and its ended children have spent, in user and kernel mode.
func (s *Server) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(b))
}

// parseStat adds up user and system time of a process and its children, counted in
// hundredths of a second, in /proc/PID/stat. The name in brackets may hold spaces.
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, fmt.Errorf("unknown format of stat: %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// RSS is the memory that the process has in use, in bytes.
func (s *Server) RSS() int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var kb int64
		if n, _ := fmt.Sscanf(in.Text(), "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	return 0
}

// Version asks the server who it is.
func (s *Server) Version() string {
	for _, name := range []string{"heddle_version", "redis_version"} {
		if v := s.Field("server", name); v != "" {
			return v
		}
	}
	return ""
}

// UsedMemory is the memory that the server says it uses, in bytes.
func (s *Server) UsedMemory() int64 {
	n, _ := strconv.ParseInt(s.Field("memory", "used_memory"), 10, 64)
	return n
}

// Field returns a field of a section of INFO, nothing if it is not there.
func (s *Server) Field(section, name string) string {
	info, _ := s.Ask("INFO " + section)
	_, after, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// Ask sends an inline command on a connection of its own and returns the reply: a line,
// with its first byte, or what a bulk holds.
func (s *Server) Ask(line string) (string, error) {
	if s.mute {
		return "", errors.New("it knows no commands")
	}
	c, err := net.Dial("tcp", s.Addr)
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

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
	// EmptyRSS is the memory before any key was there, in bytes.
	EmptyRSS int64

	cmd  *exec.Cmd
	dir  string
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

// Start runs a server without persistence on a free port, in a folder of its own, and
// returns once it takes connections. extra are more arguments.
func Start(k Kind, threads int, extra []string) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	dir, err := os.MkdirTemp("", "target")
	if err != nil {
		return nil, err
	}
	args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir}
	if k.Threads {
		args = append(args, "--server-threads", strconv.Itoa(threads))
	}
	if args = append(args, extra...); k.Floor {
		args = []string{port}
	}
	s := &Server{Name: k.Name, Addr: addr, dir: dir, done: make(chan struct{}), cmd: exec.Command(k.Path, args...)}
	s.Line = filepath.Base(k.Path) + " " + strings.Join(args, " ")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	if err := s.await(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%s: %w", s.Line, err)
	}
	time.Sleep(200 * time.Millisecond)
	s.EmptyRSS = s.RSS()
	return s, nil
}

func (s *Server) await() error {
	for range 300 {
		select {
		case <-s.done:
			return errors.New("ended at once")
		case <-time.After(20 * time.Millisecond):
		}
		if c, err := net.Dial("tcp", s.Addr); err == nil {
			return c.Close()
		}
	}
	return errors.New("does not answer")
}

// Stop ends the server and removes its folder. It may be asked for once.
func (s *Server) Stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		s.cmd.Process.Kill()
		<-s.done
	}
	os.RemoveAll(s.dir)
}

// CPU is the time that the process has spent, in user and kernel mode.
func (s *Server) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(b))
}

// parseStat reads user and system time, counted in hundredths of a second, out
// of /proc/PID/stat. The name in brackets may hold spaces.
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("unknown format of stat: %q", stat)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err1, err2)
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
	_, after, _ := strings.Cut(s.Ask("INFO "+section), "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// Ask sends an inline command and returns what comes at once, to its end if it
// is a bulk.
func (s *Server) Ask(line string) string {
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "%s\r\n", line)
	in := bufio.NewReader(c)
	reply, err := in.ReadString('\n')
	var n int
	if _, scan := fmt.Sscanf(reply, "$%d\r\n", &n); err == nil && scan == nil && n > 0 {
		body := make([]byte, n)
		if _, err := io.ReadFull(in, body); err == nil {
			return "\n" + string(body)
		}
	}
	return reply
}

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

// server is a running server under comparison.
type server struct {
	name string
	line string // its command line
	addr string
	cmd  *exec.Cmd
	dir  string
	done chan struct{}
	// bytes of memory before any key was there, and with all keys
	emptyRSS, fullRSS int64
}

// kind says how to start a server.
type kind struct {
	name    string
	path    string
	threads bool // it knows --server-threads
	floor   bool // it is floor.c, which has no data
}

// findServers lists what can be compared: ours, those of the given names that
// are on PATH, and floor.c, built, if it is there.
func findServers(heddle, others, floor, tmp string) ([]kind, error) {
	path, err := filepath.Abs(heddle)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; make build", err)
	}
	list := []kind{{name: "heddle", path: path, threads: !strings.HasPrefix(filepath.Base(path), "redis")}}
	for _, name := range strings.Split(others, ",") {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			list = append(list, kind{name: filepath.Base(name), path: path, threads: strings.Contains(name, "keydb")})
		}
	}
	if _, err := os.Stat(floor); err == nil {
		binary := filepath.Join(tmp, "floor")
		if out, err := exec.Command("gcc", "-O2", "-o", binary, floor).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "compare: floor.c: %v\n%s", err, out)
		} else {
			list = append(list, kind{name: "floor", path: binary, floor: true})
		}
	}
	return list, nil
}

func startServer(k kind, threads int, extra []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		return nil, err
	}
	args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir}
	if k.threads {
		args = append(args, "--server-threads", strconv.Itoa(threads))
	}
	if args = append(args, extra...); k.floor {
		args = []string{port}
	}
	s := &server{name: k.name, addr: addr, dir: dir, done: make(chan struct{}), cmd: exec.Command(k.path, args...)}
	s.line = filepath.Base(k.path) + " " + strings.Join(args, " ")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	if err := s.await(); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w", s.line, err)
	}
	time.Sleep(200 * time.Millisecond)
	s.emptyRSS = s.rss()
	return s, nil
}

func (s *server) await() error {
	for range 300 {
		select {
		case <-s.done:
			return errors.New("ended at once")
		case <-time.After(20 * time.Millisecond):
		}
		if c, err := net.Dial("tcp", s.addr); err == nil {
			return c.Close()
		}
	}
	return errors.New("does not answer")
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		s.cmd.Process.Kill()
		<-s.done
	}
	os.RemoveAll(s.dir)
}

// cpu is the time that the process has spent, in user and kernel mode.
func (s *server) cpu() (time.Duration, error) {
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

// rss is the memory that the process has in use, in bytes.
func (s *server) rss() int64 {
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

// version asks the server who it is.
func (s *server) version() string {
	info := s.info("server")
	for _, field := range []string{"heddle_version", "redis_version"} {
		if v := infoField(info, field); v != "" {
			return v
		}
	}
	return ""
}

// usedMemory is the memory that the server says it uses, in bytes.
func (s *server) usedMemory() int64 {
	n, _ := strconv.ParseInt(infoField(s.info("memory"), "used_memory"), 10, 64)
	return n
}

func infoField(info, name string) string {
	_, after, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// info returns a section of INFO, or nothing.
func (s *server) info(section string) string { return s.ask("INFO " + section) }

// ask sends an inline command and returns what comes at once, to its end if it
// is a bulk.
func (s *server) ask(line string) string {
	c, err := net.Dial("tcp", s.addr)
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

package difftest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// BuildChecked builds our server with its invariants checked, into dir.
func BuildChecked(dir string) (binary string, err error) {
	binary = filepath.Join(dir, "heddle-server")
	build := exec.Command("go", "build", "-tags", "invariants", "-o", binary, "heddle/cmd/heddle-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// Server is a server process under test, listening on a free local port.
type Server struct {
	Addr string
	cmd  *exec.Cmd
	dir  string
	done chan struct{}
}

// StartServer runs the server binary at path with args as redis-server takes
// them, in a directory of its own, and waits until it answers. Its log goes to
// the file log there, which errors quote.
func StartServer(path string, args ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "difftest")
	if err != nil {
		return nil, err
	}
	s, err := StartServerIn(dir, 10*time.Second, path, args...)
	if err != nil {
		os.RemoveAll(dir)
	}
	return s, err
}

// StartServerIn is StartServer in a directory that is there, with files that the server
// may load; it waits no longer than so long until the server answers, and stays if it
// has to give up.
func StartServerIn(dir string, wait time.Duration, path string, args ...string) (*Server, error) {
	for try := 0; ; try++ {
		s, err := Spawn(dir, path, args...)
		if err == nil {
			err = s.Await(wait)
		}
		if err == nil {
			return s, nil
		}
		if s != nil {
			s.Kill()
		}
		// The free port may be taken before the server binds it.
		if try == 5 || !strings.Contains(err.Error(), "already in use") {
			return nil, err
		}
	}
}

// Spawn is StartServerIn without waiting: Await does that.
func Spawn(dir, path string, args ...string) (*Server, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", dir}, args...)
	s := &Server{Addr: addr, cmd: exec.Command(path, args...), dir: dir, done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = logFile, logFile
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	return s, nil
}

// Await returns once the server answers PING, which it does not while it loads.
func (s *Server) Await(wait time.Duration) error {
	for deadline := time.Now().Add(wait); time.Now().Before(deadline); {
		select {
		case <-s.done:
			return errors.New("server ended at once:\n" + s.Log())
		case <-time.After(20 * time.Millisecond):
		}
		c, err := net.Dial("tcp", s.Addr)
		if err != nil {
			continue
		}
		c.SetDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(c, "PING\r\n")
		answer := make([]byte, 7)
		n, _ := c.Read(answer)
		c.Close()
		if string(answer[:n]) == "+PONG\r\n" {
			return nil
		}
	}
	return errors.New("server does not answer:\n" + s.Log())
}

// Log returns the end of what the server has logged.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b[max(0, len(b)-4000):])
}

// Stacks ends a Go server with SIGQUIT and returns the stacks of its goroutines.
func (s *Server) Stacks() string {
	s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
	}
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	if i := strings.Index(string(b), "SIGQUIT"); i >= 0 {
		b = b[i:]
	}
	return string(b[:min(len(b), 60000)])
}

// PID is the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Alive reports whether the process still runs.
func (s *Server) Alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Dir is the server's directory.
func (s *Server) Dir() string { return s.dir }

// Kill ends the process at once, with SIGKILL; its directory stays.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.done
}

// Terminate asks the server to end, with SIGTERM, and waits for it.
func (s *Server) Terminate(wait time.Duration) error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		return nil
	case <-time.After(wait):
		return fmt.Errorf("the server still runs %v after SIGTERM", wait)
	}
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() {
	if s.Terminate(5*time.Second) != nil {
		s.Kill()
	}
	os.RemoveAll(s.dir)
}

// OracleArgs are the arguments that redis-server needs to be compared with.
func OracleArgs() []string { return []string{"--enable-debug-command", "yes"} }

// HeddleArgs are the same for us, with a number of workers.
func HeddleArgs(workers int) []string {
	// The connections are few; each worker is to get some.
	return append(OracleArgs(), "--server-threads", strconv.Itoa(workers), "--min-clients-per-thread", "0")
}

// IsRedis reports whether the binary at path is Redis' own, which has no
// server-threads.
func IsRedis(path string) bool { return strings.HasPrefix(filepath.Base(path), "redis") }

// Package testserver starts servers as processes of their own, ours or redis-server, for
// tests and benchmarks: on a free port, in a folder, until they answer. It tells what they
// take and what INFO says, and ends them, at the latest with the process that started them.
package testserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Server is a server process, listening on a free local port.
type Server struct {
	Addr string

	cmd  *exec.Cmd
	dir  string
	own  bool // dir goes with the server
	bare bool
	done chan struct{} // closed at the end of the process
}

// Options say how a server is started.
type Options struct {
	Args []string // more arguments, as redis-server takes them
	// Dir is the folder for its files, which stays; empty: one of its own, which Stop removes.
	Dir string
	// Wait is how long it may take to load and to answer; 0: ten seconds.
	Wait time.Duration
	// Bare is for a program that takes a port as its only argument and knows no commands.
	Bare bool
}

// Start runs the server at path, which is looked for on PATH, without saves unless the
// arguments say otherwise, and returns once it answers. Its log goes to the file log in its
// folder, which errors quote.
func Start(path string, o Options) (*Server, error) {
	for try := 0; ; try++ {
		s, err := Spawn(path, o)
		if err != nil {
			return nil, err
		}
		if err = s.await(o.Wait); err == nil {
			return s, nil
		}
		s.Kill()
		s.tidy()
		// The free port may be taken before the server binds it.
		if try == 5 || !strings.Contains(err.Error(), "already in use") {
			return nil, err
		}
	}
}

// Spawn is Start without waiting until the server answers.
func Spawn(path string, o Options) (*Server, error) {
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), dir: o.Dir, own: o.Dir == "", bare: o.Bare, done: make(chan struct{})}
	if s.own {
		if s.dir, err = os.MkdirTemp("", "testserver"); err != nil {
			return nil, err
		}
	}
	args := append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", s.dir}, o.Args...)
	if o.Bare {
		args = []string{port}
	}
	s.cmd = exec.Command(path, args...)
	if err := s.run(); err != nil {
		s.tidy()
		return nil, err
	}
	return s, nil
}

// freePort returns a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// run begins the process.
func (s *Server) run() error {
	log, err := os.Create(s.logName())
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	return nil
}

// await returns once the server answers commands, which it does not while it loads, or, if
// it knows none, takes a connection.
func (s *Server) await(most time.Duration) error {
	if most == 0 {
		most = 10 * time.Second
	}
	for end := time.Now().Add(most); time.Now().Before(end); {
		select {
		case <-s.done:
			return fmt.Errorf("%s ended at once:\n%s", s.Line(), s.Log())
		case <-time.After(10 * time.Millisecond):
		}
		if s.bare {
			if c, err := net.Dial("tcp", s.Addr); err == nil {
				return c.Close()
			}
		} else if reply, err := s.ask("PING", time.Second); err == nil && !strings.HasPrefix(reply, "-LOADING") {
			return nil
		}
	}
	return fmt.Errorf("%s does not answer:\n%s", s.Line(), s.Log())
}

// Line is the server's command line.
func (s *Server) Line() string {
	return filepath.Base(s.cmd.Path) + " " + strings.Join(s.cmd.Args[1:], " ")
}

// Dir is the server's folder.
func (s *Server) Dir() string { return s.dir }

// PID is the number of the process.
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

// Kill ends the process at once, with SIGKILL; its files stay.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.done
}

// Terminate ends the server as its user would, with SIGTERM, and waits for that.
func (s *Server) Terminate(most time.Duration) error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		return nil
	case <-time.After(most):
		return fmt.Errorf("the server still runs %v after SIGTERM", most)
	}
}

// stopTime is how long a server gets to end.
const stopTime = 10 * time.Second

// Stop ends the server and removes its folder if that is its own. It may be called twice.
func (s *Server) Stop() {
	if s.Terminate(stopTime) != nil {
		s.Kill()
	}
	s.tidy()
}

// tidy removes a folder that is the server's own.
func (s *Server) tidy() {
	if s.own {
		os.RemoveAll(s.dir)
	}
}

func (s *Server) logName() string { return filepath.Join(s.dir, "log") }

// Log returns the end of what the server has logged.
func (s *Server) Log() string {
	b, _ := os.ReadFile(s.logName())
	return string(b[max(0, len(b)-4000):])
}

// Stacks ends a Go server with SIGQUIT and returns the stacks of its goroutines.
func (s *Server) Stacks() string {
	s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
	}
	b, _ := os.ReadFile(s.logName())
	if i := strings.Index(string(b), "SIGQUIT"); i >= 0 {
		b = b[i:]
	}
	return string(b[:min(len(b), 60000)])
}

var errBare = errors.New("it knows no commands")

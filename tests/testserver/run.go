package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Run starts a server for the length of a test, which fails if the log tells of a fault of
// the program, while it ran or as it ended.
func Run(t testing.TB, path string, o Options) *Server {
	t.Helper()
	s, err := Start(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer s.Stop()
		_ = s.Terminate(stopTime)
		if faulty(s.logName()) {
			t.Errorf("the log of %s:\n%s", s.Line(), s.Log())
		}
	})
	return s
}

// faulty reports whether a log holds a report of a fault: ours, or of Go's runtime.
func faulty(name string) bool {
	log, _ := os.ReadFile(name)
	for _, sign := range []string{" BUG", "DATA RACE", "goroutine "} {
		if strings.Contains(string(log), sign) {
			return true
		}
	}
	return false
}

// Need returns the path of a program. A test on a machine without it is skipped, loudly, with
// the names of Debian's packages that have it.
func Need(t testing.TB, program, packages string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("SKIPPED, NOTHING WAS TESTED: %s is missing: apt-get install %s", program, packages)
	}
	return path
}

// Redis is Need of redis-server.
func Redis(t testing.TB) string {
	t.Helper()
	return Need(t, "redis-server", "redis-server")
}

// RunRedis runs redis-server for the length of a test, as something to compare with.
func RunRedis(t testing.TB, o Options) *Server {
	t.Helper()
	path := Redis(t)
	o.Args = append(Args(path, 0), o.Args...)
	return Run(t, path, o)
}

// Args are the arguments with which the server at path can be compared with others: DEBUG is
// allowed, and ours has a number of workers, each of which gets some of the few clients.
func Args(path string, workers int) []string {
	args := []string{"--enable-debug-command", "yes"}
	if !IsRedis(path) {
		args = append(args, "--server-threads", strconv.Itoa(workers), "--min-clients-per-thread", "0")
	}
	return args
}

// IsRedis reports whether the binary at path is Redis' own, which has no server-threads.
func IsRedis(path string) bool { return strings.HasPrefix(filepath.Base(path), "redis") }

// Mode says how our server is built.
type Mode int

// The modes: as users get it; with its invariants checked; and with the race detector too.
const (
	Shipped Mode = iota
	Checked
	Raced
)

// build builds our server into a folder.
func (m Mode) build(dir string) (path string, err error) {
	path = filepath.Join(dir, "heddle-server")
	args := []string{"build", "-o", path}
	switch m {
	case Checked:
		args = append(args, "-tags", "invariants")
	case Raced:
		args = append(args, "-tags", "invariants", "-race")
	}
	cmd := exec.Command("go", append(args, "heddle/cmd/heddle-server")...)
	cmd.Env = os.Environ()
	if m != Raced { // which needs C
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return path, nil
}

// Binary is the server that the tests of a package run: one that is given, or ours, which is
// built when a test first wants it.
type Binary struct {
	once sync.Once
	dir  string // what was built is there
	path string
	err  error
}

// Path returns the path of the given server, or, if that is empty, of ours.
func (b *Binary) Path(t testing.TB, given string, m Mode) string {
	t.Helper()
	if given != "" {
		return given
	}
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "testserver"); b.err == nil {
			b.path, b.err = m.build(b.dir)
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

// Main runs the tests of the package, removes what was built, and ends the process: the last
// line of TestMain.
func (b *Binary) Main(m *testing.M) {
	code := m.Run()
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
	os.Exit(code)
}

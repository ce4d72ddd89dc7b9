// Package clients lets the libraries and tools that people use do a day's work
// in small against the server: pipelines, transactions, blocking, publishing and
// subscribing, streams with groups, queues.
package clients

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/tests/testserver"
)

// patience is how long one program may take.
const patience = 2 * time.Minute

// binary is a server whose invariants are checked.
var binary testserver.Binary

func TestMain(m *testing.M) { binary.Main(m) }

// start runs a server with two workers and returns its port.
func start(t *testing.T) (port string) {
	t.Helper()
	path := binary.Path(t, "", testserver.Checked)
	s := testserver.Run(t, path, testserver.Options{Args: append(testserver.Args(path, 2), "--min-clients-per-thread", "1")})
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// python is Debian's interpreter, for which its packages are.
const python = "/usr/bin/python3"

// needModule skips the test when Python lacks a module.
func needModule(t *testing.T, module, packages string) {
	t.Helper()
	testserver.Need(t, python, "python3 "+packages)
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Skipf("SKIPPED: Python's module %s is missing: apt-get install %s", module, packages)
	}
}

// run runs a program to its end and returns what it printed.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// script returns a file of testdata.
func script(name string) string { return filepath.Join("testdata", name) }

func TestPython(t *testing.T) {
	needModule(t, "redis", "python3-redis")
	run(t, python, script("day.py"), start(t))
}

func TestRuby(t *testing.T) {
	testserver.Need(t, "ruby", "ruby ruby-redis")
	if err := exec.Command("ruby", "-e", "require 'redis'").Run(); err != nil {
		t.Skip("SKIPPED: Ruby's redis is missing: apt-get install ruby-redis")
	}
	run(t, "ruby", script("day.rb"), start(t))
}

func TestHiredis(t *testing.T) {
	testserver.Need(t, "gcc", "gcc libc6-dev libhiredis-dev")
	if _, err := os.Stat("/usr/include/hiredis/hiredis.h"); err != nil {
		t.Skip("SKIPPED: hiredis is missing: apt-get install libhiredis-dev")
	}
	program := filepath.Join(t.TempDir(), "day")
	run(t, "gcc", "-Wall", "-o", program, script("day.c"), "-lhiredis")
	run(t, program, start(t))
}

// TestCelery gives a worker of the queue Celery tasks, whose broker and result
// store the server is.
func TestCelery(t *testing.T) {
	needModule(t, "celery", "python3-celery python3-redis")
	run(t, python, script("celery_day.py"), start(t))
}

// TestRQ gives a worker of the queue RQ jobs.
func TestRQ(t *testing.T) {
	needModule(t, "rq", "python3-rq python3-redis")
	run(t, python, script("rq_day.py"), start(t))
}

func TestRedisCLI(t *testing.T) {
	testserver.Need(t, "redis-cli", "redis-tools")
	port := start(t)
	for _, c := range []struct{ args, want string }{
		{"set greeting hello", "OK"},
		{"get greeting", "hello"},
		{"rpush l a b c", "3"},
		{"lrange l 0 -1", "a\nb\nc"},
		{"-3 hset h f v", "1"},
		{"-3 hgetall h", "f v"},
		{"--scan", "greeting\nh\nl"},
		{"--bigkeys", "Biggest"},
		{"--memkeys", "Biggest"},
		{"--stat -r 1 -i 0.01", "keys"},
		{"--latency-history -i 1 --raw", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := append([]string{"-p", port}, strings.Fields(c.args)...)
			if strings.Contains(c.args, "--stat") || strings.Contains(c.args, "--latency") {
				args = append([]string{"-s", "INT", "1.5", "redis-cli"}, args...)
				out, _ := exec.Command("timeout", args...).CombinedOutput()
				if !strings.Contains(string(out), c.want) {
					t.Errorf("got %q, want %q in it", out, c.want)
				}
				return
			}
			out := strings.TrimSpace(run(t, "redis-cli", args...))
			if c.args == "--scan" {
				for _, key := range strings.Fields(c.want) {
					if !strings.Contains(out, key) {
						t.Errorf("got %q, want %q in it", out, key)
					}
				}
				return
			}
			if !strings.Contains(out, c.want) {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
}

// TestRedisBenchmark runs all workloads of redis-benchmark.
func TestRedisBenchmark(t *testing.T) {
	testserver.Need(t, "redis-benchmark", "redis-tools")
	port := start(t)
	out := run(t, "redis-benchmark", "-p", port, "-n", "2000", "-P", "4", "-q")
	for _, name := range []string{"PING_MBULK", "SET", "GET", "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP", "SADD", "HSET", "SPOP", "ZADD", "ZPOPMIN", "LRANGE_600", "MSET"} {
		if !strings.Contains(out, name) {
			t.Errorf("no figure for %s in:\n%s", name, out)
		}
	}
}

package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	d, err := parseStat("123 (a b) c) S 1 2 3 4 5 6 7 8 9 10 100 50 30 20 20 0 1 0")
	if err != nil || d != 2*time.Second {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := parseStat("123 (x) S 1"); err == nil {
		t.Error("a short line is taken")
	}
}

// script writes a program that stands for a server.
func script(t *testing.T, lines string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+lines), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLife holds what a server of tests is known by, from its begin to its end.
func TestLife(t *testing.T) {
	path := Redis(t)
	s, err := Start(path, Options{Args: append(Args(path, 1), "--databases", "3")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if !s.Alive() || s.RSS() < 1<<20 || !strings.HasSuffix(s.Line(), " --databases 3") || s.Field("server", "redis_version") == "" {
		t.Errorf("alive %t, %d bytes, %s", s.Alive(), s.RSS(), s.Line())
	}
	if reply, err := s.Ask("SELECT 3"); err != nil || !strings.HasPrefix(reply, "-ERR") {
		t.Errorf("SELECT 3: %q, %v", reply, err)
	}
	if _, err := s.CPU(); err != nil {
		t.Error(err)
	}
	s.Stop()
	if _, err := os.Stat(s.Dir()); s.Alive() || err == nil {
		t.Errorf("after Stop: alive %t, its folder: %v", s.Alive(), err)
	}
	dir := t.TempDir()
	again, err := Start(path, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	again.Kill()
	again.Stop()
	if _, err := os.Stat(filepath.Join(dir, "log")); err != nil {
		t.Errorf("a folder that was given is gone: %v", err)
	}
}

// TestFailures holds that a server that does not come up is told of, with its log, and
// leaves no folder behind.
func TestFailures(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for lines, want := range map[string]string{
		"echo this is wrong >&2; exit 1": "ended at once:\nthis is wrong",
		"echo waiting; exec sleep 100":   "does not answer:\nwaiting",
	} {
		if _, err := Start(script(t, lines), Options{Wait: 200 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", lines, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "testserver*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestPortTaken holds that another port is tried when somebody was faster.
func TestPortTaken(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	lines := fmt.Sprintf("if mkdir %s; then echo Address already in use; exit 1; fi\nexec %s \"$@\"\n", mark, Redis(t))
	s, err := Start(script(t, lines), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
}

func TestFaulty(t *testing.T) {
	f := func(log string, want bool) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if faulty(name) != want {
			t.Errorf("%q: not %t", log, want)
		}
	}
	f("1:M * Ready to accept connections\n", false)
	f("1:M # BUG: a lock is held\n", true)
	f("panic: x\n\ngoroutine 1 [running]:\n", true)
	f("WARNING: DATA RACE\n", true)
}

// recorder is a test that notes whether it failed, and that ends when it is told to.
type recorder struct {
	testing.TB
	ends   []func()
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Cleanup(f func())      { r.ends = append(r.ends, f) }

// TestFaultAtEnd holds that a fault fails the test that is logged when the server ends.
func TestFaultAtEnd(t *testing.T) {
	lines := fmt.Sprintf("trap 'echo \"this is a BUG\"; kill $p; wait $p; exit' TERM\n%s \"$@\" &\np=$!\nwait $p\n", Redis(t))
	r := &recorder{TB: t}
	s := Run(r, script(t, lines), Options{})
	for _, f := range r.ends {
		f()
	}
	if _, err := os.Stat(s.Dir()); !r.failed || s.Alive() || err == nil {
		t.Errorf("failed %t, alive %t, its folder: %v", r.failed, s.Alive(), err)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDataSurvives stops servers in several ways and starts others on their files.
func TestDataSurvives(t *testing.T) {
	dir := t.TempDir()
	start := func(args ...string) (*serverProcess, *client) {
		t.Helper()
		p := startServer(t, "", append(slices.Clone(args), "--dir", dir)...)
		return p, p.dial()
	}
	end := func(p *serverProcess, s syscall.Signal, code int) {
		t.Helper()
		_ = p.cmd.Process.Signal(s)
		if got := p.exit(); got != code {
			t.Errorf("exit code %d, want %d\n%s", got, code, p.out.String())
		}
	}
	p, c := start()
	c.want("set a 1", "OK")
	end(p, syscall.SIGTERM, 0)
	p.waitFor("DB saved on disk")

	p, c = start("--shutdown-on-sigterm", "nosave")
	c.want("get a", "1")
	c.want("set b lost", "OK")
	end(p, syscall.SIGTERM, 0)

	p, c = start("--appendfsync", "always")
	c.want("get b", "(nil)")
	c.want("config set appendonly yes", "OK")
	p.waitFor("Background AOF rewrite finished successfully")
	c.want("set c 3", "OK")
	end(p, syscall.SIGKILL, -1)

	p, c = start("--appendonly", "yes")
	c.want("get a", "1")
	c.want("get c", "3")
	if got := c.do("heddle.backup copy"); strings.HasPrefix(got, "ERR") {
		t.Errorf("HEDDLE.BACKUP: %s", got)
	}
	if got := c.do("heddle.backup ../copy"); !strings.HasPrefix(got, "ERR the folder of a backup is a relative path") {
		t.Errorf("HEDDLE.BACKUP: %s", got)
	}
	end(p, syscall.SIGINT, 0)

	dir = filepath.Join(dir, "copy")
	p, c = start("--appendonly", "yes")
	c.want("get c", "3")
	end(p, syscall.SIGTERM, 0)
}

// TestTwoServersInOneFolder: a second server does not take append-only files that another has, and a start waits for the
// end of the one before.
func TestTwoServersInOneFolder(t *testing.T) {
	dir := t.TempDir()
	first := startServer(t, "", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always")
	c := first.dial()
	c.want("set k 1", "OK")
	other := startServer(t, "", "--dir", dir)
	got := other.dial().do("config set appendonly yes")
	if !strings.Contains(got, "in the folder "+filepath.Join(dir, "appendonlydir")+" are in use by another server (pid "+strconv.Itoa(first.cmd.Process.Pid)+" on ") {
		t.Error(got)
	}
	cmd := program(t, "--port", "0", "--unixsocket", "s", "--daemonize", "no", "--dir", dir, "--appendonly", "yes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // it waits
	c.want("set k 2", "OK")
	_ = first.cmd.Process.Kill()
	first.exit()
	lock, owner := filepath.Join(dir, "appendonlydir", "appendonly.aof.lock"), "pid "+strconv.Itoa(cmd.Process.Pid)+" on "+hostname(t)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(lock); err == nil && string(b) == owner+"\n" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the lock has %q, %v", b, err)
		}
	}
	other.dial().want("config set appendonly yes", "ERR CONFIG SET failed (possibly related to argument 'appendonly') - "+
		"the append-only files appendonly.aof.* in the folder "+filepath.Join(dir, "appendonlydir")+" are in use by another server ("+owner+")")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if list, _ := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.lock")); len(list) != 0 {
		t.Errorf("left over: %v", list)
	}
	third := startServer(t, "", "--dir", dir, "--appendonly", "yes")
	third.dial().want("get k", "2")
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestBrokenFileStopsTheStart has a file that cannot be loaded.
func TestBrokenFileStopsTheStart(t *testing.T) {
	cmd := program(t, "--port", "0", "--unixsocket", "s", "--daemonize", "no")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "dump.rdb"), []byte("REDIS0011no file"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !bytes.Contains(out, []byte("Fatal error loading the DB, check server logs. Exiting.")) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestTools(t *testing.T) {
	dir := t.TempDir()
	p := startServer(t, "", "--dir", dir, "--appendonly", "yes")
	c := p.dial()
	c.want("set k v", "OK")
	c.want("shutdown save", "EOF")
	if code := p.exit(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	f := func(want int, text, name string, args ...string) {
		t.Helper()
		cmd := program(t, args...)
		if name != "" {
			cmd.Args[0] = name
		}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want || !bytes.Contains(out, []byte(text)) {
			t.Errorf("%s %v: exit code %d\n%s", name, args, code, out)
		}
	}
	file, manifest := filepath.Join(dir, "dump.rdb"), filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest")
	f(0, "RDB looks OK!", "", "--check-rdb", file)
	f(0, "RDB looks OK!", "/usr/bin/redis-check-rdb", file)
	f(0, "All AOF files and manifest are valid", "", "--check-aof", manifest)
	f(0, "All AOF files and manifest are valid", "redis-check-aof", manifest)
	f(1, "Usage: redis-check-rdb", "", "--check-rdb")
	f(1, "Usage: redis-check-aof", "", "--check-aof")
	f(1, "wants a time", "", "--aof-recover-until")
	f(1, "wants a time", "", "--aof-recover-until", "yesterday")
	f(1, "Recovery to a time needs appendonly yes", "", "--port", "0", "--unixsocket", "s", "--aof-recover-until", "2026-01-01T00:00:00Z")
}

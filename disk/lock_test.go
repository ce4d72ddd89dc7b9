package disk

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lock")
	first, err := OS().Lock(name, "the first")
	if err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if _, err := OS().Lock(name, "the second"); !errors.As(err, &held) || held.Owner != "the first" || held.Name != name {
		t.Errorf("%v", err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	if there, _ := Exists(OS(), name); there {
		t.Error("the file is still there")
	}
	// A file that is left over, as kill -9 leaves it, is no lock.
	if err := os.WriteFile(name, []byte("one who died, with a longer name\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	third, err := OS().Lock(name, "the third")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "the third\n" {
		t.Errorf("%q", b)
	}
	// The folder is moved, and another server makes a new one: its lock stays.
	if err := errors.Join(os.Rename(name, name+".old")); err != nil {
		t.Fatal(err)
	}
	fourth, err := OS().Lock(name, "the fourth")
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OS().Lock(name, "the fifth"); !errors.As(err, &held) || held.Owner != "the fourth" {
		t.Errorf("%v", err)
	}
	if err := fourth.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OS().Lock(filepath.Join(name, "none"), ""); err == nil || errors.As(err, &held) {
		t.Errorf("%v", err)
	}
}

// TestLockRace has many take and give up a lock: never two have it.
func TestLockRace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.lock")
	var inside, taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 300 {
				l, err := OS().Lock(name, "somebody")
				if err != nil {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two have it")
				}
				taken.Add(1)
				inside.Add(-1)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got it")
	}
}

// TestLockOfKilled: the lock ends with the process.
func TestLockOfKilled(t *testing.T) {
	if name := os.Getenv("DISK_TEST_LOCK"); name != "" {
		l, err := OS().Lock(name, "the child")
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("locked\n")
		time.Sleep(time.Hour) // until it is killed
		_ = l.Close()         // till here the collector must not close the file
	}
	name := filepath.Join(t.TempDir(), "x.lock")
	child := exec.Command(os.Args[0], "-test.run=^TestLockOfKilled$")
	child.Env = append(os.Environ(), "DISK_TEST_LOCK="+name)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	var held *LockedError
	if _, err := OS().Lock(name, "we"); !errors.As(err, &held) || held.Owner != "the child" {
		t.Errorf("%v", err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	l, err := OS().Lock(name, "we")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

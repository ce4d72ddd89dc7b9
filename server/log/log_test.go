package log

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 3, 9, 7, 5, 4, 60_000_000, time.UTC)
	l, err := New(Options{Level: Notice, Out: &out, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	f := func(want string) {
		t.Helper()
		if want != "" {
			want = fmt.Sprintf(want, os.Getpid())
		}
		if got := out.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		out.Reset()
	}
	l.Noticef("port=%d", 1)
	f("%d:C 09 Mar 2026 07:05:04.060 * port=1\n")
	l.SetRole(Primary)
	l.Warningf("x")
	f("%d:M 09 Mar 2026 07:05:04.060 # x\n")
	l.Verbosef("x")
	l.Debugf("x")
	f("")
	l.SetLevel(Debug)
	l.Verbosef("x")
	f("%d:M 09 Mar 2026 07:05:04.060 - x\n")
	l.Debugf("x")
	f("%d:M 09 Mar 2026 07:05:04.060 . x\n")
	l.FromSignal("Received SIGTERM scheduling shutdown...")
	f("%d:signal-handler (1773039904) Received SIGTERM scheduling shutdown...\n")
	l.SetLevel(Nothing)
	l.Warningf("x")
	l.FromSignal("x")
	f("")
	l.Raw("logo\n")
	if out.String() != "logo\n" {
		t.Error(out.String())
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	now := time.Now()
	l, err := New(Options{File: path, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Noticef("one")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	l.Noticef("two")
	for name, want := range map[string]string{path: " * two\n", path + ".1": " * one\n"} {
		b, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(string(b), want) || strings.Count(string(b), "\n") != 1 {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func TestFileThatCannotBe(t *testing.T) {
	if _, err := New(Options{File: filepath.Join(t.TempDir(), "no", "x.log")}); err == nil {
		t.Error("no error")
	}
}

func TestLinesDoNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	l, err := New(Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.Noticef("%s", strings.Repeat("x", 300))
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for _, line := range lines {
		if !strings.HasSuffix(line, " * "+strings.Repeat("x", 300)) {
			t.Fatalf("a broken line: %q", line)
		}
	}
	if len(lines) != 800 {
		t.Errorf("%d lines", len(lines))
	}
}

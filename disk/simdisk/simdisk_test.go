package simdisk

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"heddle/disk"
)

func content(t *testing.T, d *Disk, name string) string {
	t.Helper()
	f, err := disk.Open(d, name)
	if err != nil {
		return "error: " + disk.Errno(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func create(t *testing.T, d *Disk, name, text string) disk.File {
	t.Helper()
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPowerLoss: bytes need Sync, names SyncDir, and neither does the other's work.
func TestPowerLoss(t *testing.T) {
	d := New()
	f := create(t, d, "/a", "one")
	const gone = "error: No such file or directory"
	if got := content(t, d.Crash(Nothing, 0), "/a"); got != gone {
		t.Errorf("nothing synced: %q", got)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, d.Crash(Nothing, 0), "/a"); got != gone {
		t.Errorf("the file synced: %q", got)
	}
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("two"))
	if got := content(t, d.Crash(Nothing, 0), "/a"); got != "one" {
		t.Errorf("the folder synced: %q", got)
	}
	if got := content(t, d.Crash(Everything, 0), "/a") + content(t, d.Clone(), "/a"); got != "onetwoonetwo" {
		t.Errorf("all survives: %q", got)
	}
	seen := map[string]bool{}
	for seed := range uint64(200) {
		seen[content(t, d.Crash(Random, seed), "/a")] = true
	}
	for _, want := range []string{"one", "onetwo", "onet", "one\x00\x00\x00"} {
		if !seen[want] {
			t.Errorf("%q was never left: %v", want, seen)
		}
	}
}

// TestRenameIsAtomic: after power loss a file has the old or the new content, and a file that moves is in one folder.
func TestRenameIsAtomic(t *testing.T) {
	d := New()
	if err := errors.Join(d.MkdirAll("/x", 0o755), d.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(disk.File) error {
		return func(f disk.File) error { _, err := f.Write([]byte(text)); return err }
	}
	if err := disk.Replace(d, "/", "a", write("old")); err != nil {
		t.Fatal(err)
	}
	d.Before(func(op Op) {
		for seed := range uint64(20) {
			c := d.Crash(Random, seed)
			if got := content(t, c, "/a"); got != "old" && got != "new" && !strings.HasPrefix(got, "error") {
				t.Errorf("before %d: %q", op.N, got)
			}
			_, here := c.Stat("/a")
			_, there := c.Stat("/x/a")
			if (here == nil) == (there == nil) {
				t.Errorf("before %d: it is %v, %v", op.N, here, there)
			}
		}
	})
	if err := errors.Join(disk.Replace(d, "/", "a", write("new")), d.Rename("/a", "/x/a"), d.SyncDir("/x")); err != nil {
		t.Fatal(err)
	}
	d.Before(nil)
	if got := content(t, d.Crash(Nothing, 0), "/x/a"); got != "new" {
		t.Errorf("%q", got)
	}
}

func TestFaultsOfDisk(t *testing.T) {
	d := New()
	f := create(t, d, "/a", "one")
	d.Fail(func(op Op) error {
		switch op.Kind {
		case Write:
			return &Short{N: 2, Err: syscall.ENOSPC}
		case Sync:
			return syscall.EIO
		}
		return nil
	})
	if n, err := f.Write([]byte("xyz")); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Error(n, err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	d.Fail(nil)
	if got := content(t, d, "/a"); got != "onexy" {
		t.Errorf("%q", got)
	}
	d.PowerOffAt(d.Ops() + 1)
	if err := f.Truncate(1); err != nil {
		t.Error(err)
	}
	if err := f.Truncate(0); !errors.Is(err, ErrPowerOff) {
		t.Error(err)
	}
	if _, err := d.Stat("/a"); !errors.Is(err, ErrPowerOff) {
		t.Error(err)
	}
}

func TestLock(t *testing.T) {
	d := New()
	l, err := d.Lock("/x.lock", "one")
	if err != nil {
		t.Fatal(err)
	}
	var held *disk.LockedError
	if _, err := d.Lock("/x.lock", "two"); !errors.As(err, &held) || held.Owner != "one" {
		t.Error(err)
	}
	if _, err := d.Clone().Lock("/x.lock", "two"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.Lock("/x.lock", "two"); err != nil {
		t.Error(err)
	}
	d.Fail(func(op Op) error { return syscall.ENOLCK })
	if _, err := d.Lock("/y.lock", "two"); !errors.Is(err, syscall.ENOLCK) {
		t.Error(err)
	}
}

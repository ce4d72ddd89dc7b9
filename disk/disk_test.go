package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOS(t *testing.T) {
	dir := t.TempDir()
	fsys := OS()
	name := filepath.Join(dir, "a", "b")
	if err := errors.Join(fsys.MkdirAll(filepath.Dir(name), 0o755), fsys.SyncDir(dir)); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.StartSync(0, 5), f.Sync(), f.Truncate(4), fsys.Link(name, name+"2"), fsys.Rename(name, name+"3"), SyncParent(fsys, name)); err != nil {
		t.Error(err)
	}
	if info, err := fsys.Stat(name + "2"); err != nil || info.Size() != 4 {
		t.Error(info, err)
	}
	if list, err := fsys.ReadDir(filepath.Dir(name)); err != nil || len(list) != 2 || list[0].Name() != "b2" {
		t.Error(list, err)
	}
	if there, err := Exists(fsys, name); there || err != nil {
		t.Error(there, err)
	}
	if err := errors.Join(f.Close(), fsys.Remove(name+"2"), fsys.RemoveAll(dir)); err != nil {
		t.Error(err)
	}
	if err := f.Sync(); err == nil {
		t.Error("a closed file was synced")
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	put := func(text string, err error) error {
		return Replace(OS(), dir, "x", func(f File) error {
			_, e := f.Write([]byte(text))
			return errors.Join(e, err)
		})
	}
	for _, text := range []string{"one", "two"} {
		if err := put(text, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := put("three", syscall.ENOSPC); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "x"))
	if err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left over: %v", list)
	}
}

func TestErrno(t *testing.T) {
	for want, err := range map[string]error{
		"Success":                   nil,
		"No space left on device":   &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC},
		"Input/output error":        errors.Join(errors.New("x"), syscall.EIO),
		"Read-only file system":     syscall.EROFS,
		"No such file or directory": fs.ErrNotExist,
		"odd":                       errors.New("odd"),
	} {
		if got := Errno(err); got != want {
			t.Errorf("%v: %q", err, got)
		}
	}
	if got := Errno(io.ErrShortWrite); got != "No space left on device" {
		t.Error(got)
	}
}

package persist

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/disk"
	"heddle/disk/simdisk"
)

// onDisk makes a server whose files are real ones, below a folder of the test.
func onDisk(t *testing.T, dir string, options ...string) *world {
	t.Helper()
	w := build(t, newDisk(t), append(slices.Clone(options), "dir "+dir)...)
	w.k.o.FS = disk.OS()
	if err := w.k.Start(); err != nil {
		t.Fatalf("%v\n%s", err, w.lines)
	}
	return w
}

func TestBackup(t *testing.T) {
	for _, on := range []bool{false, true} {
		dir := t.TempDir()
		options := []string{"save ''"}
		if on {
			options = append(options, always)
		}
		w := onDisk(t, dir, options...)
		for _, cmd := range []string{"set k v", "sadd s 1 2 3", "set t x ex 1000"} {
			w.Do(cmd)
		}
		b, err := w.k.Backup("copies/monday", false)
		if err != nil {
			t.Fatalf("%v\n%s", err, w.lines)
		}
		w.Do("set k later").Want(okReply)
		want := []string{"dump.rdb"}
		if on {
			want = append(want, "appendonlydir/appendonly.aof.1.base.rdb", "appendonlydir/appendonly.aof.1.incr.aof", "appendonlydir/appendonly.aof.manifest")
		}
		if b.Dir != filepath.Join(dir, "copies/monday") || !slices.Equal(b.Files, want) || b.Keys != 3 || b.Bytes < 100 {
			t.Errorf("%+v, want files %v", b, want)
		}
		if _, err := w.k.Backup("copies/monday", false); err != errBackupThere {
			t.Errorf("again: %v", err)
		}
		// Restoring is to start a server on it, with the append-only file or without.
		ways := []string{"appendonly no"}
		if on {
			ways = append(ways, always)
		}
		for _, way := range ways {
			r := onDisk(t, b.Dir, "save ''", way)
			r.Do("get k").WantText(`"v"`)
			r.Do("scard s").Want(":3\r\n")
			r.Do("ttl t").Want(":1000\r\n")
			r.stop()
		}
		w.stop()
	}
}

func TestBackupNames(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	w := onDisk(t, dir)
	w.Do("set k v").Want(okReply)
	for _, link := range []struct{ to, name string }{{outside, "out"}, {filepath.Join(outside, "nothing"), "dangling"}, {".", "here"}} {
		if err := os.Symlink(link.to, filepath.Join(dir, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", outside, filepath.Join(outside, "x"), "out/x", "out", "dangling", "dangling/x", "a\x00b", "file/x"} {
		if _, err := w.k.Backup(name, false); err == nil {
			t.Errorf("%q is a place for a backup", name)
		}
	}
	for _, name := range []string{"a", "b/c", "./d", "e/../f", "here/g"} {
		if _, err := w.k.Backup(name, false); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.k.Backup("empty", false); err != nil {
		t.Error(err)
	}
	if b, err := w.k.Backup(filepath.Join(outside, "free"), true); err != nil || !strings.HasPrefix(b.Dir, outside) {
		t.Errorf("%+v, %v", b, err)
	}
	if list, _ := os.ReadDir(outside); len(list) != 1 {
		t.Errorf("left outside: %v", list)
	}
}

// TestBackupFails leaves nothing behind when any step fails.
func TestBackupFails(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always)
	w.Do("set k v").Want(okReply)
	w.durable()
	before := files(t, d, dataDir)
	failed := 0
	for n := 0; ; n++ {
		at := 0
		d.Fail(func(op simdisk.Op) error {
			if !strings.Contains(op.Name, "backup") || op.Kind == simdisk.Remove || op.Kind == simdisk.ReadDir || op.Kind == simdisk.Stat {
				return nil
			}
			if at++; at == n+1 {
				return os.ErrPermission
			}
			return nil
		})
		_, err := w.k.backupAt(dataDir + "/backup")
		d.Fail(nil)
		if err == nil {
			break
		}
		failed++
		if got := files(t, d, dataDir); !slices.Equal(got, before) {
			t.Fatalf("step %d leaves %v", n, got)
		}
	}
	if failed < 10 {
		t.Errorf("only %d steps", failed)
	}
	if got := files(t, d, dataDir); len(got) != len(before)+4 {
		t.Errorf("%v", got)
	}
	// No folder of any other name is touched.
	if err := d.Rename(dataDir+"/backup", dataDir+"/more.part"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.k.backupAt(dataDir + "/more"); err != nil {
		t.Fatal(err)
	}
	if got := files(t, d, dataDir); len(got) != len(before)+8 {
		t.Errorf("%v", got)
	}
	w.stop()
}

// backupAt is Backup without a look at links, which a simulated disk does not have.
func (k *Keeper) backupAt(dir string) (Backup, error) { return k.Backup(dir, true) }

func TestBackupWhileOneRuns(t *testing.T) {
	w := open(t, newDisk(t))
	w.k.backing.Store(true)
	if _, err := w.k.Backup("/x", true); err != errBackupRuns {
		t.Error(err)
	}
}

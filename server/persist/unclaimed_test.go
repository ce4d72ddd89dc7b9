package persist

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"heddle/db/aof"
	"heddle/disk"
	"heddle/disk/simdisk"
)

// rewriteNow rewrites the append-only file.
func (w *world) rewriteNow() {
	w.t.Helper()
	if _, err := w.k.BGRewriteAOF(false); err != nil {
		w.t.Fatalf("%v\n%s", err, w.lines)
	}
	w.idle()
}

// TestHistoryOfAnother: a server whose append-only file is off leaves those alone that
// another has taken over, whatever it knows of them.
func TestHistoryOfAnother(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always, "aof-disable-auto-gc yes")
	w.Do("set k 1").Want(okReply)
	w.rewriteNow()
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	other := open(t, d, always, "aof-disable-auto-gc yes")
	other.rewriteNow()
	other.Do("set k 2").Want(okReply)
	other.durable()
	before := files(t, d, dataDir)
	w.set("aof-disable-auto-gc", "no")
	w.k.SetHistory(false)
	if after := files(t, d, dataDir); !slices.Equal(after, before) {
		t.Errorf("files: %v, before: %v", after, before)
	}
	other.stop()
	r := open(t, d.Clone(), always)
	r.Do("get k").WantText(`"2"`)
	r.stop()
	w.stop()
}

// TestEnableBehindAnother switches the append-only file on again, where another server had
// the files meanwhile, and fails at the last step: the other's files are whole.
func TestEnableBehindAnother(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always)
	w.Do("set k 1").Want(okReply)
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	other := open(t, d, always)
	other.rewriteNow()
	other.Do("set k 2").Want(okReply)
	other.durable()
	other.stop()
	d.Fail(func(op simdisk.Op) error {
		if op.Kind == simdisk.Rename && strings.HasSuffix(op.Name, ".manifest") {
			return syscall.EIO
		}
		return nil
	})
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	w.idle()
	d.Fail(nil)
	r := open(t, d.Clone(), always)
	r.Do("get k").WantText(`"2"`)
	r.stop()
	w.stop()
}

// TestLoadOfAnother has DEBUG LOADAOF find that another server has the files, which it
// would cut where they are torn: nothing is lost on either side.
func TestLoadOfAnother(t *testing.T) {
	d := newDisk(t)
	other, w := open(t, d, always), open(t, d)
	w.Do("set k 1").Want(okReply)
	if err := w.k.ReloadAOF(); err != errLoadAOF {
		t.Errorf("it loads: %v", err)
	}
	w.Do("get k").WantText(`"1"`)
	w.wantLog("are in use by another server (pid ")
	other.stop()
	if err := w.k.ReloadAOF(); err != nil {
		t.Error(err)
	}
	w.stop()
}

// TestClaimByAnotherName claims the same files under two names of their folder.
func TestClaimByAnotherName(t *testing.T) {
	w := build(t, newDisk(t))
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.Mkdir(a, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(a, b); err != nil {
		t.Fatal(err)
	}
	o := aof.Options{FS: disk.OS(), Dir: a, DirName: "x", FileName: "y"}
	first, err := w.k.claim(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = b
	second, err := w.k.claim(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	first()
	other := build(t, newDisk(t))
	if _, err := other.k.claim(o, 0); err == nil {
		t.Error("two servers have them")
	}
	second()
	release, err := other.k.claim(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if len(w.k.claims.held)+len(other.k.claims.held) > 0 {
		t.Error("something is held for ever")
	}
}

// TestFailedMoveIsTriedAgain has a move fail behind its last step, and what would undo that,
// too: the new folder looks whole. As soon as the disk works again the move is made.
func TestFailedMoveIsTriedAgain(t *testing.T) {
	d := newDisk(t, otherDir)
	w := open(t, d, always)
	w.Do("set k 1").Want(okReply)
	w.set("dir", otherDir)
	var renamed atomic.Bool
	d.Fail(func(op simdisk.Op) error {
		if !strings.HasPrefix(op.Name, otherDir) {
			return nil
		}
		if renamed.Load() {
			return syscall.EIO
		}
		if op.Kind == simdisk.Rename && strings.Contains(op.Name, ".manifest") {
			renamed.Store(true)
		}
		return nil
	})
	w.rewriteNow()
	d.Fail(nil)
	w.Do("set k 2").Want(okReply)
	w.durable()
	w.wantLog("Background AOF rewrite terminated with error")
	w.pass(1)
	w.idle()
	r := open(t, d.Clone(), always, "dir "+otherDir)
	r.Do("get k").WantText(`"2"`)
	r.stop()
	w.stop()
}

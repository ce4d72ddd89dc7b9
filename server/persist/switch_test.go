package persist

import (
	"strings"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

// TestSwitchedOffInTransaction switches the file off in EXEC while the disk stands still:
// that waits for nothing. What was written is synced before a server stops.
func TestSwitchedOffInTransaction(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "appendonly yes\nappendfsync everysec", "save ''")
	w.Do("set k 1").Want(okReply)
	b := w.stopAt(func(op simdisk.Op) bool {
		return (op.Kind == simdisk.Write || op.Kind == simdisk.Sync) && strings.HasSuffix(op.Name, ".incr.aof")
	})
	w.Do("set k 2").Want(okReply)
	off := make(chan error, 1)
	go func() { off <- w.k.SetAppendOnly(false, true) }()
	select {
	case err := <-off:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the disk")
	}
	b.wait(t)
	if f := w.k.Facts(false); f.AOFOn {
		t.Error("it is on")
	}
	if err := w.k.SetAppendOnly(true, true); err != errSwitching {
		t.Errorf("on again: %v", err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- w.k.Stop(StopOptions{}) }()
	select {
	case <-stopped:
		t.Fatal("it stops before the disk has it")
	case <-time.After(50 * time.Millisecond):
	}
	close(b.free)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	w.k.Close()
	d.Fail(nil)
	r := open(t, d.Crash(simdisk.Nothing, 1), always)
	r.Do("get k").WantText(`"2"`)
	r.stop()
}

// TestSetSyncWaitsForNothing applies appendfsync while the disk stands still in a change of
// the files.
func TestSetSyncWaitsForNothing(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always, "save ''")
	b := w.stopAt(func(op simdisk.Op) bool { return op.Kind == simdisk.Rename && strings.Contains(op.Name, "manifest") })
	if _, err := w.k.BGRewriteAOF(false); err != nil {
		t.Fatal(err)
	}
	b.wait(t)
	done := make(chan struct{})
	go func() {
		w.set("appendfsync", "no")
		w.set("aof-disable-auto-gc", "yes")
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the disk")
	}
	close(b.free)
	w.idle()
	w.stop()
}

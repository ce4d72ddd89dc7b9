package persist

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

// refused demands that a server does not start, and says which folder is in use.
func refused(t *testing.T, d *simdisk.Disk, options ...string) {
	t.Helper()
	w := build(t, d, options...)
	w.k.patience = 0
	if err := w.k.Start(); err != ErrStart {
		t.Errorf("it starts: %v", err)
	}
	w.wantLog("the append-only files appendonly.aof.* in the folder /data/appendonlydir are in use by another server (pid ")
	w.k.Close()
}

// TestTwoServers has two servers in a folder: one of them at a time has the append-only
// files, whatever else they share.
func TestTwoServers(t *testing.T) {
	d := newDisk(t)
	first := open(t, d, always)
	refused(t, d, always)
	for _, options := range []string{"", always + "\nappenddirname other", always + "\nappendfilename other.aof"} {
		other := open(t, d, options)
		other.Do("set k 1").Want(okReply)
		other.stop()
	}
	// One that was killed has none.
	open(t, d.Clone(), always).stop()

	off := open(t, d)
	var bad *claimError
	if err := off.k.SetAppendOnly(true, false); !errors.As(err, &bad) || off.k.Facts(false).AOFOn {
		t.Errorf("%v, on: %v", err, off.k.Facts(false).AOFOn)
	}
	if _, err := off.k.BGRewriteAOF(false); err != errNoRewrite {
		t.Errorf("the files are rewritten: %v", err)
	}
	first.stop()
	if err := off.k.SetAppendOnly(true, false); err != nil {
		t.Error(err)
	}
	refused(t, d, always)
	off.idle()
	refused(t, d, always)
	if err := off.k.SetAppendOnly(false, false); err != nil {
		t.Error(err)
	}
	last := open(t, d, always)
	last.stop()
	off.stop()
	open(t, d, always).stop()
}

// TestWaitsForTheLast: a server that is on its way down may take its time.
func TestWaitsForTheLast(t *testing.T) {
	d := newDisk(t)
	first := open(t, d, always)
	first.Do("set k 1").Want(okReply)
	second := build(t, d, always)
	started := make(chan error, 1)
	go func() { started <- second.k.Start() }()
	second.until("it waits", func() bool { return strings.Contains(second.lines.String(), "waiting for it to end") })
	first.Do("set k 2").Want(okReply)
	first.stop()
	if err := <-started; err != nil {
		t.Fatalf("%v\n%s", err, second.lines)
	}
	second.Do("get k").WantText(`"2"`)
	// Who waits can be stopped.
	third := build(t, d, always)
	third.k.patience = time.Hour
	go func() { started <- third.k.Start() }()
	third.until("it waits", func() bool { return strings.Contains(third.lines.String(), "waiting for it to end") })
	third.k.stopLoading()
	if err := <-started; err != ErrStart {
		t.Error(err)
	}
	second.stop()
}

// TestNoLocks: where there are none it goes on, with a warning.
func TestNoLocks(t *testing.T) {
	d := newDisk(t)
	d.Fail(func(op simdisk.Op) error {
		if op.Kind == simdisk.Lock {
			return syscall.ENOLCK
		}
		return nil
	})
	w := open(t, d, always)
	w.wantLog("The append-only files cannot be locked: No locks available.")
	w.Do("set k 1").Want(okReply)
	w.stop()
}

// TestClaimInTransaction switches the file on in EXEC, where no disk is asked: the rewrite
// finds that another has the files, and is tried again, not at every turn of cron.
func TestClaimInTransaction(t *testing.T) {
	d := newDisk(t)
	first, w := open(t, d, always), open(t, d)
	if err := w.k.SetAppendOnly(true, true); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.pass(0)
	}
	w.wantLog("are in use by another server (pid ")
	if n := strings.Count(w.lines.String(), "in use by another"); n != rewriteFailures {
		t.Errorf("%d tries", n)
	}
	first.stop()
	w.pass(61)
	w.idle()
	if f := w.k.Facts(false); !f.AOFOn || f.AOFPending {
		t.Errorf("%+v\n%s", f, w.lines)
	}
	refused(t, d, always)
	w.stop()
}

// TestMoveClaims has the append-only file follow the directive dir to a folder that another
// server has: it stays where it is until that is free, and then frees its own.
func TestMoveClaims(t *testing.T) {
	d := newDisk(t, otherDir)
	other, w := open(t, d, always, "dir "+otherDir), open(t, d, always)
	w.set("dir", otherDir)
	if _, err := w.k.BGRewriteAOF(false); err != errNoRewrite {
		t.Error(err)
	}
	w.Do("set k 1").Want(okReply)
	w.durable()
	refused(t, d, always)
	other.Do("set k other").Want(okReply)
	other.stop()
	if err := d.RemoveAll(otherDir + "/appendonlydir"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.k.BGRewriteAOF(false); err != nil {
		t.Error(err)
	}
	w.idle()
	w.wantLog("The append-only file has moved to " + otherDir)
	back := open(t, d, always)
	back.Do("get k").WantText(`"1"`)
	back.stop()
	w.stop()
}

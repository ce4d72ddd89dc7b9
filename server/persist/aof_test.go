package persist

import (
	"fmt"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/disk"
	"heddle/disk/simdisk"
)

const always = "appendonly yes\nappendfsync always"

// durable waits until all that was appended is on the disk.
func (w *world) durable() {
	w.t.Helper()
	if err := w.k.flushAOF(); err != nil {
		w.t.Fatal(err)
	}
}

func TestAppendOnlyStart(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always)
	w.wantLog("Creating AOF base file appendonly.aof.1.base.rdb on server start", "Creating AOF incr file appendonly.aof.1.incr.aof on server start")
	w.Do("set k v").Want(okReply)
	w.Do("incr n").Want(":1\r\n")
	w.durable()
	f := w.k.Facts(false)
	if !f.AOFOn || f.AOFPending || f.AOFSize <= f.AOFBase || f.AOFBase == 0 || f.AOFBuffer != 0 {
		t.Errorf("%+v", f)
	}
	r := open(t, d.Crash(simdisk.Nothing, 1), always)
	r.Do("get k").WantText(`"v"`)
	r.Do("incr n").Want(":2\r\n")
	r.wantLog("DB loaded from append only file: ", "Opening AOF incr file appendonly.aof.1.incr.aof on server start")
	r.stop()
	w.stop()
}

func TestEnableAndDisable(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "appendfsync always")
	w.Do("set before 1").Want(okReply)
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	if f := w.k.Facts(false); !f.AOFOn || !f.AOF.Running && f.AOFPending {
		t.Errorf("%+v", f)
	}
	w.Do("set meanwhile 1").Want(okReply)
	w.idle()
	w.Do("set after 1").Want(okReply)
	w.durable()
	w.wantLog("Creating AOF incr file temp-appendonly.aof.incr on background rewrite", "Background AOF rewrite finished successfully")
	w.wantFiles("appendonlydir/appendonly.aof.1.base.rdb", "appendonlydir/appendonly.aof.1.incr.aof", "appendonlydir/appendonly.aof.manifest")
	r := open(t, d.Crash(simdisk.Nothing, 2), always)
	r.Do("mget before meanwhile after").Want("*3\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n")
	r.stop()
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	w.Do("set off 1").Want(okReply)
	if f := w.k.Facts(false); f.AOFOn || w.k.o.Oplog.Active() {
		t.Errorf("%+v", f)
	}
	// On again: what came while it was off counts.
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	w.idle()
	w.Do("set on 1").Want(okReply)
	w.durable()
	r = open(t, d.Crash(simdisk.Nothing, 3), always)
	r.Do("mget off on").Want("*2\r\n$1\r\n1\r\n$1\r\n1\r\n")
	r.stop()
	w.stop()
}

// TestEnableFails: without a first rewrite the file does not count, and it is tried
// again.
func TestEnableFails(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "rdb-key-save-delay 60000000")
	w.Do("set k 1").Want(okReply)
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	w.k.mu.Lock()
	w.k.work.kill()
	w.k.mu.Unlock()
	w.idle()
	w.wantLog("Removing the temp incr aof file")
	if f := w.k.Facts(false); !f.AOFOn || !f.AOFPending || !f.AOF.Scheduled {
		t.Errorf("%+v", f)
	}
	w.wantFiles()
	if err := w.k.Stop(StopOptions{}); err != ErrStay {
		t.Errorf("%v", err)
	}
	w.wantLog("Writing initial AOF, can't exit.")
	w.set("rdb-key-save-delay", "0")
	w.pass(1)
	w.idle()
	if f := w.k.Facts(false); f.AOFPending || f.AOF.Count != 2 {
		t.Errorf("%+v\n%s", f, w.lines)
	}
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	// A folder that cannot be made is told at once.
	d.Fail(func(op simdisk.Op) error {
		if op.Kind == simdisk.Open && strings.Contains(op.Name, "incr") {
			return syscall.EROFS
		}
		return nil
	})
	if err := w.k.SetAppendOnly(true, false); err != errEnable {
		t.Errorf("%v", err)
	}
	if f := w.k.Facts(false); f.AOFOn || f.AOF.Scheduled {
		t.Errorf("%+v", f)
	}
	d.Fail(nil)
	w.stop()
}

// TestRewriteAtEveryStep cuts the power at every step of a rewrite, with writes going
// on: whatever was durable is there.
func TestRewriteAtEveryStep(t *testing.T) {
	for _, preamble := range []string{"yes", "no"} {
		for n := 0; ; n++ {
			d := newDisk(t)
			w := open(t, d, always, "aof-use-rdb-preamble "+preamble, "save ''")
			for i := range 5 {
				w.Do(fmt.Sprintf("sadd s %d", i)).Want(":1\r\n")
			}
			w.durable()
			d.PowerOffAt(d.Ops() + n)
			_, err := w.k.BGRewriteAOF(false)
			taken := w.Do("sadd s x").Raw() == ":1\r\n" // else it is refused
			acked := taken && w.k.flushAOFWithin(50*time.Millisecond) == nil
			w.k.idleWithin()
			f := w.k.Facts(false)
			r := open(t, d.Crash(simdisk.Survival(n%3), uint64(n)), always)
			got := r.Do("scard s").Raw()
			if got != ":6\r\n" && (acked || got != ":5\r\n") {
				t.Fatalf("step %d: %q, acknowledged: %v\n%s\n%s", n, got, acked, w.lines, r.lines)
			}
			r.stop()
			w.k.o.Engine.SetWriteFault("")
			w.Close()
			if err == nil && !f.AOF.Failed && acked {
				break
			}
			if n > 200 {
				t.Fatal("no end")
			}
		}
	}
}

// flushAOFWithin is flushAOF for a disk that may be gone.
func (k *Keeper) flushAOFWithin(d time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- k.flushAOF() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return errKilled
	}
}

func (k *Keeper) idleWithin() {
	for range 500 {
		k.mu.Lock()
		t := k.work
		k.mu.Unlock()
		if t == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAppendFault(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always)
	w.Do("set k 1").Want(okReply)
	w.durable()
	d.Fail(func(op simdisk.Op) error {
		if op.Kind == simdisk.Write {
			return syscall.ENOSPC
		}
		return nil
	})
	w.Do("set k 2") // it is taken, and its reply kept back by the gate
	w.until("the fault is noted", func() bool { return w.k.Facts(false).AOFFault })
	if got := w.Do("set k 3").Raw(); got != "-MISCONF Errors writing to the AOF file: No space left on device\r\n" {
		t.Errorf("got %q", got)
	}
	d.Fail(nil)
	w.until("the fault is gone", func() bool { return !w.k.Facts(false).AOFFault })
	w.Do("set k 4").Want(okReply)
	w.durable()
	r := open(t, d.Crash(simdisk.Nothing, 1), always)
	r.Do("get k").WantText(`"4"`)
	r.stop()
	w.stop()
}

func TestAutomaticRewrite(t *testing.T) {
	w := open(t, newDisk(t), always, "auto-aof-rewrite-min-size 1kb", "auto-aof-rewrite-percentage 100", "save ''")
	for range 100 {
		w.Do("set k 123456789012345678901234567890").Want(okReply)
	}
	w.durable()
	w.pass(1)
	w.idle()
	w.wantLog("Starting automatic rewriting of AOF on ", "Background AOF rewrite finished successfully")
	f := w.k.Facts(false)
	if f.AOF.Count != 1 || f.AOFSize > 1024 || f.AOFBase != f.AOFSize {
		t.Errorf("%+v", f)
	}
	w.pass(1)
	if f := w.k.Facts(false); f.AOF.Running {
		t.Error("it is rewritten again")
	}
	w.stop()
}

// TestBrokenStart has files that a server must not start on.
func TestBrokenStart(t *testing.T) {
	f := func(name, content, options string, logged ...string) {
		t.Helper()
		d := newDisk(t)
		if err := d.MkdirAll(dataDir+"/appendonlydir", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := disk.Replace(d, path.Dir(dataDir+"/"+name), path.Base(name), func(f disk.File) error {
			_, err := f.Write([]byte(content))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		w := build(t, d, options)
		if err := w.k.Start(); err != ErrStart {
			t.Errorf("%s %q: %v\n%s", name, content, err, w.lines)
		}
		w.wantLog(logged...)
		if !w.Engine.Loading() {
			t.Error("it serves all the same")
		}
	}
	const fatal = "Fatal error loading the DB, check server logs. Exiting."
	f("dump.rdb", "", "", fatal, "dump.rdb")
	f("dump.rdb", "REDIS0010garbage", "", fatal)
	f("dump.rdb", "REDIS9999", "", fatal)
	f("dump.rdb", "XXXX", "", fatal)
	f("appendonlydir/appendonly.aof.manifest", "garbage\n", always, "FATAL AOF MANIFEST FILE ERROR", "at line 1", "garbage")
	f("appendonlydir/appendonly.aof.manifest", "", always, "FATAL AOF MANIFEST FILE ERROR", "Found an empty AOF manifest")
	f("appendonlydir/appendonly.aof.manifest", "file appendonly.aof.1.base.rdb seq 1 type b\n", always,
		"Unable to obtain the AOF file appendonly.aof.1.base.rdb length. stat: No such file or directory")
	f("appendonly.aof", "*1\r\n$3\r\nfoo\r\n", always, "Unknown command 'foo' reading the append only file appendonly.aof")
	f("appendonly.aof", "!!!", always, "Bad file format reading the append only file appendonly.aof")
	f("appendonly.aof", "*2\r\n$3\r\nget\r\n$1\r\n", always+"\naof-load-truncated no", "Unexpected end of file reading the append only file appendonly.aof")
}

// TestRecoverUntil loads up to a time, and keeps the files as they were.
func TestRecoverUntil(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always, "aof-timestamp-enabled yes")
	start := w.k.o.Now().Unix()
	for i := range 5 {
		w.Do(fmt.Sprintf("set k %d", i)).Want(okReply)
		w.durable()
		w.Advance(10_000)
	}
	w.stop()
	r := build(t, d, always, "aof-timestamp-enabled yes")
	r.k.o.RecoverUntil = start + 25
	if err := r.k.Start(); err != nil {
		t.Fatalf("%v\n%s", err, r.lines)
	}
	r.Do("get k").WantText(`"2"`)
	r.Do("set after 1").Want(okReply)
	r.durable()
	r.stop()
	again := open(t, d.Crash(simdisk.Nothing, 1), always)
	again.Do("mget k after").Want("*2\r\n$1\r\n2\r\n$1\r\n1\r\n")
	again.stop()
	// The same time again, as a service asks for it at each start, leaves nothing out.
	for range 2 {
		same := build(t, d, always, "aof-timestamp-enabled yes")
		same.k.o.RecoverUntil = start + 25
		if err := same.k.Start(); err != nil {
			t.Fatal(err)
		}
		same.Do("mget k after").Want("*2\r\n$1\r\n2\r\n$1\r\n1\r\n")
		same.wantLog("by an earlier start")
		if _, err := same.k.BGRewriteAOF(false); err != nil { // which keeps what the manifest says
			t.Fatal(err)
		}
		same.idle()
		same.stop()
	}
	// The folder that was kept is a whole one.
	var aside string
	list, err := d.ReadDir(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "appendonlydir-before-") {
			aside = e.Name()
		}
	}
	old := open(t, d, always, "appenddirname "+aside)
	old.Do("get k").WantText(`"4"`)
	old.stop()
	none := build(t, newDisk(t))
	none.k.o.RecoverUntil = start
	if none.k.Start() != ErrStart {
		t.Error("it recovers without an append-only file")
	}
}

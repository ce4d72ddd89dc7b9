package persist

import (
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

const otherDir = "/other"

// barrier has the first operation that is wanted wait until it is released.
type barrier struct {
	reached, free chan struct{}
	once          atomic.Bool
}

func (w *world) stopAt(wanted func(simdisk.Op) bool) *barrier {
	b := &barrier{reached: make(chan struct{}), free: make(chan struct{})}
	w.disk.Fail(func(op simdisk.Op) error {
		if wanted(op) && b.once.CompareAndSwap(false, true) {
			close(b.reached)
			<-b.free
		}
		return nil
	})
	return b
}

func (b *barrier) wait(t *testing.T) {
	t.Helper()
	select {
	case <-b.reached:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not come there")
	}
}

// TestMove has the append-only file follow the directive dir, with the power cut at
// every step: what was acknowledged is in the old folder until the new one has all.
func TestMove(t *testing.T) {
	for n := 0; ; n++ {
		d := newDisk(t, otherDir)
		w := open(t, d, always, "save ''")
		w.Do("sadd s 1 2 3 4 5").Want(":5\r\n")
		w.durable()
		w.set("dir", otherDir)
		d.PowerOffAt(d.Ops() + n)
		_, err := w.k.BGRewriteAOF(false)
		taken := w.Do("sadd s x").Raw() == ":1\r\n"
		acked := taken && w.k.flushAOFWithin(50*time.Millisecond) == nil
		w.k.idleWithin()
		moved := strings.Contains(w.lines.String(), "The append-only file has moved to "+otherDir)
		dir := dataDir
		if moved {
			dir = otherDir
			acked = acked && w.Do("sadd s y").Raw() == ":1\r\n" && w.k.flushAOFWithin(50*time.Millisecond) == nil
		}
		r := open(t, d.Crash(simdisk.Survival(n%3), uint64(n)), always, "dir "+dir)
		got := r.Do("scard s").Raw()
		if want := map[bool]string{false: ":6\r\n", true: ":7\r\n"}[moved]; acked && got != want {
			t.Fatalf("step %d: %q in %s\n%s\n%s", n, got, dir, w.lines, r.lines)
		}
		r.stop()
		w.k.o.Engine.SetWriteFault("")
		w.Close()
		if err == nil && moved && acked {
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if n > 200 {
			t.Fatal("no end")
		}
	}
}

// TestLoadWhileReplaced has a rewrite end, which replaces the files, while DEBUG LOADAOF
// loads them, and dir be another one by then.
func TestLoadWhileReplaced(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always, "save ''")
	w.Do("set k 1").Want(okReply)
	base := func(op simdisk.Op) bool { return op.Kind == simdisk.Open && strings.HasSuffix(op.Name, ".1.base.rdb") }
	rewriting := w.stopAt(func(op simdisk.Op) bool {
		return op.Kind == simdisk.Sync && strings.Contains(op.Name, "temp-") && strings.Contains(op.Name, "base")
	})
	if _, err := w.k.BGRewriteAOF(false); err != nil {
		t.Fatal(err)
	}
	rewriting.wait(t)
	b := w.stopAt(base)
	loaded := make(chan error, 1)
	go func() { loaded <- w.k.ReloadAOF() }()
	b.wait(t)
	close(rewriting.free)
	w.idle()
	close(b.free)
	if err := <-loaded; err != nil {
		t.Fatalf("%v\n%s", err, w.lines)
	}
	w.disk.Fail(nil)
	if f := files(t, d, dataDir); len(f) != 3 {
		t.Errorf("left over: %v", f)
	}
	w.set("dir", otherDir)
	if err := w.k.ReloadAOF(); err != nil {
		t.Fatal(err)
	}
	w.stop()
}

// TestNothingBeginsWhileReplaced asks for a rewrite while DEBUG RELOAD or DEBUG LOADAOF has
// emptied the keyspace and loaded nothing yet: the new files have all, nevertheless.
func TestNothingBeginsWhileReplaced(t *testing.T) {
	for suffix, reload := range map[string]func(*Keeper) error{
		"dump.rdb":    func(k *Keeper) error { return k.Reload(ReloadOptions{NoSave: true}) },
		".1.base.rdb": (*Keeper).ReloadAOF,
	} {
		d := newDisk(t)
		w := open(t, d, always, "save 1 1")
		w.Do("set k 1").Want(okReply)
		if err := w.k.Save(); err != nil {
			t.Fatal(err)
		}
		w.Do("set k 1").Want(okReply)
		b := w.stopAt(func(op simdisk.Op) bool { return op.Kind == simdisk.Open && strings.HasSuffix(op.Name, suffix) })
		loaded, rewriting := make(chan error, 1), make(chan error, 1)
		go func() { loaded <- reload(w.k) }()
		b.wait(t)
		w.k.Tick(w.k.o.Now().Add(time.Hour))
		if n := w.k.Facts(false).RDB.Count; n != 1 {
			t.Errorf("%s: %d saves", suffix, n)
		}
		go func() {
			_, err := w.k.BGRewriteAOF(false)
			rewriting <- err
		}()
		w.until("it has begun", func() bool { return w.k.Facts(false).AOF.Running })
		time.Sleep(20 * time.Millisecond)
		close(b.free)
		for _, done := range []chan error{loaded, rewriting} {
			if err := <-done; err != nil {
				t.Fatalf("%s: %v\n%s", suffix, err, w.lines)
			}
		}
		w.idle()
		w.Do("get k").WantText(`"1"`)
		d.Fail(nil)
		r := open(t, d.Crash(simdisk.Nothing, 1), always)
		r.Do("get k").WantText(`"1"`)
		r.stop()
		w.stop()
	}
}

// TestOtherFolder switches the append-only file on in another folder than before.
func TestOtherFolder(t *testing.T) {
	d := newDisk(t, otherDir)
	w := open(t, d, always)
	w.Do("set a 1").Want(okReply)
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	w.set("dir", otherDir)
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	w.idle()
	w.Do("set b 1").Want(okReply)
	w.durable()
	r := open(t, d.Clone(), always, "dir "+otherDir)
	r.Do("mget a b").Want("*2\r\n$1\r\n1\r\n$1\r\n1\r\n")
	r.stop()
	w.stop()
}

// TestSwitchedOffMeanwhile switches the file off while a rewrite is at its begin, or the
// first one at its end: it is off then, and nothing waits for ever.
func TestSwitchedOffMeanwhile(t *testing.T) {
	w := open(t, newDisk(t), always)
	w.Do("set k 1").Want(okReply)
	b := w.stopAt(func(op simdisk.Op) bool { return op.Kind == simdisk.Open && strings.HasSuffix(op.Name, ".2.incr.aof") })
	started := make(chan error, 1)
	go func() {
		_, err := w.k.BGRewriteAOF(false)
		started <- err
	}()
	b.wait(t)
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	close(b.free)
	if err := <-started; err != nil {
		t.Error(err)
	}
	w.idle()
	manifest := func(op simdisk.Op) bool { return op.Kind == simdisk.Rename && strings.Contains(op.Name, "manifest") }
	b = w.stopAt(manifest)
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatal(err)
	}
	b.wait(t)
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	close(b.free)
	w.idle()
	if f := w.k.Facts(false); f.AOFOn || w.k.o.Oplog.Active() {
		t.Errorf("it is on: %+v\n%s", f, w.lines)
	}
	w.stop()
}

// TestOlderSave has a save in the background end behind a newer one.
func TestOlderSave(t *testing.T) {
	for name, newer := range map[string]func(*world){
		"FLUSHALL": func(w *world) {
			w.Do("del k").Want(":1\r\n")
			if save := w.k.Flushed(false); save != nil {
				save()
			}
		},
		"DEBUG RELOAD": func(w *world) {
			w.Do("del k").Want(":1\r\n")
			if err := w.k.Reload(ReloadOptions{}); err != nil {
				w.t.Error(err)
			}
		},
	} {
		d := newDisk(t)
		w := open(t, d, "save 3600 1")
		w.Do("set k 1").Want(okReply)
		b := w.stopAt(func(op simdisk.Op) bool {
			return op.Kind == simdisk.Sync && strings.HasPrefix(path.Base(op.Name), "temp-bg-")
		})
		if _, err := w.k.BGSave(false, false); err != nil {
			t.Fatal(err)
		}
		b.wait(t)
		newer(w)
		close(b.free)
		w.idle()
		w.wantFiles("dump.rdb")
		r := open(t, d)
		if got := r.Do("exists k").Raw(); got != ":0\r\n" {
			t.Errorf("%s: the older file is there: %q", name, got)
		}
		w.stop()
	}
}

// TestStopBeforeLoading stops a server that has not come to loading its file yet.
func TestStopBeforeLoading(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "save 3600 1")
	w.Do("set k 1").Want(okReply)
	if err := w.k.Save(); err != nil {
		t.Fatal(err)
	}
	for _, options := range []string{"save 3600 1", "save 3600 1\nappendonly yes"} {
		w = build(t, d, options)
		b := w.stopAt(func(op simdisk.Op) bool { return op.Kind == simdisk.Open && !strings.Contains(op.Name, "temp-") })
		started := make(chan error, 1)
		go func() { started <- w.k.Start() }()
		b.wait(t)
		if err := w.k.Stop(StopOptions{}); err != nil {
			t.Error(err)
		}
		close(b.free)
		<-started
		w.k.Close()
		w.disk.Fail(nil)
		r := open(t, d.Clone())
		r.Do("get k").WantText(`"1"`)
	}
}

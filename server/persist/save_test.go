package persist

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

const misconf = "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. "

func TestSaveSurvivesPowerLoss(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "save 3600 1")
	w.Do("set k v").Want(okReply)
	w.Do("set other 7 ex 1000").Want(okReply)
	if n := w.k.Facts(false).Changes; n != 2 {
		t.Errorf("%d changes", n)
	}
	w.Advance(5000)
	if err := w.k.Save(); err != nil {
		t.Fatal(err)
	}
	f := w.k.Facts(false)
	if f.Changes != 0 || f.LastSave != int64(w.Now()/1000) || f.RDB.Count != 1 || f.Forks != 1 {
		t.Errorf("%+v", f)
	}
	w.wantFiles("dump.rdb")
	w = open(t, d.Crash(simdisk.Nothing, 1))
	w.Do("get k").WantText(`"v"`)
	w.Do("dbsize")
	if f := w.k.Facts(false); f.LastKeys != 2 || f.LastExpired != 0 || f.Changes != 0 || w.k.Loading() {
		t.Errorf("%+v", f)
	}
	w.wantLog("Done loading RDB, keys loaded: 2, keys expired: 0.", "DB loaded from disk: ")
}

// TestSaveFails has every step of a save fail.
func TestSaveFails(t *testing.T) {
	for _, c := range []struct {
		kind simdisk.Kind
		err  error
		text string
	}{
		{simdisk.Open, syscall.EROFS, "Failed opening the temp RDB file temp-"},
		{simdisk.Write, syscall.ENOSPC, "Write error saving DB on disk: No space left on device"},
		{simdisk.Sync, syscall.EIO, "Write error saving DB on disk: Input/output error"},
		{simdisk.Rename, syscall.EACCES, "Error moving temp DB file temp-"},
	} {
		d := newDisk(t)
		w := open(t, d, "save 3600 1")
		w.Do("set k old").Want(okReply)
		if err := w.k.Save(); err != nil {
			t.Fatal(err)
		}
		w.Do("set k new").Want(okReply)
		d.Fail(func(op simdisk.Op) error {
			if op.Kind == c.kind && (op.Kind == simdisk.Rename || strings.Contains(op.Name, "temp-")) {
				return c.err
			}
			return nil
		})
		if err := w.k.Save(); err != errFailed {
			t.Errorf("%v: SAVE answers %v", c.err, err)
		}
		w.wantLog(c.text)
		w.Do("set k newer").Want(okReply) // SAVE alone shuts nothing
		if text, err := w.k.BGSave(false, false); text != saveStarted || err != nil {
			t.Fatal(text, err)
		}
		w.idle()
		w.wantLog("Background saving error")
		refused := func(cmd string) {
			t.Helper()
			if got := w.Do(cmd).Raw(); !strings.HasPrefix(got, misconf) {
				t.Errorf("%v: %s: %s", c.err, cmd, got)
			}
		}
		refused("set k newest")
		w.Do("get k").WantText(`"newer"`)
		w.wantFiles("dump.rdb")
		w.set("stop-writes-on-bgsave-error", "no")
		w.Do("set k newest").Want(okReply)
		w.set("stop-writes-on-bgsave-error", "yes")
		refused("set k x")
		w.set("save", "")
		w.Do("set k newest").Want(okReply)
		w.set("save", "1 1")
		refused("set k x")
		// It is tried again after five seconds, not before.
		w.pass(4)
		w.idle()
		if n := w.k.Facts(false).RDB.Count; n != 3 {
			t.Errorf("%v: %d saves", c.err, n)
		}
		d.Fail(nil)
		refused("set k x")
		w.pass(2)
		w.idle()
		w.Do("set k last").Want(okReply)
		if f := w.k.Facts(false); f.RDB.Failed || f.Changes != 1 {
			t.Errorf("%v: %+v", c.err, f)
		}
		w = open(t, d.Crash(simdisk.Nothing, 1))
		w.Do("get k").WantText(`"newest"`)
	}
}

func TestSavePoints(t *testing.T) {
	w := open(t, newDisk(t), "save 100 3", "save 10 5")
	saves := func(want int64) {
		t.Helper()
		w.idle()
		if n := w.k.Facts(false).RDB.Count; n != want {
			t.Errorf("%d saves, want %d\n%s", n, want, w.lines)
		}
	}
	for range 4 {
		w.Do("incr n")
	}
	w.pass(11)
	saves(0)
	w.Do("incr n")
	w.pass(1)
	saves(1)
	w.wantLog("5 changes in 10 seconds. Saving...", "Background saving terminated with success")
	for range 3 {
		w.Do("incr n")
	}
	w.pass(90)
	saves(1)
	w.pass(11)
	saves(2)
	w.wantLog("3 changes in 100 seconds. Saving...")
}

// TestOneAtATime has a slow save be in the way of all others.
func TestOneAtATime(t *testing.T) {
	w := open(t, newDisk(t), "save ''", "rdb-key-save-delay 60000000")
	w.Do("mset a 1 b 2 c 3").Want(okReply)
	answer := func(text string, err error) string {
		if err != nil {
			return err.Error()
		}
		return text
	}
	want := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want(answer(w.k.BGSave(false, true)), saveScheduled) // in EXEC
	want(answer(w.k.BGSave(false, false)), saveStarted)
	want(answer(w.k.BGSave(false, false)), "ERR Background save already in progress")
	want(answer(w.k.BGSave(true, false)), "ERR Background save already in progress")
	want(answer("", w.k.Save()), "ERR Background save already in progress")
	want(answer(w.k.BGRewriteAOF(false)), rewriteScheduled)
	w.pass(1)
	if f := w.k.Facts(false); !f.RDB.Running || f.RDB.Current != 1 || !f.AOF.Scheduled || f.All != 3 {
		t.Errorf("%+v", f)
	}
	if save := w.k.Flushed(false); save != nil {
		t.Error("FLUSHALL saves without save points")
	}
	w.idle()
	w.wantLog("Background saving was stopped")
	if f := w.k.Facts(false); f.RDB.Failed || f.Changes != 3 {
		t.Errorf("%+v", f)
	}
	w.wantFiles()
	w.pass(1)
	if f := w.k.Facts(false); !f.AOF.Running {
		t.Errorf("%+v", f)
	}
	want(answer(w.k.BGRewriteAOF(false)), "ERR Background append only file rewriting already in progress")
	want(answer(w.k.BGSave(false, false)), string(errOtherWork))
	want(answer(w.k.BGSave(true, false)), saveScheduled)
	w.set("rdb-key-save-delay", "0") // ends the delay that goes on, too
	w.idle()
	w.pass(1)
	w.idle()
	if f := w.k.Facts(false); f.Changes != 0 || f.AOF.Count != 1 || f.RDB.Count != 2 || f.RDB.Scheduled || f.AOF.Scheduled {
		t.Errorf("%+v\n%s", f, w.lines)
	}
	w.wantFiles("dump.rdb", "appendonlydir/appendonly.aof.1.base.rdb", "appendonlydir/appendonly.aof.manifest")
}

func TestFlushed(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "save 3600 1")
	w.Do("set k v").Want(okReply)
	if err := w.k.Save(); err != nil {
		t.Fatal(err)
	}
	flush := func() { w.Keyspace.Whole(w.Now()).Flush(-1, false) }
	flush()
	w.k.Flushed(false)()
	if n := w.k.Facts(false).Changes; n != 0 {
		t.Errorf("%d changes", n)
	}
	w = open(t, d.Crash(simdisk.Nothing, 1), "save 3600 1")
	w.Do("get k").Want("$-1\r\n")
	// In EXEC it is done behind it, and counts at once.
	w.Do("set k v").Want(okReply)
	w.Keyspace.Lock(w.Keyspace.AllShards())
	if w.k.Flushed(true) != nil || w.k.Facts(true).Changes != 0 {
		t.Error("FLUSHALL waits in EXEC")
	}
	w.Keyspace.Unlock(w.Keyspace.AllShards())
	w.until("it is saved", func() bool { return w.k.flushes.Load() == 0 })
	if n := w.k.Facts(false).Changes; n != 0 {
		t.Errorf("%d changes", n)
	}
}

// TestSaveAtEveryStep cuts the power at every step of a save.
func TestSaveAtEveryStep(t *testing.T) {
	for n := 0; ; n++ {
		d := newDisk(t)
		w := open(t, d, "save 3600 1")
		w.Do("mset a old b old").Want(okReply)
		if err := w.k.Save(); err != nil {
			t.Fatal(err)
		}
		w.Do("mset a new b new").Want(okReply)
		d.PowerOffAt(d.Ops() + n)
		err := w.k.Save()
		for seed := range uint64(4) {
			r := open(t, d.Crash(simdisk.Survival(seed%3), seed))
			a, b := r.Do("get a").Raw(), r.Do("get b").Raw()
			if a != b || a != "$3\r\nold\r\n" && a != "$3\r\nnew\r\n" || err == nil && a != "$3\r\nnew\r\n" {
				t.Fatalf("step %d, seed %d: a %q, b %q; SAVE answered %v", n, seed, a, b, err)
			}
			r.Close()
		}
		if err == nil {
			if n < 5 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

func TestReload(t *testing.T) {
	w := open(t, newDisk(t))
	w.Do("set k 1").Want(okReply)
	if err := w.k.Reload(ReloadOptions{}); err != nil {
		t.Fatal(err)
	}
	w.Do("incr k").Want(":2\r\n")
	if n := w.k.Facts(false).Changes; n != 1 {
		t.Errorf("%d changes", n)
	}
	f := func(o ReloadOptions, wantErr error, k, own string) {
		t.Helper()
		w.Do("mset k 5 own x").Want(okReply)
		if err := w.k.Reload(o); err != wantErr {
			t.Errorf("%+v: %v\n%s", o, err, w.lines)
		}
		w.Do("get k").WantText(k)
		w.Do("get own").WantText(own)
	}
	f(ReloadOptions{NoSave: true}, nil, `"1"`, "(nil)")
	f(ReloadOptions{NoSave: true, NoFlush: true, Merge: true}, nil, `"1"`, `"x"`)
	f(ReloadOptions{NoSave: true, NoFlush: true}, errReload, `"5"`, `"x"`)
	f(ReloadOptions{NoFlush: true, Merge: true}, nil, `"5"`, `"x"`)
	w.wantLog("DB reloaded by DEBUG RELOAD")
	w.Do("set still works").Want(okReply)
}

func TestStop(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, "save 3600 1")
	w.Do("set k v").Want(okReply)
	d.Fail(func(op simdisk.Op) error {
		if op.Kind == simdisk.Sync {
			return syscall.EIO
		}
		return nil
	})
	if err := w.k.Stop(StopOptions{}); err != ErrStay {
		t.Errorf("%v", err)
	}
	w.wantLog("Saving the final RDB snapshot before exiting.", "Error trying to save the DB, can't exit.")
	w.Do("set k v2").Want(okReply)
	if err := w.k.Stop(StopOptions{Force: true}); err != nil {
		t.Errorf("%v", err)
	}
	w.wantLog("Error trying to save the DB. Exit anyway.")
	w.Engine.LetGo()
	w.k.stopping = false
	d.Fail(nil)
	if err := w.k.Stop(StopOptions{NoSave: true}); err != nil {
		t.Errorf("%v", err)
	}
	w.Engine.LetGo()
	w.wantFiles()
	w.k.stopping = false
	if err := w.k.Stop(StopOptions{}); err != nil {
		t.Errorf("%v", err)
	}
	w.Engine.LetGo()
	w.wantFiles("dump.rdb")
	w = open(t, d.Crash(simdisk.Nothing, 1))
	w.Do("get k").WantText(`"v2"`)
}

// TestBackOff: the server's own tries to rewrite become rare while they fail.
func TestBackOff(t *testing.T) {
	w := open(t, newDisk(t))
	now := time.Unix(1e9, 0)
	w.k.aof.failures = 2
	if !w.k.mayRewriteLocked(now) {
		t.Error("two failures are two few")
	}
	w.k.aof.failures = 3
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if w.k.mayRewriteLocked(now) || w.k.mayRewriteLocked(now.Add(minutes*time.Minute-time.Second)) {
			t.Errorf("tried before %d minutes", minutes)
		}
		now = now.Add(minutes * time.Minute)
		if !w.k.mayRewriteLocked(now) {
			t.Errorf("not tried after %d minutes", minutes)
		}
		w.k.aof.failures++
	}
	w.wantLog("Background AOF rewrite has repeatedly failed and triggered the limit, will retry in 32 minutes")
	w.k.aof.failures = 0
	if !w.k.mayRewriteLocked(now) {
		t.Error("a success does not end the pause")
	}
}

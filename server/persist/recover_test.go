package persist

import (
	"fmt"
	"testing"

	"heddle/disk/simdisk"
)

// recovering starts a server that recovers to a time.
func recovering(t *testing.T, d *simdisk.Disk, until int64, options ...string) (*world, error) {
	t.Helper()
	w := build(t, d, append(options, always, "aof-timestamp-enabled yes")...)
	w.k.o.RecoverUntil = until
	return w, w.k.Start()
}

// TestRecoverNothing asks for a time that leaves nothing out. It is asked for again when
// there is something newer, which stays.
func TestRecoverNothing(t *testing.T) {
	for _, written := range []bool{true, false} {
		d := newDisk(t)
		w := open(t, d, always, "aof-timestamp-enabled yes")
		until := w.k.o.Now().Unix() + 100
		if written {
			w.Do("set k 1").Want(okReply)
			w.durable()
		}
		w.stop()
		if !written {
			d = newDisk(t)
		}
		for i := range 3 {
			r, err := recovering(t, d, until)
			if err != nil {
				t.Fatalf("%v\n%s", err, r.lines)
			}
			r.Do("get newer").Want(map[bool]string{true: "$-1\r\n", false: "$3\r\nyes\r\n"}[i == 0])
			r.Advance(1_000_000)
			r.Do("set newer yes").Want(okReply)
			r.durable()
			r.stop()
		}
	}
}

// TestRecoverTooEarly asks for a time before the base was made: it must not come back with
// what is newer, or with nothing.
func TestRecoverTooEarly(t *testing.T) {
	for _, preamble := range []string{"yes", "no"} {
		d := newDisk(t)
		w := open(t, d, always, "aof-timestamp-enabled yes", "aof-use-rdb-preamble "+preamble)
		start := w.k.o.Now().Unix()
		w.Do("set k 1").Want(okReply)
		w.Advance(100_000)
		w.Do("set k 2").Want(okReply)
		if _, err := w.k.BGRewriteAOF(false); err != nil {
			t.Fatal(err)
		}
		w.idle()
		w.Advance(100_000)
		w.Do("set k 3").Want(okReply)
		w.durable()
		w.stop()
		before := fmt.Sprint(files(t, d, dataDir))
		r, err := recovering(t, d, start+50)
		if err != ErrStart {
			t.Errorf("preamble %s: it starts", preamble)
		}
		r.wantLog("what was there at that time is not in these files")
		r.k.Close()
		if after := fmt.Sprint(files(t, d, dataDir)); after != before {
			t.Errorf("files: %s, before: %s", after, before)
		}
		r, err = recovering(t, d, start+150)
		if err != nil {
			t.Fatalf("%v\n%s", err, r.lines)
		}
		r.Do("get k").WantText(`"2"`)
		r.stop()
	}
}

// TestRecoverAtEveryStep cuts the power at every step of a recovery: the next start has all
// there was, or what was recovered.
func TestRecoverAtEveryStep(t *testing.T) {
	for n := 0; ; n++ {
		d := newDisk(t)
		w := open(t, d, always, "aof-timestamp-enabled yes")
		start := w.k.o.Now().Unix()
		w.Do("set k 1").Want(okReply)
		w.Advance(100_000)
		w.Do("set k 2").Want(okReply)
		w.durable()
		w.stop()
		d.PowerOffAt(d.Ops() + n)
		r, err := recovering(t, d, start+50)
		r.k.Close()
		after := d.Crash(simdisk.Survival(n%3), uint64(n))
		plain := open(t, after.Clone(), always)
		if got := plain.Do("get k").Raw(); got != "$1\r\n1\r\n" && (err == nil || got != "$1\r\n2\r\n") {
			t.Fatalf("step %d: %q", n, got)
		}
		plain.stop()
		again, failed := recovering(t, after, start+50)
		if failed != nil {
			t.Fatalf("step %d: %v\n%s", n, failed, again.lines)
		}
		again.Do("get k").WantText(`"1"`)
		again.stop()
		if err == nil {
			return
		}
	}
}

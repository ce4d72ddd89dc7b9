package persist

import "testing"

// TestFolderGone removes the folder of the append-only file, and dir itself, under a running
// server. It goes on, as Redis does; the next rewrite, save, or CONFIG SET appendonly makes
// complete files of what is in memory.
func TestFolderGone(t *testing.T) {
	d := newDisk(t)
	w := open(t, d, always, "save ''")
	n := 0
	write := func() {
		t.Helper()
		n++
		w.Do("incr n").Raw()
		w.durable()
	}
	remove := func(dir string) {
		t.Helper()
		if err := d.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write()
		if f := w.k.Facts(false); f.AOFFault || !f.AOFOn {
			t.Errorf("%+v", f)
		}
	}
	whole := func(options ...string) {
		t.Helper()
		write()
		r := open(t, d.Clone(), options...)
		if got, want := r.Do("get n").Raw(), w.Do("get n").Raw(); got != want {
			t.Errorf("%q is there, want %q\n%s\n%s", got, want, w.lines, r.lines)
		}
		r.stop()
		r.Close()
	}
	const folder = dataDir + "/appendonlydir"
	write()
	remove(folder)
	w.rewriteNow()
	whole(always)
	remove(folder)
	if err := w.k.SetAppendOnly(false, false); err != nil {
		t.Fatal(err)
	}
	if err := w.k.SetAppendOnly(true, false); err != nil {
		t.Fatalf("%v\n%s", err, w.lines)
	}
	w.idle()
	whole(always)
	remove(dataDir)
	// No save is possible, which is told, and no key is lost.
	if err := w.k.Save(); err != errFailed {
		t.Errorf("saved: %v", err)
	}
	if _, err := w.k.BGSave(false, false); err != nil {
		t.Error(err)
	}
	w.idle()
	w.wantLog("Failed opening the temp RDB file", "Background saving error")
	w.rewriteNow()
	whole(always)
	if err := w.k.Save(); err != nil {
		t.Error(err)
	}
	r := open(t, d.Clone(), "appendonly no")
	r.Do("exists n").Want(":1\r\n")
	r.stop()
	w.stop()
}

package persist

import (
	"testing"

	"heddle/disk"
)

// TestHistory keeps the files that a rewrite replaced until they are not to be kept any more.
func TestHistory(t *testing.T) {
	w := open(t, newDisk(t), always)
	const manifest, base, incr = "appendonlydir/appendonly.aof.manifest", "appendonlydir/appendonly.aof.1.base.rdb", "appendonlydir/appendonly.aof.1.incr.aof"
	const newBase, newIncr = "appendonlydir/appendonly.aof.2.base.rdb", "appendonlydir/appendonly.aof.2.incr.aof"
	w.set("aof-disable-auto-gc", "yes")
	w.k.SetHistory(false)
	if _, err := w.k.BGRewriteAOF(false); err != nil {
		t.Fatal(err)
	}
	w.idle()
	w.wantFiles(manifest, base, incr, newBase, newIncr)
	w.set("aof-disable-auto-gc", "no")
	w.k.SetHistory(false)
	w.wantFiles(manifest, newBase, newIncr)
	w.stop()
}

// TestEmptyKeys holds that the log says how many keys without a value were skipped.
func TestEmptyKeys(t *testing.T) {
	d := newDisk(t)
	if err := disk.Replace(d, dataDir, "dump.rdb", func(f disk.File) error {
		_, err := f.Write([]byte("REDIS0009\x02\x01a\x00\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w := open(t, d)
	w.Do("exists a k").Want(":1\r\n")
	w.wantLog("Done loading RDB, keys loaded: 1, keys expired: 0, empty keys skipped: 1.")
	w.stop()
}

// TestEnableInExec switches the append-only file on where its rewrite cannot begin yet.
func TestEnableInExec(t *testing.T) {
	w := open(t, newDisk(t), "appendfsync always")
	if err := w.k.SetAppendOnly(true, true); err != nil {
		t.Fatal(err)
	}
	w.wantLog("AOF was enabled during a transaction. An AOF background was scheduled to start when possible.")
	if f := w.k.Facts(false); !f.AOF.Scheduled || f.AOF.Running {
		t.Errorf("%+v", f)
	}
	w.pass(1)
	w.idle()
	w.wantLog("Background AOF rewrite finished successfully")
	w.stop()
}

package aof

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
	"heddle/db/digest"
	"heddle/db/rdb"
	"heddle/disk"
	"heddle/tests/testserver"
)

// sampleFile is an RDB file of a real server that lies beside the checkout.
const sampleFile = "../../../shared/reference/rdb/redis-7.0.15.rdb"

// loadSample loads it.
func loadSample(t *testing.T) *db.Keyspace {
	t.Helper()
	f, err := os.Open(sampleFile)
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	defer func() { _ = f.Close() }()
	ks, err := db.Open(db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	if _, err := rdb.Load(f, sampleFile, ks, rdb.LoadOptions{Now: db.Millis(time.Now().UnixMilli())}); err != nil {
		t.Fatal(err)
	}
	return ks
}

// TestWriteCommands: redis-server makes the same data of the commands.
func TestWriteCommands(t *testing.T) {
	server := testserver.Redis(t)
	ks := loadSample(t)
	sn := ks.Snapshot(nil)
	defer sn.Close()
	dir := t.TempDir()
	d := OptionsFor(dir)
	st, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	now := db.Millis(time.Now().UnixMilli())
	var keys, size atomic.Int64
	f, _, err := st.Prepare(func(f disk.File) error {
		return WriteCommands(f, sn, CommandsOptions{Now: now, Stamp: 1700000000, SyncEvery: 1 << 16, Keys: &keys, Bytes: &size})
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if info, err := os.Stat(st.Path(st.Files()[0])); err != nil || info.Size() != size.Load() {
		t.Errorf("%d bytes were counted: %v, %v", size.Load(), info, err)
	}
	got := digestOf(t, server, dir)
	if sum := digest.All(sn, now); got != sum.String() || keys.Load() == 0 {
		t.Errorf("redis-server has digest %s of %d keys, not %s", got, keys.Load(), &sum)
	}
}

// OptionsFor is a store in a folder of the operating system.
func OptionsFor(dir string) Options {
	return Options{FS: disk.OS(), Dir: dir, DirName: "appendonlydir", FileName: "appendonly.aof"}
}

// digestOf starts redis-server on an AOF and asks for its digest.
func digestOf(t *testing.T, server, dir string) string {
	t.Helper()
	s := testserver.Run(t, server, testserver.Options{Dir: dir, Args: []string{"--appendonly", "yes", "--enable-debug-command", "yes"}})
	reply, err := s.Ask("DEBUG DIGEST")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(reply, "+")
}

// TestWriteCommandsStops: whoever writes may be stopped, and errors of the disk end it.
func TestWriteCommandsStops(t *testing.T) {
	ks := loadSample(t)
	sn := ks.Snapshot(nil)
	defer sn.Close()
	stop := errors.New("stop")
	n := 0
	err := WriteCommands(discard{}, sn, CommandsOptions{EachKey: func() { n++ }, Stop: func() error {
		if n > 3 {
			return stop
		}
		return nil
	}})
	if err != stop || n != 4 {
		t.Errorf("%v after %d keys", err, n)
	}
	if err := WriteCommands(discard{io.ErrShortWrite}, sn, CommandsOptions{}); err != io.ErrShortWrite {
		t.Error(err)
	}
}

type discard struct{ err error }

func (d discard) Write(p []byte) (int, error)  { return len(p), d.err }
func (d discard) StartSync(off, n int64) error { return nil }

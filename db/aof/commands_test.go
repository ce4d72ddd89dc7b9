package aof

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
	"heddle/db/digest"
	"heddle/db/rdb"
	"heddle/disk"
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
	server, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("NOT COMPARED: there is no redis-server")
	}
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
	sock := filepath.Join(dir, "s")
	cmd := exec.Command(server, "--port", "0", "--unixsocket", sock, "--dir", dir, "--save", "", "--appendonly", "yes", "--enable-debug-command", "yes")
	var log bytes.Buffer
	cmd.Stdout = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	for range 500 {
		time.Sleep(20 * time.Millisecond)
		if line := ask(sock, "PING"); line == "+PONG" {
			return strings.TrimPrefix(ask(sock, "DEBUG", "DIGEST"), "+")
		}
	}
	t.Fatalf("redis-server did not come up:\n%s", log.String())
	return ""
}

// ask sends a command and returns the line that it is answered, or nothing.
func ask(sock string, argv ...string) string {
	c, err := net.Dial("unix", sock)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }()
	_, _ = c.Write(resp(argv...))
	b := make([]byte, 100)
	n, _ := c.Read(b)
	return strings.TrimSpace(string(b[:n]))
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

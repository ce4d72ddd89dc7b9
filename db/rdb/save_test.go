package rdb_test

import (
	"bytes"
	"errors"
	"fmt"
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
)

// memory is an Output.
type memory struct {
	bytes.Buffer
	synced int64
	fail   error
}

func (m *memory) Write(p []byte) (int, error) {
	if m.fail != nil && m.Len() > 1<<20 {
		return 0, m.fail
	}
	return m.Buffer.Write(p)
}

func (m *memory) StartSync(off, n int64) error {
	if off != m.synced {
		return fmt.Errorf("sync from %d, not %d", off, m.synced)
	}
	m.synced = off + n
	return nil
}

// save writes a keyspace into memory.
func (w *world) save(o rdb.SaveOptions) (*memory, rdb.Stats) {
	w.t.Helper()
	sn := w.ks.Snapshot(nil)
	defer sn.Close()
	var m memory
	o.Now = now
	st, err := rdb.Save(&m, sn, o)
	w.must(err)
	if st.Bytes != int64(m.Len()) {
		w.t.Fatalf("%d bytes written, %d told", m.Len(), st.Bytes)
	}
	return &m, st
}

func (w *world) digest() string {
	sum := digest.All(w.ks.Whole(now), now)
	return sum.String()
}

func options() rdb.SaveOptions {
	return rdb.SaveOptions{Version: rdb.Version70, Compress: true, Checksum: true, Threads: 3,
		Aux: rdb.StandardAux("7.2.6", now, 1<<40, &rdb.ReplicationAux{ID: strings.Repeat("ab", 20), Offset: 7}, false)}
}

// TestSaveForRedis lets redis-check-rdb and redis-server read what was written.
func TestSaveForRedis(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed, db.Options{})
			w.fill(0, 150)
			w.fill(3, 50)
			w.fill(15, 1)
			o := options()
			o.Compress, o.Checksum = seed != 1, seed != 2
			m, st := w.save(o)
			if st.Keys != 201 {
				t.Fatal(st.Keys, "keys")
			}
			s := startRedis(t, m.Bytes())
			if got := s.ask("DEBUG", "DIGEST"); got != w.digest() {
				t.Fatalf("digest %s, in Redis %s", w.digest(), got)
			}
			s.ask("DEBUG", "RELOAD")
			if got := s.ask("DEBUG", "DIGEST"); got != w.digest() {
				t.Fatal("another digest when Redis has written and read it again")
			}
		})
	}
}

// TestSaveLarge writes collections that are larger than any buffer.
func TestSaveLarge(t *testing.T) {
	w := newWorld(t, 5, db.Options{})
	w.edit(0, func(tx *db.Tx) { w.large(tx) })
	w.fill(0, 100)
	for _, compress := range []bool{true, false} {
		o := options()
		o.Compress, o.SyncEvery = compress, 1<<20
		var keys, written atomic.Int64
		o.Keys, o.Bytes = &keys, &written
		m, st := w.save(o)
		if keys.Load() != st.Keys || written.Load() != st.Bytes || st.Bytes-m.synced > 2<<20 {
			t.Fatal(keys.Load(), written.Load(), m.synced, st)
		}
		s := startRedis(t, m.Bytes())
		if got := s.ask("DEBUG", "DIGEST"); got != w.digest() {
			t.Fatalf("digest %s, in Redis %s", w.digest(), got)
		}
	}
}

func TestSaveFails(t *testing.T) {
	w := newWorld(t, 5, db.Options{})
	w.edit(0, func(tx *db.Tx) { w.large(tx) })
	w.fill(0, 100)
	sn := w.ks.Snapshot(nil)
	defer sn.Close()
	full := errors.New("disk full")
	if _, err := rdb.Save(&memory{fail: full}, sn, options()); !errors.Is(err, full) {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	asked := atomic.Int64{}
	o := options()
	o.Stop = func() error {
		if asked.Add(1) > 3 {
			return stop
		}
		return nil
	}
	if _, err := rdb.Save(&memory{}, sn, o); !errors.Is(err, stop) || asked.Load() > 20 {
		t.Fatal(err, asked.Load())
	}
	if _, err := rdb.Save(&memory{}, sn, rdb.SaveOptions{Version: 9}); err == nil {
		t.Fatal("version 9 was written")
	}
}

// redis is a redis-server that loaded a file.
type redis struct {
	t    testing.TB
	sock string
}

// startRedis writes a file, lets redis-check-rdb look at it, and starts a server on it.
func startRedis(t testing.TB, file []byte) *redis {
	t.Helper()
	server, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS COMPARED: there is no redis-server")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "dump.rdb")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("redis-check-rdb", name).CombinedOutput(); err != nil {
		t.Fatalf("redis-check-rdb: %v\n%s", err, out)
	}
	sock := filepath.Join(dir, "s")
	cmd := exec.Command(server, "--port", "0", "--unixsocket", sock, "--dir", dir, "--save", "",
		"--enable-debug-command", "yes", "--sanitize-dump-payload", "yes")
	var log bytes.Buffer
	cmd.Stdout = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r := &redis{t, sock}
	for range 500 {
		if c, err := net.Dial("unix", sock); err == nil {
			_ = c.Close()
			if !strings.HasPrefix(r.ask("PING"), "-LOADING") {
				return r
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("redis-server did not come up:\n%s", log.String())
	return nil
}

// ask sends a command and returns its reply, of one line.
func (r *redis) ask(argv ...string) string {
	r.t.Helper()
	c, err := net.Dial("unix", r.sock)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	var b []byte
	b = fmt.Appendf(b, "*%d\r\n", len(argv)+0)
	for _, a := range argv {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.Write(b); err != nil {
		r.t.Fatal(err)
	}
	_ = c.(*net.UnixConn).CloseWrite()
	out, err := io.ReadAll(c)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "+"))
}

package persist

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/disk/simdisk"
	"heddle/replication/oplog"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	sets "heddle/server/command/set"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
	"heddle/server/dispatch"
	"heddle/server/log"
)

// world is a server without a network, on a simulated disk.
type world struct {
	*cmdtest.Env
	t      *testing.T
	disk   *simdisk.Disk
	config *config.Store
	lines  *lines
	k      *Keeper
}

// lines are the log.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const dataDir = "/data"

// newDisk has dataDir, which is durable, and more folders.
func newDisk(t *testing.T, more ...string) *simdisk.Disk {
	d := simdisk.New()
	for _, dir := range append([]string{dataDir}, more...) {
		if err := d.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	return d
}

// build makes a server that has not loaded anything yet.
func build(t *testing.T, d *simdisk.Disk, options ...string) *world {
	t.Helper()
	w := &world{t: t, disk: d, config: config.New(config.Dirs{}), lines: &lines{}}
	text := "dir " + dataDir + "\n" + strings.Join(options, "\n") + "\n"
	if err := w.config.Load(config.Source{Options: text}); err != nil {
		t.Fatal(err)
	}
	l, err := log.New(log.Options{Out: w.lines})
	if err != nil {
		t.Fatal(err)
	}
	effects := oplog.New(oplog.Options{})
	limit := func() int64 { return 512 << 20 }
	w.Env = cmdtest.NewWith(t, []cmdtest.Option{func(o *dispatch.Options, k *db.Options) {
		o.Oplog = effects
		k.Shards = 4
	}}, str.Family(limit), generic.Family(), transactions.Family(), sets.Family(),
		connection.Family(connection.Deps{Version: config.RedisVersion, Databases: 16}))
	w.k = New(Options{
		FS: d, Config: w.config, Log: l, Keyspace: w.Keyspace, Engine: w.Engine, Oplog: effects,
		Hold: func() func() {
			w.Engine.HoldAll()
			return w.Engine.LetGo
		},
		Now: func() time.Time { return time.UnixMilli(int64(w.Env.Now())) },
	})
	w.Engine.SetLoading(true)
	return w
}

// open is build and a start that has to succeed.
func open(t *testing.T, d *simdisk.Disk, options ...string) *world {
	t.Helper()
	w := build(t, d, options...)
	if err := w.k.Start(); err != nil {
		t.Fatalf("%v\n%s", err, w.lines)
	}
	return w
}

// stop ends what runs, as the end of the process would.
func (w *world) stop() {
	w.k.mu.Lock()
	w.k.stopping = true
	if w.k.work != nil {
		w.k.work.kill()
	}
	w.k.mu.Unlock()
	w.k.running.Wait()
	w.k.Close()
}

// idle waits until nothing runs in the background.
func (w *world) idle() {
	w.t.Helper()
	w.until("nothing runs", func() bool {
		w.k.mu.Lock()
		defer w.k.mu.Unlock()
		return w.k.work == nil
	})
	w.k.running.Wait()
}

func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("waited for: %s\n%s", what, w.lines)
		}
	}
}

// set is CONFIG SET, with what the host does about it.
func (w *world) set(name, value string) {
	w.t.Helper()
	if err := w.config.Set([]config.Pair{{Name: name, Value: value}}, config.SetOptions{Protected: true}); err != nil {
		w.t.Fatal(err)
	}
	w.k.Review()
	w.k.SetSync()
}

// pass lets seconds go by and does what is due.
func (w *world) pass(seconds int) {
	w.Advance(db.Millis(seconds) * 1000)
	w.k.Tick(w.k.o.Now())
}

func (w *world) wantLog(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.lines.String(), text) {
			w.t.Errorf("the log lacks %q:\n%s", text, w.lines)
		}
	}
}

// files lists all files.
func files(t *testing.T, d *simdisk.Disk, dir string) []string {
	t.Helper()
	var names []string
	list, err := d.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.IsDir() {
			names = append(names, files(t, d, dir+"/"+e.Name())...)
			continue
		}
		names = append(names, strings.TrimPrefix(dir+"/"+e.Name(), dataDir+"/"))
	}
	return names
}

func (w *world) wantFiles(want ...string) {
	w.t.Helper()
	slices.Sort(want)
	got := files(w.t, w.disk, dataDir)
	slices.Sort(got)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("files: got %v, want %v\n%s", got, want, w.lines)
	}
}

const okReply = "+OK\r\n"

// Package persistence carries keyspaces from redis-server to this server and back, by
// RDB and AOF files, and holds that nothing of them is lost: values, deadlines,
// databases, consumer groups, encodings, clocks of eviction, functions.
package persistence

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

var (
	server   = flag.String("server", "", "the server under test; empty: ours, built with its invariants checked. redis-server proves the tests themselves")
	seed     = flag.Int64("seed", 20261130, "seed of the random commands; 0: by the clock")
	commands = flag.Int("commands", 1000, "random commands for the first two databases and each round; the others get a tenth")
	rounds   = flag.Int("rounds", 1, "rounds of each test, each with a seed of its own")
	big      = flag.Int("big", 0, "elements in each large collection of TestLarge, such as 10000000; 0 leaves it small")
)

// versionArgs make our server write what redis-server 7.0 reads.
var versionArgs = []string{"--heddle-rdb-version", "10"}

// patience is how long a server may take to load and answer.
var patience = 30 * time.Second

// binary is the server under test.
var binary testserver.Binary

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	if *big > 0 {
		patience = 30 * time.Minute
	}
	binary.Main(m)
}

// oracle starts redis-server on the files in dir.
func oracle(t *testing.T, dir string, args ...string) *testserver.Server {
	t.Helper()
	return testserver.RunRedis(t, testserver.Options{Dir: dir, Wait: patience, Args: args})
}

// ours starts the server under test on the files in dir.
func ours(t *testing.T, dir string, args ...string) *testserver.Server {
	t.Helper()
	path := binary.Path(t, *server, testserver.Checked)
	all := testserver.Args(path, 2)
	if !testserver.IsRedis(path) {
		all = append(all, versionArgs...)
	}
	return testserver.Run(t, path, testserver.Options{Dir: dir, Wait: patience, Args: append(all, args...)})
}

// end stops a server as its user would; the files stay.
func end(t *testing.T, s *testserver.Server) {
	t.Helper()
	if err := s.Terminate(patience); err != nil {
		t.Fatalf("%v\n%s", err, s.Log())
	}
}

// client is a connection to a server that keeps its data.
type client struct{ testclient.Client }

func dial(t *testing.T, s *testserver.Server) client {
	t.Helper()
	c := testclient.Dial(t, s.Addr)
	c.Patience = patience
	return client{c}
}

// info returns a field of INFO persistence.
func (c client) info(field string) string {
	c.T.Helper()
	return c.Field("persistence", field)
}

// rewrite rewrites the AOF and waits for the end of it.
func (c client) rewrite() {
	c.T.Helper()
	c.Do("BGREWRITEAOF")
	c.settle()
}

// settle waits until no rewrite or save is under way or scheduled, and demands that the
// last went well.
func (c client) settle() {
	c.T.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		busy := c.info("aof_rewrite_in_progress") != "0" || c.info("aof_rewrite_scheduled") != "0" || c.info("rdb_bgsave_in_progress") != "0"
		if !busy {
			break
		}
		if time.Now().After(end) {
			c.T.Fatal("a rewrite or save does not end")
		}
	}
	for _, field := range []string{"aof_last_bgrewrite_status", "rdb_last_bgsave_status", "aof_last_write_status"} {
		if status := c.info(field); status != "ok" {
			c.T.Fatalf("%s is %q", field, status)
		}
	}
}

// populate fills all databases with what chance makes, and with every shape that there is.
func populate(t *testing.T, s *testserver.Server, seed int64, withShapes bool) {
	t.Helper()
	c := dial(t, s)
	for db := range databases {
		n := *commands
		if db >= 2 {
			n /= 10
		}
		if err := difftest.Populate(s.Addr, db, difftest.Options{Seed: seed + int64(db), Conns: 3, Keys: 40}, n); err != nil {
			t.Fatalf("database %d, seed %d: %v\n%s", db, seed, err, s.Log())
		}
		if withShapes && (db < 2 || db == databases-1) {
			c.Do("SELECT", fmt.Sprint(db))
			c.Do(append([]string{"CONFIG", "SET"}, limits...)...)
			c.All(shapes(seed+int64(db), db == 0))
		}
	}
	c.Do(append([]string{"CONFIG", "SET"}, limits...)...)
}

// limits are the defaults of what decides about encodings.
var limits = strings.Fields(`hash-max-listpack-entries 128 hash-max-listpack-value 64 zset-max-listpack-entries 128 zset-max-listpack-value 64
	set-max-intset-entries 512 list-max-listpack-size -2 list-compress-depth 0 hll-sparse-max-bytes 3000 stream-node-max-bytes 4096 stream-node-max-entries 100`)

// move carries a file or folder of one server's directory to that of another that is not
// started yet.
func move(t *testing.T, from, to, name string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(from, name), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		part, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, part), 0o755)
		}
		return copyFile(path, filepath.Join(to, part))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// check has one of redis-server's tools look at a file.
func check(t *testing.T, tool, file string) {
	t.Helper()
	if out, err := exec.Command(testserver.Need(t, tool, "redis-tools"), file).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", tool, filepath.Base(file), err, out)
	}
}

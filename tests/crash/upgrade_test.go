package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"heddle/tests/testclient"
	"heddle/tests/testserver"
)

// TestUpgrade has the server take over the single AOF file of an older one, and kills it
// again and again before it is done: whenever that is, all is there in the end.
func TestUpgrade(t *testing.T) {
	r := newRun(t, "--appendonly", "yes", "--appendfsync", "always")
	c := r.clients[0]
	var old bytes.Buffer
	write := func(argv ...string) {
		fmt.Fprintf(&old, "*%d\r\n", len(argv))
		for _, a := range argv {
			fmt.Fprintf(&old, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	want := newModel()
	write("SELECT", "0")
	for range 3000 {
		u := c.w.unit()
		if u.pops() {
			continue
		}
		u.apply(want)
		for _, argv := range u.wire() {
			write(argv...)
		}
	}
	for round := 0; round < 12 || round < int(*length/(8*time.Second)); round++ {
		r.dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(r.dir, "appendonly.aof"), old.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for range 1 + r.rng.Intn(3) {
			s, err := testserver.Spawn(r.path, testserver.Options{Dir: r.dir, Args: r.args})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.rng.Intn(150)) * time.Millisecond)
			s.Kill()
		}
		s, err := testserver.Start(r.path, testserver.Options{Dir: r.dir, Wait: patience, Args: r.args})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		t.Cleanup(s.Kill)
		d := testclient.Dial(t, s.Addr)
		if got := c.found(d.All(c.ask())); got.digest != want.digest {
			t.Fatalf("round %d: %d keys, not the %d that were there\n%s", round, len(got.sums), len(want.sums), s.Log())
		}
		if _, err := os.Stat(filepath.Join(r.dir, "appendonly.aof")); err == nil {
			t.Errorf("round %d: the old file is still where it was", round)
		}
		s.Kill()
	}
}

package pace

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestIdle(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stat")
	i := Idle{name: name}
	now := time.Unix(1000, 0)
	f := func(text string, passed time.Duration, want float64) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(passed)
		if got := i.Since(now); math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	f("cpu  1 2 3 400 50 0 0\n", 0, 0)
	f("cpu  1 2 3 500 60 0 0\n", time.Second, 1.1)
	f("cpu  1 2 3 500 60 0 0\n", time.Second, 0)
	f("cpu  1 2 3 500 60 0 0\n", 0, 0)
	f("cpu  1 2 3 100 60 0 0\n", time.Second, 0)
	f("", time.Second, 0)
	f("cpu  x y z a b\n", time.Second, 0)
	i.name = ""
	i.Since(now)
	if got := i.Since(now.Add(time.Second)); got < 0 {
		t.Errorf("%v processors are idle", got)
	}
}

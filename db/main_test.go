package db

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the property tests' runs long enough to reach rare states.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.steps"); f.Value.String() == f.DefValue {
		if err := flag.Set("rapid.steps", "100"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

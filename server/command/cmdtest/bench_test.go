package cmdtest

import (
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/server/command"
)

// TestBench holds that commands of a round run one behind the other, and that what they
// allocate is counted.
func TestBenchAllocs(t *testing.T) {
	var kept []byte
	runs := ""
	b := NewBench(t, command.Family{Name: "x", Specs: []*command.Spec{
		{Name: "garbage", Arity: 1, Read: func(*command.Call, db.View) error { kept = make([]byte, 100); return nil }},
		{Name: "word", Arity: 2, Write: func(c *command.Call, _ db.Txn) error { runs += string(c.Args.Bytes()); return nil }},
	}})
	b.Do("word a|word b", "word c")
	if runs != "abc" {
		t.Errorf("ran %q", runs)
	}
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	if n := b.Allocs(t, 10, "garbage|garbage"); n != 2 || len(kept) != 100 {
		t.Errorf("%v allocations, want 2", n)
	}
}

package bitmap_test

import (
	"testing"

	"heddle/server/command/cmdtest"
)

// TestNoAllocations holds the commands of every day to no garbage, where the
// destination of BITOP is there already.
func TestNoAllocations(t *testing.T) {
	b := cmdtest.NewBench(t, families()...).Unlogged()
	b.NoAllocs(t, "set k foobar", "setbit k 100 1", "setbit k 7 0", "getbit k 3", "bitcount k", "bitcount k 0 -1 bit",
		"bitpos k 1", "bitfield k incrby u8 100 3 get u4 0", "bitfield_ro k get i12 5")
	if n := b.Allocs(t, 100, "bitop not k k"); n > 1 { // its list of sources
		t.Errorf("bitop: %v allocations", n)
	}
}

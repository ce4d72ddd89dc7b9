package str_test

import (
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	str "heddle/server/command/string"
)

func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, str.Family(func() int64 { return maxBulk }))
	b.Do("set k v", "set n 1", "set f 1.5")
	return b
}

var hotCommands = []string{
	"get k", "set k v", "set k v ex 100", "setex k 100 v", "set k v xx keepttl", "setnx k v", "getset k v",
	"incr n", "incrby n -7", "incrbyfloat f 0.5", "mget k n f", "mset k v n 1", "strlen k", "getrange k 0 -1",
	"setrange k 0 w", "getex k ex 100",
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) { newBench(t).NoAllocs(t, hotCommands...) }

func BenchmarkCommands(b *testing.B) {
	for _, line := range hotCommands {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) { newBench(b).Loop(b, line) })
	}
}

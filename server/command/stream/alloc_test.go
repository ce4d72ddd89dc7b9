package streams_test

import (
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	streams "heddle/server/command/stream"
)

func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, streams.Family()).Unlogged()
	for range 200 {
		b.Do("xadd s * field value-17 other 42")
	}
	b.Do("xgroup create s g 0", "xreadgroup group g c count 100 streams s >")
	return b
}

var hotCommands = []string{
	"xadd s * field value-17 other 42", "xadd s maxlen 200 * field value", "xlen s", "xrange s - + count 10", "xrevrange s + - count 10",
	"xread count 10 streams s 0", "xdel s 1-1", "xack s g 1-1", "xpending s g - + 10", "xreadgroup group g c count 1 streams s 0",
	"xreadgroup group g c count 1 noack streams s >",
}

// TestNoAllocations holds the commands of every day to (nearly) no garbage: blocks and
// pages are made now and then.
func TestNoAllocations(t *testing.T) {
	for _, line := range hotCommands {
		if n := newBench(t).Allocs(t, 1000, line); n >= 0.1 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, line := range hotCommands {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) { newBench(b).Loop(b, line) })
	}
}

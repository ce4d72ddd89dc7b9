package sortedset_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	"heddle/server/command/sortedset"
)

var hotCommands = []string{
	"zadd k 1 m:5", "zadd k 2.5 m:5 3.25 m:6", "zadd k 1 m:5 2 m:6", "zadd k nx 1 m:5", "zadd k xx ch 7 m:7", "zadd k incr 1 m:8",
	"zincrby k -1.5 m:9", "zrem k m:3", "zadd k 3 m:3", "zcard k", "zscore k m:5", "zmscore k m:5 nokey", "zrank k m:5", "zrevrank k m:5",
	"zcount k 2 8", "zlexcount k - +", "zrange k 0 9", "zrange k 0 9 withscores", "zrange k 2 8 byscore limit 1 3", "zrevrange k 0 9",
	"zrangebyscore k 2 (8", "zrangebylex k - [m:6", "zrevrangebylex k [m:6 -", "zrandmember k", "zrandmember k -3", "zpopmin k", "zadd k 1 m:1", "zpopmax k 1", "zadd k 99 m:99",
	"zremrangebyrank k 0 0", "zadd k 1 m:1", "zremrangebyscore k 99 99", "zadd k 99 m:99", "zmpop 2 nokey k min", "zadd k 1 m:1", "bzpopmin k 0",
}

// sizes are a packed set and a large one.
var sizes = []int{300, 1000}

func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, sortedset.Family())
	s := b.Keyspace.Settings()
	s.Limits.ZSetEntries = 300
	b.Keyspace.SetSettings(s)
	return b
}

func fill(b *cmdtest.Bench, n int) {
	for i := range n {
		b.Do(fmt.Sprintf("zadd k %d m:%d", i, i))
	}
}

// TestNoAllocations holds the commands of every day to no garbage at all: packed sets to
// the byte, large ones but for a block now and then.
func TestNoAllocations(t *testing.T) {
	for _, size := range sizes {
		b := newBench(t)
		for _, line := range hotCommands {
			fill(b, size)
			if n := b.Allocs(t, 100, line); n != 0 {
				t.Errorf("%d members: %s: %v allocations", size, line, n)
			}
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, size := range sizes {
		e := newBench(b)
		fill(e, size)
		for _, line := range hotCommands {
			b.Run(fmt.Sprint(size, "_", strings.ReplaceAll(line, " ", "_")), func(b *testing.B) { e.Loop(b, line) })
		}
	}
}

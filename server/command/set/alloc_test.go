package sets_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
)

func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, families()...).Unlogged()
	for _, n := range []int{100, 10_000} {
		for i := range n {
			b.Do(fmt.Sprintf("sadd ints%d %d", n, i*3), fmt.Sprintf("sadd strs%d member:%d", n, i*3), fmt.Sprintf("sadd more%d member:%d", n, i*2))
		}
	}
	return b
}

// hotCommands come in rounds: what one adds another takes away.
var hotCommands = []string{
	"sadd ints100 7|srem ints100 7", "sadd strs100 x|srem strs100 x", "sadd ints10000 7|srem ints10000 7", "sadd strs10000 x|srem strs10000 x",
	"sadd new a|spop new", "sadd new 1|spop new", "sadd strs10000 x|smove strs10000 more10000 x|srem more10000 x",
	"sismember ints100 99", "sismember strs100 member:99", "sismember strs10000 member:99", "smismember strs100 a member:99", "scard strs100",
	"srandmember ints100", "srandmember strs100", "srandmember strs10000", "srandmember strs10000 -5", "srandmember strs100 5",
	"smembers ints100", "smembers strs100", "sinter strs100 more100", "sinter ints100 ints10000", "sunion strs100 more100", "sdiff strs100 more100", "sintercard 2 strs100 strs10000",
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	b := newBench(t)
	b.NoAllocs(t, hotCommands...)
	b.NoAllocs(t, "spop strs10000") // what is popped from a large set is seldom put back at once
}

func BenchmarkCommands(b *testing.B) {
	for _, round := range hotCommands {
		b.Run(strings.ReplaceAll(round, " ", "_"), func(b *testing.B) { newBench(b).Loop(b, round) })
	}
}

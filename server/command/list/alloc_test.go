package lists_test

import (
	"strconv"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	lists "heddle/server/command/list"
)

// newBench makes two lists, l with n elements.
func newBench(t testing.TB, n int) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, lists.Family())
	for i := range n {
		b.Do("rpush l element:" + strconv.Itoa(i))
	}
	b.Do("rpush m a b c")
	return b
}

var hotCommands = []string{
	"lpush l element:1", "rpop l", "rpush l element:2", "lpop l", "lpush l a b", "rpop l 2", "llen l", "lindex l 2", "lindex l -1",
	"lset l 1 element:7", "lset l 1 element:8", "lrange l 0 9", "lrange l -10 -1", "linsert l before element:8 x", "lrem l 1 x",
	"linsert l after element:8 x", "lrem l -1 x", "lpos l element:8", "lpos l element:8 count 0 rank -1", "lmove l l left right", "rpoplpush l l",
	"lmove l m left right", "lmove m l right left", "lpushx l x", "lmpop 1 l left", "blpop m l 0", "rpushx l element:9", "ltrim l 0 -1", "rpush l 7", "ltrim l 0 -2",
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	for _, n := range []int{20, 60, 3000} {
		if a := newBench(t, n).Allocs(t, 50, strings.Join(hotCommands, "|")); a != 0 {
			t.Errorf("%d elements: %v allocations", n, a)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, n := range []int{20, 3000} {
		for _, round := range []string{"lpush l element:1|rpop l", "rpush l element:2|lpop l"} {
			b.Run(strings.ReplaceAll(round, " ", "_")+"/"+strconv.Itoa(n), func(b *testing.B) { newBench(b, n).Loop(b, round) })
		}
	}
}

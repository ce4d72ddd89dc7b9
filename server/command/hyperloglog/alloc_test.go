package hyperloglog_test

import (
	"strings"
	"testing"

	"heddle/db/invariants"
	"heddle/server/command/cmdtest"
)

func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, families()...).Unlogged()
	b.Do("pfadd sparse a b c", "pfadd dense a b c", "pfadd other d", "pfdebug todense dense")
	return b
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	b := newBench(t)
	for _, line := range []string{"pfadd sparse element:aaaaaaaa", "pfadd dense element:aaaaaaaa"} {
		args := cmdtest.Argv(line)
		n := testing.AllocsPerRun(100, func() {
			args[2][9]++ // another one
			b.Run(args)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
	b.NoAllocs(t, "pfadd sparse b", "pfcount sparse", "pfcount dense", "pfcount sparse dense other", "pfmerge other sparse")
}

func BenchmarkCommands(b *testing.B) {
	for _, line := range []string{"pfadd sparse b", "pfadd dense b", "pfcount sparse", "pfcount sparse dense", "pfmerge other sparse dense"} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) { newBench(b).Loop(b, line) })
	}
}

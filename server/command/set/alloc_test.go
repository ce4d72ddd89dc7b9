package sets_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
)

// bench runs handlers on a keyspace without dispatch.
type bench struct {
	table *command.Table
	ks    *db.Keyspace
	tx    *db.Tx
	call  command.Call
	w     *resp.Writer
}

func newBench(t testing.TB) *bench {
	t.Helper()
	table, err := command.NewTable(families()...)
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ks.Close() })
	b := &bench{table: table, ks: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 1<<16))}
	b.call.SetLogged(false)
	for _, n := range []int{100, 10_000} {
		for i := range n {
			b.run(argv(fmt.Sprintf("sadd ints%d %d", n, i*3)))
			b.run(argv(fmt.Sprintf("sadd strs%d member:%d", n, i*3)))
			b.run(argv(fmt.Sprintf("sadd more%d member:%d", n, i*2)))
		}
	}
	return b
}

func argv(line string) [][]byte {
	var out [][]byte
	for _, w := range strings.Fields(line) {
		out = append(out, []byte(w))
	}
	return out
}

func (b *bench) run(args [][]byte) {
	s := b.table.Lookup(args[0])
	b.w.Reset(b.w.Bytes())
	b.call.Start(s, args, b.w)
	b.ks.Lock(b.ks.AllShards())
	b.tx.Begin(0, 1_700_000_000_000, b.ks.AllShards(), s.Write != nil)
	var err error
	if s.Write != nil {
		err = s.Write(&b.call, b.tx)
	} else {
		err = s.Read(&b.call, b.tx)
	}
	b.tx.End()
	b.ks.Unlock(b.ks.AllShards())
	if err != nil {
		panic(err)
	}
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
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	b := newBench(t)
	for _, round := range hotCommands {
		var lines [][][]byte
		for _, line := range strings.Split(round, "|") {
			lines = append(lines, argv(line))
		}
		n := testing.AllocsPerRun(100, func() {
			for _, args := range lines {
				b.run(args)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", round, n)
		}
	}
	// What is popped from a large set is seldom put back at once.
	args := argv("spop strs10000")
	if n := testing.AllocsPerRun(100, func() { b.run(args) }); n != 0 {
		t.Errorf("spop: %v allocations", n)
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, round := range hotCommands {
		b.Run(strings.ReplaceAll(round, " ", "_"), func(b *testing.B) {
			e := newBench(b)
			var lines [][][]byte
			for _, line := range strings.Split(round, "|") {
				lines = append(lines, argv(line))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, args := range lines {
					e.run(args)
				}
			}
		})
	}
}

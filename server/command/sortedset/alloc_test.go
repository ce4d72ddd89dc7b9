package sortedset_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/sortedset"
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
	table, err := command.NewTable(sortedset.Family())
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ks.Close() })
	return &bench{table: table, ks: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 4096))}
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

var hotCommands = []string{
	"zadd k 1 m:5", "zadd k 2.5 m:5 3.25 m:6", "zadd k 1 m:5 2 m:6", "zadd k nx 1 m:5", "zadd k xx ch 7 m:7", "zadd k incr 1 m:8",
	"zincrby k -1.5 m:9", "zrem k m:3", "zadd k 3 m:3", "zcard k", "zscore k m:5", "zmscore k m:5 nokey", "zrank k m:5", "zrevrank k m:5",
	"zcount k 2 8", "zlexcount k - +", "zrange k 0 9", "zrange k 0 9 withscores", "zrange k 2 8 byscore limit 1 3", "zrevrange k 0 9",
	"zrangebyscore k 2 (8", "zrangebylex k - [m:6", "zrevrangebylex k [m:6 -", "zrandmember k", "zrandmember k -3", "zpopmin k", "zadd k 1 m:1", "zpopmax k 1", "zadd k 99 m:99",
	"zremrangebyrank k 0 0", "zadd k 1 m:1", "zremrangebyscore k 99 99", "zadd k 99 m:99", "zmpop 2 nokey k min", "zadd k 1 m:1", "bzpopmin k 0",
}

// sizes are a packed set and a large one.
var sizes = []int{300, 1000}

func (b *bench) fill(n int) {
	s := b.ks.Settings()
	s.Limits.ZSetEntries = 300
	b.ks.SetSettings(s)
	for i := range n {
		b.run(argv(fmt.Sprintf("zadd k %d m:%d", i, i)))
	}
}

// TestNoAllocations holds the commands of every day to no garbage at all: packed sets to
// the byte, large ones but for a block now and then.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, size := range sizes {
		b := newBench(t)
		for _, line := range hotCommands {
			b.fill(size)
			args := argv(line)
			if n := testing.AllocsPerRun(100, func() { b.run(args) }); n != 0 {
				t.Errorf("%d members: %s: %v allocations", size, line, n)
			}
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, size := range sizes {
		e := newBench(b)
		e.fill(size)
		for _, line := range hotCommands {
			b.Run(fmt.Sprint(size, "_", strings.ReplaceAll(line, " ", "_")), func(b *testing.B) {
				args := argv(line)
				b.ReportAllocs()
				for b.Loop() {
					e.run(args)
				}
			})
		}
	}
}

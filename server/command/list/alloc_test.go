package lists_test

import (
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	lists "heddle/server/command/list"
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
	table, err := command.NewTable(lists.Family())
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
	"lpush l element:1", "rpop l", "rpush l element:2", "lpop l", "lpush l a b", "rpop l 2", "llen l", "lindex l 2", "lindex l -1",
	"lset l 1 element:7", "lset l 1 element:8", "lrange l 0 9", "lrange l -10 -1", "linsert l before element:8 x", "lrem l 1 x",
	"linsert l after element:8 x", "lrem l -1 x", "lpos l element:8", "lpos l element:8 count 0 rank -1", "lmove l l left right", "rpoplpush l l",
	"lmove l m left right", "lmove m l right left", "lpushx l x", "lmpop 1 l left", "blpop m l 0", "rpushx l element:9", "ltrim l 0 -1", "rpush l 7", "ltrim l 0 -2",
}

var parsed = func() (out [][][]byte) {
	for _, line := range hotCommands {
		out = append(out, argv(line))
	}
	return out
}()

// prepare fills lists, l with n elements.
func (b *bench) prepare(n int) {
	for i := range n {
		b.run(argv("rpush l element:" + strconv.Itoa(i)))
	}
	b.run(argv("rpush m a b c"))
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, n := range []int{20, 60, 3000} {
		b := newBench(t)
		b.prepare(n)
		if a := testing.AllocsPerRun(50, func() {
			for _, line := range parsed {
				b.run(line)
			}
		}); a != 0 {
			t.Errorf("%d elements: %v allocations", n, a)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, n := range []int{20, 3000} {
		for i, line := range hotCommands[:4] {
			b.Run(strings.ReplaceAll(line, " ", "_")+"/"+strconv.Itoa(n), func(b *testing.B) {
				e := newBench(b)
				e.prepare(n)
				undo := parsed[(i+1)%4]
				if i%2 == 1 {
					undo = parsed[i-1]
				}
				b.ReportAllocs()
				for b.Loop() {
					if i%2 == 1 {
						e.run(undo)
					}
					e.run(parsed[i])
					if i%2 == 0 {
						e.run(undo)
					}
				}
			})
		}
	}
}

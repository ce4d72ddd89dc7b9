package str_test

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	str "heddle/server/command/string"
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
	table, err := command.NewTable(str.Family(func() int64 { return maxBulk }))
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
	"get k", "set k v", "set k v ex 100", "setex k 100 v", "set k v xx keepttl", "setnx k v", "getset k v",
	"incr n", "incrby n -7", "incrbyfloat f 0.5", "mget k n f", "mset k v n 1", "strlen k", "getrange k 0 -1",
	"setrange k 0 w", "getex k ex 100",
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	b := newBench(t)
	for _, line := range []string{"set k v", "set n 1", "set f 1.5"} {
		b.run(argv(line))
	}
	for _, line := range hotCommands {
		args := argv(line)
		if n := testing.AllocsPerRun(100, func() { b.run(args) }); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, line := range hotCommands {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			e := newBench(b)
			for _, line := range []string{"set k v", "set n 1", "set f 1.5"} {
				e.run(argv(line))
			}
			args := argv(line)
			b.ReportAllocs()
			for b.Loop() {
				e.run(args)
			}
		})
	}
}

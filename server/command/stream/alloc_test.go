package streams_test

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	streams "heddle/server/command/stream"
)

// bench runs handlers on a keyspace without dispatch.
type bench struct {
	table *command.Table
	ks    *db.Keyspace
	tx    *db.Tx
	call  command.Call
	w     *resp.Writer
	now   db.Millis
}

func newBench(t testing.TB) *bench {
	t.Helper()
	table, err := command.NewTable(streams.Family())
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ks.Close() })
	b := &bench{table: table, ks: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 1<<16)), now: 1_700_000_000_000}
	b.call.SetLogged(false)
	for range 200 {
		b.run(argv("xadd s * field value-17 other 42"))
	}
	b.run(argv("xgroup create s g 0"))
	b.run(argv("xreadgroup group g c count 100 streams s >"))
	return b
}

func argv(line string) (out [][]byte) {
	for _, w := range strings.Fields(line) {
		out = append(out, []byte(w))
	}
	return out
}

func (b *bench) run(args [][]byte) {
	s := b.table.Lookup(args[0])
	if len(s.Sub) > 0 {
		s = b.table.LookupSub(s, args[1])
	}
	b.w.Reset(b.w.Bytes())
	b.call.Start(s, args, b.w)
	b.ks.Lock(b.ks.AllShards())
	b.tx.Begin(0, b.now, b.ks.AllShards(), s.Write != nil)
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
	"xadd s * field value-17 other 42", "xadd s maxlen 200 * field value", "xlen s", "xrange s - + count 10", "xrevrange s + - count 10",
	"xread count 10 streams s 0", "xdel s 1-1", "xack s g 1-1", "xpending s g - + 10", "xreadgroup group g c count 1 streams s 0",
	"xreadgroup group g c count 1 noack streams s >",
}

// TestNoAllocations holds the commands of every day to (nearly) no garbage: blocks and
// pages are made now and then.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	for _, line := range hotCommands {
		b := newBench(t)
		args := argv(line)
		if n := testing.AllocsPerRun(1000, func() { b.run(args) }); n >= 0.1 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, line := range hotCommands {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			e := newBench(b)
			args := argv(line)
			b.ReportAllocs()
			for b.Loop() {
				e.run(args)
			}
		})
	}
}

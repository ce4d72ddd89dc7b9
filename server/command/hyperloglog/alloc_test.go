package hyperloglog_test

import (
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
	b := &bench{table: table, ks: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 4096))}
	b.call.SetLogged(false)
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
	if err := s.Write(&b.call, b.tx); err != nil {
		panic(err)
	}
	b.tx.End()
	b.ks.Unlock(b.ks.AllShards())
}

// TestNoAllocations holds the commands of every day to no garbage at all.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	b := newBench(t)
	for _, line := range []string{"pfadd sparse a b c", "pfadd dense a b c", "pfadd other d"} {
		b.run(argv(line))
	}
	b.run(argv("pfdebug todense dense"))
	element := []byte("element:aaaaaaaa")
	for _, line := range []string{"pfadd sparse", "pfadd dense", "pfadd sparse b", "pfcount sparse", "pfcount dense", "pfcount sparse dense other", "pfmerge other sparse"} {
		args := argv(line)
		n := testing.AllocsPerRun(100, func() {
			if len(args) == 2 && line[2] == 'a' {
				element[9]++
				args = append(args, element)
				b.run(args)
				args = args[:2]
				return
			}
			b.run(args)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for _, line := range []string{"pfadd sparse b", "pfadd dense b", "pfcount sparse", "pfcount sparse dense", "pfmerge other sparse dense"} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			e := newBench(b)
			for _, line := range []string{"pfadd sparse a b c", "pfadd dense a b c", "pfdebug todense dense"} {
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

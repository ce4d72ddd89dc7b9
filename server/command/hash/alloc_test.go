package hashes_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
	hashes "heddle/server/command/hash"
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
	table, err := command.NewTable(hashes.Family())
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ks.Close() })
	return &bench{table: table, ks: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 64<<10))}
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

// fill makes a packed hash and one in a table.
func (b *bench) fill() {
	for i := range 20 {
		b.run(argv(fmt.Sprintf("hset small field:%d value:%d", i, i)))
	}
	b.run(argv("hset small n 1 x 1.5"))
	for i := range 10000 {
		b.run(argv(fmt.Sprintf("hset large field:%d value:%d", i, i)))
	}
	b.run(argv("hset large n 1 x 1.5"))
}

func lines() []string {
	return []string{
		"hset K field:7 other", "hset K field:8 a field:9 b", "hget K field:3", "hget K nothing", "hmget K field:1 field:2 x",
		"hlen K", "hstrlen K field:1", "hexists K field:1", "hincrby K n 3", "hincrbyfloat K x 0.5", "hsetnx K field:1 a",
		"hdel K nothing", "hrandfield K", "hrandfield K -5 withvalues",
	}
}

func TestNoAllocs(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checked builds allocate")
	}
	b := newBench(t)
	b.fill()
	for _, key := range []string{"small", "large", "nokey"} {
		for _, line := range lines() {
			args := argv(strings.Replace(line, "K", key, 1))
			if key == "nokey" && b.table.Lookup(args[0]).Write != nil && string(args[0]) != "hdel" {
				continue
			}
			if n := testing.AllocsPerRun(100, func() { b.run(args) }); n != 0 {
				t.Errorf("%s: %v allocations", args, n)
			}
		}
	}
	set, del := argv("hset fresh a 1 b 2"), argv("hdel fresh a b")
	if n := testing.AllocsPerRun(100, func() { b.run(set); b.run(del) }); n != 0 {
		t.Errorf("%s, %s: %v allocations", set, del, n)
	}
	all := argv("hgetall small")
	if n := testing.AllocsPerRun(100, func() { b.run(all) }); n != 0 {
		t.Errorf("%s: %v allocations", all, n)
	}
}

func BenchmarkCommands(b *testing.B) {
	w := newBench(b)
	w.fill()
	for _, key := range []string{"small", "large"} {
		for _, line := range append(lines(), "hgetall K") {
			args := argv(strings.Replace(line, "K", key, 1))
			b.Run(strings.ReplaceAll(string(args[0])+"/"+key+"/"+strings.Join(strings.Fields(line)[2:], "_"), ":", ""), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.run(args)
				}
			})
		}
	}
}

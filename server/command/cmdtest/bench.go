package cmdtest

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
)

// Bench runs handlers on a keyspace of one shard without dispatch: to measure them alone, and
// to hold that they leave no garbage. A round of commands is a line of words, in which "|"
// parts commands that follow each other, such as one that undoes the other's work.
type Bench struct {
	Table    *command.Table
	Keyspace *db.Keyspace

	tx   *db.Tx
	call command.Call
	w    *resp.Writer
}

// NewBench returns a Bench for the commands of some families.
func NewBench(t testing.TB, families ...command.Family) *Bench {
	t.Helper()
	table, err := command.NewTable(families...)
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ks.Close() })
	return &Bench{Table: table, Keyspace: ks, tx: ks.NewTx(), w: resp.NewWriter(make([]byte, 0, 64<<10))}
}

// Unlogged has commands run as while nobody reads the oplog: effects are not spelled.
func (b *Bench) Unlogged() *Bench {
	b.call.SetLogged(false)
	return b
}

// Argv returns the words of a command.
func Argv(line string) [][]byte {
	var argv [][]byte
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	return argv
}

func commandsOf(round string) (commands [][][]byte) {
	for line := range strings.SplitSeq(round, "|") {
		commands = append(commands, Argv(line))
	}
	return commands
}

// Do runs commands of a round each, and panics at an error.
func (b *Bench) Do(rounds ...string) {
	for _, round := range rounds {
		for _, argv := range commandsOf(round) {
			b.Run(argv)
		}
	}
}

// Run runs a command, and panics at an error. The reply is dropped.
func (b *Bench) Run(argv [][]byte) {
	s := b.Table.Lookup(argv[0])
	if len(s.Sub) > 0 {
		s = b.Table.LookupSub(s, argv[1])
	}
	b.w.Reset(b.w.Bytes())
	b.call.Start(s, argv, b.w)
	all := b.Keyspace.AllShards()
	b.Keyspace.Lock(all)
	b.tx.Begin(0, Start, all, s.Write != nil)
	var err error
	if s.Write != nil {
		err = s.Write(&b.call, b.tx)
	} else {
		err = s.Read(&b.call, b.tx)
	}
	b.tx.End()
	b.Keyspace.Unlock(all)
	if err != nil {
		panic(err)
	}
}

// Allocs returns how often memory is allocated in a round, on average of so many. Builds with
// invariants allocate by themselves: there the test is skipped.
func (b *Bench) Allocs(t *testing.T, times int, round string) float64 {
	t.Helper()
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	commands := commandsOf(round)
	return testing.AllocsPerRun(times, func() {
		for _, argv := range commands {
			b.Run(argv)
		}
	})
}

// NoAllocs holds rounds to no allocation at all.
func (b *Bench) NoAllocs(t *testing.T, rounds ...string) {
	t.Helper()
	for _, round := range rounds {
		if n := b.Allocs(t, 100, round); n != 0 {
			t.Errorf("%s: %v allocations", round, n)
		}
	}
}

// Loop measures a round.
func (b *Bench) Loop(bm *testing.B, round string) {
	commands := commandsOf(round)
	bm.ReportAllocs()
	for bm.Loop() {
		for _, argv := range commands {
			b.Run(argv)
		}
	}
}

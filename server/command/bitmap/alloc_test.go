package bitmap_test

import (
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/resp"
	"heddle/server/command"
)

// TestNoAllocations holds the commands of every day to no garbage, where the
// destination of BITOP is there already.
func TestNoAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checks allocate")
	}
	table, err := command.NewTable(families()...)
	if err != nil {
		t.Fatal(err)
	}
	ks, err := db.Open(db.Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ks.Close()
	tx, w, all := ks.NewTx(), resp.NewWriter(make([]byte, 0, 4096)), ks.AllShards()
	var call command.Call
	call.SetLogged(false)
	run := func(argv [][]byte) {
		s := table.Lookup(argv[0])
		w.Reset(w.Bytes())
		call.Start(s, argv, w)
		ks.Lock(all)
		tx.Begin(0, 1_700_000_000_000, all, s.Write != nil)
		if s.Write != nil {
			err = s.Write(&call, tx)
		} else {
			err = s.Read(&call, tx)
		}
		tx.End()
		ks.Unlock(all)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"set k foobar", "setbit k 100 1", "setbit k 7 0", "getbit k 3", "bitcount k", "bitcount k 0 -1 bit",
		"bitpos k 1", "bitfield k incrby u8 100 3 get u4 0", "bitfield_ro k get i12 5", "bitop not k k"} {
		var argv [][]byte
		for _, word := range strings.Fields(line) {
			argv = append(argv, []byte(word))
		}
		allowed := 0.0
		if strings.HasPrefix(line, "bitop") {
			allowed = 1 // its list of sources
		}
		if n := testing.AllocsPerRun(100, func() { run(argv) }); n > allowed {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

package sortedset_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/sortedset"
)

// TestPopsLeaveReply wants commands that pop many members to make nothing of their reply
// while the key is locked, whatever its shape, and to reply what was there all the same.
func TestPopsLeaveReply(t *testing.T) {
	const n = 5000
	var fill, flat, nested strings.Builder
	fill.WriteString("zadd z")
	for i := range n {
		fmt.Fprintf(&fill, " %d member:%d", i, i)
		if i > 0 {
			pair := bulk(fmt.Sprint("member:", i)) + bulk(fmt.Sprint(i))
			flat.WriteString(pair)
			nested.WriteString("*2\r\n" + pair)
		}
	}
	for _, c := range []struct{ cmd, want string }{
		{"zpopmax z 4999", "*9998\r\n"},
		{"zmpop 2 nokey z max count 4999", "*2\r\n" + bulk("z") + "*4999\r\n"},
		{"bzmpop 0 1 z max count 4999", "*2\r\n" + bulk("z") + "*4999\r\n"},
		{"zmpop 1 z min count 5000", "*2\r\n" + bulk("z") + "*5000\r\n*2\r\n" + bulk("member:0") + bulk("0") + nested.String()},
	} {
		e := env(t)
		e.Do(fill.String()).Want(":5000\r\n")
		argv := [][]byte{}
		for _, w := range strings.Fields(c.cmd) {
			argv = append(argv, []byte(w))
		}
		table, err := command.NewTable(sortedset.Family())
		if err != nil {
			t.Fatal(err)
		}
		var call command.Call
		var w resp.Writer
		spec, tx, set := table.Lookup(argv[0]), e.Keyspace.NewTx(), e.Keyspace.AllShards()
		call.Start(spec, argv, &w)
		e.Keyspace.Lock(set)
		tx.Begin(0, db.Millis(1), set, true)
		err = spec.Write(&call, tx)
		tx.End()
		e.Keyspace.Unlock(set)
		if err != nil || w.Made() > 100 {
			t.Errorf("%s: %v, %d bytes of reply were made under the lock", c.cmd, err, w.Made())
		}
		w.Rewind(resp.Mark{})

		e = env(t)
		e.Do(fill.String()).Want(":5000\r\n")
		if got := e.Do(c.cmd).Raw(); !strings.HasPrefix(got, c.want) || len(got) < len(flat.String()) {
			t.Errorf("%s: %d bytes", c.cmd, len(got))
		}
	}
}

package dispatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/dispatch"
)

// lines are commands for a Replayer.
func lines(text string) (argvs [][][]byte) {
	for _, line := range strings.Split(text, "\n") {
		var argv [][]byte
		for _, w := range strings.Fields(line) {
			argv = append(argv, []byte(w))
		}
		argvs = append(argvs, argv)
	}
	return argvs
}

func replayAll(r *dispatch.Replayer, text string) error {
	argvs := lines(text)
	return r.Run(len(argvs), func(i int) [][]byte { return argvs[i] })
}

func TestReplayer(t *testing.T) {
	e := newEnv(t)
	r := e.Engine.NewReplayer()
	defer r.Close()
	err := replayAll(r, `SET a 1
PEXPIREAT a 1000
INCR a
SELECT 3
MULTI
SET b 2
SELECT 0
SET c 3
EXEC
SETRANGE a -1 x
MULTI
SET d 4`)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed() != 1 || !r.InMulti() {
		t.Errorf("%d commands failed; inside MULTI: %v", r.Failed(), r.InMulti())
	}
	r.Reset()
	if err := replayAll(r, "SET e 5\nAWAIT none 0\nEXEC\nWATCH a"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"0 a": "2 1000", "3 b": "2 -1", "0 c": "3 -1", "0 e": "5 -1"}
	sn := e.Keyspace.Snapshot(nil)
	defer sn.Close()
	sn.Items(func(n int, it *db.Item) bool {
		k := fmt.Sprintf("%d %s", n, it.Key)
		if got := fmt.Sprintf("%d %d", it.Str.N, it.Expire); got != want[k] {
			t.Errorf("%s is %s, want %s", k, got, want[k])
		}
		delete(want, k)
		return true
	})
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestReplayerRefuses(t *testing.T) {
	e := newEnv(t)
	r := e.Engine.NewReplayer()
	defer r.Close()
	f := func(text, want string, at int) {
		t.Helper()
		err := replayAll(r, text)
		var fault *dispatch.ReplayError
		if !errors.As(err, &fault) || fault.Text != want || fault.At != at {
			t.Errorf("%q: %v, want %q at %d", text, err, want, at)
		}
	}
	f("SET a 1\nNOSUCH b", "Unknown command 'NOSUCH'", 1)
	f("SET a 1\nSET a 1\nget", "Wrong number of arguments for command 'get'", 2)
	f("CLIENT NOSUCH", "Unknown command 'CLIENT'", 0)
}

func BenchmarkReplay(b *testing.B) {
	r := benchEngine(b).NewReplayer()
	defer r.Close()
	const keys = 1 << 20
	batch := make([][][]byte, 4096)
	for i := range batch {
		batch[i] = [][]byte{[]byte("SET"), nil, make([]byte, 32)}
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i += len(batch) {
		for j := range batch {
			batch[j][1] = fmt.Appendf(batch[j][1][:0], "key:%012d", (i+j)*7919%keys)
		}
		if err := r.Run(len(batch), func(i int) [][]byte { return batch[i] }); err != nil {
			b.Fatal(err)
		}
	}
}

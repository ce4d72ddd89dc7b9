package db

import (
	"fmt"
	"strings"
	"testing"
)

// open returns a keyspace that is checked and closed when the test ends.
func open(t testing.TB, o Options) *Keyspace {
	t.Helper()
	o.Arena.Reserve = 1 << 33
	ks, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, ks) })
	return ks
}

// closeChecked closes a keyspace after a last look at it.
func closeChecked(t interface{ Error(...any) }, ks *Keyspace) {
	ks.lazy.wait()
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
	ks.Close()
}

// with runs fn in a transaction over all shards.
func with(ks *Keyspace, tx *Tx, db int, now Millis, fn func(tx *Tx)) {
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	tx.Begin(db, now, ks.AllShards(), true)
	defer tx.End()
	fn(tx)
}

// text spells a Str.
func text(s Str) string {
	if s.IsInt {
		return fmt.Sprint(s.N)
	}
	return string(s.B)
}

func TestStrings(t *testing.T) {
	ks := open(t, Options{})
	with(ks, ks.NewTx(), 0, 1000, func(tx *Tx) {
		k := []byte("key")
		f := func(val, encoding string) {
			t.Helper()
			if err := tx.SetString(k, []byte(val), NoExpiry); err != nil {
				t.Fatal(err)
			}
			s, ok, err := tx.String(k)
			m, _ := tx.Meta(k)
			if text(s) != val || !ok || err != nil || m.Encoding != encoding || m.Len != len(val) {
				t.Errorf("%.20q: got %.20q %v %v, %s of %d", val, text(s), ok, err, m.Encoding, m.Len)
			}
		}
		f("", "embstr")
		f("abc", "embstr")
		f("12", "int")
		f("-9223372036854775808", "int")
		f("9223372036854775807", "int")
		f("9223372036854775808", "embstr")
		f("-9223372036854775809", "embstr")
		f("007", "embstr")
		f("-0", "embstr")
		f("0", "int")
		f("-", "embstr")
		f(strings.Repeat("x", 44), "embstr")
		f(strings.Repeat("x", 45), "raw")
		f(strings.Repeat("x", 300), "raw")
		f(strings.Repeat("x", 100_000), "raw")
		f("3", "int")
	})
}

// TestAppendMoves checks that a string that grows bit by bit is seldom moved,
// and takes little more memory than it has bytes.
func TestAppendMoves(t *testing.T) {
	ks := open(t, Options{})
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) {
		k, part := []byte("k"), make([]byte, 1000)
		moves, last := 0, uint64(0)
		const n = 20_000
		for range n {
			if _, err := tx.Append(k, part); err != nil {
				t.Fatal(err)
			}
			c := &tx.cur
			at := uint64(c.rec.ref)
			if c.rec.kind() == kindBig {
				at = uint64(c.s.handles.big(c.rec.handle()).ref)
			}
			if at != last {
				moves++
			}
			last = at
		}
		if s, _, _ := tx.String(k); len(s.B) != n*len(part) || moves > 20 {
			t.Errorf("%d bytes, %d moves", len(s.B), moves)
		}
		if used := ks.Used(); used > n*1010 {
			t.Errorf("%d bytes take %d", n*1000, used)
		}
	})
}

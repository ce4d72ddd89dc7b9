package list_test

import (
	"strconv"
	"testing"

	"heddle/db"
	"heddle/db/list"
)

// TestNameOfLarge: a limit in elements that is very large does not make a listpack of
// what would take many nodes, and nobody looks for that at each change.
func TestNameOfLarge(t *testing.T) {
	ks := open(t, func(s *db.Settings) { s.Limits.ListSize = 1 << 30 })
	tx, key := ks.NewTx(), []byte("list")
	with(ks, tx, func(tx *db.Tx) {
		for i := range 5000 {
			l, _ := list.Write(tx, key)
			if err := l.Push(false, []byte("value:"+strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "")
		}
		for n := 5000; n > 100; n-- {
			l, _ := list.Write(tx, key)
			if err := l.Delete(0, 1); err != nil {
				t.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "")
			m, _ := tx.Meta(key)
			if n > 1000 && m.Encoding != "quicklist" {
				t.Fatalf("%d elements are a %s", n-1, m.Encoding)
			}
		}
		if m, _ := tx.Meta(key); m.Encoding != "listpack" {
			t.Errorf("100 elements are a %s", m.Encoding)
		}
	})
}

package list_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/list"
)

// failing is a transaction that has no memory left after so many calls.
type failing struct {
	db.Txn
	left int
}

func (f *failing) out() bool {
	f.left--
	return f.left < 0
}

// Splice fails only where it may: what a transaction has made its own can always
// become shorter.
func (f *failing) Splice(key []byte, t db.Type, p db.Packing, at, del, ins int) ([]byte, error) {
	if ins >= del && f.out() {
		return nil, db.ErrOutOfMemory
	}
	return f.Txn.Splice(key, t, p, at, del, ins)
}

func (f *failing) PutPacked(key []byte, t db.Type, p db.Packing, b []byte, e db.Expiry) error {
	if f.out() {
		return db.ErrOutOfMemory
	}
	return f.Txn.PutPacked(key, t, p, b, e)
}

func (f *failing) PutObject(key []byte, t db.Type, o db.Object, e db.Expiry) error {
	if f.out() {
		return db.ErrOutOfMemory
	}
	return f.Txn.PutObject(key, t, o, e)
}

// TestOutOfMemory: a change that fails has changed nothing.
func TestOutOfMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	long := []byte(strings.Repeat("long \xff", 300))
	failed := 0
	ks := open(t, nil)
	tx, key := ks.NewTx(), []byte("list")
	for range 1000 {
		with(ks, tx, func(tx *db.Tx) {
			tx.Delete(key)
			var want []string
			for range 1 + r.IntN(100) {
				s := element(r)
				s = s[:min(len(s), 7)]
				want = append(want, s)
				l, _ := list.Write(tx, key)
				if err := l.Push(false, []byte(s)); err != nil {
					t.Fatal(err)
				}
			}
			l, err := list.Write(&failing{tx, r.IntN(2)}, key)
			n := l.Len()
			i := r.IntN(n)
			switch r.IntN(7) {
			case 0:
				err = l.Push(r.IntN(2) == 0, long)
			case 1:
				err = l.Push(r.IntN(2) == 0, long[:3], long, long[:9])
			case 2:
				err = l.Set(i, long)
			case 3:
				err = l.Insert(i, long)
			case 4:
				err = l.Trim(i/2, i+1)
			case 5:
				err = l.Rotate(r.IntN(2) == 0)
			case 6:
				_, err = l.Remove([]byte(want[i]), int64(r.IntN(5)-2))
			}
			if err != nil {
				failed++
				l, _ := list.Read(tx, key)
				if got := elements(&l); err != db.ErrOutOfMemory || !slices.Equal(got, want) {
					t.Fatalf("%v: %.50q, want %.50q", err, got, want)
				}
			}
			tx.Touched(key, db.ClassList, "")
		})
	}
	if failed < 100 {
		t.Errorf("only %d changes failed", failed)
	}
}

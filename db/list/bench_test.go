package list_test

import (
	"strconv"
	"testing"

	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
)

// filled returns a keyspace with a list of n elements at key "list".
func filled(b testing.TB, n int) (*db.Keyspace, *db.Tx) {
	ks := open(b, nil)
	tx := ks.NewTx()
	with(ks, tx, func(tx *db.Tx) {
		for i := range n {
			l, err := list.Write(tx, []byte("list"))
			if err == nil {
				err = l.Push(false, []byte("element:"+strconv.Itoa(i)))
			}
			if err != nil {
				b.Fatal(err)
			}
			tx.Touched([]byte("list"), db.ClassList, "")
		}
	})
	return ks, tx
}

var sizes = []int{10, 60, 100, 1000, 100000}

// bench runs fn, one change, on lists of all sizes.
func bench(b *testing.B, fn func(b *testing.B, tx *db.Tx, n int)) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			ks, tx := filled(b, n)
			b.ReportAllocs()
			with(ks, tx, func(tx *db.Tx) { fn(b, tx, n) })
		})
	}
}

// cycle pushes at one end and pops at one, over and over.
func cycle(b *testing.B, front, back bool) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		key, val := []byte("list"), []byte("element:7")
		var buf listpack.Scratch
		for b.Loop() {
			l, _ := list.Write(tx, key)
			if err := l.Push(front, val); err != nil {
				b.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "lpush")
			l, _ = list.Write(tx, key)
			i := 0
			if back {
				i = l.Len() - 1
			}
			if len(l.At(i).Bytes(&buf)) == 0 {
				b.Fatal("empty")
			}
			if err := l.Delete(i, 1); err != nil {
				b.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "lpop")
		}
	})
}

func BenchmarkLPushLPop(b *testing.B) { cycle(b, true, false) }
func BenchmarkLPushRPop(b *testing.B) { cycle(b, true, true) }
func BenchmarkRPushRPop(b *testing.B) { cycle(b, false, true) }

func BenchmarkIndex(b *testing.B) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		i, key := 0, []byte("list")
		for b.Loop() {
			l, _ := list.Read(tx, key)
			i = (i*7919 + 1) % n
			_ = l.At(i)
		}
	})
}

func BenchmarkSet(b *testing.B) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		i, key, val := 0, []byte("list"), []byte("element:77")
		for b.Loop() {
			l, _ := list.Write(tx, key)
			i = (i*7919 + 1) % n
			if err := l.Set(i, val); err != nil {
				b.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "lset")
		}
	})
}

// BenchmarkInsert puts elements into the middle and takes them out again.
func BenchmarkInsert(b *testing.B) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		i, key, val := 0, []byte("list"), []byte("element:77")
		for b.Loop() {
			l, _ := list.Write(tx, key)
			i = (i*7919 + 1) % n
			err := l.Insert(i, val)
			if err == nil {
				err = l.Delete(i, 1)
			}
			if err != nil {
				b.Fatal(err)
			}
			tx.Touched(key, db.ClassList, "linsert")
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		l, _ := list.Read(tx, []byte("list"))
		var buf listpack.Scratch
		for b.Loop() {
			for it := l.Iter(0); it.Next(); {
				_ = it.Entry().Bytes(&buf)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
	})
}

// BenchmarkMemory tells what an element takes.
func BenchmarkMemory(b *testing.B) {
	bench(b, func(b *testing.B, tx *db.Tx, n int) {
		var m db.Meta
		for b.Loop() {
			m, _ = tx.Meta([]byte("list"))
		}
		b.ReportMetric(float64(m.Size)/float64(n), "B/element")
	})
}

package rdb_test

import (
	"fmt"
	"io"
	"testing"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/rdb"
	"heddle/db/zset"
)

// nowhere is an Output that forgets.
type nowhere struct{ io.Writer }

func (nowhere) StartSync(int64, int64) error { return nil }

// BenchmarkSave writes keyspaces of one kind of key.
func BenchmarkSave(b *testing.B) {
	f := func(name string, keys int, put func(w *world, tx *db.Tx, key []byte)) {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, 1, db.Options{})
			w.edit(0, func(tx *db.Tx) {
				for i := range keys {
					put(w, tx, fmt.Appendf(nil, "key:%011d", i))
				}
			})
			b.ReportAllocs()
			for b.Loop() {
				sn := w.ks.Snapshot(nil)
				st, err := rdb.Save(nowhere{io.Discard}, sn, rdb.SaveOptions{Compress: true, Checksum: true, Now: now})
				if err != nil || st.Keys != int64(keys) {
					b.Fatal(st, err)
				}
				sn.Close()
				b.SetBytes(st.Bytes)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
		})
	}
	value := []byte("0123456789abcdefghij0123456789ab")
	f("strings", 1_000_000, func(w *world, tx *db.Tx, key []byte) { w.must(tx.SetString(key, value, db.NoExpiry)) })
	f("integers", 1_000_000, func(w *world, tx *db.Tx, key []byte) { w.must(tx.SetInt(key, 123456, db.NoExpiry)) })
	f("hashes", 100_000, func(w *world, tx *db.Tx, key []byte) {
		h, err := hash.Write(tx, key)
		w.must(err)
		for i := range 5 {
			_, err := h.Set(fmt.Appendf(nil, "field:%d", i), fmt.Appendf(nil, "value of field %d", i))
			w.must(err)
		}
	})
	f("zsets", 100_000, func(w *world, tx *db.Tx, key []byte) {
		z, err := zset.Write(tx, key)
		w.must(err)
		for i := range 5 {
			z.Find(fmt.Appendf(nil, "member:%d", i))
			w.must(z.Put(float64(i) / 10))
		}
	})
}

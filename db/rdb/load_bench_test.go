package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"

	"heddle/db"
)

// makeFile returns a file of what fn appends.
func makeFile(fn func(b []byte) []byte) []byte {
	b := fn([]byte("REDIS0011\xfe\x00"))
	return append(b, zeros...)
}

func smallKeys(n int) []byte {
	return makeFile(func(b []byte) []byte {
		b = appendLength(appendLength(append(b, opResizeDB), uint64(n)), 0)
		for i := range n {
			b = appendRaw(append(b, typeString), fmt.Appendf(nil, "key:%010d", i))
			b = appendRaw(b, fmt.Appendf(nil, "value:%026d", i))
		}
		return b
	})
}

// largeCollection returns a file with one collection of n members.
func largeCollection(typ byte, n int) []byte {
	return makeFile(func(b []byte) []byte {
		b = appendRaw(append(b, typ), []byte("large"))
		b = appendLength(b, uint64(n))
		for i := range n {
			if typ == typeZSet2 {
				i = n - i // as Redis saves them
			}
			b = appendRaw(b, fmt.Appendf(nil, "member:%08d", i))
			switch typ {
			case typeHash:
				b = appendRaw(b, fmt.Appendf(nil, "value:%08d", i))
			case typeZSet2:
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i)))
			}
		}
		return b
	})
}

func benchmarkLoad(b *testing.B, file []byte, items int) {
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		ks, err := db.Open(db.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := Load(bytes.NewReader(file), "f", ks, LoadOptions{Now: sampleNow}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		ks.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/item")
}

func BenchmarkLoad(b *testing.B) {
	const n = 500_000
	b.Run("strings", func(b *testing.B) { benchmarkLoad(b, smallKeys(n), n) })
	b.Run("set", func(b *testing.B) { benchmarkLoad(b, largeCollection(typeSet, n), n) })
	b.Run("hash", func(b *testing.B) { benchmarkLoad(b, largeCollection(typeHash, n), n) })
	b.Run("zset", func(b *testing.B) { benchmarkLoad(b, largeCollection(typeZSet2, n), n) })
	b.Run("list", func(b *testing.B) { benchmarkLoad(b, largeCollection(typeList, n), n) })
}

// BenchmarkLoadFile loads the file that RDB_FILE names, to be compared with a server.
func BenchmarkLoadFile(b *testing.B) {
	file := os.Getenv("RDB_FILE")
	if file == "" {
		b.Skip("RDB_FILE names no file")
	}
	for b.Loop() {
		f, err := os.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		ks, err := db.Open(db.Options{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := Load(f, file, ks, LoadOptions{Now: sampleNow})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Loaded), "keys")
		_ = f.Close()
		ks.Close()
	}
}

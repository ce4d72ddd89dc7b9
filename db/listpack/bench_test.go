package listpack_test

import (
	"strconv"
	"testing"

	"heddle/db/listpack"
)

func BenchmarkSet(b *testing.B) {
	for _, s := range []string{"12", "1700000000", "field:12", "550e8400-e29b-41d4-a716-446655440000", "Hello, World", "\x01\x02\x03\x04\x05\x06\x07\x08"} {
		in := []byte(s)
		b.Run(strconv.Quote(s), func(b *testing.B) {
			b.ReportAllocs()
			var v listpack.Value
			for b.Loop() {
				v.Set(in)
			}
		})
	}
}

func BenchmarkBytes(b *testing.B) {
	for _, s := range []string{"12", "1700000000", "field:12", "550e8400-e29b-41d4-a716-446655440000", "Hello, World", "\x01\x02\x03\x04\x05\x06\x07\x08"} {
		p := listpack.Append(make([]byte, 2), []byte(s))
		b.Run(strconv.Quote(s), func(b *testing.B) {
			b.ReportAllocs()
			var buf listpack.Scratch
			n := 0
			for b.Loop() {
				n += len(listpack.At(p, 2).Bytes(&buf))
			}
		})
	}
}

// BenchmarkFind looks for the last of 100 fields.
func BenchmarkFind(b *testing.B) {
	p := make([]byte, listpack.Header)
	for i := range 100 {
		p = listpack.Append(p, []byte("field:"+strconv.Itoa(i)))
		p = listpack.Append(p, []byte("value:"+strconv.Itoa(i)))
	}
	b.ReportAllocs()
	b.ReportMetric(float64(len(p)), "bytes")
	s := []byte("field:99")
	for b.Loop() {
		var v listpack.Value
		v.Set(s)
		if listpack.Find(p, listpack.Header, &v, 1) < 0 {
			b.Fatal("not found")
		}
	}
}

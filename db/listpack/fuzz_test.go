package listpack_test

import (
	"bytes"
	"testing"

	"heddle/db/listpack"
)

// FuzzCheck: bytes that pass can be walked, and come back when written again.
func FuzzCheck(f *testing.F) {
	for _, s := range samples() {
		if len(s) < 100 {
			f.Add(listpack.Append([]byte{1, 0}, []byte(s)))
		}
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if listpack.Check(p, 1) != nil {
			return
		}
		again := make([]byte, listpack.Header)
		n := 0
		for at := listpack.Header; at < len(p); at = listpack.Next(p, at) {
			e := listpack.At(p, at)
			s := e.Append(nil)
			if len(s) != e.Len() {
				t.Fatalf("length %d of %q", e.Len(), s)
			}
			again = listpack.Append(again, s)
			n++
		}
		listpack.SetCount(again, n)
		if !bytes.Equal(again, p) {
			t.Fatalf("% x came back as % x", p, again)
		}
		_ = listpack.AppendRedis(nil, p)
	})
}

// FuzzValue: every string comes back.
func FuzzValue(f *testing.F) {
	for _, s := range samples() {
		if len(s) < 100 {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		p := listpack.Append([]byte{1, 0}, s)
		if got := listpack.At(p, listpack.Header).Append(nil); !bytes.Equal(got, s) {
			t.Fatalf("%q came back as %q", s, got)
		}
		if listpack.Check(p, 1) != nil {
			t.Fatalf("%q: % x does not pass", s, p)
		}
	})
}

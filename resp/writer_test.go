package resp

import (
	"bytes"
	"testing"
)

func TestWriter(t *testing.T) {
	f := func(write func(*Writer), want2, want3 string) {
		t.Helper()
		for proto, want := range map[int]string{2: want2, 3: want3} {
			w := NewWriter([]byte("x"))
			w.SetProto(proto)
			if write(w); string(w.Bytes()) != "x"+want {
				t.Errorf("RESP%d: %q, want %q", proto, w.Bytes()[1:], want)
			}
			if w.Len() != len(want)+1 || w.Proto() != proto {
				t.Errorf("RESP%d: length %d, proto %d", proto, w.Len(), w.Proto())
			}
		}
	}
	both := func(write func(*Writer), want string) { t.Helper(); f(write, want, want) }
	both((*Writer).OK, "+OK\r\n")
	both(func(w *Writer) { w.Simple("PONG") }, "+PONG\r\n")
	both(func(w *Writer) { w.Error("ERR a\r\nb") }, "-ERR a  b\r\n")
	both(func(w *Writer) { w.Int(-12); w.Int(7); w.Int(10) }, ":-12\r\n:7\r\n:10\r\n")
	both(func(w *Writer) { w.Bulk(nil); w.BulkString("ab"); w.BulkInt(-5) }, "$0\r\n\r\n$2\r\nab\r\n$2\r\n-5\r\n")
	both(func(w *Writer) { w.Array(12); w.Raw([]byte(":1\r\n")) }, "*12\r\n:1\r\n")
	f((*Writer).Null, "$-1\r\n", "_\r\n")
	f((*Writer).NullArray, "*-1\r\n", "_\r\n")
	f(func(w *Writer) { w.Map(2) }, "*4\r\n", "%2\r\n")
	f(func(w *Writer) { w.Set(2) }, "*2\r\n", "~2\r\n")
	f(func(w *Writer) { w.Push(2) }, "*2\r\n", ">2\r\n")
	f(func(w *Writer) { w.Bool(true); w.Bool(false) }, ":1\r\n:0\r\n", "#t\r\n#f\r\n")
	f(func(w *Writer) { w.Double(0.1) }, "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n")
	f(func(w *Writer) { w.BigNumber("123") }, "$3\r\n123\r\n", "(123\r\n")
	f(func(w *Writer) { w.Verbatim("txt", []byte("ab")) }, "$2\r\nab\r\n", "=6\r\ntxt:ab\r\n")
}

type counter int

func (c *counter) Release() { *c++ }

func TestWriterExternals(t *testing.T) {
	var freed counter
	w := NewWriter(nil)
	w.Int(1)
	w.BulkExternal([]byte("big"), &freed)
	m := w.Mark()
	if w.Wrote(m) {
		t.Error("wrote nothing since the mark")
	}
	w.BulkExternal([]byte("bigger"), &freed)
	w.BulkExternal([]byte("kept"), nil)
	if !w.Wrote(m) || w.Len() != len(":1\r\n$3\r\nbig\r\n$6\r\nbigger\r\n$4\r\nkept\r\n") {
		t.Errorf("length %d", w.Len())
	}
	w.Rewind(m)
	if freed != 1 || w.Len() != len(":1\r\n$3\r\nbig\r\n") || len(w.Externals()) != 1 {
		t.Errorf("after Rewind: freed %d, length %d", freed, w.Len())
	}
	e := w.Externals()[0]
	out := append(bytes.Clone(w.Bytes()[:e.At]), e.Data...)
	if out = append(out, w.Bytes()[e.At:]...); string(out) != ":1\r\n$3\r\nbig\r\n" {
		t.Errorf("joined: %q", out)
	}
	w.Reset(w.Bytes())
	if w.Len() != 0 || freed != 1 {
		t.Errorf("after Reset: length %d, freed %d", w.Len(), freed)
	}
}

func TestWriterAllocatesNothing(t *testing.T) {
	w := NewWriter(make([]byte, 0, 4096))
	value := make([]byte, 32)
	if n := testing.AllocsPerRun(100, func() {
		w.Reset(w.Bytes())
		w.SetProto(2)
		w.OK()
		w.Bulk(value)
		w.Int(123456)
		w.BulkInt(42)
		w.Double(1.25)
		w.Error(ErrWrongType)
		w.SetProto(3)
		w.Map(1)
		w.Double(1e300)
		w.Null()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWriter(b *testing.B) {
	w := NewWriter(make([]byte, 0, 1<<16))
	value := make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		if w.Bulk(value); w.Len() > 1<<15 {
			w.Reset(w.Bytes())
		}
	}
}

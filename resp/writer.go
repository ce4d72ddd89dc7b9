package resp

import (
	"math"
	"strconv"
)

// Releaser gives back memory that a reply borrowed, once its bytes have left
// or the connection is gone. Release is called exactly once.
type Releaser interface{ Release() }

// External is a piece of a reply that stays where it is, or that is not made yet: it
// belongs after the first At bytes of the writer's own buffer.
type External struct {
	At     int
	Data   []byte
	Free   Releaser // nil when nothing has to be given back
	Stream Stream   // then there is no Data; it is owed as
	Proto  int      // this version of the protocol
}

// Writer appends replies to a buffer. It does no I/O, and it alone knows how
// RESP2 and RESP3 differ: handlers say Map, Set, Double, Null, Pairs.
// The zero value writes RESP2. It is not safe for concurrent use.
type Writer struct {
	buf   []byte
	ext   []External
	extN  int // sum of the lengths of ext, as Len counts them
	lazy  int // how many of ext are streams
	proto int // 0 and 2 mean RESP2
}

// NewWriter returns a writer that appends to buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf: buf} }

// Proto returns the protocol version in use: 2 or 3.
func (w *Writer) Proto() int {
	if w.proto == 3 {
		return 3
	}
	return 2
}

// SetProto chooses the protocol version of what is written from now on.
func (w *Writer) SetProto(v int) { w.proto = v }

// Bytes returns what has been written, without external pieces.
func (w *Writer) Bytes() []byte { return w.buf }

// Externals returns the external pieces in order.
func (w *Writer) Externals() []External { return w.ext }

// Len returns how many bytes the replies have, external pieces included. A stream
// counts as StreamLen.
func (w *Writer) Len() int { return len(w.buf) + w.extN }

// Made is Len without the streams: the bytes that are there.
func (w *Writer) Made() int { return len(w.buf) + w.extN - w.lazy*StreamLen }

// Reset forgets everything written and makes the writer append to buf[:0]
// from now on. External pieces are not released: the caller took them over.
func (w *Writer) Reset(buf []byte) {
	clear(w.ext)
	w.buf, w.ext, w.extN, w.lazy = buf[:0], w.ext[:0], 0, 0
}

// Mark is a place in the reply stream that Rewind can return to.
type Mark struct{ buf, ext int }

// Mark returns the present end of the replies.
func (w *Writer) Mark() Mark { return Mark{len(w.buf), len(w.ext)} }

// Wrote reports whether anything was written since m.
func (w *Writer) Wrote(m Mark) bool { return len(w.buf) > m.buf || len(w.ext) > m.ext }

// Rewind drops everything written since m and releases its external pieces.
func (w *Writer) Rewind(m Mark) {
	for i := range w.ext[m.ext:] {
		e := &w.ext[m.ext+i]
		if e.Stream != nil {
			w.extN -= StreamLen
			w.lazy--
		}
		w.extN -= len(e.Data)
		e.Release()
		*e = External{}
	}
	w.buf, w.ext = w.buf[:m.buf], w.ext[:m.ext]
}

func (w *Writer) header(kind byte, n int64) {
	w.buf = append(w.buf, kind)
	if n >= 0 && n < 10 {
		w.buf = append(w.buf, byte('0'+n), '\r', '\n')
		return
	}
	w.buf = strconv.AppendInt(w.buf, n, 10)
	w.buf = append(w.buf, '\r', '\n')
}

// Raw appends bytes that are already a reply.
func (w *Writer) Raw(b []byte) { w.buf = append(w.buf, b...) }

// OK writes +OK.
func (w *Writer) OK() { w.buf = append(w.buf, "+OK\r\n"...) }

// Simple writes a simple string. s must not contain line ends.
func (w *Writer) Simple(s string) {
	w.buf = append(w.buf, '+')
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Error writes an error reply. Line ends within it become spaces.
func (w *Writer) Error(e Error) {
	w.buf = append(w.buf, '-')
	for i := 0; i < len(e); i++ {
		c := e[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		w.buf = append(w.buf, c)
	}
	w.buf = append(w.buf, '\r', '\n')
}

// Int writes an integer.
func (w *Writer) Int(n int64) { w.header(':', n) }

// Bulk writes a bulk string.
func (w *Writer) Bulk(b []byte) {
	w.header('$', int64(len(b)))
	w.buf = append(w.buf, b...)
	w.buf = append(w.buf, '\r', '\n')
}

// BulkString writes a bulk string.
func (w *Writer) BulkString(s string) {
	w.header('$', int64(len(s)))
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// BulkInt writes an integer as a bulk string.
func (w *Writer) BulkInt(n int64) {
	var tmp [20]byte
	w.Bulk(strconv.AppendInt(tmp[:0], n, 10))
}

// BulkExternal writes b as a bulk string without copying it. b must not change
// until free (which may be nil) is released.
func (w *Writer) BulkExternal(b []byte, free Releaser) {
	w.header('$', int64(len(b)))
	w.ext = append(w.ext, External{At: len(w.buf), Data: b, Free: free})
	w.extN += len(b)
	w.buf = append(w.buf, '\r', '\n')
}

// Null writes the null bulk of RESP2, the null of RESP3.
func (w *Writer) Null() {
	if w.proto == 3 {
		w.buf = append(w.buf, "_\r\n"...)
		return
	}
	w.buf = append(w.buf, "$-1\r\n"...)
}

// NullArray writes the null array of RESP2, the null of RESP3.
func (w *Writer) NullArray() {
	if w.proto == 3 {
		w.buf = append(w.buf, "_\r\n"...)
		return
	}
	w.buf = append(w.buf, "*-1\r\n"...)
}

// Array opens an array of n elements.
func (w *Writer) Array(n int) { w.header('*', int64(n)) }

// Map opens a map of n pairs; in RESP2 an array of 2n.
func (w *Writer) Map(n int) {
	if w.proto == 3 {
		w.header('%', int64(n))
		return
	}
	w.header('*', int64(2*n))
}

// Pairs opens an array of n arrays of two, before each of which goes Pair: members
// with their scores. In RESP2 it is an array of 2n.
func (w *Writer) Pairs(n int) {
	if w.proto == 3 {
		w.header('*', int64(n))
		return
	}
	w.header('*', int64(2*n))
}

// Pair opens one of Pairs.
func (w *Writer) Pair() {
	if w.proto == 3 {
		w.buf = append(w.buf, "*2\r\n"...)
	}
}

// Rows opens a map of n pairs; in RESP2 it is an array of n arrays of two, before each of
// which goes Row: streams with their entries.
func (w *Writer) Rows(n int) {
	if w.proto == 3 {
		w.header('%', int64(n))
		return
	}
	w.header('*', int64(n))
}

// Row opens one of Rows.
func (w *Writer) Row() {
	if w.proto != 3 {
		w.buf = append(w.buf, "*2\r\n"...)
	}
}

// Set opens a set of n elements; in RESP2 an array.
func (w *Writer) Set(n int) {
	if w.proto == 3 {
		w.header('~', int64(n))
		return
	}
	w.header('*', int64(n))
}

// Push opens an out-of-band message of n elements; in RESP2 an array.
func (w *Writer) Push(n int) {
	if w.proto == 3 {
		w.header('>', int64(n))
		return
	}
	w.header('*', int64(n))
}

// Attribute opens an attribute of n pairs that goes before the next reply.
// RESP2 has none: there the caller must write nothing (see Proto).
func (w *Writer) Attribute(n int) { w.header('|', int64(n)) }

// Bool writes a boolean; in RESP2 the integer 1 or 0.
func (w *Writer) Bool(b bool) {
	if w.proto != 3 {
		if b {
			w.buf = append(w.buf, ":1\r\n"...)
		} else {
			w.buf = append(w.buf, ":0\r\n"...)
		}
		return
	}
	if b {
		w.buf = append(w.buf, "#t\r\n"...)
	} else {
		w.buf = append(w.buf, "#f\r\n"...)
	}
}

// Double writes a float with 17 significant digits at most, as Redis prints
// scores; in RESP2 a bulk string.
func (w *Writer) Double(f float64) {
	var tmp [32]byte
	s := AppendDouble(tmp[:0], f)
	if w.proto == 3 {
		w.buf = append(w.buf, ',')
		w.buf = append(w.buf, s...)
		w.buf = append(w.buf, '\r', '\n')
		return
	}
	w.Bulk(s)
}

// DoubleText is Double of a float that is spelled out already, finite or "inf", "-inf".
func (w *Writer) DoubleText(b []byte) {
	if w.proto == 3 {
		w.buf = append(w.buf, ',')
		w.buf = append(w.buf, b...)
		w.buf = append(w.buf, '\r', '\n')
		return
	}
	w.Bulk(b)
}

// BigNumber writes a number in decimal that may not fit 64 bits; in RESP2 a
// bulk string.
func (w *Writer) BigNumber(s string) {
	if w.proto != 3 {
		w.BulkString(s)
		return
	}
	w.buf = append(w.buf, '(')
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, '\r', '\n')
}

// Verbatim writes text with a three-letter format ("txt", "mkd"); in RESP2 a
// bulk string.
func (w *Writer) Verbatim(format string, text []byte) {
	if w.proto != 3 {
		w.Bulk(text)
		return
	}
	w.header('=', int64(len(text)+4))
	w.buf = append(w.buf, format...)
	w.buf = append(w.buf, ':')
	w.buf = append(w.buf, text...)
	w.buf = append(w.buf, '\r', '\n')
}

// AppendDouble appends f as redis-server 7.0 prints doubles ("%.17g": 17
// significant digits, without trailing zeros), "inf", "-inf", "nan".
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 && !(f == 0 && math.Signbit(f)) {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"heddle/db"
)

// input is what values are decoded from: some bytes of a file, which are a whole number of
// keys, or the first piece of one key whose others come one after the other. So a value of
// any size is decoded by the same code while only pieces of it are in memory.
//
// The first mistake stays: after it everything reads as zero and empty, and more reports
// false, so that loops end and nothing need be asked in between.
type input struct {
	buf  []byte
	at   int
	base int64                 // of buf in the file
	next func() ([]byte, bool) // the next piece; nil: there is none
	err  *Error
	// packed is room for what is to be decompressed.
	packed []byte
}

// fail notes a mistake at an offset of the file.
func (in *input) fail(offset int64, format string, args ...any) {
	if in.err == nil {
		in.err = &Error{Offset: offset, Msg: fmt.Sprintf(format, args...)}
	}
}

// short notes that bytes are missing of what begins at an offset.
func (in *input) short(from int64, what string) {
	if in.err == nil {
		in.err = &Error{Offset: from, Msg: "expected " + what + ", found the end", Err: errEnd}
	}
}

// ok reports whether there was no mistake yet.
func (in *input) ok() bool { return in.err == nil }

// offset is where the next byte stands in the file.
func (in *input) offset() int64 { return in.base + int64(in.at) }

// refill goes on with the next piece once the bytes at hand are used up.
func (in *input) refill() bool {
	if in.next == nil {
		return false
	}
	b, ok := in.next()
	if !ok {
		in.next = nil
		return false
	}
	in.base += int64(len(in.buf))
	in.buf, in.at = b, 0
	return len(b) > 0 || in.refill()
}

// done reports whether nothing is left.
func (in *input) done() bool { return in.at >= len(in.buf) && !in.refill() }

// byte reads a byte.
func (in *input) byte(what string) byte {
	if in.err != nil {
		return 0
	}
	if in.at >= len(in.buf) && !in.refill() {
		in.short(in.offset(), what)
		return 0
	}
	b := in.buf[in.at]
	in.at++
	return b
}

// fixed reads n bytes, at most 16, which are valid until the next call.
func (in *input) fixed(n int, what string, room *[16]byte) []byte {
	if in.err == nil && in.at+n <= len(in.buf) {
		in.at += n
		return in.buf[in.at-n : in.at]
	}
	b, from := room[:n], in.offset()
	for i := range b {
		if in.done() {
			in.short(from, what)
		}
		b[i] = in.byte(what)
	}
	return b
}

// uint64 reads 8 bytes, little endian.
func (in *input) uint64(what string) uint64 {
	var room [16]byte
	return binary.LittleEndian.Uint64(in.fixed(8, what, &room))
}

// millis reads a time.
func (in *input) millis(what string) db.Millis { return db.Millis(in.uint64(what)) }

// form reads a length, or the form of a string.
func (in *input) form(what string) (n uint64, special bool) {
	if in.err != nil {
		return 0, false
	}
	if in.at < len(in.buf) && in.buf[in.at] < 1<<6 {
		in.at++
		return uint64(in.buf[in.at-1]), false
	}
	from := in.offset()
	first := in.byte(what)
	if in.err != nil {
		return 0, false
	}
	size := lengthSize(first)
	if size == 0 {
		in.fail(from, "expected %s as a length, found byte 0x%02x", what, first)
		return 0, false
	}
	var b [maxLength]byte
	b[0] = first
	for i := 1; i < size; i++ {
		b[i] = in.byte(what)
	}
	if in.err != nil {
		return 0, false
	}
	return decodeLength(b[:size])
}

// length reads a number that is no form of a string.
func (in *input) length(what string) uint64 {
	from := in.offset()
	n, special := in.form(what)
	if special {
		in.fail(from, "expected %s as a length, found string form %d", what, n)
		return 0
	}
	return n
}

// count reads the number of elements of a collection.
func (in *input) count(what string) uint64 {
	from := in.offset()
	n := in.length(what)
	if n > math.MaxInt64/4 {
		in.fail(from, "expected %s, found %d", what, n)
		return 0
	}
	return n
}

// maxString is the longest string there can be.
const maxString = math.MaxUint32

// bytes reads n bytes: a part of what is at hand, or room's.
func (in *input) bytes(n uint64, what string, room *[]byte) []byte {
	if in.err != nil {
		return nil
	}
	if in.next == nil {
		if n > uint64(len(in.buf)-in.at) {
			in.fail(in.offset(), "expected %s of %d bytes, found %d", what, n, len(in.buf)-in.at)
			in.err.Err = errEnd
			return nil
		}
		in.at += int(n)
		return in.buf[in.at-int(n) : in.at : in.at]
	}
	if n > maxString {
		in.fail(in.offset(), "expected %s, found one of %d bytes", what, n)
		return nil
	}
	b, from := (*room)[:0], in.offset()
	for uint64(len(b)) < n {
		if in.at >= len(in.buf) && !in.refill() {
			in.short(from, what)
			return nil
		}
		part := in.buf[in.at:]
		part = part[:min(uint64(len(part)), n-uint64(len(b)))]
		b = append(b, part...)
		in.at += len(part)
	}
	*room = b
	return b
}

// text is a string of a file before it is spelled out.
type text struct {
	n       uint64 // length of what stands in the file; the number's bits if isInt
	plain   uint64 // length of the string; n where it is not compressed
	isInt   bool
	isLZF   bool
	offset  int64
	subject string
}

// begin reads the head of a string; its bytes follow, unless it is a number.
func (in *input) begin(what string) (t text) {
	t.offset, t.subject = in.offset(), what
	n, special := in.form(what)
	t.n, t.plain = n, n
	switch {
	case !special:
	case n == formLZF:
		t.isLZF = true
		t.n = in.length(what)
		t.plain = in.length(what)
		if in.ok() && (t.plain > lzfMaxSize(t.n) || t.plain > maxString) {
			in.fail(t.offset, "expected %s, found %d compressed bytes that are said to be %d", what, t.n, t.plain)
		}
	case integerSize(n) != 0:
		t.isInt = true
		var room [16]byte
		b := in.fixed(integerSize(n), what, &room)
		t.n = uint64(decodeInteger(n, b))
	default:
		in.fail(t.offset, "expected %s, found string form %d", what, n)
	}
	if in.err != nil {
		return text{}
	}
	return t
}

// spell returns the string that t begins: a part of what is at hand, or room's. It is
// valid until that is used again.
func (in *input) spell(t *text, room *[]byte) []byte {
	switch {
	case in.err != nil:
		return nil
	case t.isInt:
		*room = strconv.AppendInt((*room)[:0], int64(t.n), 10)
		return *room
	case t.isLZF:
		packed := in.bytes(t.n, t.subject, &in.packed)
		if in.err != nil {
			return nil
		}
		b := (*room)[:0]
		if uint64(cap(b)) < t.plain {
			b = make([]byte, 0, t.plain)
		}
		b, err := decompress(b, packed, int(t.plain))
		if err != nil {
			in.fail(t.offset, "expected %s of %d bytes, found broken LZF data", t.subject, t.plain)
			return nil
		}
		*room = b
		return b
	}
	return in.bytes(t.n, t.subject, room)
}

// string reads a string, see spell.
func (in *input) string(what string, room *[]byte) []byte {
	if in.err == nil && in.at < len(in.buf) && in.buf[in.at] < 1<<6 {
		if n := int(in.buf[in.at]); in.at+1+n <= len(in.buf) {
			in.at += 1 + n
			b := in.buf[in.at-n : in.at : in.at]
			if in.next != nil { // the piece may be gone before the string is used
				*room = append((*room)[:0], b...)
				b = *room
			}
			return b
		}
	}
	t := in.begin(what)
	return in.spell(&t, room)
}

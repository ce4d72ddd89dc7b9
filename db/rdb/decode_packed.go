package rdb

import (
	"encoding/binary"
	"strconv"
)

// Packed forms. Small collections, and nodes of large ones, stand in files as the blocks of
// bytes that servers have in memory. Of each form there is a reader here that goes through
// the elements and looks at everything on the way: sizes, lengths to walk backwards by, the
// count, the end. So nothing is trusted, and what comes out is built anew in our own forms.

// element is an element of a packed form: a string, or an integer that stands for its
// decimal spelling.
type element struct {
	s     []byte // a part of the block
	n     int64
	isInt bool
}

// bytes returns the string that the element is, an integer as it is spelled, in room.
func (e *element) bytes(room []byte) []byte {
	if e.isInt {
		return strconv.AppendInt(room[:0], e.n, 10)
	}
	return e.s
}

// packedReader goes through the elements of a packed form.
type packedReader interface {
	// next returns the next element; false at the end, and when something is wrong.
	next() (element, bool)
	// fault says what is wrong, and where in the block; "" if nothing is.
	fault() (what string, at int)
}

// block is what readers of packed forms share.
type block struct {
	b    []byte
	at   int
	left int // elements that are to come by the count in the header; negative: not known
	what string
	bad  int
	over bool
}

func (r *block) fault() (string, int) { return r.what, r.bad }

// fail notes what is wrong at an offset.
func (r *block) fail(at int, what string) (element, bool) {
	if r.what == "" {
		r.what, r.bad = what, at
	}
	r.over = true
	return element{}, false
}

// listpackReader reads a listpack of Redis:
//
//	total bytes, 4 | count, 2 (65535: unknown) | entries | 0xff
//
// An entry is an encoding with its string or integer, and behind it the length of that, 7
// bits a byte, to be read backwards.
type listpackReader struct{ block }

func newListpack(b []byte) *listpackReader {
	r := &listpackReader{block{b: b, at: 6, left: -1}}
	switch {
	case len(b) < 7:
		r.fail(0, "a listpack of at least 7 bytes")
	case int64(binary.LittleEndian.Uint32(b)) != int64(len(b)):
		r.fail(0, "a listpack that says it has "+strconv.Itoa(len(b))+" bytes")
	case b[len(b)-1] != 0xff:
		r.fail(len(b)-1, "a listpack with an end mark")
	default:
		if n := binary.LittleEndian.Uint16(b[4:]); n != 1<<16-1 {
			r.left = int(n)
		}
	}
	return r
}

func (r *listpackReader) next() (element, bool) {
	if r.over {
		return element{}, false
	}
	end := len(r.b) - 1
	if r.at == end {
		if r.left > 0 {
			return r.fail(4, "a listpack of as many entries as it says")
		}
		r.over = true
		return element{}, false
	}
	if r.left == 0 {
		return r.fail(4, "a listpack of as many entries as it says")
	}
	e, size := listpackEntry(r.b[r.at:end])
	if size == 0 {
		return r.fail(r.at, "a whole entry of a listpack")
	}
	back := r.at + size
	var room [5]byte
	tail := appendListpackBack(room[:0], size)
	if back+len(tail) > end || string(r.b[back:back+len(tail)]) != string(tail) {
		return r.fail(back, "the length of a listpack entry of "+strconv.Itoa(size)+" bytes")
	}
	r.at = back + len(tail)
	if r.left > 0 {
		r.left--
	}
	return e, true
}

// listpackEntry reads an encoding with its string or integer and returns how many bytes
// those take; 0 when they are not whole.
func listpackEntry(b []byte) (e element, size int) {
	str := func(head, n int) (element, int) {
		if n > len(b)-head || n < 0 {
			return element{}, 0
		}
		return element{s: b[head : head+n : head+n]}, head + n
	}
	num := func(n int64, size int) (element, int) { return element{n: n, isInt: true}, size }
	c := b[0]
	switch {
	case c < 0x80:
		return num(int64(c), 1)
	case c < 0xc0:
		return str(1, int(c&0x3f))
	case c == 0xf0 && len(b) >= 5:
		return str(5, int(binary.LittleEndian.Uint32(b[1:])))
	case c < 0xe0 && len(b) >= 2:
		return num(int64(int16(uint16(c)<<11|uint16(b[1])<<3)>>3), 2)
	case c < 0xf0 && c >= 0xe0 && len(b) >= 2:
		return str(2, int(c&15)<<8|int(b[1]))
	case c == 0xf1 && len(b) >= 3:
		return num(int64(int16(binary.LittleEndian.Uint16(b[1:]))), 3)
	case c == 0xf2 && len(b) >= 4:
		return num(int24(b[1:]), 4)
	case c == 0xf3 && len(b) >= 5:
		return num(int64(int32(binary.LittleEndian.Uint32(b[1:]))), 5)
	case c == 0xf4 && len(b) >= 9:
		return num(int64(binary.LittleEndian.Uint64(b[1:])), 9)
	}
	return element{}, 0
}

// int24 reads an integer of 3 bytes.
func int24(b []byte) int64 {
	return int64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24) >> 8)
}

// appendListpackBack appends the length n of an entry as it stands behind it: the highest 7
// bits first, all bytes but that one flagged.
func appendListpackBack(dst []byte, n int) []byte {
	size := 1
	for _, most := range [...]int{1<<7 - 1, 1<<14 - 2, 1<<21 - 2, 1<<28 - 2} {
		if n <= most {
			break
		}
		size++
	}
	for i := size - 1; i >= 0; i-- {
		b := byte(n>>(7*i)) & 0x7f
		if i < size-1 {
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}

// ziplistReader reads a ziplist, the form before listpacks:
//
//	total bytes, 4 | offset of the last entry, 4 | count, 2 (65535: unknown) | entries | 0xff
//
// An entry begins with the length of the one before: a byte, or 0xfe and 4 bytes.
type ziplistReader struct {
	block
	before int // bytes of the entry before
	last   int // offset of the last entry
}

func newZiplist(b []byte) *ziplistReader {
	r := &ziplistReader{block: block{b: b, at: 10, left: -1}, last: 10}
	switch {
	case len(b) < 11:
		r.fail(0, "a ziplist of at least 11 bytes")
	case int64(binary.LittleEndian.Uint32(b)) != int64(len(b)):
		r.fail(0, "a ziplist that says it has "+strconv.Itoa(len(b))+" bytes")
	case b[len(b)-1] != 0xff:
		r.fail(len(b)-1, "a ziplist with an end mark")
	default:
		if n := binary.LittleEndian.Uint16(b[8:]); n != 1<<16-1 {
			r.left = int(n)
		}
	}
	return r
}

func (r *ziplistReader) next() (element, bool) {
	if r.over {
		return element{}, false
	}
	end := len(r.b) - 1
	if r.at == end {
		if r.left > 0 {
			return r.fail(8, "a ziplist of as many entries as it says")
		}
		if int64(binary.LittleEndian.Uint32(r.b[4:])) != int64(r.last) {
			return r.fail(4, "a ziplist whose last entry is where it says")
		}
		r.over = true
		return element{}, false
	}
	if r.left == 0 {
		return r.fail(8, "a ziplist of as many entries as it says")
	}
	b := r.b[r.at:end]
	before, head := int(b[0]), 1
	if before >= 0xfe {
		if before == 0xff || len(b) < 5 {
			return r.fail(r.at, "the length of the ziplist entry before")
		}
		before, head = int(binary.LittleEndian.Uint32(b[1:])), 5
	}
	if before != r.before {
		return r.fail(r.at, "the length of the ziplist entry before, "+strconv.Itoa(r.before))
	}
	if head >= len(b) {
		return r.fail(r.at, "a whole entry of a ziplist")
	}
	e, size := ziplistEntry(b[head:])
	if size == 0 {
		return r.fail(r.at, "a whole entry of a ziplist")
	}
	r.last, r.before = r.at, head+size
	r.at += head + size
	if r.left > 0 {
		r.left--
	}
	return e, true
}

// ziplistEntry reads an encoding with its string or integer and returns how many bytes
// those take; 0 when they are not whole.
func ziplistEntry(b []byte) (e element, size int) {
	str := func(head, n int) (element, int) {
		if len(b) < head || n > len(b)-head || n < 0 {
			return element{}, 0
		}
		return element{s: b[head : head+n : head+n]}, head + n
	}
	num := func(n int64, size int) (element, int) { return element{n: n, isInt: true}, size }
	c := b[0]
	switch {
	case c < 0x40:
		return str(1, int(c))
	case c < 0x80 && len(b) >= 2:
		return str(2, int(c&0x3f)<<8|int(b[1]))
	case c == 0x80 && len(b) >= 5:
		return str(5, int(binary.BigEndian.Uint32(b[1:])))
	case c == 0xc0 && len(b) >= 3:
		return num(int64(int16(binary.LittleEndian.Uint16(b[1:]))), 3)
	case c == 0xd0 && len(b) >= 5:
		return num(int64(int32(binary.LittleEndian.Uint32(b[1:]))), 5)
	case c == 0xe0 && len(b) >= 9:
		return num(int64(binary.LittleEndian.Uint64(b[1:])), 9)
	case c == 0xf0 && len(b) >= 4:
		return num(int24(b[1:]), 4)
	case c == 0xfe && len(b) >= 2:
		return num(int64(int8(b[1])), 2)
	case c > 0xf0 && c < 0xfe:
		return num(int64(c&15)-1, 1)
	}
	return element{}, 0
}

// maxZipped is how long a string of a zipmap may be: it must fit into a listpack of Redis.
const maxZipped = 1 << 30

// zipmapReader reads a zipmap, the form of small hashes up to Redis 2.4:
//
//	count, 1 (254 or more: unknown) | pairs | 0xff
//
// A pair is length, key, length, number of free bytes, value, free bytes. A length is a
// byte, or 0xfe and 4 bytes.
type zipmapReader struct {
	block
	value bool // the next string is a value
}

func newZipmap(b []byte) *zipmapReader {
	r := &zipmapReader{block: block{b: b, at: 1, left: -1}}
	switch {
	case len(b) < 2:
		r.fail(0, "a zipmap of at least 2 bytes")
	case b[len(b)-1] != 0xff:
		r.fail(len(b)-1, "a zipmap with an end mark")
	case len(b) == 2:
		r.fail(1, "a zipmap with a pair") // Redis neither wrote one without, nor takes it
	case b[0] < 254:
		r.left = int(b[0])
	}
	return r
}

func (r *zipmapReader) next() (element, bool) {
	if r.over {
		return element{}, false
	}
	end := len(r.b) - 1
	if r.at == end {
		if r.left > 0 || r.value {
			return r.fail(0, "a zipmap of as many pairs as it says")
		}
		r.over = true
		return element{}, false
	}
	if r.left == 0 && !r.value {
		return r.fail(0, "a zipmap of as many pairs as it says")
	}
	b := r.b[r.at:end]
	n, head := int(b[0]), 1
	if n >= 0xfe {
		if n == 0xff || len(b) < 5 {
			return r.fail(r.at, "a length in a zipmap")
		}
		if n, head = int(binary.LittleEndian.Uint32(b[1:])), 5; n < 0xfe || n > maxZipped {
			return r.fail(r.at, "a length in a zipmap in its shortest form")
		}
	}
	free := 0
	if r.value {
		if head >= len(b) {
			return r.fail(r.at, "a whole value of a zipmap")
		}
		free = int(b[head])
		head++
	}
	if n > len(b)-head-free || n < 0 {
		return r.fail(r.at, "a whole string of a zipmap")
	}
	r.at += head + n + free
	if r.value && r.left > 0 {
		r.left--
	}
	r.value = !r.value
	return element{s: b[head : head+n : head+n]}, true
}

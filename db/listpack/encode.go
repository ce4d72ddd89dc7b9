package listpack

import (
	"encoding/binary"
	"math/bits"
)

// Value is a string or an integer in the spelling of the package, ready to be
// looked for or put into a packed value any number of times. It refers to the
// string that Set was given if that is long, and is not to be copied. The zero
// Value is not yet anything; it is meant to live on the stack.
type Value struct {
	tail []byte // what stands in the entry as it is
	n    int    // bytes of head in use
	head [headSize]byte
}

// headSize is a long header with maxTight characters of 7 bits, and 8 more
// since whole words are written.
const headSize = 72

// MaxString is the longest string that an entry holds.
const MaxString = 1<<32 - 1

// Set makes v the value of string s.
func (v *Value) Set(s []byte) {
	if n, ok := Number(s); ok {
		v.SetInt(n)
		return
	}
	v.setString(s)
}

// SetEntry makes v a copy of entry e.
func (v *Value) SetEntry(e Entry) {
	if len(e) <= len(v.head) {
		v.n = copy(v.head[:], e)
		v.tail = nil
		return
	}
	plain := e.Plain()
	v.n = copy(v.head[:], e[:len(e)-len(plain)])
	v.tail = append([]byte(nil), plain...)
}

// SetShort is Set of a string of up to 31 bytes, to which v does not refer afterwards.
func (v *Value) SetShort(s []byte) {
	if n, ok := Number(s); ok {
		v.SetInt(n)
	} else if !v.setTight(s) {
		v.tail = nil
		v.head[0] = byte(codeRaw + len(s))
		v.n = 1 + copy(v.head[1:1+maxRaw], s)
	}
}

// setString is Set of a string that is no integer.
func (v *Value) setString(s []byte) {
	if !v.setTight(s) {
		v.setRaw(s)
	}
}

// setTight is setString where less than 8 bits a character will do; it reports whether.
func (v *Value) setTight(s []byte) bool {
	v.tail = nil
	n := len(s)
	if n < minSix || n > maxTight {
		return false
	}
	not := byte(0)
	for _, c := range s {
		not |= letterClass[c]
	}
	switch {
	case not&notName == 0:
		v.packSix(s, &nameCodes, codeName, codeLongName)
	case not&notText == 0:
		v.packSix(s, &textCodes, codeText, codeLongText)
	case not&notASCII == 0 && n >= minSeven:
		v.packSeven(s)
	default:
		return false
	}
	return true
}

// SetInt makes v the value of n, the same as that of its decimal spelling.
func (v *Value) SetInt(n int64) {
	v.tail = nil
	switch {
	case n >= 0 && n < minUint12:
		v.head[0] = byte(n)
		v.n = 1
		return
	case n >= 0 && n < minUint20:
		x := n - minUint12
		v.head[0], v.head[1] = byte(codeUint12+x>>8), byte(x)
		v.n = 2
		return
	case n >= 0 && n <= maxUint20:
		x := n - minUint20
		v.head[0], v.head[1], v.head[2] = byte(codeUint20+x>>16), byte(x), byte(x>>8)
		v.n = 3
		return
	case n < 0 && n >= -256:
		v.head[0], v.head[1] = codeNeg8, byte(-1-n)
		v.n = 2
		return
	}
	width := (bits.Len64(uint64(n^n>>63)) + 8) / 8 // bytes, a bit for the sign
	code := codeInt16 + width - 2
	if width < 2 {
		code, width = codeInt16, 2
	} else if width > 6 {
		code, width = codeInt64, 8
	}
	v.head[0] = byte(code)
	binary.LittleEndian.PutUint64(v.head[1:], uint64(n))
	v.n = 1 + width
}

func (v *Value) setRaw(s []byte) {
	v.tail = s
	switch n := len(s); {
	case n <= maxRaw:
		v.head[0] = byte(codeRaw + n)
		v.n = 1
	case n < 1<<8:
		v.head[0], v.head[1] = codeRaw8, byte(n)
		v.n = 2
	case n < 1<<16:
		v.head[0], v.head[1], v.head[2] = codeRaw16, byte(n), byte(n>>8)
		v.n = 3
	default:
		v.head[0] = codeRaw32
		binary.LittleEndian.PutUint32(v.head[1:], uint32(n))
		v.n = 5
	}
}

// packSix writes the characters of s, 6 bits each, the first in the lowest.
func (v *Value) packSix(s []byte, codes *[256]byte, code, long int) {
	at := 1
	if n := len(s); n < minSix+codeText-codeName {
		v.head[0] = byte(code + n - minSix)
	} else {
		v.head[0], v.head[1] = byte(long), byte(n)
		at = 2
	}
	v.n = at + sixBytes(len(s))
	for len(s) >= 8 {
		c := s[:8]
		x := uint64(codes[c[0]]) | uint64(codes[c[1]])<<6 | uint64(codes[c[2]])<<12 | uint64(codes[c[3]])<<18 |
			uint64(codes[c[4]])<<24 | uint64(codes[c[5]])<<30 | uint64(codes[c[6]])<<36 | uint64(codes[c[7]])<<42
		binary.LittleEndian.PutUint64(v.head[at:], x)
		at += 6
		s = s[8:]
	}
	var x uint64
	for i, c := range s {
		x |= uint64(codes[c]) << (6 * uint(i))
	}
	binary.LittleEndian.PutUint64(v.head[at:], x)
}

// packSeven writes the characters of s, 7 bits each, the first in the lowest.
func (v *Value) packSeven(s []byte) {
	at := 1
	if n := len(s); n < minSeven+codeRaw-codeASCII {
		v.head[0] = byte(codeASCII + n - minSeven)
	} else {
		v.head[0], v.head[1] = codeLongASCI, byte(n)
		at = 2
	}
	v.n = at + sevenBytes(len(s))
	for len(s) >= 8 {
		binary.LittleEndian.PutUint64(v.head[at:], squeeze(binary.LittleEndian.Uint64(s)))
		at += 7
		s = s[8:]
	}
	var x uint64
	for i, c := range s {
		x |= uint64(c) << (8 * uint(i))
	}
	binary.LittleEndian.PutUint64(v.head[at:], squeeze(x))
}

// squeeze takes the highest bit out of each of 8 bytes, spread puts it back.
func squeeze(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x0fffffff | x&0x0fffffff00000000>>4
}

func spread(x uint64) uint64 {
	x = x&0x0fffffff | x<<4&0x0fffffff00000000
	x = x&0x00003fff00003fff | x<<2&0x3fff00003fff0000
	return x&0x007f007f007f007f | x<<1&0x7f007f007f007f00
}

// Size is how many bytes the entry takes.
func (v *Value) Size() int { return v.n + len(v.tail) }

// Put writes the entry to the first Size bytes of dst.
func (v *Value) Put(dst []byte) {
	copy(dst[:v.n], v.head[:])
	if len(v.tail) > 0 {
		copy(dst[v.n:v.n+len(v.tail)], v.tail)
	}
}

// Append appends the entry to dst.
func (v *Value) Append(dst []byte) []byte {
	return append(append(dst, v.head[:v.n]...), v.tail...)
}

// Equal reports whether e is the entry of v.
func (v *Value) Equal(e Entry) bool { return len(e) == v.Size() && v.is(e) }

// is reports whether b begins with the entry of v.
func (v *Value) is(b []byte) bool {
	return len(b) >= v.n+len(v.tail) && string(b[:v.n]) == string(v.head[:v.n]) &&
		string(b[v.n:v.n+len(v.tail)]) == string(v.tail)
}

// prefix is the first 8 bytes of the entry as a word, with a mask of those that
// there are.
func (v *Value) prefix() (word, mask uint64) {
	var b [8]byte
	n := copy(b[:], v.head[:v.n])
	n += copy(b[n:], v.tail)
	return binary.LittleEndian.Uint64(b[:]), ^uint64(0) >> (64 - 8*uint(n))
}

// Append appends the entry of string s to dst.
func Append(dst, s []byte) []byte {
	var v Value
	v.Set(s)
	return v.Append(dst)
}

// AppendInt appends the entry of integer n to dst.
func AppendInt(dst []byte, n int64) []byte {
	var v Value
	v.SetInt(n)
	return v.Append(dst)
}

// Size is how many bytes the entry of string s takes.
func Size(s []byte) int {
	var v Value
	v.Set(s)
	return v.Size()
}

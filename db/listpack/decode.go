package listpack

import (
	"encoding/binary"
	"strconv"
)

// Entry is one entry of a packed value: its bytes, as they stand there.
type Entry []byte

// Scratch is where entries that do not stand as they are get unpacked.
type Scratch [maxTight]byte

// Int returns the integer that the entry is. A string that spells an integer
// always is one.
func (e Entry) Int() (n int64, ok bool) {
	c := e[0]
	switch {
	case c < codeUint20:
		return int64(c), true
	case c < codeName:
		return minUint20 + int64(c-codeUint20)<<16 + int64(binary.LittleEndian.Uint16(e[1:])), true
	case c < codeUint12:
		return 0, false
	case c < codeNeg8:
		return minUint12 + int64(c-codeUint12)<<8 + int64(e[1]), true
	}
	switch c {
	case codeNeg8:
		return -1 - int64(e[1]), true
	case codeInt16:
		return int64(int16(binary.LittleEndian.Uint16(e[1:]))), true
	case codeInt24:
		return int64(int32(uint32(e[1])<<8|uint32(e[2])<<16|uint32(e[3])<<24) >> 8), true
	case codeInt32:
		return int64(int32(binary.LittleEndian.Uint32(e[1:]))), true
	case codeInt40:
		return int64(int8(e[5]))<<32 | int64(binary.LittleEndian.Uint32(e[1:])), true
	case codeInt48:
		return int64(int16(binary.LittleEndian.Uint16(e[5:])))<<32 | int64(binary.LittleEndian.Uint32(e[1:])), true
	case codeInt64:
		return int64(binary.LittleEndian.Uint64(e[1:])), true
	}
	return 0, false
}

// Bytes returns the string that the entry is, an integer as its decimal
// spelling: either a part of the packed value or, unpacked, of buf. It is valid
// until one of the two changes.
func (e Entry) Bytes(buf *Scratch) []byte {
	c := e[0]
	switch {
	case c < 10:
		buf[0] = '0' + c
		return buf[:1]
	case c < codeName:
		n, _ := e.Int()
		return strconv.AppendUint(buf[:0], uint64(n), 10)
	case c < codeText:
		return unpackSix(buf, e[1:], int(c-codeName)+minSix, &nameSpelled)
	case c < codeASCII:
		return unpackSix(buf, e[1:], int(c-codeText)+minSix, &textSpelled)
	case c < codeRaw:
		return unpackSeven(buf, e[1:], int(c-codeASCII)+minSeven)
	case c < codeUint12:
		return e[1:]
	}
	switch c {
	case codeRaw8:
		return e[2:]
	case codeRaw16:
		return e[3:]
	case codeRaw32:
		return e[5:]
	case codeLongName:
		return unpackSix(buf, e[2:], int(e[1]), &nameSpelled)
	case codeLongText:
		return unpackSix(buf, e[2:], int(e[1]), &textSpelled)
	case codeLongASCI:
		return unpackSeven(buf, e[2:], int(e[1]))
	}
	n, _ := e.Int()
	return strconv.AppendInt(buf[:0], n, 10)
}

// Plain returns the string if it stands in the packed value as it is, as all
// long ones do, else nil.
func (e Entry) Plain() []byte {
	switch c := e[0]; {
	case c >= codeRaw && c < codeUint12:
		return e[1:]
	case c == codeRaw8:
		return e[2:]
	case c == codeRaw16:
		return e[3:]
	case c == codeRaw32:
		return e[5:]
	}
	return nil
}

// Append appends the string that the entry is to dst.
func (e Entry) Append(dst []byte) []byte {
	var buf Scratch
	return append(dst, e.Bytes(&buf)...)
}

// Len returns the length of the string that the entry is.
func (e Entry) Len() int {
	c := e[0]
	switch {
	case c < codeName:
		n, _ := e.Int()
		return digits(n)
	case c < codeText:
		return int(c-codeName) + minSix
	case c < codeASCII:
		return int(c-codeText) + minSix
	case c < codeRaw:
		return int(c-codeASCII) + minSeven
	case c < codeUint12:
		return len(e) - 1
	case c == codeRaw8:
		return len(e) - 2
	case c == codeRaw16:
		return len(e) - 3
	case c == codeRaw32:
		return len(e) - 5
	case c >= codeLongName && c < codeEnd:
		return int(e[1])
	}
	n, _ := e.Int()
	return digits(n)
}

// Is reports whether the entry is string s. To look for one string among many,
// a Value is quicker.
func (e Entry) Is(s []byte) bool {
	var v Value
	v.Set(s)
	return v.Equal(e)
}

// unpackSix spells n characters of 6 bits.
func unpackSix(buf *Scratch, b []byte, n int, letters *[64]byte) []byte {
	i := 0
	for ; i+8 <= n; i += 8 {
		x := uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint16(b[4:]))<<32
		binary.LittleEndian.PutUint64(buf[i:], uint64(letters[x&63])|uint64(letters[x>>6&63])<<8|
			uint64(letters[x>>12&63])<<16|uint64(letters[x>>18&63])<<24|uint64(letters[x>>24&63])<<32|
			uint64(letters[x>>30&63])<<40|uint64(letters[x>>36&63])<<48|uint64(letters[x>>42&63])<<56)
		b = b[6:]
	}
	if i < n {
		x := word(b)
		out := buf[i:n]
		for j := range out {
			out[j] = letters[x&63]
			x >>= 6
		}
	}
	return buf[:n]
}

// unpackSeven spells n characters of 7 bits.
func unpackSeven(buf *Scratch, b []byte, n int) []byte {
	i := 0
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(buf[i:i+8], spread(word(b[:7])))
		b = b[7:]
	}
	x := spread(word(b))
	for j := i; j < n; j++ {
		buf[j] = byte(x)
		x >>= 8
	}
	return buf[:n]
}

// word reads up to 8 bytes as a number, little endian.
func word(b []byte) (x uint64) {
	switch {
	case len(b) >= 8:
		return binary.LittleEndian.Uint64(b)
	case len(b) >= 4:
		n := len(b)
		low, high := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[n-4:])
		return uint64(low) | uint64(high)<<(8*uint(n-4))
	}
	for i, c := range b {
		x |= uint64(c) << (8 * uint(i))
	}
	return x
}

package rdb

import "encoding/binary"

// A length is a number in 1, 2, 5 or 9 bytes; the two top bits of the first say
// which:
//
//	00vvvvvv                    6 bits
//	01vvvvvv vvvvvvvv           14 bits
//	10000000 and 4 bytes        32 bits, big endian
//	10000001 and 8 bytes        64 bits, big endian (since version 9)
//	11eeeeee                    no length: a string in a special form e
const (
	lengthBits = 0xc0
	length6    = 0x00
	length14   = 0x40
	length32   = 0x80
	length64   = 0x81
	lengthForm = 0xc0
	maxLength  = 9 // bytes that a length takes at most
	formInt8   = 0
	formInt16  = 1 // little endian
	formInt32  = 2 // little endian
	formLZF    = 3 // compressed length, plain length, compressed bytes
)

// appendLength appends n in the shortest form.
func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, length6|byte(n))
	case n < 1<<14:
		return append(dst, length14|byte(n>>8), byte(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, length32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, length64), n)
}

// lengthSize says how many bytes the length takes that begins with first,
// itself included; 0 when first begins none.
func lengthSize(first byte) int {
	switch first & lengthBits {
	case length6, lengthForm:
		return 1
	case length14:
		return 2
	}
	switch first {
	case length32:
		return 5
	case length64:
		return 9
	}
	return 0
}

// decodeLength reads a length from the beginning of b, which must hold
// lengthSize(b[0]) bytes. special says that n is the form of a string instead.
func decodeLength(b []byte) (n uint64, special bool) {
	switch lengthSize(b[0]) {
	case 1:
		return uint64(b[0] &^ lengthBits), b[0]&lengthBits == lengthForm
	case 2:
		return uint64(b[0]&^lengthBits)<<8 | uint64(b[1]), false
	case 5:
		return uint64(binary.BigEndian.Uint32(b[1:])), false
	}
	return binary.BigEndian.Uint64(b[1:]), false
}

// appendInteger appends v as a string in an integer's form, and reports whether
// there is one: numbers beyond 32 bits have none.
func appendInteger(dst []byte, v int64) ([]byte, bool) {
	switch {
	case v == int64(int8(v)):
		return append(dst, lengthForm|formInt8, byte(v)), true
	case v == int64(int16(v)):
		return append(dst, lengthForm|formInt16, byte(v), byte(v>>8)), true
	case v == int64(int32(v)):
		return binary.LittleEndian.AppendUint32(append(dst, lengthForm|formInt32), uint32(v)), true
	}
	return dst, false
}

// integerSize says how many bytes follow the form of an integer; 0 for other
// forms.
func integerSize(form uint64) int {
	switch form {
	case formInt8:
		return 1
	case formInt16:
		return 2
	case formInt32:
		return 4
	}
	return 0
}

// decodeInteger reads the number of a form from b, which holds
// integerSize(form) bytes.
func decodeInteger(form uint64, b []byte) int64 {
	switch form {
	case formInt8:
		return int64(int8(b[0]))
	case formInt16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	}
	return int64(int32(binary.LittleEndian.Uint32(b)))
}

// smallInteger reads s as a number of at most 32 bits, and reports whether s is
// exactly how that number is written.
func smallInteger(s []byte) (int64, bool) {
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 10 || digits[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if len(digits) < len(s) {
		v = -v
	}
	return v, v == int64(int32(v))
}

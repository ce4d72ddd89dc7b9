package rdb

// appendRaw appends s as a string of a file that is just its bytes.
func appendRaw(dst, s []byte) []byte {
	return append(appendLength(dst, uint64(len(s))), s...)
}

// appendString appends s in the form that Redis would choose: as an integer of
// up to 32 bits when it is written as one, compressed when it is longer than 20
// bytes and that saves four, or else as it is. Without a compressor nothing is
// compressed.
func appendString(dst, s []byte, c *compressor) []byte {
	if len(s) <= 11 {
		if v, ok := smallInteger(s); ok {
			dst, _ = appendInteger(dst, v)
			return dst
		}
	}
	return appendBytes(dst, s, c)
}

// appendBytes is appendString for what is never written as an integer: packed
// blocks.
func appendBytes(dst, s []byte, c *compressor) []byte {
	if c == nil || len(s) <= lzfMinimum {
		return appendRaw(dst, s)
	}
	// The compressed length comes first and is of unknown size: compress
	// behind the longest form that it can take, then move it down.
	start := len(dst)
	var room [2 * maxLength]byte
	dst = append(dst, room[:]...)
	dst, ok := c.compress(dst, s, len(s)-4)
	if !ok {
		return appendRaw(dst[:start], s)
	}
	packed := dst[start+len(room):]
	head := append(dst[:start], lengthForm|formLZF)
	head = appendLength(head, uint64(len(packed)))
	head = appendLength(head, uint64(len(s)))
	return append(head, packed...) // memmove: the parts may overlap
}

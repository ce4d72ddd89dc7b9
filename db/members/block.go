package members

import "encoding/binary"

// A block is a slice of bytes:
//
//	 0  the number of the table that may change it, 8 bytes
//	 8  its depth: how many bits the hashes of its members share, 1 byte
//	10  the number of its members, 2 bytes
//	12  where the lowest entry begins, 2 bytes
//	14  how many bytes among the entries belong to none any more, 2 bytes
//	16  groups of 8 slots: 8 fingerprints, then 8 offsets of entries, 2 bytes each
//	    room
//	    entries, from the end downwards
//
// An entry is a member with its length, then its value: nothing, 8 bytes, or
// bytes with their length. A length is a byte, or 0xFE and two bytes. An entry that
// is too large is 0xFF and the number of its place beside the blocks, then the
// word if it has one.
const (
	headerSize = 16
	groupSlots = 8
	groupSize  = groupSlots * 3

	minBlock  = 128
	fullBlock = 2048  // a larger one splits, if it can
	maxBlock  = 65528 // offsets have 16 bits
	inlineMax = fullBlock / 4
	slotMin   = 5 // no slot with its entry takes less but one (its member is empty)

	longMark = 0xFE
	sideMark = 0xFF
	stubHead = 5

	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

func newBlock(size int, owner uint64) []byte {
	b := make([]byte, size)
	setOwner(b, owner)
	setLow(b, size)
	return b
}

func owner(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func setOwner(b []byte, o uint64) { binary.LittleEndian.PutUint64(b, o) }
func depth(b []byte) int          { return int(b[8]) }
func setDepth(b []byte, d int)    { b[8] = byte(d) }
func count(b []byte) int          { return int(binary.LittleEndian.Uint16(b[10:])) }
func setCount(b []byte, n int)    { binary.LittleEndian.PutUint16(b[10:], uint16(n)) }
func low(b []byte) int            { return int(binary.LittleEndian.Uint16(b[12:])) }
func setLow(b []byte, n int)      { binary.LittleEndian.PutUint16(b[12:], uint16(n)) }
func dead(b []byte) int           { return int(binary.LittleEndian.Uint16(b[14:])) }
func setDead(b []byte, n int)     { binary.LittleEndian.PutUint16(b[14:], uint16(n)) }

// front returns where the groups of n members end.
func front(n int) int { return headerSize + (n+groupSlots-1)/groupSlots*groupSize }

// gap returns the room between groups and entries.
func gap(b []byte) int { return low(b) - front(count(b)) }

// used returns the size of a block that had no room.
func used(b []byte) int { return len(b) - gap(b) - dead(b) }

func slotAt(s int) int { return headerSize + s/groupSlots*groupSize }

func offset(b []byte, s int) int {
	return int(binary.LittleEndian.Uint16(b[slotAt(s)+groupSlots+s%groupSlots*2:]))
}

func setOffset(b []byte, s, off int) {
	binary.LittleEndian.PutUint16(b[slotAt(s)+groupSlots+s%groupSlots*2:], uint16(off))
}

func print8(b []byte, s int) byte       { return b[slotAt(s)+s%groupSlots] }
func setPrint8(b []byte, s int, f byte) { b[slotAt(s)+s%groupSlots] = f }

// addSlot adds a slot for the entry at off.
func addSlot(b []byte, f byte, off int) {
	s := count(b)
	setCount(b, s+1)
	setPrint8(b, s, f)
	setOffset(b, s, off)
}

// removeSlot removes a slot, which the last takes the place of, and its entry.
func removeSlot(b []byte, k Kind, s int) {
	discard(b, k, s)
	last := count(b) - 1
	setPrint8(b, s, print8(b, last))
	setOffset(b, s, offset(b, last))
	setCount(b, last)
	if last == 0 {
		setLow(b, len(b))
		setDead(b, 0)
	}
}

// discard gives up the bytes of an entry.
func discard(b []byte, k Kind, s int) {
	off := offset(b, s)
	n := entryLen(b, k, off)
	if off == low(b) {
		setLow(b, off+n)
		return
	}
	setDead(b, dead(b)+n)
}

// entryLen returns the length of the entry at off.
func entryLen(b []byte, k Kind, off int) int {
	if b[off] == sideMark {
		return stubSize(k)
	}
	n, head := readLen(b, off)
	n += head
	switch k {
	case Word:
		n += 8
	case Bytes:
		v, head := readLen(b, off+n)
		n += head + v
	}
	return n
}

// stubSize returns the length of an entry that stands beside the blocks.
func stubSize(k Kind) int {
	if k == Word {
		return stubHead + 8
	}
	return stubHead
}

func sideIndex(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off+1:]) }

func lenSize(n int) int {
	if n < longMark {
		return 1
	}
	return 3
}

func readLen(b []byte, off int) (n, head int) {
	if c := b[off]; c < longMark {
		return int(c), 1
	}
	return int(binary.LittleEndian.Uint16(b[off+1:])), 3
}

func writeLen(b []byte, off, n int) (head int) {
	if n < longMark {
		b[off] = byte(n)
		return 1
	}
	b[off] = longMark
	binary.LittleEndian.PutUint16(b[off+1:], uint16(n))
	return 3
}

// repack copies what is alive in src to dst, which is large enough and not src.
// The owner of dst stays.
func repack(dst, src []byte, k Kind) {
	n := count(src)
	copy(dst[8:front(n)], src[8:front(n)])
	at := len(dst)
	for s := range n {
		off := offset(src, s)
		size := entryLen(src, k, off)
		at -= size
		copy(dst[at:], src[off:off+size])
		setOffset(dst, s, at)
	}
	setLow(dst, at)
	setDead(dst, 0)
}

// copyEntry adds the entry in slot s of src to dst, which has room for it.
func copyEntry(dst, src []byte, k Kind, s int) {
	off := offset(src, s)
	size := entryLen(src, k, off)
	at := low(dst) - size
	copy(dst[at:], src[off:off+size])
	setLow(dst, at)
	addSlot(dst, print8(src, s), at)
}

// blockSize returns the size of the smallest block for n bytes: a step of an
// eighth to a half above the one below it, and a size that Go allocates without
// rounding.
func blockSize(n int) int {
	for _, size := range [...]int{
		minBlock, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, fullBlock,
		3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	} {
		if n <= size {
			return size
		}
	}
	return maxBlock
}

// withSlack adds the room that a new block has for what is to come.
func withSlack(n int) int { return n + n/4 }

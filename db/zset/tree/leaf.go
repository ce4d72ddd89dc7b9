package tree

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A leaf is a block of up to 4 KB:
//
//	0   2 bytes  n, the number of entries
//	2   2 bytes  top, where the members begin
//	4   2 bytes  dead, how many bytes from top on belong to entries that are gone
//	6   2 bytes  unused
//	8   n slots of 10 bytes, in order: 8 bytes score, 2 bytes where the member is
//	    room
//	top members in no order, up to the end
//
// all numbers little endian. A member is its length and its bytes. The length takes
// one byte up to 127, else two, seven bits each, the low ones first with the top bit
// set. A length beyond MaxInline says that the member is element length-MaxInline-1 of long.
//
// Slots move when an entry is inserted, members never: 600 bytes on average. An entry
// that goes leaves its member behind as dead bytes, until there is no other room.
// Blocks grow along the sizes that the allocator has, so that on average a tenth of a
// block is room.
type leaf struct {
	b    []byte
	long [][]byte
}

// MaxInline is the length of the longest member that is copied into a block. A longer one
// is referred to: it must not change afterwards, and its memory is not the tree's.
const MaxInline = 512

const (
	headSize = 8
	slotSize = 10
	maxBlock = 4096
	minBlock = 256
)

// blockSize returns the size for a block in which need bytes are to fit: a size class
// of Go's allocator.
func blockSize(need int) int {
	switch {
	case need <= 512:
		return max(minBlock, (need+31)&^31)
	case need <= 1024:
		return (need + 127) &^ 127
	case need <= 1536:
		return (need + 127) &^ 127
	case need <= 2048:
		return (need + 255) &^ 255
	case need <= 2304:
		return 2304
	case need <= 2688:
		return 2688
	case need <= 3072:
		return 3072
	case need <= 3456:
		return 3456
	}
	return maxBlock
}

// newLeaf returns an empty leaf with a block of size bytes.
func newLeaf(size int) leaf {
	l := leaf{b: make([]byte, size)}
	l.setTop(size)
	return l
}

func (l *leaf) len() int      { return int(binary.LittleEndian.Uint16(l.b)) }
func (l *leaf) top() int      { return int(binary.LittleEndian.Uint16(l.b[2:])) }
func (l *leaf) dead() int     { return int(binary.LittleEndian.Uint16(l.b[4:])) }
func (l *leaf) setLen(n int)  { binary.LittleEndian.PutUint16(l.b, uint16(n)) }
func (l *leaf) setTop(n int)  { binary.LittleEndian.PutUint16(l.b[2:], uint16(n)) }
func (l *leaf) setDead(n int) { binary.LittleEndian.PutUint16(l.b[4:], uint16(n)) }

// free is the room between slots and members, live what all entries take with the head.
func (l *leaf) free() int { return l.top() - headSize - l.len()*slotSize }
func (l *leaf) live() int { return headSize + l.len()*slotSize + len(l.b) - l.top() - l.dead() }

// size is what the leaf takes: its block, and the references to long members.
func (l *leaf) size() int64 {
	n := int64(len(l.b))
	for _, m := range l.long {
		if m != nil {
			n += longSize
		}
	}
	return n
}

// longSize is what a member takes that is not in the block: a slice.
const longSize = 24

func (l *leaf) score(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(l.b[headSize+i*slotSize:]))
}

func (l *leaf) setScore(i int, s float64) {
	binary.LittleEndian.PutUint64(l.b[headSize+i*slotSize:], math.Float64bits(s))
}

func (l *leaf) offset(i int) int {
	return int(binary.LittleEndian.Uint16(l.b[headSize+i*slotSize+8:]))
}

// member returns the bytes of a member where they stand.
func (l *leaf) member(i int) []byte {
	m := l.b[l.offset(i):]
	if n := int(m[0]); n < 0x80 {
		return m[1 : 1+n : 1+n]
	}
	n := int(m[0]&0x7f) | int(m[1])<<7
	if n > MaxInline {
		return l.long[n-MaxInline-1]
	}
	return m[2 : 2+n : 2+n]
}

// memberCost is how many bytes of a block a member takes, entryCost with its slot.
func memberCost(m []byte) int {
	switch {
	case len(m) < 0x80:
		return 1 + len(m)
	case len(m) > MaxInline:
		return 2
	}
	return 2 + len(m)
}

func entryCost(m []byte) int { return slotSize + memberCost(m) }

// search returns how many entries come before b.
func (l *leaf) search(b *Bound) int {
	lo, hi := 0, l.len()
	if b.lexical() {
		for lo < hi {
			if mid := (lo + hi) / 2; b.tie(l.member(mid)) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	for lo < hi {
		mid := (lo + hi) / 2
		s := l.score(mid)
		if s < b.score || s == b.score && b.tie(l.member(mid)) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// holds reports whether entry i is this one.
func (l *leaf) holds(i int, score float64, member []byte) bool {
	return i < l.len() && l.score(i) == score && bytes.Equal(l.member(i), member)
}

// insert puts an entry at i. There must be room for it. A member that is kept beside
// the block is kept as it is, not copied.
func (l *leaf) insert(i int, score float64, member []byte) {
	n, top := l.len(), l.top()-memberCost(member)
	m := l.b[top:]
	switch {
	case len(member) < 0x80:
		m[0] = byte(len(member))
		copy(m[1:], member)
	case len(member) > MaxInline:
		k := MaxInline + 1 + l.keep(member)
		m[0], m[1] = byte(k)|0x80, byte(k>>7)
	default:
		m[0], m[1] = byte(len(member))|0x80, byte(len(member)>>7)
		copy(m[2:], member)
	}
	at := headSize + i*slotSize
	copy(l.b[at+slotSize:], l.b[at:headSize+n*slotSize])
	binary.LittleEndian.PutUint64(l.b[at:], math.Float64bits(score))
	binary.LittleEndian.PutUint16(l.b[at+8:], uint16(top))
	l.setLen(n + 1)
	l.setTop(top)
}

// keep puts a long member into a free place of long and returns which.
func (l *leaf) keep(member []byte) int {
	for i, m := range l.long {
		if m == nil {
			l.long[i] = member
			return i
		}
	}
	l.long = append(l.long, member)
	return len(l.long) - 1
}

// remove takes the entries from i to before j away and returns how many bytes less
// the references to long members take.
func (l *leaf) remove(i, j int) (gone int64) {
	n, dead := l.len(), l.dead()
	for k := i; k < j; k++ {
		m := l.member(k)
		dead += memberCost(m)
		if len(m) > MaxInline {
			l.drop(k)
			gone += longSize
		}
	}
	copy(l.b[headSize+i*slotSize:], l.b[headSize+j*slotSize:headSize+n*slotSize])
	l.setLen(n - (j - i))
	l.setDead(dead)
	return gone
}

// drop forgets the long member of entry i.
func (l *leaf) drop(i int) {
	m := l.b[l.offset(i):]
	k := int(m[0]&0x7f) | int(m[1])<<7
	l.long[k-MaxInline-1] = nil
}

// move puts entry i where entry j is and gives it another score; those between make
// room.
func (l *leaf) move(i, j int, score float64) {
	var slot [slotSize]byte
	at, to := headSize+i*slotSize, headSize+j*slotSize
	copy(slot[:], l.b[at:])
	if i < j {
		copy(l.b[at:], l.b[at+slotSize:to+slotSize])
	} else {
		copy(l.b[to+slotSize:], l.b[to:at])
	}
	copy(l.b[to:], slot[:])
	l.setScore(j, score)
}

// appendAll puts the entries of src from i to before j behind those that are there.
func (l *leaf) appendAll(src *leaf, i, j int) {
	for ; i < j; i++ {
		l.insert(l.len(), src.score(i), src.member(i))
	}
}

// copyOf returns a leaf with the entries of src from i to before j, with a block in which
// room more bytes fit.
func copyOf(src *leaf, i, j, room int) leaf {
	need := headSize + room
	for k := i; k < j; k++ {
		need += entryCost(src.member(k))
	}
	l := newLeaf(blockSize(need))
	l.appendAll(src, i, j)
	return l
}

package list

import (
	"slices"

	"heddle/db/listpack"
)

// A block is a part of a large list: packed entries somewhere in a buffer, so
// that there may be room at both ends of them.
type block struct {
	owner *owner
	buf   []byte
	// The entries are buf[start:end], n of them.
	start, end, n uint32
	// mark is where the entry begins that has markN others before it, about the
	// middle one, so that a walk to an index is half as long; 0 if that is not known.
	mark, markN uint16
}

const (
	// blockBytes is the size of a full block's buffer; only an element longer than
	// that gets a longer one, for itself, which is never written to again. A size
	// class of Go's allocator of which four fill a span: what the runtime keeps of a
	// span is 2 % of two buffers of 4 KB, and 0.7 % of four of 6.
	blockBytes = 6 << 10
	// blockCount is how many elements a block holds at most: an index into it, and
	// a walk backwards, take so many steps.
	blockCount = 1 << 10
	// minMark is how many entries before a mark are worth it.
	minMark = 16
	// blockSelf is what a block takes beside its buffer.
	blockSelf = 48
)

// owner marks the blocks and nodes that only one list can reach: those it may
// change. It has a size so that every one is another.
type owner struct{ _ byte }

// offsets is room for the offsets of all entries of a block or a small list.
type offsets [blockCount]uint16

// newBlock makes an empty block with room for at least size bytes.
func newBlock(o *owner, size int) *block {
	if size == blockBytes {
		return &block{owner: o, buf: make([]byte, blockBytes)}
	}
	buf := slices.Grow([]byte(nil), size)
	return &block{owner: o, buf: buf[:cap(buf)]}
}

// copyBlock makes a block of entries, with room for spare bytes behind them
// within blockBytes.
func copyBlock(o *owner, entries []byte, n, spare int) *block {
	b := newBlock(o, max(len(entries), min(len(entries)+spare, blockBytes)))
	b.end, b.n = uint32(copy(b.buf, entries)), uint32(n)
	return b
}

// note finds the mark of an owned block that has none, or was changed as a whole.
func (b *block) note() {
	if b.mark = 0; len(b.buf) > blockBytes || b.n < 2*minMark {
		return
	}
	half := b.n / 2
	b.mark, b.markN = uint16(listpack.Skip(b.buf[:b.end], int(b.start), int(half))), uint16(half)
}

// near returns the offset of an entry at or before element i from which to walk, and
// how many others are before it.
func (b *block) near(i int) (at, n int) {
	if b.mark != 0 && i >= int(b.markN) {
		return int(b.mark), int(b.markN)
	}
	return int(b.start), 0
}

func (b *block) entries() []byte { return b.buf[b.start:b.end] }
func (b *block) size() int       { return int(b.end - b.start) }
func (b *block) mem() int64      { return int64(blockSelf + cap(b.buf)) }

// own returns the block itself if o owns it, else a copy that it does. Offsets
// stay as they are.
func (b *block) own(o *owner) *block {
	if b.owner == o {
		return b
	}
	c := new(block)
	*c = *b
	c.owner = o
	if len(b.buf) > blockBytes {
		return c // a single element never changes where it is
	}
	c.buf = append(make([]byte, 0, len(b.buf)), b.buf...)
	return c
}

// offset returns where in buf element i begins.
func (b *block) offset(i int) int {
	switch {
	case i == 0:
		return int(b.start)
	case i == int(b.n):
		return int(b.end)
	}
	at, n := b.near(i)
	return listpack.Skip(b.buf[:b.end], at, i-n)
}

// takes reports whether a block may have one more element of size bytes.
func (b *block) takes(size int) bool {
	return b.size()+size <= blockBytes && b.n < blockCount
}

// room makes room for size bytes at the front or the end of an owned block and
// reports whether it could: it grows to blockBytes at most, and moves its entries
// only where that makes room for many.
func (b *block) room(size int, front bool) bool {
	if !b.takes(size) {
		return false
	}
	if front && int(b.start) >= size || !front && len(b.buf)-int(b.end) >= size {
		return true
	}
	used := b.size()
	if len(b.buf)-used >= size+blockBytes/8 {
		b.move(b.buf, front)
		return true
	}
	if len(b.buf) >= blockBytes {
		return false
	}
	c := newBlock(b.owner, min(max(2*len(b.buf), used+size), blockBytes))
	b.move(c.buf, front)
	return true
}

// move puts the entries to one end of buf, leaving room at the other.
func (b *block) move(buf []byte, front bool) {
	used, at := b.size(), 0
	if front {
		at = len(buf) - used
	}
	copy(buf[at:], b.entries())
	if b.mark != 0 {
		b.mark = uint16(int(b.mark) - int(b.start) + at)
	}
	b.buf, b.start, b.end = buf, uint32(at), uint32(at+used)
}

// pushFront and pushBack put an entry where room was made for it.
func (b *block) pushFront(v *listpack.Value) {
	b.start -= uint32(v.Size())
	v.Put(b.buf[b.start:])
	b.n++
	b.markN++
}

func (b *block) pushBack(v *listpack.Value) {
	v.Put(b.buf[b.end:])
	b.end += uint32(v.Size())
	b.n++
}

// popFront removes the first entry, of size bytes, of an owned block.
func (b *block) popFront(size int) {
	b.start += uint32(size)
	b.n--
	if b.markN--; b.markN == 0 {
		b.mark = 0
	}
}

// popBack removes the last entry, which begins at offset at, of an owned block.
func (b *block) popBack(at int) {
	b.end = uint32(at)
	b.n--
	if int(b.mark) >= at {
		b.mark = 0
	}
}

// replace puts ins bytes, undefined, in the place of del bytes at offset at of
// an owned block, where they fit into blockBytes: n entries more, or less.
func (b *block) replace(at, del, ins, n int) (newAt int) {
	b.n = uint32(int(b.n) + n)
	more, before := ins-del, int(b.mark) <= at // the mark is before what changes
	switch mark := int(b.mark); {
	case mark == 0 || before:
	case mark < at+del || int(b.markN)+n <= 0:
		b.mark = 0
	default:
		b.markN = uint16(int(b.markN) + n)
	}
	shift := func(by int) { // the mark lies by bytes further
		if b.mark != 0 {
			b.mark = uint16(int(b.mark) + by)
		}
	}
	grown := b.size() + more
	switch {
	case more <= 0 || len(b.buf)-int(b.end) >= more:
		copy(b.buf[at+ins:], b.buf[at+del:b.end])
		b.end = uint32(int(b.end) + more)
		if !before {
			shift(more)
		}
		return at
	case int(b.start) >= more:
		from := int(b.start)
		b.start = uint32(from - more)
		copy(b.buf[b.start:], b.buf[from:at])
		if before {
			shift(-more)
		}
		return at - more
	}
	c := newBlock(b.owner, max(grown, min(grown+grown/4, blockBytes)))
	to := copy(c.buf, b.buf[b.start:at])
	copy(c.buf[to+ins:], b.buf[at+del:b.end])
	if shift(-int(b.start)); !before {
		shift(more)
	}
	b.buf, b.start, b.end = c.buf, 0, uint32(grown)
	return to
}

// cut removes n elements at offsets from..to from an owned block.
func (b *block) cut(from, to, n int) {
	switch {
	case from == int(b.start):
		b.start = uint32(to)
		b.n -= uint32(n)
		if int(b.mark) <= to {
			b.mark = 0
		}
		b.markN -= uint16(n)
	case to == int(b.end):
		b.end = uint32(from)
		b.n -= uint32(n)
		if int(b.mark) >= from {
			b.mark = 0
		}
	default:
		b.replace(from, to-from, 0, -n)
	}
}

// trim returns the block without the room that it does not use, if that is much.
func (b *block) trim(o *owner) *block {
	used := b.size()
	if len(b.buf)-used <= used/8+32 {
		return b
	}
	c := copyBlock(o, b.entries(), int(b.n), 0)
	if b.mark != 0 {
		c.mark, c.markN = uint16(uint32(b.mark)-b.start), b.markN
	}
	return c
}

// split cuts the block in two at the entry nearest to its middle. The halves
// get some room, for it splits because it is being filled.
func (b *block) split(o *owner) (left, right *block) {
	at, n := int(b.start), 0
	for middle := at + b.size()/2; at < middle; n++ {
		at = listpack.Next(b.buf, at)
	}
	spare := blockBytes / 8
	left = copyBlock(o, b.buf[b.start:at], n, spare)
	return left, copyBlock(o, b.buf[at:b.end], int(b.n)-n, spare)
}

// put writes a value in the place of del bytes at offset at of an owned block: n
// entries more.
func (b *block) put(at, del, n int, v *listpack.Value) {
	at = b.replace(at, del, v.Size(), n)
	v.Put(b.buf[at:])
}

// pieces returns the elements before k, the value, and the elements from after
// on as blocks; nil where there is nothing.
func (b *block) pieces(o *owner, k, after int, v *listpack.Value) (out [3]*block) {
	if k > 0 {
		out[0] = copyBlock(o, b.buf[b.start:b.offset(k)], k, 0)
	}
	out[1] = newBlock(o, v.Size())
	out[1].pushBack(v)
	switch {
	case after == 0:
		out[2] = b
	case after < int(b.n):
		out[2] = copyBlock(o, b.buf[b.offset(after):b.end], int(b.n)-after, 0)
	}
	return out
}

// divide makes more blocks of one that is full and puts a value in front of
// element k.
func (b *block) divide(o *owner, k int, v *listpack.Value) (out [3]*block) {
	size := v.Size()
	if b.n < 2 || size > blockBytes/4 {
		return b.pieces(o, k, k, v)
	}
	left, right := b.split(o)
	into := left
	if k > int(left.n) {
		into, k = right, k-int(left.n)
	}
	if !into.takes(size) {
		return b.pieces(o, k, k, v)
	}
	into.put(into.offset(k), 0, 1, v)
	return [3]*block{left, right}
}

// matches appends to dst the offsets of the entries of p from offset at on that
// are v.
func matches(dst []uint16, p []byte, at int, v *listpack.Value) []uint16 {
	for {
		if at = listpack.Find(p, at, v, 0); at < 0 {
			return dst
		}
		dst = append(dst, uint16(at))
		at += v.Size()
	}
}

// squeeze moves what is between the entries of size bytes at some offsets of p
// together and returns what p is long then.
func squeeze(p []byte, at []uint16, size int) int {
	to := int(at[0])
	for i, from := range at {
		next := len(p)
		if i+1 < len(at) {
			next = int(at[i+1])
		}
		to += copy(p[to:], p[int(from)+size:next])
	}
	return to
}

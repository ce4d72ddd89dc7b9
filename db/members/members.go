// Package members keeps large collections of members, each with no value, a
// 64-bit word or bytes: what sets, hashes and sorted sets of more than a few
// elements are made of, and the deadlines of their members.
//
// A Table is an extendible hash over packed blocks. The bits of a member's hash,
// from the top, choose a page in the root, then a block in the page; a block
// holds all members whose hashes begin with its depth in bits. It is a slice of
// bytes without pointers, up to 2 KB: one fingerprint byte a member, compared
// eight at a time, the place of each entry, and the entries. A full block splits
// in two by the next bit of the hash, and two small buddies become one, so nothing
// but them ever moves: no rehash, no pause, no second copy while growing. A
// directory of two levels keeps also its doublings small: a page is a directory of
// up to 256 slots that grows on its own, and splits like a block; the root doubles
// once in a hundred thousand members.
//
// Copy on write goes by owner: blocks, pages and the root carry the number of the
// table that may change them. Clone gives both tables new numbers and shares all
// else, so it takes constant time; whoever writes first copies the root, a page
// and a block. Numbers are never used twice among the clones of a table.
//
// Rejected: Go maps (a pointer or 16 bytes of header a string, no clone, no stable
// iteration); chaining as Redis does it (24 bytes of links and headers, and an
// allocation, a member); open addressing over one array (rehash pauses, 2x spikes,
// a clone copies all of it); sorting entries by hash within a block (a lookup is
// faster by fingerprints, and inserting would move them).
//
// What is larger than a quarter of a block stands beside it in memory of its own,
// and the block holds its number (see side).
//
// Limit: a block whose members all agree in the next bit of the hash cannot
// split; it grows instead, to 64 KB. With the seeded 64-bit hash of maphash
// thousands of members never agree so; a broken hash would be a panic.
package members

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"heddle/db/arena"
)

// Kind says what stands beside a member.
type Kind uint8

// The kinds of values.
const (
	None  Kind = iota // nothing
	Word              // 64 bits
	Bytes             // bytes of any length
)

// Source gives random numbers; a db.View is one.
type Source interface{ Rand() uint64 }

// Table maps members to values. It is not safe for concurrent use, but its
// clones are independent of it: each may be used by another goroutine. Slices
// that it hands out are borrowed until its next change, and must not be passed
// to a call that changes it. Every member and value may be of any length.
type Table struct {
	kind      Kind
	rootBits  uint8
	root      []rootSlot // 1<<rootBits; a page stands in all slots that begin with its prefix
	owner     uint64
	rootOwner uint64
	family    *atomic.Uint64 // the last owner number among the clones
	seed      maphash.Seed
	mask      uint64 // all ones; tests make the hash weak by it
	count     int
	peak      uint64 // at least the density of each page, see Random
	peakCount int    // count when peak was computed, or more
	mem       int64
	side      side
}

// New returns an empty table.
func New(k Kind) *Table { return NewSized(k, 0) }

// NewSized returns an empty table with room for members and values of about so many
// bytes together, as far as one block has it: what was packed is unpacked without a new
// block for each few members.
func NewSized(k Kind, room int) *Table {
	size := blockSize(min(max(minBlock, headerSize+withSlack(room)), 2*fullBlock))
	t := &Table{
		kind: k, root: make([]rootSlot, 1), owner: 1, rootOwner: 1, family: new(atomic.Uint64),
		seed: maphash.MakeSeed(), mask: ^uint64(0),
	}
	t.family.Store(1)
	p := &page{owner: 1, directory: directory{blocks: [][]byte{newBlock(size, 1)}}}
	t.root[0] = rootSlot{p.directory, p}
	t.mem = tableSize + rootSlotSize + p.size() + int64(size)
	return t
}

// tableSize is that of a Table itself.
const tableSize = 192

// Len returns the number of members.
func (t *Table) Len() int { return t.count }

// MemSize returns the bytes of memory that the table takes, with what it shares
// with clones.
func (t *Table) MemSize() int64 { return t.mem }

// Clone returns a copy that shares everything until one of the two changes it,
// in constant time. It may be called while others read t, not while they change it.
func (t *Table) Clone() *Table {
	c := &Table{
		kind: t.kind, rootBits: t.rootBits, root: t.root, owner: t.family.Add(1), rootOwner: t.rootOwner,
		family: t.family, seed: t.seed, mask: t.mask, count: t.count, peak: t.peak, peakCount: t.peakCount,
		mem: t.mem, side: t.side,
	} // not a copy of *t: others may set its owner at the same time
	atomic.StoreUint64(&t.owner, t.family.Add(1))
	return c
}

// Empty returns a table without members in which they have the order that they have in
// t, so that cursors of Scan stay valid when some move there.
func (t *Table) Empty() *Table {
	e := New(t.kind)
	e.seed, e.mask = t.seed, t.mask
	return e
}

func (t *Table) hash(member []byte) uint64 { return maphash.Bytes(t.seed, member) & t.mask }

// page returns the page of a hash.
func (t *Table) page(h uint64) *page { return t.root[h>>(64-t.rootBits)].page }

// block returns the block of a hash.
func (t *Table) block(h uint64) []byte {
	d := &t.root[h>>(64-t.rootBits)].directory
	return d.blocks[d.slot(h)]
}

// find returns the block of a member with hash h, and its slot there or -1.
func (t *Table) find(h uint64, member []byte) (b []byte, slot int) {
	b = t.block(h)
	return b, t.search(b, h, member)
}

// search looks for a member in the block of its hash; -1 when it is not there.
func (t *Table) search(b []byte, h uint64, member []byte) int {
	pattern := uint64(byte(h)) * lows
	n := count(b)
	for at, base := headerSize, 0; base < n; at, base = at+groupSize, base+groupSlots {
		g := b[at : at+groupSize : at+groupSize]
		x := binary.LittleEndian.Uint64(g) ^ pattern
		x = (x - lows) & ^x & highs
		for ; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) >> 3
			if base+i >= n {
				break
			}
			off := int(binary.LittleEndian.Uint16(g[groupSlots+2*i:]))
			if t.is(b, off, member) {
				return base + i
			}
		}
	}
	return -1
}

// is reports whether the entry at off is that of a member.
func (t *Table) is(b []byte, off int, member []byte) bool {
	if c := int(b[off]); c < longMark {
		off++
		return c == len(member) && string(b[off:off+c]) == string(member)
	}
	return string(t.member(b, off)) == string(member)
}

// member returns the member of the entry at off.
func (t *Table) member(b []byte, off int) []byte {
	if b[off] == sideMark {
		return t.side.get(sideIndex(b, off)).member()
	}
	n, head := readLen(b, off)
	off += head
	return b[off : off+n : off+n]
}

// value returns the value of the entry at off: nil, 8 bytes or bytes.
func (t *Table) value(b []byte, off int) []byte {
	if b[off] == sideMark {
		switch t.kind {
		case Word:
			return b[off+stubHead : off+stubHead+8 : off+stubHead+8]
		case Bytes:
			return t.side.get(sideIndex(b, off)).value()
		}
		return nil
	}
	n, head := readLen(b, off)
	off += head + n
	switch t.kind {
	case Word:
		return b[off : off+8 : off+8]
	case Bytes:
		n, head = readLen(b, off)
		off += head
		return b[off : off+n : off+n]
	}
	return nil
}

// Prefetch asks for the memory of the block where a member is or would be.
func (t *Table) Prefetch(member []byte) { arena.PrefetchBytes(t.block(t.hash(member)), 192) }

// Has reports whether a member is there.
func (t *Table) Has(member []byte) bool {
	_, s := t.find(t.hash(member), member)
	return s >= 0
}

// Get returns the value of a member, borrowed.
func (t *Table) Get(member []byte) (value []byte, found bool) {
	b, s := t.find(t.hash(member), member)
	if s < 0 {
		return nil, false
	}
	return t.value(b, offset(b, s)), true
}

// Word returns the word of a member.
func (t *Table) Word(member []byte) (w uint64, found bool) {
	b, s := t.find(t.hash(member), member)
	if s < 0 {
		return 0, false
	}
	return Uint64(t.value(b, offset(b, s))), true
}

// Uint64 reads the word that Each, Scan, Random and Iter give as 8 bytes.
func Uint64(value []byte) uint64 { return binary.LittleEndian.Uint64(value) }

// Add adds a member to a table without values and reports whether it is new.
func (t *Table) Add(member []byte) bool {
	h := t.hash(member)
	if _, s := t.find(h, member); s >= 0 {
		return false
	}
	t.insert(h, member, nil, 0)
	return true
}

// SetWord gives a member a word, and returns the one that it had.
func (t *Table) SetWord(member []byte, w uint64) (old uint64, found bool) {
	h := t.hash(member)
	b, s := t.find(h, member)
	if s < 0 {
		t.insert(h, member, nil, w)
		return 0, false
	}
	old = Uint64(t.value(b, offset(b, s)))
	if old != w {
		_, b = t.ownBlock(h)
		binary.LittleEndian.PutUint64(t.value(b, offset(b, s)), w)
	}
	return old, true
}

// Set gives a member a value, which is copied, and reports whether the member is
// new.
func (t *Table) Set(member, value []byte) (created bool) {
	h := t.hash(member)
	b, s := t.find(h, member)
	if s < 0 {
		t.insert(h, member, value, 0)
		return true
	}
	off := offset(b, s)
	if old := t.value(b, off); b[off] != sideMark && len(old) == len(value) {
		_, b = t.ownBlock(h)
		copy(t.value(b, off), value)
		return false
	}
	t.rewrite(h, s, member, value)
	return false
}

// rewrite replaces the entry in a slot by one of another length.
func (t *Table) rewrite(h uint64, s int, member, value []byte) {
	p, b := t.ownBlock(h)
	size := t.entrySize(len(member), len(value))
	if b[offset(b, s)] != sideMark && size <= inlineMax && gap(b) >= size {
		discard(b, t.kind, s)
		off := low(b) - size
		setLow(b, off)
		setOffset(b, s, off)
		t.write(b, off, member, value, 0)
		return
	}
	t.remove(p, b, s)
	t.insert(h, member, value, 0)
}

// Delete removes a member and reports whether it was there.
func (t *Table) Delete(member []byte) bool {
	h := t.hash(member)
	_, s := t.find(h, member)
	if s < 0 {
		return false
	}
	t.cut(h, s)
	return true
}

// TakeWord is Delete that returns the member's word.
func (t *Table) TakeWord(member []byte) (w uint64, found bool) {
	h := t.hash(member)
	b, s := t.find(h, member)
	if s < 0 {
		return 0, false
	}
	w = Uint64(t.value(b, offset(b, s)))
	t.cut(h, s)
	return w, true
}

// cut removes the entry in a slot of the block of h, and makes the table smaller
// where that leaves room.
func (t *Table) cut(h uint64, s int) {
	p, b := t.ownBlock(h)
	t.remove(p, b, s)
	t.lowerPeaks(p)
	t.shrink(h)
}

// remove takes an entry out of an owned block.
func (t *Table) remove(p *page, b []byte, s int) {
	if off := offset(b, s); b[off] == sideMark {
		t.mem -= t.side.free(t.owner, sideIndex(b, off))
	}
	removeSlot(b, t.kind, s)
	p.count--
	t.count--
}

// entrySize returns the size of an entry within a block.
func (t *Table) entrySize(member, value int) int {
	n := lenSize(member) + member
	switch t.kind {
	case Word:
		n += 8
	case Bytes:
		n += lenSize(value) + value
	}
	return n
}

// insert adds a member that is not there.
func (t *Table) insert(h uint64, member, value []byte, w uint64) {
	size := t.entrySize(len(member), len(value))
	large := size > inlineMax
	if large {
		size = stubSize(t.kind)
	}
	p, b := t.makeRoom(h, size)
	off := low(b) - size
	setLow(b, off)
	if large {
		i, mem := t.side.add(t.owner, h, member, value)
		t.mem += mem
		b[off] = sideMark
		binary.LittleEndian.PutUint32(b[off+1:], i)
		if t.kind == Word {
			binary.LittleEndian.PutUint64(b[off+stubHead:], w)
		}
	} else {
		t.write(b, off, member, value, w)
	}
	addSlot(b, byte(h), off)
	p.count++
	t.count++
	t.raisePeaks(p, b)
}

// write spells an entry at off.
func (t *Table) write(b []byte, off int, member, value []byte, w uint64) {
	off += writeLen(b, off, len(member))
	off += copy(b[off:], member)
	switch t.kind {
	case Word:
		binary.LittleEndian.PutUint64(b[off:], w)
	case Bytes:
		off += writeLen(b, off, len(value))
		copy(b[off:], value)
	}
}

// Kept returns the table's own bytes of a member that stands beside the blocks, as
// every member of more than inlineMax bytes does; nil when it is in a block, or not
// there. They never change, whatever becomes of the table.
func (t *Table) Kept(member []byte) []byte {
	b, s := t.find(t.hash(member), member)
	if s < 0 {
		return nil
	}
	off := offset(b, s)
	if b[off] != sideMark {
		return nil
	}
	return t.side.get(sideIndex(b, off)).member()
}

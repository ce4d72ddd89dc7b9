package stream

import (
	"encoding/binary"

	"heddle/db/listpack"
)

// Blocks. The entries of a stream stand in blocks of a few KB without pointers, which are
// the leaves of a directory by the ID of their first entry. The bytes of a block are
//
//	the number of field names, as a varint
//	the field names of the first entry of its node, as entries of package listpack
//	the entries
//
// and those of an entry
//
//	a head: bit 0: it has fields of its own; bit 1: its seq is told; bits 2..6: the lowest
//	    5 bits of how many milliseconds it is after the entry before; bit 7: more follows
//	if so, the rest of that number as a varint
//	if the seq is told: as a varint, how far it is from what it would be otherwise: one
//	    more than before in the same millisecond, 0 in another
//	with fields of its own: their number as a varint, then names and values
//	else: the values, one for each field name of the block
//
// The entry in front of the first one is, for this purpose, the key of the block less one
// in its seq (0 becomes 2^64-1), so that usually the head of each entry is one byte. An
// entry has no length: skipping it means skipping its values, of which there are few.
// What is deleted is taken out at once, and the head of the entry behind it is written
// anew. There is no way back through a block: who goes backwards scans it first.
//
// Nodes. Redis keeps a stream in listpacks of its own, its nodes, and clients see where
// they end: XTRIM with ~ takes whole nodes, XINFO counts them. When a node is full depends
// on how many bytes Redis would use for it (stream-node-max-bytes), deleted entries
// included, since Redis only marks those. So blocks keep this account beside their own
// bytes. A node is one block, or, when nodes are allowed to be large, a block and those
// behind it that are marked as parts. A block of a larger node may be empty; a node without
// entries goes as a whole.
//
// Rejected: Redis' way to note IDs as distances from the first of the node, which grow to
// two or three bytes each; and its count of elements behind each entry. Rejected: the
// deleted flag in the entry, for which all readers look, and a second pass that compacts.

// maxPart is at how many bytes of entries a block of a larger node is full. It is more
// when the field names, which each block repeats, are long.
const maxPart = 4096

// block is the value of a leaf of the directory of blocks. Its key is the ID of the
// first entry that ever stood in it.
type block struct {
	data  []byte
	last  ID     // the last entry that ever stood in it
	live  uint32 // entries
	dead  uint32 // entries deleted since
	size  uint32 // what its entries, deleted or not, take in Redis, and the field names where a node begins
	start uint32 // where the first entry stands in data
	part  bool   // it goes on with the node of the block before
}

const (
	headOwn  = 1 << iota // the entry has fields of its own
	headSeq              // its seq is told
	headMore = 1 << 7    // the distance in time has more than 5 bits
	headBits = 5
)

// before returns the ID that the first entry of a block with that key is told from.
func before(key ID) ID { return ID{key.Ms, key.Seq - 1} }

// appendHead appends the head of the entry id, which follows prev.
func appendHead(dst []byte, prev, id ID, own bool) []byte {
	ms, seq := id.Ms-prev.Ms, id.Seq
	if ms == 0 {
		seq -= prev.Seq + 1
	}
	h := byte(ms<<2) & 0x7c
	if own {
		h |= headOwn
	}
	if seq != 0 {
		h |= headSeq
	}
	if ms >>= headBits; ms != 0 {
		dst = binary.AppendUvarint(append(dst, h|headMore), ms)
	} else {
		dst = append(dst, h)
	}
	if seq != 0 {
		dst = binary.AppendUvarint(dst, seq)
	}
	return dst
}

// readHead reads the head at offset at of an entry that follows prev, and returns the
// entry's ID and where its fields stand.
func readHead(data []byte, at int, prev ID) (id ID, own bool, next int) {
	h := data[at]
	at++
	ms := uint64(h) >> 2 & (1<<headBits - 1)
	if h&headMore != 0 {
		u, n := binary.Uvarint(data[at:])
		ms |= u << headBits
		at += n
	}
	id.Ms = prev.Ms + ms
	if ms == 0 {
		id.Seq = prev.Seq + 1
	}
	if h&headSeq != 0 {
		u, n := binary.Uvarint(data[at:])
		id.Seq += u
		at += n
	}
	return id, h&headOwn != 0, at
}

// names returns how many field names the block has, and where they stand.
func (b *block) names() (n, at int) {
	u, at := binary.Uvarint(b.data)
	return int(u), at
}

// skip returns where the entry ends whose fields stand at offset at.
func (b *block) skip(at int, own bool, names int) int {
	if own {
		u, n := binary.Uvarint(b.data[at:])
		at, names = at+n, 2*int(u)
	}
	return listpack.Skip(b.data, at, names)
}

// spot is an entry in a block.
type spot struct {
	id       ID
	prev     ID  // the entry before, see before
	from, to int // its bytes
}

// find looks for an entry.
func (b *block) find(key, id ID) (s spot, found bool) {
	names, _ := b.names()
	s.id = before(key)
	for at := int(b.start); at < len(b.data); at = s.to {
		var own bool
		var fields int
		s.prev, s.from = s.id, at
		s.id, own, fields = readHead(b.data, at, s.prev)
		if id.Before(s.id) {
			return s, false
		}
		s.to = b.skip(fields, own, names)
		if s.id == id {
			return s, true
		}
	}
	return s, false
}

// end returns the ID of the last entry, that from which the next one is told.
func (b *block) end(key ID) ID {
	names, _ := b.names()
	id := before(key)
	for at := int(b.start); at < len(b.data); {
		var own bool
		id, own, at = readHead(b.data, at, id)
		at = b.skip(at, own, names)
	}
	return id
}

// cut takes the bytes from..to out, whole entries behind prev; data is the caller's. The
// entry behind them is told from prev from now on, as which its head is never longer
// than its old one and what was taken out, but for cutting 0 bytes.
func (b *block) cut(prev ID, last ID, from, to int) {
	if to == len(b.data) {
		b.data = b.data[:from]
		return
	}
	id, own, at := readHead(b.data, to, last)
	var buf [2*binary.MaxVarintLen64 + 1]byte
	head := appendHead(buf[:0], prev, id, own)
	at -= len(head)
	copy(b.data[at:], head)
	b.data = append(b.data[:from], b.data[at:]...)
}

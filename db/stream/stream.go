// Package stream keeps streams: logs of entries made of fields and values, ordered by
// ID, and the consumer groups that read them. A stream is always an Object; it is copied
// on write and cloned in constant time.
package stream

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Stream is a stream with its consumer groups. The zero Stream is not ready: see New.
type Stream struct {
	own    *owner
	blocks directory[ID, block]
	groups directory[string, Group]

	length     int
	added      uint64 // entries ever added
	first      ID     // of the first entry, 0-0 if there is none
	last       ID     // the last ID given out
	maxDeleted ID     // the greatest ID that was deleted

	node  node   // the last one
	spare []byte // the buffer of a block that was finished, for the next
	bytes int64  // capacity of all blocks
	named int64  // memory of groups and consumers without what is pending
	pends int64  // pending entries of all groups

	radix *radixCount // what RadixNodes has counted; nil when a node has gone since
	db.Shared
}

// node is the account of the last node, to which the next entry is added if there is
// room. It is kept so that adding looks at the last block only.
type node struct {
	key        ID // of its first block
	live, dead int64
	size       int64 // in Redis, without the two counts that precede the entries
	end        ID    // the entry from which the next one in the last block is told
}

// Limits say when a node is full.
type Limits struct {
	NodeBytes   int64 // in Redis' encoding; 0: no limit but maxNode
	NodeEntries int64 // 0: no limit
}

// maxNode is the most bytes that Redis lets a node have, and the most that an entry has.
const maxNode = 1 << 30

// New returns an empty stream.
func New() *Stream { return &Stream{own: new(owner)} }

// Len returns the number of entries.
func (s *Stream) Len() int { return s.length }

// Encoding is the name for OBJECT ENCODING.
func (s *Stream) Encoding() string { return "stream" }

// Clone returns a copy that shares blocks and groups, in constant time.
func (s *Stream) Clone() db.Object {
	dup := *s
	dup.own, s.own = new(owner), new(owner)
	dup.spare, dup.radix = nil, nil
	return &dup
}

// What things cost beside their bytes.
const (
	streamSize  = 296 + db.SharedSize // a Stream
	blockSize   = 80                  // a leaf of the directory of blocks
	pendingSize = 66                  // a pending entry in its group's and its consumer's list
)

// MemSize returns its size in bytes.
func (s *Stream) MemSize() int64 {
	return streamSize + s.bytes + int64(cap(s.spare)) + int64(s.blocks.n)*blockSize + s.named + s.pends*pendingSize
}

// First returns the ID of the first entry, 0-0 when there is none.
func (s *Stream) First() ID { return s.first }

// LastID returns the last ID that was given out, which the next one has to exceed.
func (s *Stream) LastID() ID { return s.last }

// Added returns how many entries were ever added.
func (s *Stream) Added() uint64 { return s.added }

// MaxDeleted returns the greatest ID of a deleted entry, 0-0 when there is none.
func (s *Stream) MaxDeleted() ID { return s.maxDeleted }

// SetLastID, SetAdded and SetMaxDeleted change what XSETID changes.
func (s *Stream) SetLastID(id ID) { s.last = id }

// SetAdded is described at SetLastID.
func (s *Stream) SetAdded(n uint64) { s.added = n }

// SetMaxDeleted is described at SetLastID.
func (s *Stream) SetMaxDeleted(id ID) { s.maxDeleted = id }

// Top returns the ID of the last entry; false when there is none.
func (s *Stream) Top() (ID, bool) {
	if s.length == 0 {
		return ID{}, false
	}
	if p := s.blocks.last(); s.blocks.at(p).val.live > 0 {
		return s.node.end, true
	}
	for p := s.blocks.last(); s.blocks.has(p); p = s.blocks.prev(p) {
		if l := s.blocks.at(p); l.val.live > 0 {
			return l.val.end(l.key), true
		}
	}
	return ID{}, false
}

// Fits reports whether an entry of these names and values is no larger than any node may
// be.
func Fits(pairs [][]byte) bool { return total(pairs) <= maxNode }

func total(pairs [][]byte) (n int64) {
	for _, b := range pairs {
		n += int64(len(b))
	}
	return n
}

// Append adds an entry, whose ID must be after LastID. pairs are names and values in turn,
// at least one of each, that fit.
func (s *Stream) Append(id ID, pairs [][]byte, l Limits) {
	size := total(pairs)
	p := s.blocks.last()
	switch {
	case s.blocks.n == 0 || s.node.full(size, l):
		p = s.startNode(id, pairs)
	default:
		if b := &s.blocks.at(p).val; b.live > 0 && int64(len(b.data))-int64(b.start)+size > int64(max(maxPart, 4*b.start)) {
			p = s.startPart(id, p)
		}
	}
	s.put(p, id, pairs)
}

// full reports whether an entry whose names and values have total bytes begins a new node.
func (n *node) full(total int64, l Limits) bool {
	limit := l.NodeBytes
	if limit <= 0 || limit > maxNode {
		limit = maxNode
	}
	size := n.size + int64(listpack.RedisIntSize(n.live)+listpack.RedisIntSize(n.dead))
	return size+total >= limit || l.NodeEntries > 0 && n.live+n.dead >= l.NodeEntries
}

// startNode appends a block that begins a node, with the names of these fields.
func (s *Stream) startNode(id ID, pairs [][]byte) place {
	data := s.seal()
	names := len(pairs) / 2
	data = appendUvarint(data, uint64(names))
	size := listpack.RedisHeader + listpack.RedisIntSize(int64(names)) + listpack.RedisIntSize(0)
	for i := 0; i < len(pairs); i += 2 {
		data = listpack.Append(data, pairs[i])
		size += listpack.RedisSize(pairs[i])
	}
	s.bytes += int64(cap(data))
	p := s.blocks.push(s.own, id, block{data: data, size: uint32(size), start: uint32(len(data))})
	s.blocks.add(p, 0, 1)
	s.node = node{key: id, size: int64(size), end: before(id)}
	return p
}

// startPart appends a block that goes on with the node of the block at p.
func (s *Stream) startPart(id ID, p place) place {
	data := s.seal()
	b := &s.blocks.at(p).val
	data = append(data, b.data[:b.start]...)
	s.bytes += int64(cap(data))
	p = s.blocks.push(s.own, id, block{data: data, start: b.start, part: true})
	s.node.end = before(id)
	return p
}

// firstRoom is how much room the first block of a stream has at first.
const firstRoom = 48

// seal gives back what the last block does not need of its buffer, since nothing will be
// added to it, and returns an empty buffer for the next.
func (s *Stream) seal() []byte {
	buf := s.spare
	s.spare = nil
	if p := s.blocks.last(); s.blocks.has(p) {
		l := s.blocks.at(p)
		if n := len(l.val.data); l.own == s.own && cap(l.val.data)-n > n/8 {
			l = s.blocks.edit(s.own, p)
			exact := append([]byte(nil), l.val.data...)
			s.bytes += int64(cap(exact) - cap(l.val.data))
			if buf == nil {
				buf = l.val.data
			}
			l.val.data = exact
		}
	}
	if buf == nil {
		buf = make([]byte, 0, firstRoom)
	}
	return buf[:0]
}

// put appends an entry to the last block, which stands at p.
func (s *Stream) put(p place, id ID, pairs [][]byte) {
	l := s.owned(p, 128)
	b := &l.val
	had := cap(b.data)
	own := !b.named(pairs)
	data := appendHead(b.data, s.node.end, id, own)
	names := len(pairs) / 2
	size, elements := 2, names+3 // the flags; what Redis counts behind the entry
	if own {
		data = appendUvarint(data, uint64(names))
		elements = 2*names + 4
		size += listpack.RedisIntSize(int64(names))
	}
	for i, v := range pairs {
		if own || i&1 == 1 {
			data = listpack.Append(data, v)
			size += listpack.RedisSize(v)
		}
	}
	size += listpack.RedisIntSize(int64(id.Ms-s.node.key.Ms)) + listpack.RedisIntSize(int64(id.Seq-s.node.key.Seq)) +
		listpack.RedisIntSize(int64(elements))
	b.data = data
	b.live++
	b.size += uint32(size)
	b.last = id
	s.blocks.add(p, 1, 0)
	s.bytes += int64(cap(data) - had)
	s.node.live++
	s.node.size += int64(size)
	s.node.end = id
	s.last = id
	s.added++
	if s.length++; s.length == 1 {
		s.first = id
	}
}

// named reports whether the fields of pairs are those that the block names.
func (b *block) named(pairs [][]byte) bool {
	names, at := b.names()
	if names != len(pairs)/2 {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		e := listpack.At(b.data, at)
		if !e.Is(pairs[i]) {
			return false
		}
		at += len(e)
	}
	return true
}

// owned returns the leaf at p with a block that may be changed; if it has to be copied,
// it gets room for that many bytes more.
func (s *Stream) owned(p place, room int) *leaf[ID, block] {
	l := s.blocks.edit(s.own, p)
	if l.own != s.own {
		had := cap(l.val.data)
		l.val.data = append(make([]byte, 0, len(l.val.data)+room), l.val.data...)
		s.bytes += int64(cap(l.val.data) - had)
		l.own = s.own
	}
	return l
}

// appendUvarint is binary.AppendUvarint for numbers that are mostly small.
func appendUvarint(dst []byte, n uint64) []byte {
	for n >= 0x80 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n))
}

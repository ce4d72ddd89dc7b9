package stream

import "heddle/db/listpack"

// Builder makes a stream out of nodes and entries as files have them: the borders of Redis'
// nodes, and what it marked as deleted in them, stay in the account, so that XTRIM and XINFO
// go on as before. Node, then its entries in order, then the next Node; then Stream.
type Builder struct {
	s     *Stream
	at    place
	pairs [][]byte
}

// NewBuilder begins a stream.
func NewBuilder() *Builder { return &Builder{s: New()} }

// Node begins a node whose first entry ever had an ID, after all before, and these fields.
// At least one entry that is not deleted must follow.
func (b *Builder) Node(key ID, names [][]byte) {
	b.pairs = b.pairs[:0]
	for _, n := range names {
		b.pairs = append(b.pairs, n, nil)
	}
	b.at = b.s.startNode(key, b.pairs)
	b.s.node.end = before(key)
}

// Entry adds an entry, whose ID must be after that of the one before and not before that of
// the node. pairs are names and values in turn.
func (b *Builder) Entry(id ID, pairs [][]byte) {
	s := b.s
	if l := &s.blocks.at(b.at).val; l.live > 0 &&
		int64(len(l.data))-int64(l.start)+total(pairs) > int64(max(maxPart, 4*l.start)) {
		b.at = s.startPart(id, b.at)
	}
	s.put(b.at, id, pairs)
}

// Deleted counts an entry that is marked as deleted, and whose strings take size bytes in
// Redis: fields of its own, their number, and values.
func (b *Builder) Deleted(id ID, size, elements int) {
	s := b.s
	l := s.owned(b.at, 0)
	size += 2 + listpack.RedisIntSize(int64(id.Ms-s.node.key.Ms)) + listpack.RedisIntSize(int64(id.Seq-s.node.key.Seq)) +
		listpack.RedisIntSize(int64(elements))
	l.val.dead++
	l.val.size += uint32(size)
	l.val.last = id
	s.node.dead++
	s.node.size += int64(size)
}

// Stream returns the stream. What XSETID sets is to be set, and groups are to be created.
func (b *Builder) Stream() *Stream { return b.s }

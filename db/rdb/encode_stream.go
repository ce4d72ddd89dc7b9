package rdb

import (
	"encoding/binary"

	"heddle/db/listpack"
	"heddle/db/stream"
)

// A stream is written as its nodes, facts about it, and its groups. A node is a key, the ID
// from which those of its entries are told, 16 bytes big endian as a string, and a listpack:
//
//	entries, deleted entries, number of field names, names ..., 0
//	for each entry: flags, ms and seq less those of the key; then the values if flag 2 says
//	that its fields are those above, else their number, names and values; then the number
//	of these elements
//
// Deleted entries, which Redis keeps in a node, are gone here, so there are none.
const (
	entryDeleted    = 1
	entrySameFields = 2
)

// stream writes a stream.
func (e *encoder) stream() {
	s := stream.Of(e.it.Coll)
	third := e.version >= Version72
	if third {
		e.head(typeStream3)
	} else {
		e.head(typeStream2)
	}
	nodes := uint64(0)
	for it := s.NodeIter(); ; {
		n, ok := it.Next()
		if !ok {
			break
		}
		if n.Live > 0 {
			nodes++
		}
	}
	e.buf = appendLength(e.buf, nodes)
	for it := s.NodeIter(); e.on(); {
		n, ok := it.Next()
		if !ok {
			break
		}
		if n.Live > 0 {
			e.streamNode(&n)
		}
	}
	e.buf = appendLength(e.buf, uint64(s.Len()))
	for _, id := range [...]stream.ID{s.LastID(), s.First(), s.MaxDeleted()} {
		e.buf = appendLength(e.buf, id.Ms)
		e.buf = appendLength(e.buf, id.Seq)
	}
	e.buf = appendLength(e.buf, s.Added())
	e.buf = appendLength(e.buf, uint64(s.Groups()))
	s.EachGroup(func(name string, g *stream.Group) bool {
		e.group(name, g, third)
		return true
	})
}

// rawID appends an ID as 16 bytes.
func rawID(dst []byte, id stream.ID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, id.Ms), id.Seq)
}

// streamNode writes a node.
func (e *encoder) streamNode(n *stream.Node) {
	e.buf = rawID(appendLength(e.buf, 16), n.Key)
	names := n.Names()
	b := listpack.BeginRedis(e.packed[:0])
	b = listpack.AppendRedisInt(b, int64(n.Live))
	b = listpack.AppendRedisInt(b, 0)
	b = listpack.AppendRedisInt(b, int64(names))
	n.EachName(func(name listpack.Entry) { b = name.AppendRedis(b) })
	b = listpack.AppendRedisInt(b, 0)
	total := 4 + names
	it := n.Entries()
	for range n.Live {
		x, ok := it.Next()
		if !ok {
			break
		}
		var elements int
		b, elements = appendStreamEntry(b, n.Key, &x)
		total += elements
	}
	e.packed = listpack.EndRedis(b, 0, total)
	e.blob(e.packed)
	e.element()
}

// appendStreamEntry appends an entry and returns how many elements that were.
func appendStreamEntry(b []byte, key stream.ID, x *stream.Entry) ([]byte, int) {
	own, fields := x.Own(), x.Len()
	flags, elements := int64(entrySameFields), fields+3
	if own {
		flags, elements = 0, 2*fields+4
	}
	b = listpack.AppendRedisInt(b, flags)
	b = listpack.AppendRedisInt(b, int64(x.ID.Ms-key.Ms))
	b = listpack.AppendRedisInt(b, int64(x.ID.Seq-key.Seq))
	if own {
		b = listpack.AppendRedisInt(b, int64(fields))
	}
	for range fields {
		name, value := x.Pair()
		if own {
			b = name.AppendRedis(b)
		}
		b = value.AppendRedis(b)
	}
	return listpack.AppendRedisInt(b, int64(elements)), elements + 1
}

// group writes a consumer group: its name, last ID and entries read, what is pending, and
// the consumers; third says that their active times are told.
func (e *encoder) group(name string, g *stream.Group, third bool) {
	e.string([]byte(name))
	e.buf = appendLength(e.buf, g.Last.Ms)
	e.buf = appendLength(e.buf, g.Last.Seq)
	e.buf = appendLength(e.buf, uint64(g.Read))
	e.buf = appendLength(e.buf, uint64(g.Len()))
	all := g.PendingRange(stream.ID{}, stream.MaxID)
	for p := all.Next(); p != nil && e.on(); p = all.Next() {
		e.buf = rawID(e.buf, p.ID)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(p.Time))
		e.buf = appendLength(e.buf, uint64(p.Count))
		e.element()
	}
	e.buf = appendLength(e.buf, uint64(g.Consumers()))
	g.EachConsumer(func(c *stream.Consumer) bool {
		e.string([]byte(c.Name))
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(c.Seen))
		if third {
			e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(c.Active))
		}
		e.buf = appendLength(e.buf, uint64(c.Len()))
		held := c.HeldRange(stream.ID{}, stream.MaxID)
		for id, ok := held.Next(); ok && e.on(); id, ok = held.Next() {
			e.buf = rawID(e.buf, id)
			e.element()
		}
		return true
	})
}

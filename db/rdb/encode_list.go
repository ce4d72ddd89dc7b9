package rdb

import (
	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
)

// A list is written as a sequence of nodes, in the quicklist form of Redis 7.0: their
// number, and for each of them its kind and its bytes. Where one ends depends in Redis on
// how the list came to be; here, as there when all is pushed at the end, a node is full when
// the next element would exceed list-max-listpack-size. An element of 1 MB and more is a
// node of its own, as it is: Redis 7.2 would pack it all the same, up to 1 GB, which gains
// nothing and would need it a second time in memory.
const plainElement = 1 << 20

// safetyBytes is how large a node may be that is limited in elements.
const safetyBytes = 8 << 10

// splitter tells where nodes of a list begin.
type splitter struct {
	elements int // of a node at most; 0: no limit
	bytes    int // of a node at most
	plain    int // bytes from which on an element is a node of its own
	n        int // elements of the node at hand; -1: a plain one
	size     int // its bytes
}

func newSplitter(l *db.Limits, whole bool) splitter {
	s := splitter{bytes: safetyBytes, plain: plainElement}
	if l.ListSize < 0 {
		s.bytes = 4096 << min(-l.ListSize-1, 4)
	} else {
		s.elements = int(max(l.ListSize, 1))
	}
	if whole {
		s.elements, s.bytes = 0, maxBlob
	}
	if t := l.QuicklistPackedThreshold; t > 0 {
		s.plain = int(min(t, plainElement))
	}
	return s
}

// begins reports whether a node begins with an element, and whether it is a plain one.
func (s *splitter) begins(e listpack.Entry) (begins, plain bool) {
	n := e.Len()
	if n >= s.plain {
		s.n = -1
		return true, true
	}
	const overhead = 8 // of an entry, as Redis estimates it
	begins = s.n <= 0 || s.size+n+overhead > s.bytes || s.elements > 0 && s.n >= s.elements
	if begins {
		s.n, s.size = 0, listpack.RedisHeader
	}
	s.n++
	s.size += e.RedisSize()
	return begins, false
}

// list writes a list.
func (e *encoder) list() {
	l := list.Of(&e.it.Coll)
	whole := e.it.Coll.Packing == db.Listpack
	if o, _ := e.it.Coll.Object.(*list.Object); o != nil {
		whole = o.Encoding() == "listpack"
	}
	e.head(typeListQuicklist2)
	s := newSplitter(&e.limits, whole)
	e.buf = appendLength(e.buf, e.countNodes(&l, s))
	n := 0 // elements in e.packed
	for it := l.Iter(0); e.on() && it.Next(); {
		entry := it.Entry()
		begins, plain := s.begins(entry)
		if begins && n > 0 {
			e.node(n)
			n = 0
		}
		if plain {
			e.buf = append(e.buf, nodePlain)
			e.string(elementBytes(entry))
			e.element()
			continue
		}
		if n == 0 {
			e.packed = listpack.BeginRedis(e.packed[:0])
		}
		e.packed = entry.AppendRedis(e.packed)
		n++
	}
	if n > 0 {
		e.node(n)
	}
}

// countNodes counts the nodes.
func (e *encoder) countNodes(l *list.List, s splitter) (nodes uint64) {
	for it := l.Iter(0); e.on() && it.Next(); {
		if begins, _ := s.begins(it.Entry()); begins {
			nodes++
		}
	}
	return nodes
}

// node writes the node that stands in e.packed.
func (e *encoder) node(n int) {
	e.buf = append(e.buf, nodePacked)
	e.packed = listpack.EndRedis(e.packed, 0, n)
	e.blob(e.packed)
	e.element()
}

// elementBytes returns the string of an element, without a copy if it is long.
func elementBytes(e listpack.Entry) []byte {
	if b := e.Plain(); b != nil {
		return b
	}
	return e.Append(nil)
}

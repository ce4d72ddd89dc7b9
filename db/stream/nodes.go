package stream

import "heddle/db/listpack"

// Nodes goes through the nodes in which Redis would keep the stream, in order. It is
// valid until the stream changes.
type Nodes struct {
	s *Stream
	p place
}

// NodeIter begins such a walk.
func (s *Stream) NodeIter() Nodes { return Nodes{s: s} }

// Node is a node of a stream: entries that name the fields of the first of them once.
type Node struct {
	// Key is the ID of the first entry that ever stood in the node. The IDs of its
	// entries are told from it.
	Key  ID
	Live int // entries

	s *Stream
	p place // its first block
}

// Next returns the next node; false when there is none.
func (n *Nodes) Next() (Node, bool) {
	if !n.s.blocks.has(n.p) {
		return Node{}, false
	}
	l := n.s.blocks.at(n.p)
	node := Node{Key: l.key, Live: int(l.val.live), s: n.s, p: n.p}
	for n.p = n.s.blocks.next(n.p); n.s.blocks.has(n.p); n.p = n.s.blocks.next(n.p) {
		if l = n.s.blocks.at(n.p); !l.val.part {
			break
		}
		node.Live += int(l.val.live)
	}
	return node, true
}

// Names returns how many field names the node has.
func (n *Node) Names() int {
	names, _ := n.s.blocks.at(n.p).val.names()
	return names
}

// EachName calls fn with the field names, in order.
func (n *Node) EachName(fn func(name listpack.Entry)) {
	b := &n.s.blocks.at(n.p).val
	names, at := b.names()
	for range names {
		e := listpack.At(b.data, at)
		fn(e)
		at += len(e)
	}
}

// Entries returns the entries of the node, to be gone through by Next Live times.
func (n *Node) Entries() Iter {
	it := Iter{s: n.s, p: n.p, to: MaxID}
	it.open()
	return it
}

// Own reports whether the entry has field names of its own, not those of its node.
func (e *Entry) Own() bool { return e.own }

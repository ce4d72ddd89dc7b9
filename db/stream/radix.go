package stream

import (
	"encoding/binary"
	"slices"
)

// RadixNodes returns how many nodes the radix tree has in which Redis keeps the nodes of
// the stream, by their first IDs: XINFO tells it. It takes time for each node that came
// since the last call, or for all where some have gone. It is for the owner of the stream,
// as what changes it is.
//
// Redis' tree is compressed: a run of bytes without a branch is one node. With k keys of
// 16 bytes it has k leaves, a node for every place where keys part, and one for every run
// between those, the root and the leaves. Keys come in order, so the places where they part
// are seen from neighbours: they are a stack of depths that the next key cuts down to
// where it parts from the last.
func (s *Stream) RadixNodes() int {
	p := place{}
	if s.radix == nil {
		s.radix = new(radixCount)
	} else if s.radix.keys > 0 {
		p = s.blocks.next(findID(&s.blocks, s.radix.last))
	}
	for ; s.blocks.has(p); p = s.blocks.next(p) {
		if l := s.blocks.at(p); !l.val.part {
			s.radix.add(l.key)
		}
	}
	return s.radix.total()
}

// radixCount is the account of the first keys.
type radixCount struct {
	stack [17]int8 // depths in bytes of the forks on the way to the last key, the first is no fork but the root
	depth int      // forks on the stack
	nodes int      // that no further key touches, without the leaves
	keys  int
	last  ID
	bytes [16]byte // of last
}

// add adds a key behind all others.
func (c *radixCount) add(id ID) {
	var key [16]byte
	binary.BigEndian.PutUint64(key[:], id.Ms)
	binary.BigEndian.PutUint64(key[8:], id.Seq)
	if c.keys++; c.keys > 1 {
		c.part(common(&c.bytes, &key))
	}
	c.last, c.bytes = id, key
}

// part closes what hangs below the place where the next key parts from the last, and
// makes a fork there.
func (c *radixCount) part(same int8) {
	for below := int8(16); ; c.depth-- {
		at := int8(-1)
		if c.depth > 0 {
			at = c.stack[c.depth]
		}
		if at <= same {
			c.nodes += run(same, below)
			if at < same {
				c.depth++
				c.stack[c.depth] = same
				c.nodes++ // the new fork
			}
			return
		}
		c.nodes += run(at, below)
		below = at
	}
}

// total returns the number of nodes if no key follows.
func (c *radixCount) total() int {
	if c.keys == 0 {
		return 1
	}
	nodes, below := c.nodes+c.keys, int8(16)
	for _, at := range slices.Backward(c.stack[1 : c.depth+1]) {
		nodes += run(at, below)
		below = at
	}
	if below > 0 {
		nodes++ // the run from the root
	}
	return nodes
}

// run counts the node that leads from a fork at one depth down to what is at another:
// the fork's own edge is one byte, what is left is a run.
func run(fork, below int8) int {
	if below > fork+1 {
		return 1
	}
	return 0
}

// common returns how many bytes two keys share from the front.
func common(a, b *[16]byte) int8 {
	n := int8(0)
	for n < 16 && a[n] == b[n] {
		n++
	}
	return n
}

package stream

import "encoding/binary"

// RadixNodes returns how many nodes the radix tree has in which Redis keeps the nodes of
// the stream, by their first IDs: XINFO tells it. It takes time for each node.
//
// Redis' tree is compressed: a run of bytes without a branch is one node. With k keys of
// 16 bytes it has k leaves, a node for every place where keys part, and one for every run
// between those, the root and the leaves. Keys come in order, so the places where they part
// are seen from neighbours: they are a stack of depths that the next key cuts down to
// where it parts from the last.
func (s *Stream) RadixNodes() int {
	var stack [17]int8 // depths in bytes of the forks on the way to the last key, the first is no fork but the root
	depth := 0         // forks on the stack
	nodes, keys := 0, 0
	var last [16]byte
	for p := (place{}); s.blocks.has(p); p = s.blocks.next(p) {
		l := s.blocks.at(p)
		if l.val.part {
			continue
		}
		var key [16]byte
		binary.BigEndian.PutUint64(key[:], l.key.Ms)
		binary.BigEndian.PutUint64(key[8:], l.key.Seq)
		if keys++; keys > 1 {
			same := common(&last, &key)
			for below := int8(16); ; depth-- { // close what hangs below the fork
				at := int8(-1)
				if depth > 0 {
					at = stack[depth]
				}
				if at <= same {
					nodes += run(same, below)
					if at < same {
						depth++
						stack[depth] = same
						nodes++ // the new fork
					}
					break
				}
				nodes += run(at, below)
				below = at
			}
		}
		last = key
	}
	if keys == 0 {
		return 1
	}
	below := int8(16)
	for ; depth > 0; depth-- {
		nodes += run(stack[depth], below)
		below = stack[depth]
	}
	if below > 0 {
		nodes++ // the run from the root
	}
	return nodes + keys
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

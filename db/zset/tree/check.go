package tree

import (
	"bytes"
	"fmt"
)

// Check verifies the whole tree: order, counts, separators, owners, sizes. It takes
// time in proportion to the tree.
func (t *Tree) Check() error {
	c := checker{t: t, size: treeSize}
	if err := c.node(t.root); err != nil {
		return err
	}
	if c.n != t.n {
		return fmt.Errorf("tree: %d entries, but it says %d", c.n, t.n)
	}
	if c.size != t.size {
		return fmt.Errorf("tree: %d bytes, but it says %d", c.size, t.size)
	}
	return nil
}

type checker struct {
	t      *Tree
	n      int
	size   int64
	seen   bool
	score  float64 // the entry before
	member []byte
}

func (c *checker) node(n *node) error {
	if len(n.kids) != len(n.counts) || len(n.kids) != len(n.scores) || len(n.kids) > fan {
		return fmt.Errorf("tree: node of %d, %d, %d", len(n.kids), len(n.counts), len(n.scores))
	}
	if n != c.t.root && len(n.kids) == 0 {
		return fmt.Errorf("tree: an empty node")
	}
	c.size += n.size()
	for i := range n.kids {
		k, was := &n.kids[i], c.n
		if i > 0 && !above(n.scores[i], k.sep, c.score, c.member) {
			return fmt.Errorf("tree: separator (%v, %.40q) is not above (%v, %.40q)", n.scores[i], k.sep, c.score, c.member)
		}
		low := len(n.kids[i].sep)
		var err error
		if n.level == 0 {
			err = c.leaf(&k.leaf, i > 0, n.scores[i], k.sep)
		} else if k.node.level != n.level-1 || i > 0 && low < 0 {
			err = fmt.Errorf("tree: level %d below %d", k.node.level, n.level)
		} else {
			err = c.node(k.node)
		}
		if err != nil {
			return err
		}
		if c.n-was != n.counts[i] {
			return fmt.Errorf("tree: %d entries below, counted %d", c.n-was, n.counts[i])
		}
	}
	return nil
}

// above reports whether pair a is above pair b.
func above(aScore float64, a []byte, bScore float64, b []byte) bool {
	return aScore > bScore || aScore == bScore && bytes.Compare(a, b) > 0
}

func (c *checker) leaf(l *leaf, bounded bool, score float64, sep []byte) error {
	if err := l.check(); err != nil {
		return err
	}
	c.size += l.size()
	for i := range l.len() {
		s, m := l.score(i), l.member(i)
		if c.seen && !above(s, m, c.score, c.member) {
			return fmt.Errorf("tree: (%v, %.40q) behind (%v, %.40q)", s, m, c.score, c.member)
		}
		if bounded && above(score, sep, s, m) {
			return fmt.Errorf("tree: (%v, %.40q) below its separator (%v, %.40q)", s, m, score, sep)
		}
		c.seen, c.score, c.member = true, s, m
		c.n++
	}
	return nil
}

// check verifies a block on its own: any bytes may be given to it.
func (l *leaf) check() error {
	if len(l.b) < headSize || len(l.b) > maxBlock {
		return fmt.Errorf("tree: block of %d bytes", len(l.b))
	}
	n, top := l.len(), l.top()
	if n == 0 || headSize+n*slotSize > top || top > len(l.b) {
		return fmt.Errorf("tree: block of %d entries, members from %d", n, top)
	}
	used, long := 0, 0
	for i := range n {
		cost, err := l.checkMember(i)
		if err != nil {
			return err
		}
		used += cost
		if len(l.member(i)) > MaxInline {
			long++
		}
	}
	if used+l.dead() != len(l.b)-top {
		return fmt.Errorf("tree: members of %d bytes and %d dead are not %d", used, l.dead(), len(l.b)-top)
	}
	for _, m := range l.long {
		if m != nil {
			long--
		}
	}
	if long != 0 {
		return fmt.Errorf("tree: %d long members too few", long)
	}
	return nil
}

// checkMember verifies that the bytes of member i are within the block.
func (l *leaf) checkMember(i int) (cost int, err error) {
	at := l.offset(i)
	if s := l.score(i); s != s {
		return 0, fmt.Errorf("tree: a score that is no number")
	}
	if at < l.top() || at >= len(l.b) {
		return 0, fmt.Errorf("tree: member at %d", at)
	}
	m := l.b[at:]
	n := int(m[0])
	if n < 0x80 {
		cost = 1 + n
	} else if len(m) < 2 {
		return 0, fmt.Errorf("tree: member cut off")
	} else if n = int(m[0]&0x7f) | int(m[1])<<7; n > MaxInline {
		cost = 2
		if k := n - MaxInline - 1; k >= len(l.long) || len(l.long[k]) <= MaxInline {
			return 0, fmt.Errorf("tree: no long member %d", k)
		}
	} else if n < 0x80 {
		return 0, fmt.Errorf("tree: length %d in two bytes", n)
	} else {
		cost = 2 + n
	}
	if cost > len(m) {
		return 0, fmt.Errorf("tree: member of %d bytes at %d of %d", n, at, len(l.b))
	}
	return cost, nil
}

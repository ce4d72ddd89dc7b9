package tree

import (
	"bytes"
	"slices"
)

// fan is how many children a node has at most: a bit of mine for each.
const fan = 64

// node is an inner node. Its slices have an element for each child.
type node struct {
	owner  *owner
	level  int       // 0: the children are leaves
	mine   uint64    // at level 0: which leaves belong to this node alone
	counts []int     // entries below each child
	scores []float64 // scores and kids[i].sep are the separators
	kids   []child
}

// child is a leaf, or a node, with the member of the separator in front of it. The
// bytes of sep are never written to.
type child struct {
	sep  []byte
	node *node
	leaf leaf
}

const (
	nodeSize  = 96 // a node without its slices
	childSize = 8 + 8 + 80
)

// size is what the node takes, what is below it not counted.
func (n *node) size() int64 {
	s := int64(nodeSize + childSize*cap(n.kids))
	for i := range n.kids {
		s += int64(len(n.kids[i].sep))
	}
	return s
}

// child returns the child in which b is: the last whose separator is before b, or the
// first.
func (n *node) child(b *Bound) int {
	lo, hi := 0, len(n.scores)
	if b.lexical() {
		for lo+1 < hi {
			if mid := (lo + hi) / 2; b.tie(n.kids[mid].sep) {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo
	}
	scores := n.scores
	for lo+1 < hi {
		mid := int(uint(lo+hi) / 2)
		if s := scores[mid]; s < b.score || s == b.score && b.tieAtSeparator(n.kids[mid].sep) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// tieAtSeparator is tie for a separator: an entry equal to one is behind it.
func (b *Bound) tieAtSeparator(sep []byte) bool {
	return b.kind == behindScore || bytes.Compare(sep, b.member) <= 0
}

// sum is how many entries there are below.
func (n *node) sum() (sum int) {
	for _, c := range n.counts {
		sum += c
	}
	return sum
}

// own returns n, or a copy of it that belongs to t.
func (t *Tree) own(n *node) *node {
	if n.owner == t.owner.Load() {
		return n
	}
	c := &node{owner: t.owner.Load(), level: n.level}
	c.append(n, 0, len(n.kids))
	t.size += c.size() - n.size()
	return c
}

// ownRoot is own of the root, ownKid that of a child of n, ownLeaf of a leaf below n.
func (t *Tree) ownRoot() *node {
	t.root = t.own(t.root)
	return t.root
}

func (t *Tree) ownKid(n *node, i int) *node {
	n.kids[i].node = t.own(n.kids[i].node)
	return n.kids[i].node
}

func (t *Tree) ownLeaf(n *node, i int) *leaf {
	l := &n.kids[i].leaf
	if n.mine>>i&1 == 0 {
		l.b = bytes.Clone(l.b)
		l.long = slices.Clone(l.long)
		n.mine |= 1 << i
	}
	return l
}

// append adds the children of src from i to before j. Leaves that src owns are
// owned by n from then on if src is to be forgotten: see absorb.
func (n *node) append(src *node, i, j int) {
	need := len(n.kids) + j - i
	if cap(n.kids) < need {
		n.grow(need)
	}
	n.counts = append(n.counts, src.counts[i:j]...)
	n.scores = append(n.scores, src.scores[i:j]...)
	n.kids = append(n.kids, src.kids[i:j]...)
}

// grow gives the slices room for need children, and some.
func (n *node) grow(need int) {
	room := min(fan, (need+7)&^7)
	n.counts = append(make([]int, 0, room), n.counts...)
	n.scores = append(make([]float64, 0, room), n.scores...)
	n.kids = append(make([]child, 0, room), n.kids...)
}

// absorb is append of children that src will have no longer.
func (n *node) absorb(src *node, i, j int) {
	bits := src.mine >> i & (1<<(j-i) - 1)
	n.mine |= bits << len(n.kids)
	n.append(src, i, j)
}

// insertChild puts a child at i, with its separator. There must be fewer than fan.
// Leaves belong to n.
func (n *node) insertChild(i, count int, score float64, c child) {
	if len(n.kids) == cap(n.kids) {
		n.grow(len(n.kids) + 1)
	}
	n.counts = slices.Insert(n.counts, i, count)
	n.scores = slices.Insert(n.scores, i, score)
	n.kids = slices.Insert(n.kids, i, c)
	low := n.mine & (1<<i - 1)
	n.mine = low | 1<<i | (n.mine-low)<<1
}

// removeChildren takes the children from i to before j away.
func (n *node) removeChildren(i, j int) {
	n.counts = slices.Delete(n.counts, i, j)
	n.scores = slices.Delete(n.scores, i, j)
	n.kids = slices.Delete(n.kids, i, j)
	low := n.mine & (1<<i - 1)
	n.mine = low | n.mine>>j<<i
}

// separator returns the shortest pair above the last entry of left and not above the
// first of right.
func separator(left, right *leaf) (float64, []byte) {
	last := left.len() - 1
	score, m := right.score(0), right.member(0)
	if left.score(last) != score {
		return score, nil
	}
	same := common(left.member(last), m) + 1
	if len(m) > MaxInline {
		return score, m[:same:same]
	}
	return score, bytes.Clone(m[:same])
}

// common is the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

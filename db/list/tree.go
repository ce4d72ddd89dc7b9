package list

import "slices"

// A tree keeps the inner blocks of a large list in order: a B-tree without keys
// whose nodes count the elements below each of their children, so that the
// block of an index is found from the root down. All blocks are at the same
// depth. Nodes are shared between clones and copied before they change, as
// blocks are.
//
// A node that overflows is halved, but at the ends of the tree it is left full
// and a new one begun beside it: that is where lists grow. One that is left with
// few children is joined with its neighbour if both fit well into one.
type tree struct {
	root  *node // nil if there is no block
	n     int   // elements
	nodes int
}

const (
	// fan is how many children a node has at most.
	fan = 64
	// maxDepth is more than a tree can have of nodes with two children.
	maxDepth = 32
	// nodeSelf is the size of a node with its children's counts and pointers.
	nodeSelf = 80 + 16*fan
)

// node has kids, or at the lowest level blocks, and the number of elements in
// each.
type node struct {
	owner  *owner
	counts []int
	kids   []*node
	blocks []*block
}

// path leads from the root to a block: a node of each level and the child taken.
type path struct {
	nodes [maxDepth]*node
	at    [maxDepth]uint8
	depth int
}

func newNode(o *owner, lowest bool) *node {
	n := &node{owner: o, counts: make([]int, 0, fan)}
	if lowest {
		n.blocks = make([]*block, 0, fan)
	} else {
		n.kids = make([]*node, 0, fan)
	}
	return n
}

// own returns the node itself if o owns it, else a copy that it does.
func (n *node) own(o *owner) *node {
	if n.owner == o {
		return n
	}
	c := newNode(o, n.kids == nil)
	c.counts = append(c.counts, n.counts...)
	c.blocks = append(c.blocks, n.blocks...)
	c.kids = append(c.kids, n.kids...)
	return c
}

func (n *node) total() (sum int) {
	for _, c := range n.counts {
		sum += c
	}
	return sum
}

// insert puts a child, a node or a block, at index i.
func (n *node) insert(i, count int, kid *node, b *block) {
	n.counts = slices.Insert(n.counts, i, count)
	if b != nil {
		n.blocks = slices.Insert(n.blocks, i, b)
	} else {
		n.kids = slices.Insert(n.kids, i, kid)
	}
}

// remove takes the child at index i out.
func (n *node) remove(i int) {
	n.counts = slices.Delete(n.counts, i, i+1)
	if n.kids == nil {
		n.blocks = slices.Delete(n.blocks, i, i+1)
	} else {
		n.kids = slices.Delete(n.kids, i, i+1)
	}
}

// split moves the upper part of a full node into a new one, which belongs right
// behind it, and returns where a child for index i goes.
func (n *node) split(o *owner, i int) (right, into *node, at int) {
	keep := fan / 2
	switch i {
	case 0:
		keep = 0
	case fan:
		keep = fan
	}
	right = newNode(o, n.kids == nil)
	right.counts = append(right.counts, n.counts[keep:]...)
	n.counts = n.counts[:keep]
	if n.kids == nil {
		right.blocks = append(right.blocks, n.blocks[keep:]...)
		clear(n.blocks[keep:])
		n.blocks = n.blocks[:keep]
	} else {
		right.kids = append(right.kids, n.kids[keep:]...)
		clear(n.kids[keep:])
		n.kids = n.kids[:keep]
	}
	if i > keep || i == fan {
		return right, right, i - keep
	}
	return right, n, i
}

// find returns the block that element i is in, and its index there.
func (t *tree) find(i int) (*block, int) {
	n := t.root
	for {
		j := 0
		for i >= n.counts[j] {
			i -= n.counts[j]
			j++
		}
		if n.kids == nil {
			return n.blocks[j], i
		}
		n = n.kids[j]
	}
}

// walk is find that keeps the way it took.
func (t *tree) walk(i int, p *path) (*block, int) {
	n := t.root
	for p.depth = 0; ; p.depth++ {
		j := 0
		for i >= n.counts[j] {
			i -= n.counts[j]
			j++
		}
		p.nodes[p.depth], p.at[p.depth] = n, uint8(j)
		if n.kids == nil {
			p.depth++
			return n.blocks[j], i
		}
		n = n.kids[j]
	}
}

// reach is walk through nodes that o owns.
func (t *tree) reach(o *owner, i int, p *path) (*block, int) {
	b, k := t.walk(i, p)
	for d := range p.depth {
		n := p.nodes[d]
		if n.owner == o {
			continue
		}
		n = n.own(o)
		p.nodes[d] = n
		if d == 0 {
			t.root = n
		} else {
			p.nodes[d-1].kids[p.at[d-1]] = n
		}
	}
	return b, k
}

// put replaces the block that p leads to, whose count changes by delta.
func (t *tree) put(p *path, b *block, delta int) {
	last := p.depth - 1
	p.nodes[last].blocks[p.at[last]] = b
	for d := range p.depth {
		p.nodes[d].counts[p.at[d]] += delta
	}
	t.n += delta
}

// insert puts a block into the lowest node of p, at index at.
func (t *tree) insert(o *owner, p *path, at int, b *block) {
	n, more := p.nodes[p.depth-1], (*node)(nil)
	if len(n.counts) == fan {
		more, n, at = n.split(o, at)
		t.nodes++
	}
	n.insert(at, int(b.n), nil, b)
	t.n += int(b.n)
	for d := p.depth - 2; d >= 0; d-- {
		n, j := p.nodes[d], int(p.at[d])
		n.counts[j] = n.kids[j].total()
		if more == nil {
			continue
		}
		kid, at := more, j+1
		if more = nil; len(n.counts) == fan {
			more, n, at = n.split(o, at)
			t.nodes++
		}
		n.insert(at, kid.total(), kid, nil)
	}
	if more != nil {
		root := newNode(o, false)
		root.insert(0, t.root.total(), t.root, nil)
		root.insert(1, more.total(), more, nil)
		t.root = root
		t.nodes++
	}
}

// first puts the first block into an empty tree.
func (t *tree) first(o *owner, b *block) {
	t.root = newNode(o, true)
	t.root.insert(0, int(b.n), nil, b)
	t.n, t.nodes = int(b.n), 1
}

// pushLeft and pushRight put a block at an end.
func (t *tree) pushLeft(o *owner, b *block) {
	if t.root == nil {
		t.first(o, b)
		return
	}
	var p path
	t.reach(o, 0, &p)
	t.insert(o, &p, 0, b)
}

func (t *tree) pushRight(o *owner, b *block) {
	if t.root == nil {
		t.first(o, b)
		return
	}
	var p path
	t.reach(o, t.n-1, &p)
	t.insert(o, &p, len(p.nodes[p.depth-1].counts), b)
}

// insertBehind puts a block behind the one that element i is in.
func (t *tree) insertBehind(o *owner, i int, b *block) {
	var p path
	t.reach(o, i, &p)
	t.insert(o, &p, int(p.at[p.depth-1])+1, b)
}

// popLeft and popRight take the block at an end out, nil if there is none.
func (t *tree) popLeft(o *owner) *block {
	if t.root == nil {
		return nil
	}
	var p path
	b, _ := t.reach(o, 0, &p)
	t.remove(o, &p)
	return b
}

func (t *tree) popRight(o *owner) *block {
	if t.root == nil {
		return nil
	}
	var p path
	b, _ := t.reach(o, t.n-1, &p)
	t.remove(o, &p)
	return b
}

// remove takes the block that p leads to out.
func (t *tree) remove(o *owner, p *path) {
	d := p.depth - 1
	n, j := p.nodes[d], int(p.at[d])
	t.n -= n.counts[j]
	n.remove(j)
	for d--; d >= 0; d-- {
		parent, j := p.nodes[d], int(p.at[d])
		kid := parent.kids[j]
		if len(kid.counts) == 0 {
			parent.remove(j)
			t.nodes--
			continue
		}
		parent.counts[j] = kid.total()
		if len(kid.counts) < fan/4 {
			t.join(o, parent, j)
		}
	}
	for len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
		t.nodes--
	}
	if len(t.root.counts) == 0 {
		t.root = nil
		t.nodes--
	}
}

// join makes one node of child i and a neighbour if they fit well into it.
func (t *tree) join(o *owner, parent *node, i int) {
	if i+1 == len(parent.kids) {
		i--
	}
	if i < 0 {
		return
	}
	left, right := parent.kids[i], parent.kids[i+1]
	if len(left.counts)+len(right.counts) > fan*3/4 {
		return
	}
	left = left.own(o)
	left.counts = append(left.counts, right.counts...)
	left.blocks = append(left.blocks, right.blocks...)
	left.kids = append(left.kids, right.kids...)
	parent.kids[i] = left
	parent.counts[i] += parent.counts[i+1]
	parent.remove(i + 1)
	t.nodes--
}

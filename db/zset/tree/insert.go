package tree

// maxHeight bounds the levels of nodes: each but the root has 16 children at least,
// most of the time.
const maxHeight = 12

// path is the way from the root to a leaf: the node of each level, and which of
// its children is next. The last is the node above the leaf.
type path struct {
	step [maxHeight]step
	n    int
}

type step struct {
	n *node
	i int
}

func (p *path) add(n *node, i int) {
	p.step[p.n] = step{n, i}
	p.n++
}

func (p *path) last() *step { return &p.step[p.n-1] }

// count adds delta to the number of entries below each step.
func (p *path) count(delta int) {
	for k := range p.step[:p.n] {
		s := &p.step[k]
		s.n.counts[s.i] += delta
	}
}

// descend goes to the leaf in which b is and makes all nodes on the way t's own, but
// not the leaf.
func (t *Tree) descend(p *path, b *Bound) {
	for n := t.ownRoot(); ; {
		i := n.child(b)
		p.add(n, i)
		if n.level == 0 {
			return
		}
		n = t.ownKid(n, i)
	}
}

// Insert adds an entry; false if it is there already. score must not be NaN.
// The member is copied, or kept if it is longer than MaxInline.
func (t *Tree) Insert(score float64, member []byte) bool {
	if t.n == 0 {
		t.first(score, member)
		return true
	}
	b := At(score, member)
	var p path
	t.descend(&p, &b)
	s := p.last()
	l := &s.n.kids[s.i].leaf
	i := l.search(&b)
	if l.holds(i, score, member) {
		return false
	}
	l = t.ownLeaf(s.n, s.i)
	if !t.makeRoom(l, entryCost(member)) {
		t.split(&p, i, score, member)
		return true
	}
	t.put(l, i, score, member)
	p.count(1)
	t.n++
	return true
}

// put inserts an entry into a leaf that has room.
func (t *Tree) put(l *leaf, i int, score float64, member []byte) {
	l.insert(i, score, member)
	if len(member) > MaxInline {
		t.size += longSize
	}
}

// first makes the leaf of a tree that has none.
func (t *Tree) first(score float64, member []byte) {
	n := t.ownRoot()
	before := n.size()
	l := newLeaf(blockSize(headSize + entryCost(member)))
	n.insertChild(0, 1, score, child{leaf: l})
	t.put(&n.kids[0].leaf, 0, score, member)
	t.size += n.size() - before + int64(len(l.b))
	t.n = 1
}

// makeRoom gives a leaf a block with room for need bytes more; false if it must split.
// A leaf whose entries come and go is given an eighth to spare, or it would be
// made anew for each of them.
func (t *Tree) makeRoom(l *leaf, need int) bool {
	if l.free() >= need {
		return true
	}
	live := l.live() + need
	if l.dead() > 0 {
		live += live / 8
	}
	if live > maxBlock {
		return false
	}
	t.rebuild(l, blockSize(live))
	return true
}

// rebuild moves the entries of a leaf to a new block.
func (t *Tree) rebuild(l *leaf, size int) {
	fresh := newLeaf(size)
	fresh.appendAll(l, 0, l.len())
	t.size += int64(len(fresh.b) - len(l.b))
	*l = fresh
}

// split makes two leaves of the one at the end of p, or opens a new one beside it
// where entries come in order, and inserts the entry that should be its i-th.
func (t *Tree) split(p *path, i int, score float64, member []byte) {
	s := *p.last()
	old := s.n.kids[s.i].leaf
	n := old.len()
	at := old.middle()
	switch {
	case i == n && t.atEdge(p, 1):
		at = n
	case i == 0 && t.atEdge(p, -1):
		at = 0
	}
	room := entryCost(member)
	left, right := old, old
	switch {
	case at == n:
		right = newLeaf(blockSize(headSize + room))
	case at == 0:
		left = newLeaf(blockSize(headSize + room))
	default:
		left, right = copyOf(&old, 0, at, room), copyOf(&old, at, n, room)
	}
	leftHalf := i < at || at == 0 || i == at && at < n && t.lean(&left, &right)
	into := &right
	if leftHalf {
		into = &left
	} else {
		i -= at
	}
	t.size += int64(len(left.b) + len(right.b) - len(old.b))
	t.put(into, i, score, member)
	t.n++
	for k := range p.step[:p.n-1] {
		p.step[k].n.counts[p.step[k].i]++
	}
	s.n.kids[s.i].leaf, s.n.counts[s.i] = left, left.len()
	sepScore, sep := separator(&left, &right)
	t.addChild(p, right.len(), sepScore, child{sep: sep, leaf: right})
}

// lean reports whether an entry between two leaves should go to the left one.
func (t *Tree) lean(left, right *leaf) bool { return left.live() < right.live() }

// middle is where the leaf splits into halves of about as many bytes.
func (l *leaf) middle() int {
	half, n := (l.live()-headSize)/2, l.len()
	sum := 0
	for i := range n {
		sum += entryCost(l.member(i))
		if sum >= half {
			return min(max(i, 1), n-1)
		}
	}
	return n - 1
}

// atEdge reports whether p leads to the last leaf (side 1) or the first (side -1).
func (t *Tree) atEdge(p *path, side int) bool {
	for _, s := range p.step[:p.n] {
		if side < 0 && s.i > 0 || side > 0 && s.i < len(s.n.kids)-1 {
			return false
		}
	}
	return true
}

// addChild puts c behind the child that p leads to, splitting nodes that are full. The
// counts above are right already.
func (t *Tree) addChild(p *path, count int, score float64, c child) {
	for k := p.n - 1; k >= 0; k-- {
		n, i := p.step[k].n, p.step[k].i+1
		before := n.size()
		if len(n.kids) < fan {
			n.insertChild(i, count, score, c)
			t.size += n.size() - before
			return
		}
		at := fan / 2
		if i == fan {
			at = fan - 1 // children come in order
		}
		right := &node{owner: t.owner.Load(), level: n.level}
		right.absorb(n, at, fan)
		n.removeChildren(at, fan)
		if i < at {
			n.insertChild(i, count, score, c)
		} else {
			right.insertChild(i-at, count, score, c)
		}
		t.size += n.size() + right.size() - before
		score, c = right.scores[0], child{sep: right.kids[0].sep, node: right}
		count = right.sum()
		if k > 0 {
			p.step[k-1].n.counts[p.step[k-1].i] -= count
			continue
		}
		t.raise(n, count, score, c)
	}
}

// raise puts a new root above the old one and its new neighbour.
func (t *Tree) raise(left *node, count int, score float64, right child) {
	root := &node{owner: t.owner.Load(), level: left.level + 1}
	root.insertChild(0, left.sum(), 0, child{node: left})
	root.insertChild(1, count, score, right)
	t.size += root.size()
	t.root = root
}

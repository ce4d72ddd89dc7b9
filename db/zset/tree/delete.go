package tree

// A leaf below minLive bytes joins a neighbour if both fit into maxJoined, and a node
// below minFan children one with which it has maxJoinedFan at most. So neighbours
// are together more than half full, and what was just joined does not split at once.
const (
	minLive      = maxBlock / 4
	maxJoined    = maxBlock * 3 / 4
	minFan       = fan / 4
	maxJoinedFan = fan * 3 / 4
)

// Delete removes an entry; false if it is not there.
func (t *Tree) Delete(score float64, member []byte) bool {
	if t.n == 0 {
		return false
	}
	b := At(score, member)
	var p path
	t.descend(&p, &b)
	s := p.last()
	l := &s.n.kids[s.i].leaf
	i := l.search(&b)
	if !l.holds(i, score, member) {
		return false
	}
	t.cut(&p, i, i+1)
	return true
}

// DeleteRange removes the entries of rank from to before to, and calls fn, unless it is
// nil, with each before it goes. The bytes given to fn are valid until it returns.
func (t *Tree) DeleteRange(from, to int, fn func(score float64, member []byte)) {
	from, to = max(from, 0), min(to, t.n)
	for from < to {
		var p path
		i := t.descendTo(&p, from)
		s := p.last()
		l := &s.n.kids[s.i].leaf
		j := min(l.len(), i+to-from)
		for k := i; k < j && fn != nil; k++ {
			fn(l.score(k), l.member(k))
		}
		t.cut(&p, i, j)
		to -= j - i
	}
}

// descendTo is descend to the entry of a rank; it returns its index in the leaf.
func (t *Tree) descendTo(p *path, rank int) int {
	for n := t.ownRoot(); ; {
		i := 0
		for rank >= n.counts[i] {
			rank -= n.counts[i]
			i++
		}
		p.add(n, i)
		if n.level == 0 {
			return rank
		}
		n = t.ownKid(n, i)
	}
}

// Move gives an entry another score; false if it is not there. A small change, which
// leaves the entry in its leaf, costs less than Delete and Insert.
func (t *Tree) Move(score float64, member []byte, to float64) bool {
	if t.n == 0 {
		return false
	}
	b := At(score, member)
	var p path
	t.descend(&p, &b)
	s := p.last()
	l := &s.n.kids[s.i].leaf
	i := l.search(&b)
	if !l.holds(i, score, member) {
		return false
	}
	b.score = to
	if j, ok := l.target(i, &b); ok {
		t.ownLeaf(s.n, s.i).move(i, j, to)
		return true
	}
	kept := member
	if len(member) > MaxInline {
		kept = l.member(i) // stays valid: it is beside the block
	}
	t.cut(&p, i, i+1)
	return t.Insert(to, kept)
}

// target returns where entry i belongs when it becomes b, if that is within the leaf
// for certain: between two of its other entries, for separators are not looked at.
func (l *leaf) target(i int, b *Bound) (int, bool) {
	n := l.len()
	j := l.search(b)
	if j > i {
		j-- // entry i itself is among those before
	}
	return j, j > 0 && j < n-1
}

// cut removes the entries from i to before j of the leaf at the end of p, and joins what
// became small.
func (t *Tree) cut(p *path, i, j int) {
	s := p.last()
	p.count(i - j)
	t.n -= j - i
	l := &s.n.kids[s.i].leaf
	if l.len() == j-i {
		t.size -= l.size()
		t.removeChild(p)
		return
	}
	l = t.ownLeaf(s.n, s.i)
	t.size -= l.remove(i, j)
	live := l.live()
	if live < minLive && t.joinLeaf(s) {
		t.joinNodes(p)
		return
	}
	if size := blockSize(live + live/4); size <= len(l.b)/2 {
		t.rebuild(l, size)
	}
}

// removeChild takes the child at the end of p away, and nodes that have none then.
func (t *Tree) removeChild(p *path) {
	for k := p.n - 1; k >= 0; k-- {
		n, i := p.step[k].n, p.step[k].i
		t.size -= n.size()
		if len(n.kids) > 1 || k == 0 {
			n.removeChildren(i, i+1)
			t.size += n.size()
			p.n = k + 1
			break
		}
	}
	t.joinNodes(p)
}

// joinLeaf joins the leaf at s with a neighbour if they fit; it reports whether.
func (t *Tree) joinLeaf(s *step) bool {
	n, i := s.n, s.i
	live := n.kids[i].leaf.live()
	switch {
	case i+1 < len(n.kids) && live+n.kids[i+1].leaf.live() <= maxJoined:
	case i > 0 && live+n.kids[i-1].leaf.live() <= maxJoined:
		i--
	default:
		return false
	}
	before := n.size()
	left, right := &n.kids[i].leaf, &n.kids[i+1].leaf
	sizes := len(left.b) + len(right.b)
	joined := newLeaf(blockSize(left.live() + right.live()))
	joined.appendAll(left, 0, left.len())
	joined.appendAll(right, 0, right.len())
	t.size += int64(len(joined.b) - sizes)
	n.kids[i].leaf = joined
	n.mine |= 1 << i
	n.counts[i] += n.counts[i+1]
	n.removeChildren(i+1, i+2)
	t.size += n.size() - before
	return true
}

// joinNodes joins nodes on p, from below, that have few children, and takes roots
// away that have only one.
func (t *Tree) joinNodes(p *path) {
	for k := p.n - 1; k > 0; k-- {
		if len(p.step[k].n.kids) >= minFan || !t.joinNode(&p.step[k-1]) {
			break
		}
	}
	t.lowerRoot()
	if t.root.level > 0 && len(t.root.kids) == 0 {
		t.size -= t.root.size()
		t.root = &node{owner: t.owner.Load()}
		t.size += t.root.size()
	}
}

// lowerRoot takes roots away that have only one child.
func (t *Tree) lowerRoot() {
	for t.root.level > 0 && len(t.root.kids) == 1 {
		t.size -= t.root.size()
		t.root = t.root.kids[0].node
	}
}

// joinNode joins the child at s with a neighbour if they fit; it reports whether.
func (t *Tree) joinNode(s *step) bool {
	n, i := s.n, s.i
	few := len(n.kids[i].node.kids)
	switch {
	case i+1 < len(n.kids) && few+len(n.kids[i+1].node.kids) <= maxJoinedFan:
	case i > 0 && few+len(n.kids[i-1].node.kids) <= maxJoinedFan:
		i--
	default:
		return false
	}
	left, right := t.ownKid(n, i), t.ownKid(n, i+1)
	t.size -= left.size() + right.size() + n.size()
	right.scores[0], right.kids[0].sep = n.scores[i+1], n.kids[i+1].sep
	left.absorb(right, 0, len(right.kids))
	n.counts[i] += n.counts[i+1]
	n.removeChildren(i+1, i+2)
	t.size += left.size() + n.size()
	return true
}

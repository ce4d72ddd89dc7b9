package tree

// Cutting a range out. What is within is not looked at: nodes whose entries all go are
// unlinked as they are, and only the two leaves at the ends are changed. The time
// goes by the number of leaves, with some nanoseconds for each, as memory is counted.
//
// The leaves are handed to the caller, who may have more to do for each entry, in his own
// time: see Rest.

// Rest is entries that were cut out of a tree. It is a value: a copy is independent.
// The zero value has none.
type Rest struct {
	leaves []leaf // never written to
	last   int    // entries left in the last one; the others are whole
	n      int
	size   int64
}

// Len returns how many entries are left.
func (r *Rest) Len() int { return r.n }

// MemSize returns the bytes that it takes.
func (r *Rest) MemSize() int64 { return r.size }

// leafSize is what a leaf takes in a Rest, beside its block.
const leafSize = 48

// Pop takes an entry out; false if there is none. The member is valid as long as r,
// or a copy from before, is kept.
func (r *Rest) Pop() (score float64, member []byte, ok bool) {
	if r.n == 0 {
		return 0, nil, false
	}
	l := &r.leaves[len(r.leaves)-1]
	r.n--
	r.last--
	score, member = l.score(r.last), l.member(r.last)
	if r.last == 0 {
		r.size -= l.size() + leafSize
		r.leaves = r.leaves[:len(r.leaves)-1]
		if r.n > 0 {
			r.last = r.leaves[len(r.leaves)-1].len()
		}
	}
	return score, member, true
}

// Join returns the entries of r and of more.
func (r *Rest) Join(more Rest) Rest {
	switch {
	case r.n == 0:
		return more
	case more.n == 0:
		return *r
	}
	last := &r.leaves[len(r.leaves)-1] // it must be whole: only the last one need not be
	list := append(make([]leaf, 0, len(r.leaves)+len(more.leaves)), r.leaves...)
	sum := Rest{last: more.last, n: r.n + more.n, size: r.size + more.size}
	if r.last < last.len() {
		c := copyOf(last, 0, r.last, 0)
		sum.size += c.size() - last.size()
		list[len(list)-1] = c
	}
	sum.leaves = append(list, more.leaves...)
	return sum
}

// Cut removes the entries of rank from to before to and returns them.
func (t *Tree) Cut(from, to int) (out Rest) {
	from, to = max(from, 0), min(to, t.n)
	switch {
	case from >= to:
		return out
	case to-from == t.n:
		t.unlink(t.root, &out)
		t.root = &node{owner: t.owner.Load()}
		t.size += t.root.size()
	default:
		t.cutNode(t.ownRoot(), from, to, &out)
	}
	t.n -= to - from
	out.n = to - from
	out.last = out.leaves[len(out.leaves)-1].len()
	for _, at := range [...]int{from - 1, from} {
		if at >= 0 && at < t.n {
			t.mend(at)
		}
	}
	return out
}

// cutNode is Cut below a node of t's own, which keeps some entries.
func (t *Tree) cutNode(n *node, from, to int, out *Rest) {
	t.size -= n.size()
	first, last := 0, 0 // the children that go
	at := 0
	for i := range n.kids {
		end := at + n.counts[i]
		a, b := max(from, at)-at, min(to, end)-at
		switch {
		case a >= b:
		case b-a == n.counts[i]:
			if first == last {
				first = i
			}
			last = i + 1
			if n.level == 0 {
				t.size -= n.kids[i].leaf.size()
				out.add(n.kids[i].leaf)
			} else {
				t.unlink(n.kids[i].node, out)
			}
		case n.level == 0:
			t.cutLeaf(n, i, a, b, out)
			n.counts[i] -= b - a
		default:
			t.cutNode(t.ownKid(n, i), a, b, out)
			n.counts[i] -= b - a
		}
		at = end
	}
	if first < last {
		n.removeChildren(first, last)
	}
	t.size += n.size()
}

// cutLeaf removes some entries of a leaf.
func (t *Tree) cutLeaf(n *node, i, from, to int, out *Rest) {
	out.add(copyOf(&n.kids[i].leaf, from, to, 0))
	l := t.ownLeaf(n, i)
	t.size -= l.remove(from, to)
	live := l.live()
	if size := blockSize(live + live/4); size <= len(l.b)/2 {
		t.rebuild(l, size)
	}
}

// unlink adds the leaves below a node that leaves the tree.
func (t *Tree) unlink(n *node, out *Rest) {
	t.size -= n.size()
	for i := range n.kids {
		if n.level > 0 {
			t.unlink(n.kids[i].node, out)
			continue
		}
		t.size -= n.kids[i].leaf.size()
		out.add(n.kids[i].leaf)
	}
}

func (r *Rest) add(l leaf) {
	r.leaves = append(r.leaves, l)
	r.size += l.size() + leafSize
}

// mend joins what has become small on the way to the entry of a rank.
func (t *Tree) mend(rank int) {
	var p path
	t.descendTo(&p, rank)
	s := p.last()
	if s.n.kids[s.i].leaf.live() < minLive {
		t.joinLeaf(s)
	}
	for k := p.n - 1; k > 0; k-- {
		if len(p.step[k].n.kids) < minFan {
			t.joinNode(&p.step[k-1])
		}
	}
	t.lowerRoot()
}

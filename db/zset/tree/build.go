package tree

// Build returns a tree of the entries that next returns until it says false. They must
// come in order, each once. Leaves are filled to the brim. Members are copied, or kept,
// as Insert does.
func Build(next func() (score float64, member []byte, ok bool)) *Tree {
	t := New()
	for score, member, ok := next(); ok; score, member, ok = next() {
		t.appendEntry(score, member)
	}
	return t
}

// appendEntry adds an entry behind all others, with no search.
func (t *Tree) appendEntry(score float64, member []byte) {
	if t.n == 0 {
		t.first(score, member)
		return
	}
	var p path
	for n := t.root; ; n = n.kids[len(n.kids)-1].node {
		p.add(n, len(n.kids)-1)
		if n.level == 0 {
			break
		}
	}
	s := p.last()
	l := &s.n.kids[s.i].leaf
	if !t.makeRoom(l, entryCost(member)) {
		t.split(&p, l.len(), score, member)
		return
	}
	t.put(l, l.len(), score, member)
	p.count(1)
	t.n++
}

package members

import (
	"slices"
	"sort"
)

// pair is an instant and the hash of a member whose time comes then.
type pair struct{ at, hash uint64 }

func (p pair) less(q pair) bool { return p.at < q.at || p.at == q.at && p.hash < q.hash }

// order is a sorted sequence of pairs: leaves of up to orderFan pairs, nodes of up
// to orderFan leaves, and a root of as many nodes as it takes, some hundreds for
// ten million pairs. No leaf and no node is empty. Like a Table it is copied on
// write by owner, so that a copy of the struct is a clone if its owner gets
// another number.
type order struct {
	owner uint64 // of the root
	nodes []*orderNode
	mem   int64
}

type orderNode struct {
	owner  uint64
	n      int // pairs
	leaves []*orderLeaf
}

type orderLeaf struct {
	owner uint64
	pairs []pair
}

const (
	orderFan    = 128
	leafMem     = 32 + pointerSize
	nodeMem     = 40 + pointerSize
	pairSize    = 16
	pointerSize = 8
)

// first returns the least pair. There is one.
func (o *order) first() pair { return o.nodes[0].first() }

func (n *orderNode) first() pair { return n.leaves[0].pairs[0] }

// last returns the greatest pair. There is one.
func (o *order) last() pair { return o.nodes[len(o.nodes)-1].last() }

func (n *orderNode) last() pair { return n.leaves[len(n.leaves)-1].last() }

func (l *orderLeaf) last() pair { return l.pairs[len(l.pairs)-1] }

// upTo counts the pairs whose instant is at most at. Nodes and leaves that are due as a
// whole are not looked through.
func (o *order) upTo(at uint64) (count int) {
	for _, n := range o.nodes {
		if n.last().at <= at {
			count += n.n
			continue
		}
		for _, l := range n.leaves {
			if l.last().at <= at {
				count += len(l.pairs)
				continue
			}
			return count + sort.Search(len(l.pairs), func(i int) bool { return l.pairs[i].at > at })
		}
	}
	return count
}

// find returns where p is, or where it belongs: node, leaf, place.
func (o *order) find(p pair) (i, j, k int) {
	i = max(0, sort.Search(len(o.nodes), func(i int) bool { return p.less(o.nodes[i].first()) })-1)
	leaves := o.nodes[i].leaves
	j = max(0, sort.Search(len(leaves), func(j int) bool { return p.less(leaves[j].pairs[0]) })-1)
	pairs := leaves[j].pairs
	return i, j, sort.Search(len(pairs), func(k int) bool { return !pairs[k].less(p) })
}

// own returns a leaf as one that owner may change.
func (o *order) own(owner uint64, i, j int) (*orderNode, *orderLeaf) {
	n := o.nodes[i]
	if n.owner != owner {
		o.ownRoot(owner)
		n = &orderNode{owner, n.n, append(make([]*orderLeaf, 0, orderFan), n.leaves...)}
		o.nodes[i] = n
	}
	l := n.leaves[j]
	if l.owner != owner {
		l = &orderLeaf{owner, append(make([]pair, 0, cap(l.pairs)), l.pairs...)}
		n.leaves[j] = l
	}
	return n, l
}

// leaf makes a leaf and counts its memory.
func (o *order) leaf(owner uint64, size int, pairs ...pair) *orderLeaf {
	o.mem += leafMem + int64(size)*pairSize
	return &orderLeaf{owner, append(make([]pair, 0, size), pairs...)}
}

// drop counts the memory of a leaf that goes.
func (o *order) drop(l *orderLeaf) { o.mem -= leafMem + int64(cap(l.pairs))*pairSize }

// node makes a node and counts its memory.
func (o *order) node(owner uint64, leaves ...*orderLeaf) *orderNode {
	o.mem += nodeMem + orderFan*pointerSize
	n := &orderNode{owner: owner, leaves: append(make([]*orderLeaf, 0, orderFan), leaves...)}
	for _, l := range leaves {
		n.n += len(l.pairs)
	}
	return n
}

// ownRoot makes the root one that owner may change.
func (o *order) ownRoot(owner uint64) {
	if o.owner != owner {
		o.nodes, o.owner = slices.Clone(o.nodes), owner
	}
}

// add adds a pair; one that is there already, too.
func (o *order) add(owner uint64, p pair) {
	if len(o.nodes) == 0 {
		o.owner = owner
		o.nodes = []*orderNode{o.node(owner, o.leaf(owner, 4, p))}
		return
	}
	for {
		i, j, k := o.find(p)
		n, l := o.own(owner, i, j)
		last := i == len(o.nodes)-1 && j == len(n.leaves)-1 && k == orderFan
		switch {
		case len(l.pairs) < cap(l.pairs):
			l.pairs = slices.Insert(l.pairs, k, p)
			n.n++
			return
		case len(l.pairs) < orderFan:
			o.drop(l)
			n.leaves[j] = o.leaf(owner, min(orderFan, 2*cap(l.pairs)), l.pairs...)
		case len(n.leaves) < orderFan:
			cut := splitAt(last)
			n.leaves = slices.Insert(n.leaves, j+1, o.leaf(owner, orderFan, l.pairs[cut:]...))
			l.pairs = l.pairs[:cut]
		default:
			cut := splitAt(last)
			o.ownRoot(owner)
			next := o.node(owner, n.leaves[cut:]...)
			o.nodes = slices.Insert(o.nodes, i+1, next)
			clear(n.leaves[cut:])
			n.leaves = n.leaves[:cut]
			n.n -= next.n
		}
	}
}

// splitAt returns where a full leaf or node is cut in two: in the middle, or at
// its end if the new pair comes behind all: deadlines tend to be later than those
// before, and leaves are full then.
func splitAt(last bool) int {
	if last {
		return orderFan - 1
	}
	return orderFan / 2
}

// remove removes a pair, which is there.
func (o *order) remove(owner uint64, p pair) {
	i, j, k := o.find(p)
	n, l := o.own(owner, i, j)
	l.pairs = slices.Delete(l.pairs, k, k+1)
	n.n--
	if len(l.pairs) == 0 {
		o.cutLeaf(owner, i, j)
		return
	}
	if len(l.pairs) > orderFan/4 {
		return
	}
	if j > 0 && len(n.leaves[j-1].pairs)+len(l.pairs) <= orderFan/2 {
		j--
	}
	if j+1 < len(n.leaves) && len(n.leaves[j].pairs)+len(n.leaves[j+1].pairs) <= orderFan/2 {
		l = o.leaf(owner, orderFan, n.leaves[j].pairs...)
		l.pairs = append(l.pairs, n.leaves[j+1].pairs...)
		o.drop(n.leaves[j])
		n.leaves[j] = l
		o.cutLeaf(owner, i, j+1)
	}
}

// cutLeaf removes a leaf from an owned node, and the node when it was the last or
// fits into the one before.
func (o *order) cutLeaf(owner uint64, i, j int) {
	n := o.nodes[i]
	o.drop(n.leaves[j])
	n.leaves = slices.Delete(n.leaves, j, j+1)
	left := i > 0 && len(n.leaves)+len(o.nodes[i-1].leaves) <= orderFan/2
	if len(n.leaves) > 0 && !left {
		return
	}
	o.ownRoot(owner)
	if left && len(n.leaves) > 0 {
		before := o.nodes[i-1]
		all := append(append(make([]*orderLeaf, 0, orderFan), before.leaves...), n.leaves...)
		o.nodes[i-1] = &orderNode{owner, before.n + n.n, all}
	}
	o.nodes = slices.Delete(o.nodes, i, i+1)
	o.mem -= nodeMem + orderFan*pointerSize
}

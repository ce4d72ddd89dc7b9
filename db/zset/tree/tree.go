// Package tree is a counted B+tree of (score, member) pairs in the order of
// sorted sets: by score, and by the bytes of the member where scores are equal.
//
// Terms
//
//	entry      a score (a float64, never NaN) and a member (bytes); the pair is unique
//	leaf       up to some hundred entries in one block without pointers, see leaf.go
//	node       up to 64 children, leaves or nodes, with the number of entries below each
//	separator  a pair between the entries of two neighbours: above all of the left, and
//	           not above any of the right. A node has one in front of each child but the first.
//	rank       how many entries come before
//	bound      a place between entries, see Bound
//
// The way chosen. Searches go down through two to four nodes: each is a binary search
// over an array of scores, and only where scores are equal are bytes compared. Counts
// turn a path into a rank and a rank into a path. Separators are as short as they can
// be: the score alone where scores differ, else the bytes up to the first that differs.
// A million members make nodes of 0.7 MB, which stay in the caches of a processor, so that a
// lookup misses them for its leaf only; a skip list misses at each of its twenty steps.
//
// Copy on write. A tree and its nodes name their owner. Clone shares the root and gives
// both trees a new owner, so that neither owns a node from then on; who wants to
// change a node of another's copies it first, some 5 KB. Leaves have no room for
// an owner: a bit of their node tells, and a copied node owns none of its leaves.
// Nothing else happens at a Clone, whatever the size of the tree, and a write afterwards
// copies one path.
//
// Rejected: a skip list (the pointers alone take as much memory as an entry here, they cost the
// collector a mark each, and to clone it means to copy it); leaves in a list (a copied
// leaf would drag its neighbours along: cursors go down again instead, once in a
// hundred entries); separators that refer to the first entry of a leaf (a cache miss
// for every comparison when all scores are equal).
//
// Limits: none but memory. Members beyond MaxInline bytes are not in the block that has
// the score: it refers to them, where the caller keeps them, and nothing copies them.
//
// A Tree is not safe for concurrent use; a clone is another Tree: it may be read while
// the original is changed, and both may be read by many.
package tree

import (
	"bytes"
	"sync/atomic"
)

// Tree is a counted B+tree. Make one with New or Build.
type Tree struct {
	root  *node
	owner atomic.Pointer[owner]
	n     int
	size  int64
}

// owner is a tree's title to nodes: a pointer that no other tree has.
type owner struct{ _ byte }

// New returns an empty tree.
func New() *Tree {
	t := &Tree{}
	t.owner.Store(new(owner))
	t.root = &node{owner: t.owner.Load()}
	t.size = treeSize + t.root.size()
	return t
}

// treeSize is what a Tree takes beside its nodes: the struct and its owner.
const treeSize = 48

// Len returns how many entries there are.
func (t *Tree) Len() int { return t.n }

// MemSize returns the bytes that the tree takes, shared nodes included.
func (t *Tree) MemSize() int64 { return t.size }

// Clone returns a tree with the same entries, in constant time. Either may be
// changed without the other noticing. It may be called while others read or clone t, not
// while they change it.
func (t *Tree) Clone() *Tree {
	c := &Tree{root: t.root, n: t.n, size: t.size}
	c.owner.Store(new(owner))
	t.owner.Store(new(owner))
	return c
}

// Bound is a place between entries: the entries before it are those that Rank
// counts. The zero value is before all entries of score 0.
type Bound struct {
	score  float64
	member []byte
	kind   kind
}

type kind uint8

const (
	byPair      kind = iota // before the entry (score, member)
	behindScore             // behind all entries of score
	byMember                // before all entries of member, scores being equal
	behindPair              // behind the entry with member, scores being equal
)

// At is the place of an entry: the bound right before it.
func At(score float64, member []byte) Bound { return Bound{score, member, byPair} }

// Score is the bound before all entries of a score, ScoreAfter that behind them.
func Score(s float64) Bound { return Bound{score: s} }

// ScoreAfter is described at Score.
func ScoreAfter(s float64) Bound { return Bound{score: s, kind: behindScore} }

// Lex is the bound before a member, LexAfter that behind it, in a tree whose entries
// all have the same score. With different scores the place is some place, the
// same one each time.
func Lex(member []byte) Bound { return Bound{member: member, kind: byMember} }

// LexAfter is described at Lex.
func LexAfter(member []byte) Bound { return Bound{member: member, kind: behindPair} }

// tie says whether an entry of b's own score comes before b. Lexical bounds have
// no score: for them it decides alone.
func (b *Bound) tie(member []byte) bool {
	switch b.kind {
	case behindScore:
		return true
	case behindPair:
		return bytes.Compare(member, b.member) <= 0
	}
	return bytes.Compare(member, b.member) < 0
}

func (b *Bound) lexical() bool { return b.kind >= byMember }

// Rank returns how many entries come before b.
func (t *Tree) Rank(b Bound) int {
	n, rank := t.root, 0
	for {
		if len(n.kids) == 0 {
			return 0
		}
		i := n.child(&b)
		for _, c := range n.counts[:i] {
			rank += c
		}
		if n.level == 0 {
			return rank + n.kids[i].leaf.search(&b)
		}
		n = n.kids[i].node
	}
}

// Has reports whether the entry is there.
func (t *Tree) Has(score float64, member []byte) bool {
	c := t.Seek(t.Rank(At(score, member)))
	return c.Valid() && c.Score() == score && bytes.Equal(c.Member(), member)
}

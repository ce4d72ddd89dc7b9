package zset

import (
	"bytes"
	"math"
	"slices"

	"heddle/db/zset/tree"
)

// Removing many members at once. Out of the tree a range is cut in no time; to look
// for each of half a million members in the table takes a second, in which nobody else
// would be served. So they stay in the table for a while, as ghosts. The truth is the tree:
// what the table says of a member is believed where its score and it are not within a
// range that was cut out, or else if the tree has them. That is so for all that read; what
// puts a member in the table again makes it one that is there. The entries that
// were cut out are worked off some at a time (Tidy), by the engine, and by whoever adds members,
// so that ghosts are never more than a share of what was there.
//
// A deadline of a ghost goes with it. Until then it may come up: nothing happens then but that
// the ghost goes.
//
// Rejected: to make the table anew of what stays, which takes as long when that is much; to
// look through the table for ghosts instead of keeping what was cut out, which takes
// time for all members where few have gone.

// gone is what was cut out of the tree and may still be in the table. What it refers to is
// shared by clones.
type gone struct {
	spans []span // what was cut out is within
	rest  tree.Rest
}

// span is the pairs from one to another, both included.
type span struct{ low, high bound }

type bound struct {
	score  float64
	member []byte
}

func (b *bound) compare(score float64, member []byte) int {
	switch {
	case b.score < score:
		return -1
	case b.score > score:
		return 1
	}
	return bytes.Compare(b.member, member)
}

const (
	// cutFrom is how many members must go at once for it to be done this way.
	cutFrom = 512
	// maxSpans bounds what each look at a member compares it with: more are joined, which
	// costs looks into the tree for members that are there.
	maxSpans = 8
	// tidyShare is how many ghosts go with each member that is added.
	tidyShare = 2
)

// boundAt returns the pair of a rank.
func (o *Object) boundAt(rank int) bound {
	c := o.tree.Seek(rank)
	m := c.Member()
	if len(m) <= tree.MaxInline {
		m = bytes.Clone(m) // others never change
	}
	return bound{c.Score(), m}
}

// cut removes the members of rank from to before to, of which there is one at least.
func (o *Object) cut(from, to int) {
	o.gone.add(span{o.boundAt(from), o.boundAt(to - 1)})
	o.gone.rest = o.gone.rest.Join(o.tree.Cut(from, to))
}

// add adds a span. The list that was is left to clones.
func (g *gone) add(s span) {
	g.spans = append(slices.Clip(g.spans), s)
	if len(g.spans) <= maxSpans {
		return
	}
	all := g.spans[0]
	for _, s := range g.spans[1:] {
		if all.low.compare(s.low.score, s.low.member) > 0 {
			all.low = s.low
		}
		if all.high.compare(s.high.score, s.high.member) < 0 {
			all.high = s.high
		}
	}
	g.spans = []span{all}
}

// covers reports whether a pair may have been cut out.
func (g *gone) covers(score float64, member []byte) bool {
	for i := range g.spans {
		if s := &g.spans[i]; s.low.compare(score, member) <= 0 && s.high.compare(score, member) >= 0 {
			return true
		}
	}
	return false
}

// ghost reports whether a member that the table has with this word is gone.
func (o *Object) ghost(member []byte, word uint64) bool {
	if o.gone.spans == nil {
		return false
	}
	score := math.Float64frombits(word)
	return o.gone.covers(score, member) && !o.tree.Has(score, member)
}

// Backlog returns how many members are gone, but may still take memory.
func (o *Object) Backlog() int { return o.gone.rest.Len() }

// Tidy frees the memory of up to limit members that are gone. What there is to see does not
// change.
func (o *Object) Tidy(limit int) {
	for range limit {
		_, member, ok := o.gone.rest.Pop()
		if !ok {
			break
		}
		if word, found := o.table.Word(member); found && o.ghost(member, word) {
			o.table.Delete(member)
			o.forget(member)
		}
	}
	if o.gone.rest.Len() == 0 {
		o.gone = gone{}
	}
}

// stored returns how many members the table should have: those that are there, and ghosts.
// It takes time in proportion to the latter.
func (o *Object) stored() int {
	n, seen := o.Len(), map[string]bool{}
	for rest := o.gone.rest; ; {
		_, member, ok := rest.Pop()
		if !ok {
			return n
		}
		if word, found := o.table.Word(member); found && o.ghost(member, word) && !seen[string(member)] {
			seen[string(member)] = true
			n++
		}
	}
}

package zset

import (
	"bytes"

	"heddle/db/listpack"
	"heddle/db/zset/tree"
)

// ScoreRange is the scores from Min to Max; those themselves are left out where Above
// or Below is set.
type ScoreRange struct {
	Min, Max     float64
	Above, Below bool
}

// empty reports whether no score can be within.
func (r *ScoreRange) empty() bool {
	return r.Min > r.Max || r.Min == r.Max && (r.Above || r.Below)
}

// under reports whether a score is below the range, within whether it is not above it.
func (r *ScoreRange) under(s float64) bool  { return s < r.Min || r.Above && s == r.Min }
func (r *ScoreRange) within(s float64) bool { return s < r.Max || !r.Below && s == r.Max }

// ByScore returns the ranks of the members within r: from the first to before to.
// from is 0 when there are none.
func (z *ZSet) ByScore(r ScoreRange) (from, to int) {
	switch {
	case r.empty() || z.Len() == 0:
		return 0, 0
	case z.o != nil:
		low, high := tree.Score(r.Min), tree.ScoreAfter(r.Max)
		if r.Above {
			low = tree.ScoreAfter(r.Min)
		}
		if r.Below {
			high = tree.Score(r.Max)
		}
		from, to = z.o.tree.Rank(low), z.o.tree.Rank(high)
	default:
		from = countWhile(z.p, func(x pair) bool { return r.under(readScore(x.score)) })
		to = countWhile(z.p, func(x pair) bool { return r.within(readScore(x.score)) })
	}
	if from >= to {
		return 0, 0
	}
	return from, to
}

// LexBound is an end of a LexRange.
type LexBound struct {
	Kind   LexKind
	Member []byte
}

// LexKind says what a LexBound is.
type LexKind uint8

// The kinds of bounds, as commands spell them.
const (
	LexLowest    LexKind = iota // "-": below all members
	LexInclusive                // "[member"
	LexExclusive                // "(member"
	LexHighest                  // "+": above all members
)

// LexRange is the members from Min to Max, by their bytes.
type LexRange struct{ Min, Max LexBound }

// under reports whether a member is below the range, within whether it is not above it.
func (r *LexRange) under(cmp func([]byte) int) bool {
	switch r.Min.Kind {
	case LexInclusive:
		return cmp(r.Min.Member) < 0
	case LexExclusive:
		return cmp(r.Min.Member) <= 0
	}
	return r.Min.Kind == LexHighest
}

func (r *LexRange) within(cmp func([]byte) int) bool {
	switch r.Max.Kind {
	case LexInclusive:
		return cmp(r.Max.Member) <= 0
	case LexExclusive:
		return cmp(r.Max.Member) < 0
	}
	return r.Max.Kind == LexHighest
}

// empty reports whether no member can be within.
func (r *LexRange) empty() bool {
	a, b := &r.Min, &r.Max
	switch {
	case a.Kind == LexHighest || b.Kind == LexLowest:
		return true
	case a.Kind == LexLowest || b.Kind == LexHighest:
		return false
	}
	c := bytes.Compare(a.Member, b.Member)
	return c > 0 || c == 0 && (a.Kind == LexExclusive || b.Kind == LexExclusive)
}

// ByLex returns the ranks of the members within r, as ByScore does. All scores should be
// equal. Where they are not, the order is not that of the bytes, and packed sets
// answer as Redis' listpacks do: with the run of members within from the first that is
// not below; or, if rev is set, the run up to the last that is not above.
func (z *ZSet) ByLex(r LexRange, rev bool) (from, to int) {
	switch {
	case r.empty() || z.Len() == 0:
		return 0, 0
	case z.o != nil:
		return z.o.byLex(&r)
	}
	n := z.Len()
	first, last := pairAt(z.p, offsetOf(z.p, 0)), pairAt(z.p, offsetOf(z.p, n-1))
	if r.under(last.compare) || !r.within(first.compare) {
		return 0, 0
	}
	if rev {
		return r.runBack(z.p)
	}
	from = countWhile(z.p, func(x pair) bool { return r.under(x.compare) })
	to = from
	for at := offsetOf(z.p, from); at < len(z.p); to++ {
		x := pairAt(z.p, at)
		if !r.within(x.compare) {
			break
		}
		at = x.next()
	}
	return from, to
}

// compare compares the member with another.
func (x pair) compare(with []byte) int { return compare(x.member, with) }

// runBack is ByLex backwards in a packed set: of the runs of members that are
// not below, the part up to the last that is not above either, which must be in it.
func (r *LexRange) runBack(p []byte) (from, to int) {
	run := 0 // where the present run of members that are not below begins
	rank := 0
	for at := listpack.Header; at < len(p); rank++ {
		x := pairAt(p, at)
		if r.under(x.compare) {
			run = rank + 1
		}
		if r.within(x.compare) {
			from, to = run, rank+1
		}
		at = x.next()
	}
	if from >= to {
		return 0, 0
	}
	return from, to
}

func (o *Object) byLex(r *LexRange) (from, to int) {
	from, to = o.lexRank(&r.Min, LexExclusive), o.lexRank(&r.Max, LexInclusive)
	if from >= to {
		return 0, 0
	}
	return from, to
}

// lexRank returns how many members come before a bound. The member of a bound of kind
// behind comes before it itself.
func (o *Object) lexRank(b *LexBound, behind LexKind) int {
	switch b.Kind {
	case LexLowest:
		return 0
	case LexHighest:
		return o.Len()
	case behind:
		return o.tree.Rank(tree.LexAfter(b.Member))
	}
	return o.tree.Rank(tree.Lex(b.Member))
}

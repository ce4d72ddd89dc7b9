package set

import (
	"math/rand/v2"

	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
)

// Part is a set, or some of its members. It says which without listing them, so that
// a reply of a million members can be made from a clone while it is sent.
type Part struct {
	s      Set
	n      int
	except *members.Table // all but these, if not nil
	chosen Bits           // those at these places, if not nil
	sample bool           // n of them that seed chooses
	seed   [2]uint64
}

// Bits is a set of places in the order of Iter, one bit each.
type Bits []byte

// BitsSize returns the bytes that Bits of n places take.
func BitsSize(n int) int { return (n + 7) / 8 }

// Put adds place i.
func (b Bits) Put(i int) { b[i/8] |= 1 << (i % 8) }

// Has reports whether place i is there.
func (b Bits) Has(i int) bool { return b[i/8]>>(i%8)&1 != 0 }

// Whole returns all members of the set. It lasts as long as what s was; a Clone of
// a large set lasts for ever.
func (s *Set) Whole() Part { return Part{s: *s, n: s.Len()} }

// Chosen returns the n members at the given places.
func (s *Set) Chosen(places Bits, n int) Part { return Part{s: *s, n: n, chosen: places} }

// Sample returns n random members, all different, n no more than there are. Every
// choice has the same probability.
func (s *Set) Sample(n int, r members.Source) Part {
	if s.obj == nil || n > s.Len()/sampleWalk {
		return Part{s: *s, n: n, sample: true, seed: [2]uint64{r.Rand(), r.Rand()}}
	}
	picks := Set{obj: newObject(asTable)}
	for picks.obj.table.Len() < n {
		picks.obj.table.Add(s.Random(r))
	}
	return Part{s: picks, n: n}
}

// sampleWalk: with more than one member out of so many to be chosen, walking over
// all is quicker than drawing until enough different ones have come.
const sampleWalk = 8

// Len returns the number of members in the part.
func (p *Part) Len() int { return p.n }

// Large reports whether what the part is of is large.
func (p *Part) Large() bool { return p.s.obj != nil }

// Detach makes the part independent of the key: it is of a clone from now on, which the
// caller has a claim on.
func (p *Part) Detach() db.Pin {
	p.s = p.s.Clone()
	return p.s.Pin()
}

// draw decides about members in turn which are in a sample.
type draw struct {
	left int // members still to come
	rest int // of the set
	rng  rand.PCG
}

// draw begins with the first member.
func (p *Part) draw() draw {
	d := draw{left: p.n, rest: p.s.Len()}
	d.rng.Seed(p.seed[0], p.seed[1])
	return d
}

// next reports whether the next member is in the sample.
func (d *draw) next() bool {
	d.rest--
	if members.Below(d.rng.Uint64(), uint64(d.rest+1)) >= uint64(d.left) {
		return false
	}
	d.left--
	return true
}

// Iter is a Walk over a part.
type Iter struct {
	Walk
	except *members.Table
	chosen Bits
	at     int // place of the member
	left   int // members still to come
	sample bool
	draw   draw
}

// Iter begins a walk. room is as Set.Walk takes it.
func (p *Part) Iter(room *listpack.Scratch) Iter {
	it := Iter{Walk: p.s.Walk(room), except: p.except, chosen: p.chosen, at: -1, left: p.n, sample: p.sample}
	if p.sample {
		it.draw = p.draw()
	}
	return it
}

// Next moves to the next member; false when there is none.
func (it *Iter) Next() bool {
	for it.left > 0 && it.Walk.Next() {
		it.at++
		if it.wants() {
			it.left--
			return true
		}
	}
	return false
}

// wants reports whether the member is in the part.
func (it *Iter) wants() bool {
	switch {
	case it.except != nil:
		return !it.except.Has(it.Member())
	case it.chosen != nil:
		return it.chosen.Has(it.at)
	case it.sample:
		return it.draw.next()
	}
	return true
}

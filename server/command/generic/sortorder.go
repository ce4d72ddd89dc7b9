package generic

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// What is sorted are pairs of a number, which has the order of the weights or, of texts, that
// of their first eight bytes, and the place of the element. So most comparisons look at
// nothing else, and little is moved; sorting elements with weights and texts took
// four times as long. Where only some of the elements are wanted the others are put on
// their side of them, in no order.

// weighed is an element with what it is sorted by.
type weighed struct {
	key uint64
	at  int // in sorting.elements
}

// sort puts the elements that are wanted in order.
func (s *sorting) sort() error {
	all := make([]weighed, len(s.elements))
	texts := s.elements
	if s.alpha && s.by != nil {
		texts = make([][]byte, len(s.elements)) // nil: there is none
	}
	for i, e := range s.elements {
		all[i].at = i
		by, found := e, true
		if s.by != nil {
			by, found = s.by.lookUp(s.v, e)
		}
		switch {
		case !found && !s.alpha:
			all[i].key = orderOf(0)
		case !found:
		case s.alpha:
			if s.by != nil {
				texts[i] = s.keep(by)
			}
			all[i].key = prefixOf(by)
		default:
			f, ok := number(by)
			if !ok {
				return errScores
			}
			all[i].key = orderOf(f)
		}
	}
	ties := func(a, b weighed) int { return bytes.Compare(s.elements[a.at], s.elements[b.at]) }
	if s.alpha {
		ties = func(a, b weighed) int { return compareTexts(texts[a.at], texts[b.at]) }
	}
	arrange(all, s.from, s.to, maxCuts, s.order(ties))
	wanted := make([][]byte, 0, s.to-s.from)
	for _, w := range all[s.from:s.to] {
		wanted = append(wanted, s.elements[w.at])
	}
	copy(s.elements[s.from:], wanted)
	return nil
}

// order returns how elements compare, ties telling of those with the same key. What is
// the same in all keeps its order.
func (s *sorting) order(ties func(a, b weighed) int) func(a, b weighed) int {
	sign := 1
	if s.desc {
		sign = -1
	}
	return func(a, b weighed) int {
		c := cmp.Compare(a.key, b.key)
		if c == 0 {
			c = ties(a, b)
		}
		if c == 0 {
			return cmp.Compare(a.at, b.at)
		}
		return sign * c
	}
}

// orderOf returns a number for a weight, which compares as that does.
func orderOf(f float64) uint64 {
	bits := math.Float64bits(f + 0) // -0 and 0 are the same
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// prefixOf returns a number for a text, which is not less where the text is not less.
func prefixOf(b []byte) uint64 {
	var p [8]byte
	copy(p[:], b)
	return binary.BigEndian.Uint64(p[:])
}

// compareTexts compares texts, of which nil is less than an empty one.
func compareTexts(a, b []byte) int {
	if (a == nil) != (b == nil) {
		if a == nil {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

// maxCuts bounds how often a part is cut into what is less and more, which each time is
// nearly half of it, but for lists that were made to be cut badly.
const maxCuts = 64

// arrange puts those in order that belong from place from to before to, and all others on
// their side of them. No part is cut more often than cuts.
func arrange(all []weighed, from, to, cuts int, compare func(a, b weighed) int) {
	for ; from < to && to-from < len(all)/4 && cuts > 0; cuts-- {
		less, more := partition(all, compare)
		switch {
		case to <= less:
			all = all[:less]
		case from >= more:
			all, from, to = all[more:], from-more, to-more
		default:
			arrange(all[:less], min(from, less), min(to, less), cuts-1, compare)
			arrange(all[more:], max(from-more, 0), max(to-more, 0), cuts-1, compare)
			return
		}
	}
	if from < to {
		slices.SortFunc(all, compare)
	}
}

// partition cuts all in three: what is less than one of them, that, and what is more.
func partition(all []weighed, compare func(a, b weighed) int) (less, more int) {
	n := len(all)
	pivot := middle(middle(all[0], all[n/8], all[n/4], compare), middle(all[n/3], all[n/2], all[2*n/3], compare),
		middle(all[3*n/4], all[7*n/8], all[n-1], compare), compare)
	for _, w := range all {
		if compare(w, pivot) < 0 {
			less++
		}
	}
	// All are different, so that there is a place for each.
	for i, j := 0, n-1; ; i, j = i+1, j-1 {
		for i < n && compare(all[i], pivot) < 0 {
			i++
		}
		for j >= 0 && compare(all[j], pivot) >= 0 {
			j--
		}
		if i >= j {
			break
		}
		all[i], all[j] = all[j], all[i]
	}
	for i := less; i < n; i++ {
		if all[i] == pivot {
			all[less], all[i] = all[i], all[less]
			break
		}
	}
	return less, less + 1
}

// middle returns the one of three that is between the others.
func middle(a, b, c weighed, compare func(a, b weighed) int) weighed {
	if compare(a, b) > 0 {
		a, b = b, a
	}
	if compare(b, c) > 0 {
		b = c
		if compare(a, b) > 0 {
			b = a
		}
	}
	return b
}

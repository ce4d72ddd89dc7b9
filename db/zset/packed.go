package zset

import (
	"bytes"

	"heddle/db/listpack"
)

// Functions on packed sorted sets: pairs of member and score, in order.

// pair is one of them: where it stands, and its entries.
type pair struct {
	at            int
	member, score listpack.Entry
}

func pairAt(p []byte, at int) pair {
	m := listpack.At(p, at)
	return pair{at, m, listpack.At(p, at+len(m))}
}

// next is where the pair behind it stands.
func (x *pair) next() int { return x.at + len(x.member) + len(x.score) }

// place returns where a pair belongs: in front of the first that is above it.
func place(p []byte, score float64, member []byte) int {
	return placeFrom(p, listpack.Header, score, member)
}

// placeFrom is place of a pair that is not below the pairs in front of an offset.
func placeFrom(p []byte, at int, score float64, member []byte) int {
	for at < len(p) {
		x := pairAt(p, at)
		if s := readScore(x.score); s > score || s == score && compare(x.member, member) > 0 {
			break
		}
		at = x.next()
	}
	return at
}

// compare compares the string that an entry is with another.
func compare(e listpack.Entry, s []byte) int {
	var buf listpack.Scratch
	return bytes.Compare(e.Bytes(&buf), s)
}

// rankOf returns how many pairs come before the one at an offset.
func rankOf(p []byte, at int) (n int) {
	for i := listpack.Header; i < at; n++ {
		i = listpack.Next(p, listpack.Next(p, i))
	}
	return n
}

// offsetOf returns where the pair of a rank stands.
func offsetOf(p []byte, rank int) int { return listpack.Skip(p, listpack.Header, 2*rank) }

// countWhile returns how many pairs from the first on satisfy cond.
func countWhile(p []byte, cond func(x pair) bool) (n int) {
	for at := listpack.Header; at < len(p); n++ {
		x := pairAt(p, at)
		if !cond(x) {
			break
		}
		at = x.next()
	}
	return n
}

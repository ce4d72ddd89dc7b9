package sortedset

import (
	"bytes"

	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// parseScores reads the ends of a range of scores: numbers, "(" in front of what does not
// belong to the range itself.
func parseScores(min, max []byte) (r zset.ScoreRange, err error) {
	var ok, ok2 bool
	r.Min, r.Above, ok = parseScore(min)
	r.Max, r.Below, ok2 = parseScore(max)
	if !ok || !ok2 {
		return r, resp.ErrMinOrMax
	}
	return r, nil
}

func parseScore(b []byte) (score float64, open, ok bool) {
	if len(b) > 0 && b[0] == '(' {
		b, open = b[1:], true
	}
	score, ok = command.ParseFloatLoose(b)
	return score, open, ok
}

// parseLex reads the ends of a range of members: "-", "+", "[member", "(member".
func parseLex(min, max []byte) (r zset.LexRange, err error) {
	var ok, ok2 bool
	r.Min, ok = parseLexBound(min)
	r.Max, ok2 = parseLexBound(max)
	if !ok || !ok2 {
		return r, errLexRange
	}
	return r, nil
}

func parseLexBound(b []byte) (zset.LexBound, bool) {
	switch {
	case bytes.Equal(b, minus):
		return zset.LexBound{Kind: zset.LexLowest}, true
	case bytes.Equal(b, plus):
		return zset.LexBound{Kind: zset.LexHighest}, true
	case len(b) > 0 && b[0] == '[':
		return zset.LexBound{Kind: zset.LexInclusive, Member: b[1:]}, true
	case len(b) > 0 && b[0] == '(':
		return zset.LexBound{Kind: zset.LexExclusive, Member: b[1:]}, true
	}
	return zset.LexBound{}, false
}

var (
	minus = []byte("-")
	plus  = []byte("+")
)

// ranks turns the ends of a range of ranks as ZRANGE takes them, negative ones counted
// from the end, into those of n members: from the first to before to.
func ranks(start, stop int64, n int) (from, to int) {
	size := int64(n)
	if start < 0 {
		start = max(start+size, 0)
	}
	if stop < 0 {
		stop += size
	}
	stop = min(stop, size-1)
	if start > stop {
		return 0, 0
	}
	return int(start), int(stop) + 1
}

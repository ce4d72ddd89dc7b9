package difftest

import (
	"strconv"
	"strings"
)

// zkey draws keys that mostly hold sorted sets, lexKey such whose scores are all equal.
func (g *Generator) zkey() []byte {
	if g.rng.Intn(30) == 0 {
		return g.key()
	}
	return strconv.AppendInt([]byte("z:"), int64(g.rng.Intn(8)), 10)
}

func (g *Generator) lexKey() []byte {
	return strconv.AppendInt([]byte("lex:"), int64(g.rng.Intn(3)), 10)
}

// zmember draws members of sorted sets.
func (g *Generator) zmember() []byte {
	switch g.rng.Intn(30) {
	case 0:
		return g.bytes(pick(g.rng, []int{0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 512, 513, 5000}))
	case 1:
		return g.integer()
	case 2:
		return []byte(pick(g.rng, []string{"", "\x00", "\xff", "m", "m:\x00", "M:1", "NX", "+", "-", "inf"}))
	case 3, 4, 5:
		return strconv.AppendInt(nil, int64(g.rng.Intn(30)), 10)
	}
	return strconv.AppendInt([]byte("m:"), g.skewed(300), 10)
}

// score draws scores, and spellings that are none.
func (g *Generator) score() []byte {
	switch g.rng.Intn(12) {
	case 0:
		return []byte(pick(g.rng, edgeFloats))
	case 1:
		return []byte(pick(g.rng, []string{"inf", "-inf", "1e17", "4611686018427387904", "-4611686018427387905", "9223372036854775807", "1e-7", "-0"}))
	case 2, 3:
		return g.float()
	}
	return strconv.AppendInt(nil, int64(g.rng.Intn(30)-5), 10)
}

// scoreBound draws ends of ranges of scores.
func (g *Generator) scoreBound() []byte {
	switch g.rng.Intn(8) {
	case 0:
		return []byte(pick(g.rng, []string{"-inf", "+inf", "(inf", "(-inf", "(", "((1", "", "1(", "(nan", "\x001"}))
	case 1, 2:
		return append([]byte("("), g.score()...)
	}
	return g.score()
}

// lexBound draws ends of ranges of members.
func (g *Generator) lexBound() []byte {
	switch g.rng.Intn(8) {
	case 0:
		return []byte(pick(g.rng, []string{"-", "+", "[", "(", "", "-1", "+inf", "m", "[[", "(("}))
	case 1, 2:
		return []byte(pick(g.rng, []string{"-", "+"}))
	}
	bound := append([]byte(pick(g.rng, []string{"[", "("})), g.zmember()...)
	if g.rng.Intn(6) == 0 {
		bound = []byte(strings.TrimSuffix(string(bound), "1"))
	}
	return bound
}

// drawn draws how many members to choose: not billions of the same.
func (g *Generator) drawn() []byte {
	return g.edgeOr(8, []string{"abc", "", "1.5", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-200", "01"},
		func() int64 { return int64(g.rng.Intn(60) - 30) })
}

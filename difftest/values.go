package difftest

import (
	"math"
	"strconv"
	"strings"
)

// farAway is an instant in seconds, in the year 2100: times to live never end
// while a test runs, unless a step waits for it.
const farAway = 4102444800

// edgeInts are spellings of integers, right and wrong, that break parsers and
// arithmetic.
var edgeInts = []string{
	"0", "-1", "1", "-0", "+1", "01", " 1", "1 ", "", "-", "1.0", "1e3", "0x10", "abc", "1\x00",
	"2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "9223372036854775", "9223372036854776", "-9223372036854775", "99999999999999999999999999",
}

// edgeFloats are the same for floats.
var edgeFloats = []string{
	"0", "-0", "0.1", "-0.1", "1.5", "3.0e3", "1e-5", ".5", "5.", "1e300", "-1e300", "1e308", "1e-320", "1e400", "inf", "-inf", "+inf", "nan",
	"Infinity", "infinit", "", " 1", "1 ", "0x1p3", "0x10", "1_000", "abc", "1.0000000000000002", "123456789012345678", "9007199254740993",
	"99999999999999999999", "1e17", "1e16", "0.1e1", "3.14159265358979323846264338327950288", "1.7976931348623157e308", "179769313486231570000000000000000000000e270", "5e-324",
}

// value draws a value by its name in a template.
func (g *Generator) value(kind string) []byte {
	switch kind {
	case "key":
		return g.key()
	case "val":
		return g.val()
	case "int":
		return g.integer()
	case "float":
		return g.float()
	case "small":
		return g.edgeOr(12, edgeInts, func() int64 { return int64(g.rng.Intn(12) - 2) })
	case "index":
		return g.edgeOr(15, edgeInts, func() int64 { return int64(g.rng.Intn(80) - 40) })
	case "offset":
		return g.edgeOr(25, []string{"-1", "abc", "", "536870912", "536870911000", "9223372036854775807", "01"}, func() int64 { return g.skewed(70000) })
	case "bitoffset":
		return g.edgeOr(25, []string{"-1", "abc", "", "4294967296", "9223372036854775807", "-9223372036854775808", "1e3"}, func() int64 { return g.skewed(300000) })
	case "bit":
		return g.edgeOr(12, []string{"2", "-1", "a", ""}, func() int64 { return int64(g.rng.Intn(2)) })
	case "fieldtype":
		return g.fieldType()
	case "fieldoffset":
		return g.fieldOffset()
	default:
		return g.timeOrName(kind)
	}
}

func (g *Generator) timeOrName(kind string) []byte {
	edges := []string{"0", "-1", "abc", "", "1.5", "9223372036854775807", "-9223372036854775808", "9223372036854775", "9223372036854776", "9223372036854775808", "-9223372036854775"}
	switch kind {
	case "sec":
		return g.edgeOr(8, edges, func() int64 { return 10000 + g.rng.Int63n(10000000) })
	case "ms":
		return g.edgeOr(8, edges, func() int64 { return 10000000 + g.rng.Int63n(10000000000) })
	case "latersec": // not past: SET would make a dead key, which DBSIZE counts until it is removed
		return g.edgeOr(8, edges, func() int64 { return farAway + g.rng.Int63n(1000000) })
	case "laterms":
		return g.edgeOr(8, edges, func() int64 { return farAway*1000 + g.rng.Int63n(1000000000) })
	case "atsec":
		return g.edgeOr(6, append(edges, "1", "1000"), func() int64 { return farAway + g.rng.Int63n(1000000) })
	case "atms":
		return g.edgeOr(6, append(edges, "1", "1000000"), func() int64 { return farAway*1000 + g.rng.Int63n(1000000000) })
	case "db":
		return g.edgeOr(15, []string{"15", "16", "-1", "abc", "", "9223372036854775807", "2147483648"}, func() int64 { return int64(g.rng.Intn(3)) })
	case "pattern":
		return []byte(pick(g.rng, []string{"*", "k*", "k:?", "k:[1-5]", "k:[^1-5]", "*:*", "k:1*", "nothing", "", "[", "[a", "k:[5-1]", "\\k:1", "**1", "*\x00*", "K*", "?"}))
	case "count":
		return g.edgeOr(12, edgeInts, func() int64 { return 1 + int64(g.rng.Intn(50)) })
	case "word":
		return []byte(pick(g.rng, []string{"foo", "", "a b", "\xff\x00", "NX", "XX", "GET", "-1", "name:1", strings.Repeat("w", 200)}))
	}
	if draw := groupValues[kind]; draw != nil {
		return draw(g)
	}
	panic("difftest: no value " + kind)
}

// edgeOr returns a number, but every nth time one of the edges.
func (g *Generator) edgeOr(n int, edges []string, number func() int64) []byte {
	if g.rng.Intn(n) == 0 {
		return []byte(pick(g.rng, edges))
	}
	return strconv.AppendInt(nil, number(), 10)
}

// skewed draws from 0 to max, small numbers far more often.
func (g *Generator) skewed(max int64) int64 {
	switch g.rng.Intn(20) {
	case 0:
		return g.rng.Int63n(max)
	case 1, 2, 3:
		return g.rng.Int63n(1000)
	}
	return g.rng.Int63n(70)
}

func (g *Generator) key() []byte {
	switch g.rng.Intn(60) {
	case 0:
		return []byte{}
	case 1:
		return []byte("k:\x00\r\n\xff")
	case 2:
		return []byte(strings.Repeat("long", 75)) // wider than a byte can count
	case 3:
		return []byte("K:1")
	}
	return strconv.AppendInt([]byte("k:"), int64(g.rng.Intn(g.Keys)), 10)
}

func (g *Generator) integer() []byte {
	switch g.rng.Intn(8) {
	case 0:
		return []byte(pick(g.rng, edgeInts))
	case 1:
		return strconv.AppendInt(nil, int64(g.rng.Uint64()), 10)
	case 2:
		return strconv.AppendInt(nil, int64(g.rng.Intn(20000)-100), 10)
	}
	return strconv.AppendInt(nil, int64(g.rng.Intn(200)-100), 10)
}

func (g *Generator) float() []byte {
	switch g.rng.Intn(5) {
	case 0:
		return []byte(pick(g.rng, edgeFloats))
	case 1:
		return g.integer()
	case 2:
		return strconv.AppendFloat(nil, g.rng.NormFloat64()*math.Pow(10, float64(g.rng.Intn(24)-6)), 'g', -1, 64)
	}
	return strconv.AppendFloat(nil, float64(g.rng.Intn(20000)-10000)/100, 'f', -1, 64)
}

// lengths of values at which representations change: 44 bytes embed in Redis,
// 255 fit a byte, 16 and 32 KB are what is kept and read apart.
var edgeLengths = []int{0, 1, 31, 43, 44, 45, 63, 64, 254, 255, 256, 1000, 4096, 16383, 16384, 16385, 32767, 32768, 32769, 40000, 100000}

func (g *Generator) val() []byte {
	switch g.rng.Intn(12) {
	case 0, 1, 2:
		return g.integer()
	case 3:
		return g.float()
	case 4:
		return g.bytes(pick(g.rng, edgeLengths[:12]))
	case 5:
		if g.rng.Intn(6) == 0 {
			return g.bytes(pick(g.rng, edgeLengths))
		}
		return g.bytes(g.rng.Intn(300))
	case 6:
		b := make([]byte, g.rng.Intn(40))
		g.rng.Read(b)
		return b
	}
	return g.bytes(g.rng.Intn(20))
}

// bytes draws n letters of a small alphabet, so that LCS and patterns find
// something.
func (g *Generator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcd"[g.rng.Intn(4)]
	}
	return b
}

func (g *Generator) fieldType() []byte {
	if g.rng.Intn(12) == 0 {
		return []byte(pick(g.rng, []string{"u64", "i65", "u0", "i0", "x8", "", "u", "i-1", "i08", "I8", "u99999999999"}))
	}
	bits := pick(g.rng, []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 62, 63, 64})
	kind := pick(g.rng, []byte("iu"))
	if kind == 'u' {
		bits = min(bits, 63)
	}
	return strconv.AppendInt([]byte{kind}, int64(bits), 10)
}

func (g *Generator) fieldOffset() []byte {
	if g.rng.Intn(20) == 0 {
		return []byte(pick(g.rng, []string{"-1", "#-1", "#", "", "abc", "4294967296", "#4294967296", "9223372036854775807", "#1000000000000000000"}))
	}
	if g.rng.Intn(3) == 0 {
		return strconv.AppendInt([]byte("#"), g.skewed(2000), 10)
	}
	return strconv.AppendInt(nil, g.skewed(20000), 10)
}

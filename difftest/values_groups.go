package difftest

import (
	"strconv"
)

// groupValues are the values that only one or two command groups use.
var groupValues = map[string]func(*Generator) []byte{
	"element": (*Generator).element,
	"payload": (*Generator).payload,
	"few":     (*Generator).few,
	"field":   (*Generator).field,
	"fval":    (*Generator).fieldValue,
	"hashkey": (*Generator).hashKey,
	"hkey":    (*Generator).hkey,
	"hll":     (*Generator).hll,

	"zkey":       (*Generator).zkey,
	"lexkey":     (*Generator).lexKey,
	"zmember":    (*Generator).zmember,
	"drawn":      (*Generator).drawn,
	"score":      (*Generator).score,
	"scorebound": (*Generator).scoreBound,
	"lexbound":   (*Generator).lexBound,
	"gkey":       (*Generator).gkey,
	"gmember":    (*Generator).gmember,
	"lon":        (*Generator).lon,
	"lat":        (*Generator).lat,
	"length":     (*Generator).length,
	"unit":       (*Generator).unit,
	"lkey":       (*Generator).lkey,
	"lval":       (*Generator).lval,
	"lindex":     (*Generator).lindex,
	"member":     (*Generator).member,

	"skey":     (*Generator).streamKey,
	"sid":      (*Generator).streamID,
	"badid":    (*Generator).badID,
	"newid":    (*Generator).newStreamID,
	"bound":    (*Generator).idBound,
	"trimlen":  (*Generator).trimLength,
	"sval":     (*Generator).streamValue,
	"sfield":   (*Generator).streamField,
	"sgroup":   (*Generator).streamGroupName,
	"consumer": (*Generator).consumer,
}

// element draws what is counted by a HyperLogLog: few enough that many are there
// already, enough for sparse values to become dense.
func (g *Generator) element() []byte {
	if g.rng.Intn(40) == 0 {
		return g.val()
	}
	return strconv.AppendInt([]byte("e:"), g.skewed(4000), 10)
}

// hkey draws keys that hold a HyperLogLog or nothing.
func (g *Generator) hkey() []byte {
	return strconv.AppendInt([]byte("hll:"), int64(g.rng.Intn(8)), 10)
}

// hll draws strings that are a HyperLogLog, or nearly.
func (g *Generator) hll() []byte {
	head := []byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80")
	return append(head, pick(g.rng, []string{
		"\x7f\xff", "", "\x00", "\x7f\xfe\x80", "\x7f\xfe", "\x7f\xff\x00", "\x3f\x7f\xbe\x80", "\x40\x00\x7f\xfe", "\x84\x84\x84\x84\x84\x84\x7f\xf9",
		"\x83\x83\x83\x87\x40\x05\x83\x7f\xe5", "\xff\xff\xff\xfc\x7f\xf2", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\xf5", "\x3f\x3f\x3f\x7f\x3f",
	})...)
}

// member draws members of sets: integers of all widths, short words, and such of the
// lengths at which encodings change.
func (g *Generator) member() []byte {
	switch g.rng.Intn(14) {
	case 0:
		return g.val()
	case 1:
		return []byte(pick(g.rng, edgeInts))
	case 2:
		n := int64(1) << g.rng.Intn(63)
		return strconv.AppendInt(nil, pick(g.rng, []int64{n, n - 1, -n, -n - 1}), 10)
	case 3:
		return g.bytes(pick(g.rng, []int{0, 1, 20, 63, 64, 65}))
	case 4, 5:
		return strconv.AppendInt([]byte("m:"), g.skewed(400), 10)
	}
	return strconv.AppendInt(nil, g.skewed(1000)-20, 10)
}

// hashKey draws keys that hold a hash or nothing.
func (g *Generator) hashKey() []byte {
	return strconv.AppendInt([]byte("hash:"), int64(g.rng.Intn(8)), 10)
}

// field draws fields: few enough that many are there already, enough for the hash to
// become a table.
func (g *Generator) field() []byte {
	switch g.rng.Intn(20) {
	case 0:
		return g.val()
	case 1:
		return g.bytes(pick(g.rng, []int{0, 1, 5, 6, 20, 21, 63, 64, 65}))
	case 2:
		return []byte(pick(g.rng, edgeInts))
	}
	return strconv.AppendInt([]byte("f:"), g.skewed(1000), 10)
}

// fieldValue draws values of fields: many are numbers, for HINCRBY.
func (g *Generator) fieldValue() []byte {
	switch g.rng.Intn(8) {
	case 0:
		return g.val()
	case 1:
		return g.bytes(pick(g.rng, []int{0, 1, 5, 6, 20, 21, 63, 64, 65, 300}))
	case 2:
		return g.float()
	}
	return g.integer()
}

// few draws how many random elements to answer with: never many, for those may
// repeat, and be as many as are asked for.
func (g *Generator) few() []byte {
	return g.edgeOr(12, []string{"abc", "", "1.5", "0", "-0", "9223372036854775807", "9223372036854775808"}, func() int64 { return int64(g.rng.Intn(90) - 30) })
}

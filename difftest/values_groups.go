package difftest

import (
	"strconv"
)

// groupValues are the values that only one or two command groups use.
var groupValues = map[string]func(*Generator) []byte{
	"element": (*Generator).element,
	"hkey":    (*Generator).hkey,
	"hll":     (*Generator).hll,
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

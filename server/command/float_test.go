package command

import (
	"math"
	"testing"
)

// TestParseFloat holds readings that redis-server gave, strict and loose.
func TestParseFloat(t *testing.T) {
	no := math.NaN()
	f := func(s string, strict, loose float64) {
		t.Helper()
		check := func(what string, got float64, ok bool, want float64) {
			t.Helper()
			if ok != (want == want) || ok && math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s %q: %v %v, want %v", what, s, got, ok, want)
			}
		}
		got, ok := ParseFloat([]byte(s))
		check("strict", got, ok, strict)
		got, ok = ParseFloatLoose([]byte(s))
		check("loose", got, ok, loose)
	}
	inf := math.Inf(1)
	f("0", 0, 0)
	f("-0", math.Copysign(0, -1), math.Copysign(0, -1))
	f("123", 123, 123)
	f("+5", 5, 5)
	f("-7.25", -7.25, -7.25)
	f(".5", 0.5, 0.5)
	f("5.", 5, 5)
	f("1e5", 1e5, 1e5)
	f("0x10", 16, 16)
	f("-0X1P3", -8, -8)
	f("0x.8", 0.5, 0.5)
	f("9007199254740993", 9007199254740992, 9007199254740992)
	f("1e-320", 1e-320, 1e-320)
	f("0e-400", 0, 0)
	f("0.000e9999", 0, 0)
	f("1e400", no, inf)
	f("-1e400", no, -inf)
	f("1e-400", no, 0)
	f("-1e-400", no, math.Copysign(0, -1))
	f("0x1p-2000", no, 0)
	f("inf", inf, inf)
	f("-Infinity", -inf, -inf)
	f("infinit", no, no)
	f("nan", no, no)
	f("nan(1)", no, no)
	f("", no, 0)
	f(" 1", no, 1)
	f("\n\v1", no, 1)
	f("  ", no, no)
	f("1 ", no, no)
	f("1\x00", no, 1)
	f("\x001", no, 0)
	f("1_0", no, no)
	f("0x", no, no)
	f("1e", no, no)
	f(".", no, no)
	f("0b1", no, no)
	f("--1", no, no)
}

func TestParseFloatAllocates(t *testing.T) {
	for _, s := range []string{"123", "-0.12345678901234567", "inf", "1e300"} {
		b := []byte(s)
		if n := testing.AllocsPerRun(100, func() { ParseFloat(b) }); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}

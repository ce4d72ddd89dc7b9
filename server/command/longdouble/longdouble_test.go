package longdouble

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		x, ok := Parse([]byte(in))
		got := "refused"
		switch {
		case ok && x.IsInf():
			got = "inf"
		case ok:
			got = string(x.Append(nil))
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	f("0", "0")
	f("-0", "0")
	f("-0.0000000000000000001", "0")
	f("1.5", "1.5")
	f("+1.5", "1.5")
	f(".5", "0.5")
	f("5.", "5")
	f("3.0e3", "3000")
	f("10.1", "10.1")
	f("0.1", "0.1")
	f("0.00000000000000001", "0.00000000000000001")
	f("0.999999999999999999", "1")
	f("18446744073709551615", "18446744073709551615")
	f("18446744073709551616", "18446744073709551616")
	f("36893488147419103233", "36893488147419103232")
	f("1e30", "1000000000000000000024696061952")
	f("0x10", "16")
	f("0x1.8p1", "3")
	f("0X.8P-1", "0.25")
	f("inf", "inf")
	f("-Infinity", "inf")
	f("0e99999999999999999999", "0")
	f("1e-4940", "0")
	for _, bad := range []string{"", "-", "+", ".", "e5", "1e", "1e+", "1 ", " 1", "0x", "0x.", "0x1p", "1_0", "nan", "in", "infi", "infinityx",
		"1e5000", "1e-5000", "1e99999999999999999999", "1.2.3", "--1", "1\x00", strings.Repeat("1", maxLen+1)} {
		f(bad, "refused")
	}
}

// exact returns the number that text stands for, rounded to 64 bits once.
func exact(text string) *big.Float {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return new(big.Float).SetPrec(64).SetRat(r)
}

func text(x *big.Float) string {
	s := x.Text('f', 17)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}

func decimals() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringMatching(`-?[0-9]{1,24}(\.[0-9]{1,24})?`).Draw(t, "number")
		if rapid.Bool().Draw(t, "exponent") {
			s += fmt.Sprintf("e%d", rapid.IntRange(-80, 80).Draw(t, "e"))
		}
		return s
	})
}

func TestAgainstBigFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimals().Draw(t, "a"), decimals().Draw(t, "b")
		x, ok1 := Parse([]byte(a))
		y, ok2 := Parse([]byte(b))
		if !ok1 || !ok2 {
			t.Fatalf("refused %q or %q", a, b)
		}
		p, q := exact(a), exact(b)
		if got, want := string(x.Append(nil)), text(p); got != want {
			t.Fatalf("%s: got %s, want %s", a, got, want)
		}
		z, ok := Add(x, y)
		if want := text(new(big.Float).SetPrec(64).Add(p, q)); !ok || string(z.Append(nil)) != want {
			t.Fatalf("%s+%s: got %s, want %s", a, b, z.Append(nil), want)
		}
	})
}

func TestAgainstBigFloatBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (Float, *big.Float) {
			m, e := rapid.Uint64().Draw(t, name), rapid.IntRange(-150, 20).Draw(t, name+"exp")
			f := normal(rapid.Bool().Draw(t, name+"neg"), m, e)
			x := new(big.Float).SetPrec(64).SetUint64(m)
			x.SetMantExp(x, e)
			if f.neg {
				x.Neg(x)
			}
			return f, x
		}
		a, x := draw("a")
		b, y := draw("b")
		if got, want := string(a.Append(nil)), text(x); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		z, ok := Add(a, b)
		if want := text(x.Add(x, y)); !ok || string(z.Append(nil)) != want {
			t.Fatalf("sum: got %s, want %s", z.Append(nil), want)
		}
	})
}

func TestLongText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[1-9][0-9]{0,200}(\.[0-9]{1,300})?`).Draw(t, "s") + fmt.Sprintf("e%d", rapid.IntRange(-600, 600).Draw(t, "e"))
		x, ok := Parse([]byte(s))
		if want := text(exact(s)); !ok || string(x.Append(nil)) != want {
			t.Fatalf("%s: got %s, want %s", s, x.Append(nil), want)
		}
	})
}

func TestInfinity(t *testing.T) {
	big1, _ := Parse([]byte("1e4932"))
	inf, _ := Parse([]byte("inf"))
	neg, _ := Parse([]byte("-inf"))
	if s, ok := Add(big1, big1); !ok || !s.IsInf() {
		t.Error("1e4932 twice is not infinite")
	}
	if _, ok := Add(inf, neg); ok {
		t.Error("inf-inf is a number")
	}
	if s, ok := Add(FromInt(1), neg); !ok || !s.IsInf() {
		t.Error("1-inf is finite")
	}
	if s, _ := Add(FromInt(-3), FromInt(3)); string(s.Append(nil)) != "0" {
		t.Error("3-3")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-1.5e10", "0x1p3", "inf", "1e-4950", "9999999999999999999999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, ok := Parse(b)
		if !ok || x.IsInf() {
			return
		}
		printed := x.Append(nil)
		if y, ok := Parse(printed); len(printed) <= maxLen && (!ok || string(y.Append(nil)) != string(printed)) {
			t.Fatalf("%q prints as %s, which reads as %v, not %v", b, printed, y, x)
		}
	})
}

func BenchmarkIncrByFloat(b *testing.B) {
	buf := make([]byte, 0, 64)
	buf = append(buf, "10.25"...)
	by := []byte("0.1")
	b.ReportAllocs()
	for b.Loop() {
		x, _ := Parse(buf)
		y, _ := Parse(by)
		z, _ := Add(x, y)
		buf = z.Append(buf[:0])
	}
}

// Scale and Ceil agree with math/big, rounded to 64 bits behind the product.
func TestScaleCeil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,19}(\.[0-9]{1,20})?(e-?[0-9])?`).Draw(t, "text")
		f, ok := Parse([]byte(text))
		if !ok {
			t.Fatalf("%s is refused", text)
		}
		product := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven).Mul(exact(text), big.NewFloat(1000))
		n, _ := product.Int(nil)
		if product.Sign() > 0 && product.Cmp(new(big.Float).SetInt(n)) > 0 {
			n.Add(n, big.NewInt(1))
		}
		got, ok := Scale(f, 1000).Ceil()
		if ok != n.IsInt64() || ok && got != n.Int64() {
			t.Fatalf("%s: %d, %v, want %s", text, got, ok, n)
		}
	})
	f := func(in string, want int64, fits bool) {
		t.Helper()
		x, _ := Parse([]byte(in))
		if got, ok := x.Ceil(); got != want || ok != fits {
			t.Errorf("%s: %d, %v, want %d, %v", in, got, ok, want, fits)
		}
	}
	f("inf", 1<<63-1, false)
	f("-inf", -1<<63, false)
	f("1e4000", 1<<63-1, false)
	f("9223372036854775807", 1<<63-1, true)
	f("9223372036854775808", 1<<63-1, false)
	f("-9223372036854775808", -1<<63, true)
	f("-9223372036854775809", -1<<63, false)
	f("9223372036854775806.5", 1<<63-1, true)
	f("1e-4000", 1, true)
	f("-1e-4000", 0, true)
	f("-0.5", 0, true)
}

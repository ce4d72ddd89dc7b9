package bitmap

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// strings with long runs of equal bytes, so that whole words are skipped.
func bitStrings() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		var b []byte
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			c := rapid.SampledFrom([]byte{0, 0xff, 0x10, 0xaa, 0x01, 0x80}).Draw(t, "byte")
			b = append(b, bytes.Repeat([]byte{c}, rapid.IntRange(0, 90).Draw(t, "length"))...)
		}
		return b
	})
}

func bitAt(b []byte, i int64) byte { return b[i>>3] >> (7 - i&7) & 1 }

func TestCountAndFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := append(bitStrings().Draw(t, "b"), 0x5a)
		from := rapid.Int64Range(0, int64(len(b))*8-1).Draw(t, "from")
		to := rapid.Int64Range(from, int64(len(b))*8-1).Draw(t, "to")
		n, first := int64(0), [2]int64{-1, -1}
		for i := from; i <= to; i++ {
			bit := bitAt(b, i)
			n += int64(bit)
			if first[bit] < 0 {
				first[bit] = i
			}
		}
		if got := countBits(b, from, to); got != n {
			t.Fatalf("count %d, want %d", got, n)
		}
		for bit := range byte(2) {
			at, ok := find(b, bit, from, to)
			if ok != (first[bit] >= 0) || ok && at != first[bit] {
				t.Fatalf("find %d: %d %v, want %d", bit, at, ok, first[bit])
			}
		}
	})
}

// byteAt returns byte i, zero beyond the end.
func byteAt(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return 0
}

func TestCombine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(bitStrings(), 1, 4).Draw(t, "src")
		size := 0
		for _, s := range src {
			size = max(size, len(s))
		}
		for _, op := range []operation{opAnd, opOr, opXor, opNot} {
			if op == opNot {
				src, size = src[:1], len(src[0])
			}
			want := make([]byte, size)
			for i := range want {
				v := byteAt(src[0], i)
				for _, s := range src[1:] {
					v = map[operation]byte{opAnd: v & byteAt(s, i), opOr: v | byteAt(s, i), opXor: v ^ byteAt(s, i)}[op]
				}
				if want[i] = v; op == opNot {
					want[i] = ^v
				}
			}
			o := bitopCall{op: op, src: src, size: int64(size)}
			out := bytes.Repeat([]byte{0x77}, size)
			o.compute(out, -1)
			if !bytes.Equal(out, want) {
				t.Fatalf("operation %d: %x, want %x", op, out, want)
			}
			if op == opNot {
				continue
			}
			given := rapid.IntRange(0, len(src)-1).Draw(t, "given")
			out = make([]byte, size)
			copy(out, src[given])
			o.compute(out, given)
			if !bytes.Equal(out, want) {
				t.Fatalf("operation %d in place of source %d: %x, want %x", op, given, out, want)
			}
		}
	})
}

func TestCombineBlocks(t *testing.T) {
	a, b := make([]byte, 3*block+77), make([]byte, 2*block-5)
	for i := range a {
		a[i] = byte(i * 7)
	}
	for i := range b {
		b[i] = byte(i * 13)
	}
	o := bitopCall{op: opXor, src: [][]byte{b, a}, size: int64(len(a))}
	out := make([]byte, len(a))
	o.compute(out, -1)
	for i := range out {
		if out[i] != a[i]^byteAt(b, i) {
			t.Fatalf("byte %d", i)
		}
	}
}

// reversed turns a little-endian number into big.Int's order.
func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i, c := range b {
		r[len(b)-1-i] = c
	}
	return r
}

func TestShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := bitStrings().Draw(t, "src")
		n := rapid.IntRange(0, 1200).Draw(t, "n")
		x := new(big.Int).SetBytes(reversed(src))
		up := make([]byte, len(src)+(n+7)/8)
		shiftUp(up, src, n)
		if want := new(big.Int).Lsh(x, uint(n)); new(big.Int).SetBytes(reversed(up)).Cmp(want) != 0 {
			t.Fatalf("left by %d: %x gives %x", n, src, up)
		}
		down := make([]byte, max(len(src)-n/8, 0))
		shiftDown(down, src, n)
		if want := new(big.Int).Rsh(x, uint(n)); new(big.Int).SetBytes(reversed(down)).Cmp(want) != 0 {
			t.Fatalf("right by %d: %x gives %x", n, src, down)
		}
	})
}

func TestFieldBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := append(bitStrings().Draw(t, "b"), make([]byte, 9)...)
		n := uint(rapid.IntRange(1, 64).Draw(t, "bits"))
		at := rapid.Int64Range(0, int64(len(b))*8-int64(n)).Draw(t, "at")
		v := rapid.Uint64().Draw(t, "v") >> (64 - n)
		was := bytes.Clone(b)
		putBits(b, at, n, v)
		if got := getBits(b, at, n); got != v {
			t.Fatalf("put %x, got %x", v, got)
		}
		for i := range int64(len(b)) * 8 {
			if (i < at || i >= at+int64(n)) && bitAt(b, i) != bitAt(was, i) {
				t.Fatalf("bit %d changed", i)
			}
		}
		if bit := bitAt(b, at); bit != byte(v>>(n-1)) {
			t.Fatalf("the first bit is %d", bit)
		}
	})
}

// TestOverflow compares INCRBY with integers that have no end.
func TestOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := fieldOp{verb: fieldIncr, signed: rapid.Bool().Draw(t, "signed"), overflow: overflow(rapid.IntRange(0, 2).Draw(t, "overflow"))}
		op.bits = uint(rapid.IntRange(1, 63).Draw(t, "bits"))
		low, high := op.limits()
		edge := rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1, -1, 0, low, high})
		old := rapid.OneOf(rapid.Int64Range(low, high), rapid.SampledFrom([]int64{low, high})).Draw(t, "old")
		op.value = rapid.OneOf(rapid.Int64(), edge, rapid.Int64Range(-9, 9)).Draw(t, "by")
		got, ok := op.next(old)
		sum := new(big.Int).Add(big.NewInt(old), big.NewInt(op.value))
		want := fmt.Sprint(sum)
		over, under := sum.Cmp(big.NewInt(high)) > 0, sum.Cmp(big.NewInt(low)) < 0
		switch {
		case !over && !under:
		case op.overflow == fail:
			want = "none"
		case op.overflow == saturate && over:
			want = fmt.Sprint(high)
		case op.overflow == saturate:
			want = fmt.Sprint(low)
		default:
			m := new(big.Int).Lsh(big.NewInt(1), op.bits)
			if sum.Mod(sum, m); sum.Cmp(big.NewInt(high)) > 0 {
				sum.Sub(sum, m)
			}
			want = fmt.Sprint(sum)
		}
		if have := fmt.Sprint(got); ok != (want != "none") || ok && have != want {
			t.Fatalf("%+v from %d: %s %v, want %s", op, old, have, ok, want)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	p := bytes.Repeat([]byte{0x5a}, 1<<20)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		count(p)
	}
}

func BenchmarkOp(b *testing.B) {
	x, y, out := bytes.Repeat([]byte{0x5a}, 1<<20), bytes.Repeat([]byte{0x33}, 1<<20), make([]byte, 1<<20)
	for name, op := range map[string]operation{"and": opAnd, "or": opOr, "xor": opXor} {
		o := bitopCall{op: op, src: [][]byte{x, y}, size: int64(len(out))}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(out)))
			for b.Loop() {
				o.compute(out, -1)
			}
		})
	}
	b.Run("find", func(b *testing.B) {
		z := make([]byte, 1<<20)
		b.SetBytes(int64(len(z)))
		for b.Loop() {
			find(z, 1, 0, int64(len(z))*8-1)
		}
	})
}

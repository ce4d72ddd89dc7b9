package rdb

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestChecksum(t *testing.T) {
	c := NewChecksum()
	c.Add([]byte("12345"))
	c.Add([]byte("6789"))
	if c.Sum() != 0xe9c6d914c4b8d9ca { // the check value of the polynomial's catalogues
		t.Fatalf("%x", c.Sum())
	}
}

func TestLength(t *testing.T) {
	for _, n := range []uint64{0, 1, 63, 64, 16383, 16384, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		b := appendLength([]byte("x"), n)[1:]
		got, special := decodeLength(b)
		if lengthSize(b[0]) != len(b) || special || got != n {
			t.Errorf("%d: % x: %d, %v", n, b, got, special)
		}
	}
	for _, first := range []byte{0x82, 0xbf} {
		if lengthSize(first) != 0 {
			t.Errorf("%x begins a length", first)
		}
	}
}

func TestIntegers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, math.MaxInt32, math.MinInt32} {
		b, ok := appendInteger(nil, v)
		form, special := decodeLength(b)
		if !ok || !special || integerSize(form) != len(b)-1 || decodeInteger(form, b[1:]) != v {
			t.Errorf("%d: % x", v, b)
		}
		text := strconv.FormatInt(v, 10)
		if got, ok := smallInteger([]byte(text)); !ok || got != v {
			t.Errorf("%s read as %d, %v", text, got, ok)
		}
	}
	for _, s := range []string{"", "-", "-0", "00", "01", "+1", " 1", "1 ", "2147483648", "-2147483649", "99999999999", "1a"} {
		if v, ok := smallInteger([]byte(s)); ok {
			t.Errorf("%q read as %d", s, v)
		}
	}
}

// texts gives strings that compress well, badly, and in between.
func texts(rng *rand.Rand) []byte {
	n := rng.IntN(1 << rng.IntN(17))
	b := make([]byte, 0, n)
	for len(b) < n {
		switch k := rng.IntN(4); {
		case k == 0 || len(b) == 0:
			b = append(b, byte(rng.Uint32()))
		case k == 1:
			b = append(b, bytes.Repeat(b[len(b)-1:], rng.IntN(600))...)
		case k == 2:
			from := rng.IntN(len(b))
			b = append(b, b[from:min(len(b), from+rng.IntN(300))]...)
		default:
			b = strconv.AppendUint(b, rng.Uint64N(1000), 10)
		}
	}
	return b[:n]
}

func TestCompress(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c compressor
	for range 3000 {
		s := texts(rng)
		packed, ok := c.compress([]byte("pre"), s, len(s)*2)
		if !ok {
			if len(s) >= 4 {
				t.Fatalf("gave up on %d bytes", len(s))
			}
			continue
		}
		if got, err := decompress([]byte("pre"), packed[3:], len(s)); err != nil || !bytes.Equal(got[3:], s) {
			t.Fatalf("%d bytes: %v", len(s), err)
		}
		if uint64(len(s)) > lzfMaxSize(uint64(len(packed)-3)) {
			t.Fatal("lzfMaxSize is too small")
		}
	}
	if c.compress(nil, bytes.Repeat([]byte("ab"), 1<<12), 200); c.base == 0 {
		t.Fatal("nothing was remembered")
	}
	c.base = 1 << 31 // as after 2 GB: what the table holds must not be taken for something
	s := []byte(strings.Repeat("hello hello ", 9))
	packed, ok := c.compress(nil, s, len(s)-4)
	if got, err := decompress(nil, packed, len(s)); !ok || err != nil || !bytes.Equal(got, s) {
		t.Fatal("after the table was cleared:", ok, err)
	}
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), []byte("abcabcabcabcd"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c := new(compressor)
		for _, s := range [][]byte{a, b} {
			packed, ok := c.compress(nil, s, len(s)+len(s)/32+1)
			if got, err := decompress(nil, packed, len(s)); ok && (err != nil || !bytes.Equal(got, s)) {
				t.Fatal(err)
			}
		}
	})
}

func FuzzDecompress(f *testing.F) {
	f.Add([]byte("\x04hello\xe0\x09\x04"), 23)
	f.Fuzz(func(t *testing.T, s []byte, size int) {
		if size < 0 || uint64(size) > lzfMaxSize(uint64(len(s))) {
			return
		}
		if got, err := decompress([]byte{7}, s, size); err == nil && len(got) != size+1 || got[0] != 7 {
			t.Fatal("wrong size")
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	s := []byte(strings.Repeat("field:12345 value:67890 ", 40))
	for i := range s {
		if i%7 == 0 {
			s[i] = byte('a' + i*i%23)
		}
	}
	var c compressor
	var dst []byte
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		dst, _ = c.compress(dst[:0], s, len(s)-4)
	}
}

package listpack_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db/listpack"
)

// samples are strings at the edges of every kind of entry.
func samples() []string {
	s := []string{"", "a", "-", "-0", "00", "0", "01", "+1", " 1", "1 ", "1.0", "abc", "abcd", "Hello", "Hello, World", "é", "field:12", "value_12",
		"550e8400-e29b-41d4-a716-446655440000", "2024-01-15 10:20:30", "user@example.com", "\x00", "\x7f\x80", "9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "99999999999999999999", "-", "--1", "1-1"}
	for _, edge := range []int64{0, 9, 10, 99, 100, 127, 128, 111, 4095, 4096, 4207, 4208, 1052783, 32767, 1 << 23, 1 << 31, 1 << 39, 1 << 47, 1 << 55, 256, 257, math.MaxInt64} {
		for d := int64(-2); d <= 2; d++ {
			s = append(s, strconv.FormatInt(edge+d, 10), strconv.FormatInt(-edge+d, 10))
		}
	}
	for _, n := range []int{3, 4, 7, 8, 15, 16, 23, 24, 27, 28, 61, 62, 63, 64, 65, 127, 128, 4095, 4096, 16384, 70000} {
		for _, c := range []string{"a", "Z", "-", "~", "\xff", "7", "é", "-A"} {
			s = append(s, strings.Repeat(c, n)[:n])
		}
	}
	return s
}

// randomString is a string of one of several kinds.
func randomString(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
	}
	n := r.IntN(80)
	if r.IntN(20) == 0 {
		n = r.IntN(6000)
	}
	alphabets := []string{"0123456789", "abcxyzABC019:_", "abc -.,{}\"", "ABC abc~$", "\x00\x80\xffa"}
	letters := alphabets[r.IntN(len(alphabets))]
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func TestRoundTrip(t *testing.T) {
	f := func(s string) {
		t.Helper()
		p := listpack.Append([]byte{1, 0}, []byte(s))
		e := listpack.At(p, listpack.Header)
		var buf listpack.Scratch
		if got := string(e.Bytes(&buf)); got != s {
			t.Fatalf("%q came back as %q (% x)", s, got, e)
		}
		if got := string(e.Append([]byte("x"))); got != "x"+s {
			t.Errorf("%q appended as %q", s, got)
		}
		if e.Len() != len(s) || len(e) != listpack.Size([]byte(s)) || len(e)+listpack.Header != len(p) || !e.Is([]byte(s)) {
			t.Errorf("%q: length %d, size %d of %d", s, e.Len(), len(e), len(p)-listpack.Header)
		}
		n, err := strconv.ParseInt(s, 10, 64)
		number := err == nil && strconv.FormatInt(n, 10) == s
		if got, ok := e.Int(); ok != number || ok && got != n {
			t.Errorf("%q is integer %d, %v", s, got, ok)
		}
		if number && !bytes.Equal(listpack.AppendInt(nil, n), e) {
			t.Errorf("%d is spelled in two ways", n)
		}
		if err := listpack.Check(p, 1); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if e.RedisSize() != listpack.RedisSize([]byte(s)) {
			t.Errorf("%q: size in redis %d and %d", s, e.RedisSize(), listpack.RedisSize([]byte(s)))
		}
		if plain := e.Plain(); plain != nil && string(plain) != s || plain == nil && len(e) > 64 {
			t.Errorf("%q stands as %q", s, plain)
		}
		var v listpack.Value
		if v.Set([]byte(s)); v.RedisSize() != e.RedisSize() {
			t.Errorf("%q: size in redis %d and %d", s, e.RedisSize(), v.RedisSize())
		}
		v.SetEntry(e)
		if !v.Equal(e) || !bytes.Equal(v.Append(nil), e) || v.RedisSize() != e.RedisSize() {
			t.Errorf("%q: a copy is % x", s, v.Append(nil))
		}
		if r := listpack.AppendRedis(nil, p); len(r) != listpack.RedisHeader+e.RedisSize() {
			t.Errorf("%q: redis' bytes are %d, want %d", s, len(r), listpack.RedisHeader+e.RedisSize())
		}
		if len(e) > listpack.RedisSize([]byte(s)) {
			t.Errorf("%q takes %d bytes, in redis %d", s, len(e), listpack.RedisSize([]byte(s)))
		}
	}
	for _, s := range samples() {
		f(s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		f(randomString(r))
	}
}

// TestSizes holds the sizes that the memory of collections rests on.
func TestSizes(t *testing.T) {
	f := func(s string, want int) {
		t.Helper()
		if got := listpack.Size([]byte(s)); got != want {
			t.Errorf("%q takes %d bytes, want %d", s, got, want)
		}
	}
	f("7", 1)
	f("111", 1)
	f("112", 2)
	f("1000", 2)
	f("-1", 2)
	f("30000", 3)
	f("1000000", 3)
	f("5000000", 4)
	f("Element-123456", 12)
	f("1700000000", 5)
	f("1700000000000", 7)
	f("field:12", 7)
	f("element:000000012345", 16)
	f("550e8400-e29b-41d4-a716-446655440000", 29)
	f("Hello, World", 12)
	f("\x01\x02\x03", 4)
}

func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var want []string
		p := make([]byte, listpack.Header)
		for range r.IntN(40) {
			s := randomString(r)
			want = append(want, s)
			p = listpack.Append(p, []byte(s))
		}
		listpack.SetCount(p, len(want))
		if err := listpack.Check(p, 1); err != nil || listpack.Count(p) != len(want) {
			t.Fatalf("%q: %v", want, err)
		}
		if len(p) > 60000 {
			continue
		}
		offsets := listpack.Offsets(nil, p, listpack.Header)
		if len(offsets) != len(want) {
			t.Fatalf("%d offsets of %d entries", len(offsets), len(want))
		}
		for i, s := range want {
			at := int(offsets[i])
			if got := string(listpack.At(p, at).Append(nil)); got != s || listpack.Skip(p, listpack.Header, i) != at {
				t.Fatalf("entry %d is %q, want %q", i, got, s)
			}
			var v listpack.Value
			v.Set([]byte(s))
			first := slices.Index(want, s)
			if got := listpack.Find(p, listpack.Header, &v, 0); got != int(offsets[first]) {
				t.Fatalf("%q found at %d, want %d", s, got, offsets[first])
			}
		}
		var v listpack.Value
		v.Set([]byte("not there at all"))
		if got := listpack.Find(p, listpack.Header, &v, 0); got != -1 {
			t.Fatalf("found at %d what is not there", got)
		}
	}
}

func TestFindPairs(t *testing.T) {
	p := make([]byte, listpack.Header)
	for _, s := range []string{"a", "b", "b", "a", "field:11", "1", "field:12", "2"} {
		p = listpack.Append(p, []byte(s))
	}
	f := func(s string, want int) {
		t.Helper()
		var v listpack.Value
		v.Set([]byte(s))
		if want > 0 {
			want = listpack.Skip(p, listpack.Header, want)
		}
		if got := listpack.Find(p, listpack.Header, &v, 1); got != want {
			t.Errorf("%q found at %d, want %d", s, got, want)
		}
	}
	f("b", 2)
	f("field:12", 6)
	f("2", -1)
	f("1", -1)
}

func TestPut(t *testing.T) {
	for _, s := range samples() {
		var v listpack.Value
		v.Set([]byte(s))
		b := bytes.Repeat([]byte{0xee}, v.Size()+2)
		v.Put(b[1:])
		if want := append(append([]byte{0xee}, listpack.Append(nil, []byte(s))...), 0xee); !bytes.Equal(b, want) {
			t.Errorf("%q put as % x", s, b)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, s := range []string{"", "\x00", "\x01\x00", "\x00\x00\x01", "\x01\x00\xc1", "\x01\x00\xc11", "\x01\x00\xfb", "\x01\x00\xff\xff",
		"\x01\x00\xf7\xff\xff\xff\xff", "\x01\x00\xf1\x01\x00", "\x01\x00\xf8\xff", "\x01\x00\xe0\x01a", "\x01\x00\xf0", "\x01\x00\xe0"} {
		if listpack.Check([]byte(s), 1) == nil {
			t.Errorf("% x passes", s)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	p := make([]byte, listpack.Header, 4096)
	for i := range 100 {
		p = listpack.Append(p, []byte("field:"+strconv.Itoa(i)))
	}
	field, n := []byte("field:77"), 0
	if a := testing.AllocsPerRun(100, func() {
		var v listpack.Value
		var buf listpack.Scratch
		v.Set(field)
		at := listpack.Find(p, listpack.Header, &v, 0)
		n += len(listpack.At(p, at).Bytes(&buf))
		q := v.Append(p)
		n += listpack.Size(field) + len(q)
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

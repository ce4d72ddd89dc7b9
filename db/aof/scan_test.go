package aof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// scan reads all of a text in batches of some size.
func scan(text []byte, size int64, bytesOf int, until int64, r io.Reader) (cmds []string, end int64, err error) {
	sc := NewScanner(r, ScanOptions{Name: "x.aof", Size: size, Bytes: bytesOf, Until: until})
	var b Batch
	for {
		if err = sc.Next(&b); err != nil {
			return cmds, end, err
		}
		if len(b.Commands) == 0 {
			return cmds, end, errors.New("an empty batch")
		}
		for _, c := range b.Commands {
			cmds = append(cmds, told(&c))
			if text[c.Offset] != '*' {
				return cmds, end, fmt.Errorf("no command begins at %d", c.Offset)
			}
		}
		end = b.End
	}
}

// told is a command as text, by which it is compared.
func told(c *Command) string {
	b := strconv.AppendBool(strconv.AppendInt(nil, c.Offset, 10), c.Multi)
	for _, arg := range c.Argv {
		b = append(strconv.AppendInt(append(b, ' '), int64(len(arg)), 10), ':')
		b = append(b, arg...)
	}
	return string(b)
}

func TestScanErrors(t *testing.T) {
	set := string(resp("SET", "foo", "hello"))
	n := int64(len(set))
	multi, exec := string(resp("MULTI")), string(resp("EXEC"))
	for _, c := range []struct {
		text          string
		kind          Kind
		offset, valid int64
		multi         bool
		msg           string
	}{
		{set + "!!!" + set, Format, n, n, false, `expected '*', found "!"`},
		{set + set[:n-1], Truncated, 2*n - 7, n, false, "expected 7 bytes, the file has 6 more"},
		{set + "*", Truncated, n + 1, n, false, "expected the rest"},
		{set + "*3", Truncated, n + 2, n, false, "expected the rest"},
		{set + multi + set, Truncated, 2*n + 15, n, true, "expected EXEC"},
		{set + multi + set + set[:9], Truncated, 2*n + 23, n, true, "expected 5 bytes, the file has 1 more"},
		{set + "*0\r\n", Format, n, n, false, "at least one argument"},
		{set + "*-1\r\n", Format, n + 1, n, false, "expected a number"},
		{set + "*1\r\n$-1\r\n", Format, n + 5, n, false, "expected a number"},
		{set + "*1\r\n$99999999999\r\nabc", Truncated, n + 18, n, false, "expected 100000000001 bytes, the file has 3 more"},
		{set + "*1\r\n$99999999999999999999\r\nabc", Format, n + 4, n, false, "too large"},
		{set + "*1\r\n$3\r\nsetXY$1\r\na\r\n", Format, n + 11, n, false, "expected CR LF"},
		{set + "*9223372036854775807\r\n$1\r\na\r\n", Truncated, n + 29, n, false, "expected the rest"},
		{set + strings.Repeat("\x00", 5000), Truncated, n, n, false, "zero bytes only"},
		{set + "*1\r\n$9\r\nabc" + strings.Repeat("\x00", 5000), Truncated, n + 17, n, false, "zero bytes only"},
		{set + strings.Repeat("\x00", 5000) + set, Format, n, n, false, "expected '*'"},
		{set + "#" + strings.Repeat("x", 2000) + "\r\n", Format, n, n, false, "annotation"},
		{"\r\n", Format, 0, 0, false, "expected '*'"},
		{multi + "x", Format, 15, 0, true, "expected '*'"},
	} {
		for _, size := range []int{1, 64, 0} {
			_, _, err := scan([]byte(c.text), int64(len(c.text)), size, 0, strings.NewReader(c.text))
			var bad *ScanError
			if !errors.As(err, &bad) || bad.Kind != c.kind || bad.Offset != c.offset || bad.Valid != c.valid || bad.Multi != c.multi || !strings.Contains(bad.Msg, c.msg) {
				t.Errorf("%.100q, batches of %d: %#v", c.text, size, err)
			}
		}
	}
	for _, text := range []string{"", set, set + exec + set, multi + multi + set + exec, "#x\r\n" + set + "#TS:1\r\n", multi + exec, strings.ToLower(multi) + set + strings.ToLower(exec)} {
		if _, _, err := scan([]byte(text), int64(len(text)), 0, 0, strings.NewReader(text)); err != io.EOF {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestScanUntil(t *testing.T) {
	set := string(resp("SET", "a", "b"))
	text := "#TS:100\r\n" + set + "#TS:200\r\n" + set + "*1\r\n$5\r\nMULTI\r\n" + set + "#TS:300\r\n" + set + "*1\r\n$4\r\nEXEC\r\n" + set
	group := int64(18 + 2*len(set))
	for until, want := range map[int64]struct {
		n   int
		off int64
	}{99: {0, 0}, 100: {1, int64(9 + len(set))}, 199: {1, int64(9 + len(set))}, 200: {2, group}, 299: {2, group}, 300: {5, -1}, 0: {5, -1}} {
		cmds, _, err := scan([]byte(text), int64(len(text)), 0, until, strings.NewReader(text))
		var u *Until
		if errors.As(err, &u) != (want.off >= 0) || u != nil && u.Offset != want.off || len(cmds) != want.n {
			t.Errorf("until %d: %d commands, %v", until, len(cmds), err)
		}
	}
}

// TestScanMemory: a length that the file cannot hold costs nothing.
func TestScanMemory(t *testing.T) {
	for _, size := range []int64{60, -1} {
		text := "*2\r\n$3\r\nfoo\r\n$68719476736\r\nabcdefghijklmnopqrstuvwxyz"
		if size > 0 {
			size = int64(len(text))
		}
		allocated := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				if _, _, err := scan([]byte(text), size, 64, 0, strings.NewReader(text)); err == io.EOF {
					b.Fatal(err)
				}
			}
		}).AllocedBytesPerOp()
		if allocated > 10_000 {
			t.Errorf("size %d: %d bytes were allocated", size, allocated)
		}
	}
}

// randomFile makes a file and what is in it.
func randomFile(r *rand.Rand) (text []byte) {
	for range r.IntN(40) {
		switch r.IntN(8) {
		case 0:
			text = fmt.Appendf(text, "#TS:%d\r\n", r.IntN(1000))
		case 1:
			text = append(text, resp("MULTI")...)
			for range r.IntN(5) {
				text = append(text, resp("SET", "k", strings.Repeat("v", r.IntN(300)))...)
			}
			text = append(text, resp("EXEC")...)
		default:
			args := []string{"CMD"}
			for range r.IntN(5) {
				args = append(args, strings.Repeat("\r\n*$"[r.IntN(4):], r.IntN(200)))
			}
			text = append(text, resp(args...)...)
		}
	}
	return text
}

// TestScanSizes: the size of batches and of reads makes no difference, nor does a file that is cut anywhere say
// anything but that.
func TestScanSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		text := randomFile(r)
		whole, _, err := scan(text, int64(len(text)), 1<<20, 0, bytes.NewReader(text))
		if err != io.EOF {
			t.Fatal(err)
		}
		for _, size := range []int{1, 7, 100, 1000} {
			got, _, err := scan(text, int64(len(text)), size, 0, iotest.HalfReader(bytes.NewReader(text)))
			if err != io.EOF || !slices.Equal(got, whole) {
				t.Fatalf("batches of %d: %d of %d commands, %v", size, len(got), len(whole), err)
			}
		}
		cut := text[:r.IntN(len(text)+1)]
		got, end, err := scan(cut, int64(len(cut)), 50, 0, iotest.DataErrReader(bytes.NewReader(cut)))
		var bad *ScanError
		if errors.As(err, &bad) {
			if bad.Kind != Truncated || bad.Valid < end || bad.Valid > int64(len(cut)) {
				t.Fatalf("%v", bad)
			}
		} else if err != io.EOF {
			t.Fatal(err)
		}
		if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
			t.Fatal("a file that is cut has other commands")
		}
	}
}

// FuzzScan: any bytes end with an error that says where, the same for batches of any size, and what counts as whole
// reads alone as it did. Short files show that as well as long ones do, many times as fast.
func FuzzScan(f *testing.F) {
	f.Add(slices.Concat([]byte("#TS:9\r\n"), resp("MULTI"), resp("SET", "k", "\r\n*$"), resp("EXEC"), resp("CMD", "", "*3")))
	f.Add([]byte("*1\r\n$5\r\nMULTI\r\n*1\r\n$1\r\na\r\n#TS:5\r\n"))
	f.Add([]byte("*2\r\n$1\r\na\r\n$99999999999\r\n"))
	f.Add([]byte("*1\r\n$1\r\na\r\n\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 2000 {
			return
		}
		one, _, err1 := scan(text, int64(len(text)), 1, 0, bytes.NewReader(text))
		all, _, err2 := scan(text, int64(len(text)), 4000, 0, iotest.HalfReader(bytes.NewReader(text)))
		if !slices.Equal(one, all) {
			t.Fatalf("%v in small batches, %v in large ones", one, all)
		}
		if err1 == io.EOF && err2 == io.EOF {
			return
		}
		var a, b *ScanError
		if !errors.As(err1, &a) || !errors.As(err2, &b) || a.Kind != b.Kind || a.Valid != b.Valid {
			t.Fatalf("%v in small batches, %v in large ones", err1, err2)
		}
		if a.Offset < a.Valid || a.Offset > int64(len(text)) {
			t.Fatalf("offset %d, valid %d of %d", a.Offset, a.Valid, len(text))
		}
		again, _, err := scan(text[:a.Valid], a.Valid, 100, 0, bytes.NewReader(text[:a.Valid]))
		if err != io.EOF || !slices.Equal(again, one) {
			t.Fatalf("up to %d: %v", a.Valid, err)
		}
	})
}

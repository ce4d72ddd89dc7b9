package resp

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/redcon"
	"pgregory.net/rapid"
)

// result is what a stream of requests comes to: each request quoted on a line,
// the error that ended it, how many bytes were left unread.
type result struct {
	Requests []string
	Err      error
	Left     int
}

// readAll feeds stream in pieces of the given sizes (the last repeated) to one
// reader, as a connection does.
func readAll(limits *Limits, stream []byte, pieces ...int) result {
	r := Reader{Limits: limits}
	var res result
	var in []byte
	argv := make([][]byte, 0, 4)
	for i := 0; len(stream) > 0; i++ {
		n := min(len(stream), max(1, pieces[min(i, len(pieces)-1)]))
		in = append(bytes.Clone(in), stream[:n]...) // a new place each time
		stream = stream[n:]
		for {
			args, n, err := r.Next(in, argv)
			if err != nil {
				res.Err = err
				return res
			}
			if n == 0 {
				break
			}
			if len(args) > 0 {
				res.Requests = append(res.Requests, fmt.Sprintf("%q", args))
			}
			in = in[n:]
		}
	}
	res.Left = len(in)
	return res
}

func TestRequests(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		for _, piece := range []int{1 << 30, 1, 3} {
			got := readAll(nil, []byte(stream), piece)
			if got.Err != nil || !reflect.DeepEqual(got.Requests, want) {
				t.Errorf("%q in pieces of %d: %q, %v; want %q", stream, piece, got.Requests, got.Err, want)
			}
		}
	}
	f("*1\r\n$4\r\nPING\r\n", `["PING"]`)
	f("*2\r\n$4\r\nECHO\r\n$0\r\n\r\nPING\r\n", `["ECHO" ""]`, `["PING"]`)
	f("*12"+"\r\n"+strings.Repeat("$1\r\nx\r\n", 12), `[`+strings.TrimSpace(strings.Repeat(`"x" `, 12))+`]`)
	f("*1\r\n$100\r\n"+strings.Repeat("a", 100)+"\r\n", `["`+strings.Repeat("a", 100)+`"]`)
	f("*0\r\n*-1\r\n*-9223372036854775808\r\n\r\n\n   \r\n*1\r\n$1\r\nx\r\n", `["x"]`)
	f("*1\rX$2\rYabZZ*1\r\n$1\r\nx\r\n", `["ab"]`, `["x"]`) // bytes that Redis does not look at
	f("$1 b\r\n", `["$1" "b"]`)
	f("set a  'b c'\n", `["set" "a" "b c"]`)
	f(`a "b \n\r\t\b\a\x41\xfF\xg\q\"" '\'\n' x"y" ""`+"\r\n", `["a" "b \n\r\t\b\aA\xffxgq\"" "'\\n" "xy" ""]`)
	f("\va\vb\fc\r\n", `["a\vb\fc"]`)
}

func TestProtocolErrors(t *testing.T) {
	long := strings.Repeat("A", DefaultMaxInline+1)
	f := func(limits *Limits, stream string, want error) {
		t.Helper()
		for _, piece := range []int{1 << 30, 1 + len(stream)/50, 7 + len(stream)/50} {
			if got := readAll(limits, []byte(stream), piece); got.Err != want {
				t.Errorf("%.40q in pieces of %d: %v, want %q", stream, piece, got.Err, want)
			}
		}
	}
	for _, c := range protocolErrors(long) {
		f(nil, c.stream, c.want)
	}
	unauth := &Limits{Unauthenticated: true}
	f(unauth, "*11\r\n", ErrUnauthCount)
	f(unauth, "*1\r\n$16385\r\n", ErrUnauthLength)
	f(unauth, "*10\r\n$16384\r\n", nil)
	f(&Limits{MaxBulk: 200}, "*1\r\n$201\r\n", ErrBulkLength)
	f(&Limits{MaxArgs: 20}, "*21\r\n", ErrMultibulkLength)
	f(&Limits{MaxInline: 20}, strings.Repeat("a", 21), ErrTooBigInline)
}

type protocolError struct {
	stream string
	want   Error
}

// protocolErrors are streams with the error they end in; the test against a
// real server sends the same.
func protocolErrors(long string) []protocolError {
	return []protocolError{
		{"*3000000000\r\n", ErrMultibulkLength},
		{"*2147483648\r\n", ErrMultibulkLength},
		{"*abc\r\n", ErrMultibulkLength},
		{"*\r\n", ErrMultibulkLength},
		{"*+1\r\n", ErrMultibulkLength},
		{"*01\r\n", ErrMultibulkLength},
		{"*1 \r\n", ErrMultibulkLength},
		{"*-0\r\n", ErrMultibulkLength},
		{"*99999999999999999999999\r\n", ErrMultibulkLength},
		{"*1\r\nfoo\r\n", "ERR Protocol error: expected '$', got 'f'"},
		{"*1\r\n\xff\r\n", "ERR Protocol error: expected '$', got '\xff'"},
		{"*1\r\n*1\r\n", "ERR Protocol error: expected '$', got '*'"},
		{"*2\r\n$4\r\nECHO\r\n:1\r\n", "ERR Protocol error: expected '$', got ':'"},
		{"*1\r\n\r\n\r\n", "ERR Protocol error: expected '$', got '\r'"},
		{"*1\r\n$-1\r\n", ErrBulkLength},
		{"*1\r\n$-100\r\n", ErrBulkLength},
		{"*1\r\n$\r\n", ErrBulkLength},
		{"*1\r\n$1x\r\n", ErrBulkLength},
		{"*1\r\n$007\r\n", ErrBulkLength},
		{"*1\r\n$536870913\r\n", ErrBulkLength},
		{"*1\r\n$9223372036854775808\r\n", ErrBulkLength},
		{"*1\r\n$20000000000\r\n", ErrBulkLength},
		{"foo 'bar\r\n", ErrUnbalanced},
		{"foo \"bar\\\"\r\n", ErrUnbalanced},
		{"foo 'bar'baz\r\n", ErrUnbalanced},
		{"foo \"bar\"baz\r\n", ErrUnbalanced},
		{"foo \"bar\\\r\n", ErrUnbalanced},
		{long, ErrTooBigInline},
		{"\x00\r\n" + long, ErrTooBigInline},
		{"a\x00b\r\n" + long, ErrTooBigInline},
		{"*" + long, ErrTooBigCount},
		{"*\x00\r\n" + long, ErrTooBigCount},
		{"*1\r\n$" + long, ErrTooBigLength},
		{"*1\r\n" + long, ErrTooBigLength},
		{"*1\r\n\x00\r\n" + long, ErrTooBigLength},
	}
}

// TestAnyCut holds that the same requests come out however a stream is cut.
func TestAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.Byte(), 0, 120)
		var stream []byte
		var want []string
		for range rapid.IntRange(1, 6).Draw(t, "requests") {
			argv := rapid.SliceOfN(word, 1, 14).Draw(t, "argv")
			want = append(want, fmt.Sprintf("%q", argv))
			stream = appendRequest(stream, argv)
		}
		cuts := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 20).Draw(t, "cuts")
		got := readAll(nil, stream, cuts...)
		if got.Err != nil || got.Left != 0 || !reflect.DeepEqual(got.Requests, want) {
			t.Fatalf("got %+v, want %q", got, want)
		}
	})
}

func appendRequest(dst []byte, argv [][]byte) []byte {
	dst = fmt.Appendf(dst, "*%d\r\n", len(argv))
	for _, a := range argv {
		dst = fmt.Appendf(dst, "$%d\r\n%s\r\n", len(a), a)
	}
	return dst
}

// FuzzReader holds that nothing crashes, that any two cuts of the same bytes
// give the same, and that arguments of an array lie within the input.
func FuzzReader(f *testing.F) {
	for _, c := range protocolErrors(strings.Repeat("A", 100)) {
		f.Add([]byte(c.stream), uint16(3))
	}
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n*0\r\n*-3\r\n"), uint16(5))
	f.Add([]byte("set \"a\\x00\" 'b'\r\n*11\r\n"+strings.Repeat("$1\r\nx\r\n", 11)), uint16(1))
	limits := &Limits{MaxInline: 64, MaxBulk: 1 << 16}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		whole := readAll(limits, bytes.Clone(stream), len(stream)+1)
		for _, pieces := range [][]int{{1}, {int(cut%97) + 1}, {int(cut>>8) + 1, int(cut%13) + 1}} {
			got := readAll(limits, bytes.Clone(stream), pieces...)
			if tooBig(got.Err) || tooBig(whole.Err) {
				continue // how much is there when a line is given up depends on the cut, as in Redis
			}
			if !reflect.DeepEqual(got, whole) {
				t.Fatalf("in pieces of %v: %+v\nwhole: %+v", pieces, got, whole)
			}
		}
	})
}

func tooBig(err error) bool {
	return err == ErrTooBigInline || err == ErrTooBigCount || err == ErrTooBigLength
}

func TestWantAndDivert(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	stream := appendRequest(nil, [][]byte{[]byte("mset"), []byte("k1"), big, []byte("k2"), big[:BigBulkMin]})
	for _, cut := range []int{45, 46, 1000, len(big) + 40, len(big) + 35} {
		var r Reader
		in := bytes.Clone(stream[:cut])
		rest := stream[cut:]
		var args [][]byte
		for diverted := 0; ; {
			var n int
			var err error
			args, n, err = r.Next(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				if n != len(in) || diverted == 0 {
					t.Fatalf("cut %d: took %d of %d bytes, %d diverted", cut, n, len(in), diverted)
				}
				break
			}
			if need, have, ok := r.BigBulk(); ok {
				block := make([]byte, need)
				var filled int
				in, filled = r.Divert(block, in)
				if filled != have {
					t.Fatalf("filled %d, have %d", filled, have)
				}
				rest = rest[copy(block[filled:], rest):]
				diverted++
				continue
			}
			more := min(r.Want()-len(in), len(rest))
			if more <= 0 {
				t.Fatalf("cut %d: wants %d, has %d, rest %d", cut, r.Want(), len(in), len(rest))
			}
			in, rest = append(in, rest[:more]...), rest[more:]
		}
		if len(args) != 5 || string(args[1]) != "k1" || string(args[3]) != "k2" ||
			!bytes.Equal(args[2], big) || !bytes.Equal(args[4], big[:BigBulkMin]) {
			t.Fatalf("cut %d: wrong arguments", cut)
		}
	}
}

// TestLinear holds that requests which arrive byte by byte cost linear time:
// quadratic work on these would take minutes.
func TestLinear(t *testing.T) {
	start := time.Now()
	for _, stream := range [][]byte{
		append([]byte("*200000\r\n"), bytes.Repeat([]byte("$1\r\nx\r\n"), 200000)...),
		append([]byte("*1\r\n$1000000\r\n"), make([]byte, 1000002)...),
		append(bytes.Repeat([]byte("a"), 60000), '\n'),
	} {
		var r Reader
		for n := 1; n <= len(stream); n++ {
			_, took, err := r.Next(stream[:n], nil)
			if err != nil || (took > 0) != (n == len(stream)) {
				t.Fatalf("after %d of %d bytes: %d, %v", n, len(stream), took, err)
			}
		}
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestHugeCount holds that a big count costs nothing before arguments arrive.
func TestHugeCount(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r Reader
	if _, n, err := r.Next([]byte("*2147483647\r\n$1\r\na\r\n"), nil); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<16 {
		t.Errorf("allocated %d bytes", grown)
	}
}

// TestManyArguments: the arguments of a request that came in pieces take one
// allocation, of their size.
func TestManyArguments(t *testing.T) {
	const n = 100_000
	in := append([]byte("*100000\r\n"), bytes.Repeat([]byte("$1\r\nx\r\n"), n)...)
	r := &Reader{}
	allocs := testing.AllocsPerRun(3, func() {
		if _, took, err := r.Next(in[:20], nil); took != 0 || err != nil {
			t.Fatal(took, err)
		}
		args, took, err := r.Next(in, nil)
		if len(args) != n || cap(args) != n || took != len(in) || err != nil {
			t.Fatal(len(args), cap(args), took, err)
		}
	})
	if allocs > 3 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	pipeline := bytes.Repeat([]byte("*3\r\n$3\r\nSET\r\n$5\r\nkey:1\r\n$32\r\n0123456789abcdef0123456789abcdef\r\n"), 16)
	inline := []byte("set a b\r\n")
	var r Reader
	argv := make([][]byte, 0, 8)
	line := make([]byte, len(inline))
	n := testing.AllocsPerRun(100, func() {
		for in := pipeline; len(in) > 0; {
			_, n, _ := r.Next(in, argv)
			in = in[n:]
		}
		r.Next(pipeline[:30], argv)
		r.Next(pipeline, argv)
		copy(line, inline)
		r.Next(line, argv)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkReader(b *testing.B) {
	value := strings.Repeat("v", 32)
	get := "*2\r\n$3\r\nGET\r\n$15\r\nkey:00000000001\r\n"
	set := "*3\r\n$3\r\nSET\r\n$15\r\nkey:00000000001\r\n$32\r\n" + value + "\r\n"
	for _, c := range []struct{ name, request string }{
		{"get", get}, {"set", set},
		{"mset100", "*201\r\n$4\r\nMSET\r\n" + strings.Repeat("$15\r\nkey:00000000001\r\n$32\r\n"+value+"\r\n", 100)},
	} {
		in := []byte(strings.Repeat(c.request, 64))
		argv := make([][]byte, 0, 256)
		b.Run(c.name+"/own", func(b *testing.B) {
			b.ReportAllocs()
			var r Reader
			for rest := in; b.Loop(); {
				_, n, _ := r.Next(rest, argv)
				if rest = rest[n:]; len(rest) == 0 {
					rest = in
				}
			}
		})
		b.Run(c.name+"/redcon", func(b *testing.B) {
			b.ReportAllocs()
			for rest := in; b.Loop(); {
				_, _, _, left, _ := redcon.ReadNextCommand(rest, argv)
				if rest = left; len(rest) == 0 {
					rest = in
				}
			}
		})
	}
}

// TestRandomBytes is a short fuzz that runs with every test.
func TestRandomBytes(t *testing.T) {
	alphabet := []byte("*$0123456789-\r\n\r\n\r\nab\"'\\ \x00")
	rng := rand.New(rand.NewSource(1))
	for range 20000 {
		stream := make([]byte, rng.Intn(60))
		for i := range stream {
			stream[i] = alphabet[rng.Intn(len(alphabet))]
		}
		whole := readAll(nil, bytes.Clone(stream), 1000)
		if got := readAll(nil, bytes.Clone(stream), 1+rng.Intn(5)); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q: cut %+v, whole %+v", stream, got, whole)
		}
	}
}

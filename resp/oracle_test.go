package resp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/tests/testserver"
)

// startOracle runs redis-server until the test ends.
func startOracle(t *testing.T, args ...string) (addr string) {
	t.Helper()
	return testserver.RunRedis(t, testserver.Options{Args: args}).Addr
}

// ask sends a stream and returns all that comes back, until the server closes
// or is silent for a while.
func ask(t *testing.T, addr, stream string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.WriteString(c, stream)
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	b, _ := io.ReadAll(c)
	return string(b)
}

// quit makes the server close what no error closes.
const quit = "*1\r\n$4\r\nQUIT\r\n"

// finishReply writes what ends a connection: the error, or QUIT's answer.
func finishReply(w *Writer, err error) {
	if err != nil {
		w.Error(err.(Error))
		return
	}
	w.OK()
}

// TestOracleProtocolErrors sends the streams of the table tests to redis-server
// and expects the errors that we give.
func TestOracleProtocolErrors(t *testing.T) {
	addr := startOracle(t)
	long := strings.Repeat("A", DefaultMaxInline+1)
	for _, c := range protocolErrors(long) {
		w := NewWriter(nil)
		w.Error(c.want)
		if got := ask(t, addr, c.stream); got != string(w.Bytes()) {
			t.Errorf("%.40q: redis says %q, we %q", c.stream, got, w.Bytes())
		}
	}
}

func TestOracleUnauthenticated(t *testing.T) {
	addr := startOracle(t, "--requirepass", "secret")
	f := func(stream string) {
		t.Helper()
		res := readAll(&Limits{Unauthenticated: true}, []byte(stream), 1000)
		w := NewWriter(nil)
		for range res.Requests {
			w.Error(ErrNoAuth)
		}
		finishReply(w, res.Err)
		if got := ask(t, addr, stream+quit); got != string(w.Bytes()) {
			t.Errorf("%.40q: redis says %q, we %q", stream, got, w.Bytes())
		}
	}
	f("*11\r\n")
	f("*10\r\n$4\r\nmget\r\n" + strings.Repeat("$1\r\na\r\n", 9))
	f("*2\r\n$3\r\nget\r\n$16384\r\n" + strings.Repeat("a", 16384) + "\r\n")
	f("*2\r\n$3\r\nget\r\n$16385\r\n")
	f("*2\r\n$4\r\nMGET\r\n$1\r\na\r\nget a\r\n*2147483648\r\n")
}

// TestOracleRandomRequests sends random bytes near the protocol's grammar, with
// ECHO as the only command, and compares what we would have answered.
func TestOracleRandomRequests(t *testing.T) {
	addr := startOracle(t)
	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
	for range 500 {
		stream := randomStream(rng)
		res := readAll(nil, []byte(stream), len(stream))
		w := NewWriter(nil)
		for _, q := range res.Requests {
			answerEcho(w, q)
		}
		finishReply(w, res.Err)
		if got := ask(t, addr, stream+quit); got != string(w.Bytes()) {
			t.Errorf("%q: redis says %q, we %q", stream, got, w.Bytes())
		}
	}
}

// answerEcho answers what readAll noted of a request ECHO x, with x a word
// that quoting leaves alone or not.
func answerEcho(w *Writer, quoted string) {
	var name, arg string
	if n, _ := fmt.Sscanf(strings.Trim(quoted, "[]"), "%q %q", &name, &arg); n != 2 {
		w.Error("ERR wrong number of arguments for 'echo' command")
		return
	}
	w.BulkString(arg)
}

func randomStream(rng *rand.Rand) string {
	var b bytes.Buffer
	odd := []string{"*0\r\n", "*-7\r\n", "\r\n", "\n", "  \t\r\n", "*1\r\n$4\r\nECHO\r\n", "*1\rx$4\ryechozz"}
	words := []string{"a", `"a b"`, `'a\'b'`, `"\x41\n\q"`, `a"b c"`, `""`, `"a"b`, `'`, `"\x4"`, "$1", `\x41`, `"a\\"`, "\va"}
	for range 1 + rng.Intn(6) {
		switch rng.Intn(3) {
		case 0:
			b.WriteString(odd[rng.Intn(len(odd))])
		case 1:
			fmt.Fprintf(&b, "echo %s\r\n", words[rng.Intn(len(words))])
		default:
			arg := make([]byte, rng.Intn(30))
			rng.Read(arg)
			b.Write(appendRequest(nil, [][]byte{[]byte("ECHO"), arg}))
		}
	}
	return b.String()
}

// TestOracleDoubles has redis-server print doubles, as sorted set scores, in
// both protocol versions.
func TestOracleDoubles(t *testing.T) {
	addr := startOracle(t)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for proto := 2; proto <= 3; proto++ {
		fmt.Fprintf(c, "HELLO %d\r\nECHO end\r\n", proto)
		for line := ""; line != "end\r\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		member := strings.Repeat("m", 100) // long, so that the score is kept as a double
		for _, f := range doubles() {
			fmt.Fprintf(c, "DEL z\r\nZADD z %s %s\r\nZSCORE z %s\r\n", strconv.FormatFloat(f, 'g', -1, 64), member, member)
			for range 2 { // the replies of DEL and ZADD
				if _, err := in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			got, err := in.ReadString('\n')
			if proto == 2 && err == nil {
				var value string
				value, err = in.ReadString('\n')
				got += value
			}
			if err != nil {
				t.Fatal(err)
			}
			w := NewWriter(nil)
			w.SetProto(proto)
			w.Double(f)
			if got != string(w.Bytes()) {
				t.Errorf("RESP%d, %g: redis says %q, we %q", proto, f, got, w.Bytes())
			}
		}
	}
}

func doubles() []float64 {
	list := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1.5, -2.25, 3.141, 1e-5, 1e-4, 123456.789, 1e14, 1e15, 1e16, 1e17, 1e18, 1e21,
		999999999999999, 1e15 + 0.5, 4503599627370497.5, 9007199254740993, 1 << 62, 1 << 63, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Inf(1), math.Inf(-1), 2.2250738585072014e-308, 99999999999999999}
	rng := rand.New(rand.NewSource(7))
	for range 500 {
		f := math.Float64frombits(rng.Uint64())
		if math.IsNaN(f) {
			continue
		}
		list = append(list, f, math.Trunc(rng.NormFloat64()*1e6), rng.NormFloat64()*1e17, math.Trunc(rng.NormFloat64()*1e17))
	}
	return list
}

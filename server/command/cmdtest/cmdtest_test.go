package cmdtest

import (
	"bufio"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		got, err := Words(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
	f("")
	f("  get  k ", "get", "k")
	f(`set k "a b"`, "set", "k", "a b")
	f(`set k "\x00\xff\n\r\t\a\b\"\\\q"`, "set", "k", "\x00\xff\n\r\t\a\b\"\\q")
	f(`set k ''`, "set", "k", "")
	f(`set k 'it\'s "\n"'`, "set", "k", `it's "\n"`)
	f(`"\xzz" "\x1"`, "xzz", "x1")
	for _, line := range []string{`"`, `'a`, `"a"b`, `get "a\"`} {
		if got, err := Words(line); err == nil {
			t.Errorf("%s: %q, want an error", line, got)
		}
	}
}

func TestFormat(t *testing.T) {
	f := func(raw string, want ...string) {
		t.Helper()
		if got := Format(raw); got != strings.Join(want, "\n") {
			t.Errorf("%q:\n%s\nwant\n%s", raw, got, strings.Join(want, "\n"))
		}
		r := bufio.NewReader(strings.NewReader(raw))
		if got, err := readReply(r); err != nil || got != raw {
			t.Errorf("%q read as %q, %v", raw, got, err)
		}
	}
	f("+OK\r\n", "OK")
	f("-ERR no\r\n", "(error) ERR no")
	f(":-5\r\n", "(integer) -5")
	f("$3\r\na\x00\"\r\n", `"a\x00\""`)
	f("$-1\r\n", "(nil)")
	f("*-1\r\n", "(nil array)")
	f("*0\r\n", "(empty array)")
	f("*2\r\n*2\r\n:1\r\n:2\r\n$1\r\na\r\n", "1) 1) (integer) 1", "   2) (integer) 2", `2) "a"`)
	f("%2\r\n+a\r\n:1\r\n+b\r\n*2\r\n:1\r\n:2\r\n", "1# a => (integer) 1", "2# b => 1) (integer) 1", "        2) (integer) 2")
	f("~1\r\n,1.5\r\n", "1~ (double) 1.5")
	f(">1\r\n#t\r\n", "1> (true)")
	f("_\r\n", "(nil)")
	f("(123\r\n", "(bignum) 123")
	f("=5\r\ntxt:a\r\n", `(verbatim) "txt:a"`)
	f("%0\r\n", "(empty map)")
	if got := Format("$5\r\nab"); got != "(cut short)" {
		t.Errorf("cut short: %s", got)
	}
}

func TestPlay(t *testing.T) {
	const text = "# comment\n> ping\nPONG\n> set\n(error) ERR x\n\n@ours\n> ping\nanything\n\n> ping\nWRONG\n"
	p := &fakePlayer{}
	var wrong []string
	out := play(t, text, p, func(_ int, cmd, got, want string) {
		if got != want {
			wrong = append(wrong, cmd+": "+want)
		}
	})
	want := strings.NewReplacer("(error) ERR x", "PONG", "WRONG", "PONG").Replace(text)
	if out != want {
		t.Errorf("rewritten as\n%s", out)
	}
	if !slices.Equal(wrong, []string{"set: (error) ERR x", "ping: WRONG"}) {
		t.Errorf("differences %q", wrong)
	}
}

// fakePlayer answers PONG to everything.
type fakePlayer struct{}

func (*fakePlayer) do(string) string               { return "PONG" }
func (*fakePlayer) directive(string, string) error { return nil }
func (*fakePlayer) skips() bool                    { return true }

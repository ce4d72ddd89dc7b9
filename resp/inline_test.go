package resp

import (
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		words, ok := SplitWords([]byte(line), nil)
		got := "!"
		if ok {
			var s []string
			for _, w := range words {
				s = append(s, string(w))
			}
			got = strings.Join(s, "|")
		}
		if got != want {
			t.Errorf("SplitWords(%q) = %q, want %q", line, got, want)
		}
	}
	f("", "")
	f("  port   6379 ", "port|6379")
	f(`save ""`, "save|")
	f(`a "b c" 'd e'`, "a|b c|d e")
	f(`"\x41\n\t\"" '\'\n'`, "A\n\t\"|'\\n")
	f(`a"b c"`, "ab c")
	f(`"a"b`, "!")
	f(`"a`, "!")
	f(`'a`, "!")
	f(`"\xzz"`, "xzz")
	f("a\tb\rc", "a|b|c")
	f("a \x00b", "a")
	f("\x00", "")
	f("a\x00b c", "a")
	f("'a\x00b' c", "!")
}

// An inline command may be read again, as when the one before it blocked its client.
func TestInlineAgain(t *testing.T) {
	line := "set k \"a \\x41\" 'it\\'s'\r\n"
	in := []byte(line)
	var r Reader
	for range 2 {
		argv, n, err := r.Next(in, nil)
		if err != nil || n != len(in) || len(argv) != 4 || string(argv[2]) != "a A" || string(argv[3]) != "it's" {
			t.Errorf("read %q, %d, %v", argv, n, err)
		}
		if string(in) != line {
			t.Errorf("the input became %q", in)
		}
		r.Reset()
	}
}

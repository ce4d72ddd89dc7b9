package aof

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestManifestRecovered keeps in a comment to what time files were recovered, which redis-server skips.
func TestManifestRecovered(t *testing.T) {
	const lines = "file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i\n"
	for text, want := range map[string]int64{
		lines: 0, lines + "# recovered until 17\n": 17, "# recovered until 17\n" + lines: 17, lines + "# recovered until -1\n": 0,
		lines + "# recovered until 17": 0, lines + "# recovered\n": 0,
	} {
		m, err := ParseManifest([]byte(text))
		if err != nil || m.Recovered != want {
			t.Errorf("%q: %v, %v", text, m, err)
			continue
		}
		again, err := ParseManifest(m.clone().Append(nil))
		if err != nil || again.Recovered != want {
			t.Errorf("%q: again %v, %v", text, again, err)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	long := "file a seq 1 type i k " + strings.Repeat("x", 1001) + "\n"
	for _, c := range []struct {
		text string
		line int
		msg  string
	}{
		{"", 0, msgEmpty},
		{"file a seq 1 type i\n\n", 2, msgFormat},
		{"   \n", 1, msgFormat},
		{" # x\n", 1, msgFormat},
		{"file a seq 1\n", 1, msgFormat},
		{"filx a seq 1 type i\n", 1, msgFormat},
		{"file a seq 1 type i x\n", 1, msgFormat},
		{"file \"a seq 1 type i\n", 1, msgFormat},
		{"file \"a b\"x seq 1 type i\n", 1, msgFormat},
		{"file a seq 0 type b\n", 1, msgFormat},
		{"file a seq abc type i\n", 1, msgFormat},
		{"file \"\" seq 1 type i\n", 1, msgFormat},
		{"file it's seq 1 type i\n", 1, msgFormat},
		{"file a\vseq 1 type i\n", 1, msgFormat},
		{"file a seq 99999999999999999999 type i\n", 1, msgFormat},
		{"file a seq -1 type i\n", 1, msgMonotonic},
		{"file a seq 2 type i\nfile b seq 2 type i\n", 2, msgMonotonic},
		{"file a seq 1 type b\n# c\nfile b seq 2 type b\n", 3, msgBase},
		{"file a seq 1 type x\n", 1, msgType},
		{"file ../a seq 1 type i\n", 1, msgPath},
		{"file .. seq 1 type i\n", 1, msgPath},
		{"file \"a\\\\b\" seq 1 type i\n", 1, msgPath},
		{"file \"a\\x00b\" seq 1 type i\n", 1, msgPath},
		{"file a seq 1 type i", 0, msgLong},
		{long[:len(long)-1] + "x\n", 0, msgLong},
	} {
		_, err := ParseManifest([]byte(c.text))
		var bad *ManifestError
		if !errors.As(err, &bad) || bad.Line != c.line || bad.Msg != c.msg {
			t.Errorf("%.60q: %v", c.text, err)
		}
	}
	for _, text := range []string{
		"# only a comment", long, "FILE a SEQ 1 TYPE i\n", "type i seq 3x file a new key\n", "file x file a seq 1 type ib\n",
		"  file a seq 1 type i\r\n", "#" + strings.Repeat("x", 2000) + "\nfile a seq 1 type i\n", "file \"\\x61\" seq 1 type i\n", "file 'a' seq 1 type i\n",
	} {
		m, err := ParseManifest([]byte(text))
		if err != nil || len(m.Incr) != 1 && text[0] != '#' || len(m.Incr) == 1 && m.Incr[0].Name != "a" {
			t.Errorf("%.60q: %v, %v", text, m, err)
		}
	}
}

// TestManifestQuotes: names as redis-server wrote them.
func TestManifestQuotes(t *testing.T) {
	for name, want := range map[string]string{
		"appendonly.aof.1.base.rdb": "appendonly.aof.1.base.rdb",
		"é.aof":                     `"\xc3\xa9.aof"`,
		"a#b":                       "a#b",
		"tab\tx":                    `"tab\tx"`,
		"a'b c":                     `"a'b c"`,
		"it's":                      `"it's"`, // which redis-server leaves bare, and does not read again
		" file seq \n\n.aof ":       `" file seq \n\n.aof "`,
	} {
		got := string(Entry{name, 3, Incr}.append(nil))
		if got != "file "+want+" seq 3 type i\n" {
			t.Errorf("%q is written %q", name, got)
		}
	}
}

func TestManifestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string {
		b := make([]byte, 1+r.IntN(12))
		for i := range b {
			if b[i] = byte(r.IntN(256)); b[i] == '/' || b[i] == '\\' || b[i] == 0 || b[i] == '.' {
				b[i] = 'x'
			}
		}
		return string(b)
	}
	for range 2000 {
		m := &Manifest{}
		if r.IntN(2) == 0 {
			m.Base = &Entry{name(), 1 + r.Int64N(100), Base}
		}
		seq := int64(0)
		for range r.IntN(4) {
			seq += 1 + r.Int64N(3)
			m.Incr = append(m.Incr, Entry{name(), seq, Incr})
			m.History = append(m.History, Entry{name(), r.Int64N(9) + 1, History})
		}
		if m.empty() {
			continue
		}
		text := m.Append(nil)
		back, err := ParseManifest(text)
		if err != nil || !bytes.Equal(back.Append(nil), text) || fmt.Sprint(back.files()) != fmt.Sprint(m.files()) {
			t.Fatalf("%q: %v, %v", text, back, err)
		}
	}
}

// FuzzManifest: any text is refused, or what was read is read again from what is written.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("file a.1.base.rdb seq 1 type b\nfile \"b \\xc3\" seq 1 type h\n# c\nfile 'c' seq 2 type i k v\n"))
	f.Add([]byte("file a seq 1 type i"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			var bad *ManifestError
			if !errors.As(err, &bad) || len(bad.Lines()) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		out := m.Append(nil)
		if len(out) == 0 {
			return
		}
		back, err := ParseManifest(out)
		if err != nil {
			if bytes.IndexByte(out, '\n') >= 1000 || len(out) >= maxLine {
				return // escapes made a line too long
			}
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		if !bytes.Equal(back.Append(nil), out) {
			t.Fatalf("%q became %q", out, back.Append(nil))
		}
		for _, e := range m.files() {
			if !IsName(e.Name) {
				t.Fatalf("%q is no name", e.Name)
			}
		}
	})
}

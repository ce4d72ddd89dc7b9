package glob

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		if got := Match([]byte(pattern), []byte(s)); got != want {
			t.Errorf("Match(%q, %q) = %v", pattern, s, got)
		}
	}
	f("*", "", true)
	f("**", "", false) // as in Redis
	f("h?llo", "hello", true)
	f("h*llo", "heeeello", true)
	f("h[ae]llo", "hillo", false)
	f("h[^e]llo", "hallo", true)
	f("h[b-a]llo", "hallo", true)
	f(`h\*llo`, "h*llo", true)
	f(`h\*llo`, "hello", false)
	f("Foo", "foo", false)
	if !MatchFold([]byte("f[A-Z]O"), []byte("Foo")) {
		t.Error("MatchFold")
	}
}

// TestMatchAsRedis compares with answers recorded from a real server.
func TestMatchAsRedis(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "redis.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		col := strings.Split(lines.Text(), "\t")
		pattern, err1 := strconv.Unquote(col[0])
		s, err2 := strconv.Unquote(col[1])
		if err1 != nil || err2 != nil {
			t.Fatal(lines.Text(), err1, err2)
		}
		if got := Match([]byte(pattern), []byte(s)); got != (col[2] == "1") {
			t.Errorf("Match(%q, %q) = %v", pattern, s, got)
		}
	}
}

func TestManyStarsTakeLittleTime(t *testing.T) {
	pattern := strings.Repeat("a*", 5000) + "b"
	s := strings.Repeat("a", 5000)
	start := time.Now()
	if Match([]byte(pattern), []byte(s)) {
		t.Fatal("matched")
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Fatalf("took %v", d)
	}
}

// slow is the obvious recursive matcher for patterns of literals, ? and *.
func slow(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case p[0] == '*':
		return slow(p[1:], s) || s != "" && slow(p, s[1:])
	case s == "":
		return false
	}
	return (p[0] == '?' || p[0] == s[0]) && slow(p[1:], s[1:])
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b", "axb")
	f.Add("[a-", "-")
	f.Add("*[^]x*", `\x`)
	f.Fuzz(func(t *testing.T, p, s string) {
		got := Match([]byte(p), []byte(s))
		MatchFold([]byte(p), []byte(s))
		if len(p) > 12 || len(s) > 12 || s == "" || strings.ContainsAny(p, `[\`) {
			return
		}
		if want := slow(p, s); got != want {
			t.Fatalf("Match(%q, %q) = %v", p, s, got)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	p, s := []byte("user:*:name"), []byte("user:123456:name")
	for b.Loop() {
		Match(p, s)
	}
}

// TestManyStars knows where Redis gives up.
func TestManyStars(t *testing.T) {
	s := bytes.Repeat([]byte("a"), 2000)
	for n, want := range map[int]bool{999: true, 1000: true, 1001: false} {
		if got := Match(bytes.Repeat([]byte("*a"), n), s); got != want {
			t.Errorf("%d stars: %v, want %v", n, got, want)
		}
		if got := Match(append(bytes.Repeat([]byte("*a"), n), '*', '*'), s); got != want {
			t.Errorf("%d stars and two at the end: %v, want %v", n, got, want)
		}
	}
}

package config

import (
	"flag"
	"os"
	"strings"
	"testing"
)

const confFile = "../heddle.conf"

// TestShippedFileIsTheDefaults loads heddle.conf: it must leave every default as
// it is, but for bind, and name every directive.
func TestShippedFileIsTheDefaults(t *testing.T) {
	s := New(Dirs{})
	if err := s.Load(Source{File: confFile}); err != nil {
		t.Fatal(err)
	}
	for _, p := range New(Dirs{}).Get("*") {
		if p.Name != "bind" && p.Name != "dir" && s.String(p.Name) != p.Value {
			t.Errorf("heddle.conf sets %s to %q, its default is %q", p.Name, s.String(p.Name), p.Value)
		}
	}
	named := map[string]bool{}
	for _, line := range strings.Split(readText(t, confFile), "\n") {
		for _, w := range strings.Fields(strings.TrimPrefix(line, "# "))[:min(1, len(strings.Fields(line)))] {
			named[strings.ToLower(w)] = true
		}
	}
	for _, d := range Table() {
		if !named[d.Name] {
			t.Errorf("heddle.conf does not name %s", d.Name)
		}
	}
}

var update = flag.Bool("update", false, "write docs/compatibility.md anew")

const compatFile = "../docs/compatibility.md"

// TestCompatibilityPage holds docs/compatibility.md to the table of directives.
func TestCompatibilityPage(t *testing.T) {
	const begin, end = "<!-- directives: begin -->\n", "<!-- directives: end -->\n"
	page := readText(t, compatFile)
	head, rest, ok1 := strings.Cut(page, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("the page has no place for the directives")
	}
	want := head + begin + directivePage() + end + tail
	if *update {
		if err := os.WriteFile(compatFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != want {
		t.Error("docs/compatibility.md is out of date: go test ./config -run Compatibility -update")
	}
}

// directivePage lists the directives without effect by reason, and those that
// differ.
func directivePage() string {
	var b strings.Builder
	b.WriteString("\n### Known, but without effect\n\n| why | directives |\n|---|---|\n")
	var reasons []string
	by := map[string][]string{}
	for _, d := range Table() {
		if !d.Inert() {
			continue
		}
		if by[d.Note] == nil {
			reasons = append(reasons, d.Note)
		}
		by[d.Note] = append(by[d.Note], "`"+d.Name+"`")
	}
	for _, r := range reasons {
		b.WriteString("| " + r + " | " + strings.Join(by[r], ", ") + " |\n")
	}
	b.WriteString("\n### With effect, but different\n\n| directive | difference |\n|---|---|\n")
	for _, d := range Table() {
		if d.Note != "" && !d.Inert() {
			b.WriteString("| `" + d.Name + "` | " + d.Note + " |\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}

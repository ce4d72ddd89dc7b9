package difftest

import (
	"bytes"
	"fmt"
	"regexp"
)

// Difference is a reply in which we differ from redis-server 7.0.15 on purpose.
type Difference struct {
	What   string
	Reason string
	match  func(s Step, want, got Reply) bool
}

// cachedKeys is what KeyDB adds to each line of INFO keyspace.
var cachedKeys = regexp.MustCompile(`,cached_keys=\d+`)

// atZero finds zero bytes and what follows them within a quoted argument.
var atZero = regexp.MustCompile(`\x00[^']*`)

// Differences is the list of all of them. What is not on it is a fault.
// Replies that show a server's own state (INFO, CLIENT LIST, MEMORY USAGE, the
// order of KEYS) are not differences: their templates say what is compared.
func Differences() []Difference {
	return []Difference{
		{"an error that quotes an argument with a zero byte",
			"we quote all of it, Redis what stands before the zero",
			func(s Step, want, got Reply) bool {
				return want.Kind == '-' && got.Kind == '-' && bytes.HasPrefix(want.Text, []byte("ERR ")) && string(want.Text) == string(atZero.ReplaceAll(got.Text, nil))
			}},
		{"OBJECT REFCOUNT and OBJECT IDLETIME of small integers",
			"Redis keeps one object of each and shares it or not by how the value came about: its numbers say nothing of the key",
			func(s Step, want, got Reply) bool {
				return s.is("object") && len(s.Argv) > 1 && want.Kind == ':' && got.Kind == ':' &&
					(bytes.EqualFold(s.Argv[1], []byte("refcount")) || bytes.EqualFold(s.Argv[1], []byte("idletime")))
			}},
		{"INFO keyspace: the field cached_keys",
			"as in KeyDB, whose fields INFO has too",
			func(s Step, want, got Reply) bool {
				plain := got
				plain.Text = cachedKeys.ReplaceAll(got.Text, nil)
				return s.is("info") && sameInfo(want, plain)
			}},
	}
}

// deliberate reports whether the two replies differ as the list says.
func deliberate(s Step, want, got Reply) bool {
	for _, d := range Differences() {
		if d.match(s, want, got) {
			return true
		}
	}
	return false
}

// String shows the entry as the tool lists it.
func (d Difference) String() string { return fmt.Sprintf("%s: %s", d.What, d.Reason) }

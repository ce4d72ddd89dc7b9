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
				return want.Kind == '-' && got.Kind == '-' && string(want.Text) == string(atZero.ReplaceAll(got.Text, nil))
			}},
		{"OBJECT REFCOUNT and OBJECT IDLETIME of small integers",
			"Redis keeps one object of each and shares it or not by how the value came about: its numbers say nothing of the key",
			func(s Step, want, got Reply) bool {
				return s.is("object") && len(s.Argv) > 1 && want.Kind == ':' && got.Kind == ':' &&
					(bytes.EqualFold(s.Argv[1], []byte("refcount")) || bytes.EqualFold(s.Argv[1], []byte("idletime")))
			}},
		{"OBJECT ENCODING of small sets that are not all integers",
			"a listpack, as in Redis 7.2",
			func(s Step, want, got Reply) bool {
				return s.is("object") && len(s.Argv) > 1 && bytes.EqualFold(s.Argv[1], []byte("encoding")) &&
					string(want.Text) == "hashtable" && string(got.Text) == "listpack"
			}},
		{"OBJECT ENCODING of sets of few integers, after SADD of many at once or SPOP of most",
			"Redis 7.2 counts the arguments of SADD, also what is there already, and puts what SPOP leaves of a hash table into a listpack",
			func(s Step, want, got Reply) bool {
				return s.is("object") && string(want.Text) == "intset" && (string(got.Text) == "listpack" || string(got.Text) == "hashtable")
			}},
		{"OBJECT ENCODING of a small sorted set that SORT was asked for",
			"SORT left it as it is; Redis makes a skiplist of it in order to read it",
			func(s Step, want, got Reply) bool {
				return s.is("object") && string(want.Text) == "skiplist" && string(got.Text) == "listpack"
			}},
		{"SORT of numbers after a command whose float was out of range",
			"Redis looks at errno, which the earlier command left, and takes numbers for none",
			func(s Step, want, got Reply) bool {
				return (s.is("sort") || s.is("sort_ro")) && got.Kind != '-' &&
					string(want.Text) == "ERR One or more scores can't be converted into double"
			}},
		{"OBJECT ENCODING of a list that is a listpack",
			"Redis 7.2 calls short lists so; 7.0 knows only quicklists",
			func(s Step, want, got Reply) bool {
				return s.is("object") && string(want.Text) == "quicklist" && string(got.Text) == "listpack"
			}},
		{"LPOS with the smallest integer as RANK",
			"an error since Redis 7.2: it has no opposite",
			func(s Step, want, got Reply) bool {
				return s.is("lpos") && got.Kind == '-' && bytes.HasPrefix(got.Text, []byte("ERR value is out of range, value must between"))
			}},
		{"ZRANK and ZREVRANK with WITHSCORE, or another fourth argument",
			"Redis 7.2 has the option; 7.0 speaks of a wrong number of arguments",
			func(s Step, want, got Reply) bool {
				return (s.is("zrank") || s.is("zrevrank")) && len(s.Argv) == 4 && bytes.HasPrefix(want.Text, []byte("ERR wrong number of arguments"))
			}},
		{"TTL, PTTL and PERSIST with two arguments",
			"the second is a member, as in KeyDB",
			func(s Step, want, got Reply) bool {
				return (s.is("ttl") || s.is("pttl") || s.is("persist")) && len(s.Argv) == 3 && want.Kind == '-' && got.Kind == ':'
			}},
		{"which consumers a group has, and what XINFO tells of them",
			"since Redis 7.2 a consumer is made, and seen, by every command that names it, not only when it gets something; inactive and active-time are new",
			otherConsumers},
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

package persistence

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"testing"

	"heddle/difftest"
	"heddle/tests/testserver"
)

const databases = 16

// entry is what is compared of a key.
type entry struct {
	kind, digest, expires, encoding string
	groups                          string // of a stream: all that XINFO tells
}

// state is a whole keyspace: the entries by database and key, how many there are, and the
// digest of all. Of a database of many keys the entries are about manyKeys, chosen by name.
type state struct {
	entries map[string]entry
	keys    int
	digest  string
}

// manyKeys bounds what is asked for one by one: of ten million that takes minutes, and twenty
// gigabytes.
const manyKeys = 1_000_000

var chosen = maphash.MakeSeed()

// look reads a server's keyspace. Keys whose time has come are met, and removed, first.
func look(t *testing.T, s *testserver.Server) state {
	t.Helper()
	c := dial(t, s)
	st := state{entries: map[string]entry{}}
	for db := range databases {
		c.Do("SELECT", fmt.Sprint(db))
		for cursor := "0"; ; {
			r := c.Do("SCAN", cursor, "COUNT", "1000")
			if cursor = string(r.Elems[0].Text); cursor == "0" {
				break
			}
		}
		st.keys += c.database(db, st.entries)
	}
	st.digest = string(c.Do("DEBUG", "DIGEST").Text)
	return st
}

// database reads the selected database into entries, and returns how many keys it has.
func (c client) database(db int, entries map[string]entry) int {
	c.T.Helper()
	keys := c.Do("KEYS", "*").Elems
	all := len(keys)
	if part := uint64(all / manyKeys); part > 1 {
		keys = slices.DeleteFunc(keys, func(k difftest.Reply) bool { return maphash.Bytes(chosen, k.Text)%part != 0 })
	}
	var ask [][]string
	for _, k := range keys {
		key := string(k.Text)
		ask = append(ask, []string{"TYPE", key}, []string{"DEBUG", "DIGEST-VALUE", key}, []string{"PEXPIRETIME", key}, []string{"OBJECT", "ENCODING", key})
	}
	got := c.All(ask)
	var streams []string
	for i, k := range keys {
		key, r := string(k.Text), got[4*i:4*i+4]
		e := entry{kind: string(r[0].Text), digest: string(r[1].Elems[0].Text), expires: string(r[2].Text), encoding: string(r[3].Text)}
		entries[name(db, key)] = e
		if e.kind == "stream" {
			streams = append(streams, key)
		}
	}
	for _, key := range streams {
		e := entries[name(db, key)]
		e.groups = flat(c.Do("XINFO", "STREAM", key, "FULL", "COUNT", "0"))
		entries[name(db, key)] = e
	}
	return all
}

func name(db int, key string) string { return fmt.Sprintf("%d %q", db, key) }

// flat writes a reply on one line. Left out are the entries, which the digest knows, and
// what depends on when somebody looked, or on the form in memory.
func flat(r difftest.Reply) string {
	if len(r.Elems) == 0 {
		if r.Null {
			return "nil"
		}
		return fmt.Sprintf("%q", r.Text)
	}
	var b strings.Builder
	for i := 0; i < len(r.Elems); i++ {
		if r.Elems[i].Kind == '$' && i+1 < len(r.Elems) {
			switch string(r.Elems[i].Text) {
			case "entries", "seen-time", "active-time", "radix-tree-keys", "radix-tree-nodes":
				i++
				continue
			}
		}
		b.WriteString(flat(r.Elems[i]))
		b.WriteByte(' ')
	}
	return "[" + strings.TrimSpace(b.String()) + "]"
}

// sameEncoding reports whether what redis-server 7.0 calls want may be called got by 7.2,
// for which short lists and short sets of words are listpacks.
func sameEncoding(kind, want, got string) bool {
	return want == got || got == "listpack" && (kind == "list" && want == "quicklist" || kind == "set" && want == "hashtable")
}

// same compares the keyspaces of two servers. Exact holds encodings to be the same, and
// not only to be those that 7.2 has.
func same(t *testing.T, what string, want, got state, exact bool) {
	t.Helper()
	names := slices.Sorted(maps.Keys(want.entries))
	for n := range got.entries {
		if _, ok := want.entries[n]; !ok {
			names = append(names, n)
		}
	}
	faults := 0
	for _, n := range names {
		w, inWant := want.entries[n]
		g, inGot := got.entries[n]
		if !exact && sameEncoding(w.kind, w.encoding, g.encoding) {
			g.encoding = w.encoding
		}
		if w == g && inWant == inGot {
			continue
		}
		if faults++; faults <= 5 {
			t.Errorf("%s: key %.120s:\n was %+.1500v\n is  %+.1500v", what, n, w, g)
		}
	}
	if faults > 5 {
		t.Errorf("%s: %d keys of %d differ", what, faults, len(names))
	}
	if want.keys != got.keys {
		t.Errorf("%s: there were %d keys, are %d", what, want.keys, got.keys)
	}
	if want.digest != got.digest {
		t.Errorf("%s: the digest was %s, is %s", what, want.digest, got.digest)
	}
	if len(want.entries) == 0 {
		t.Errorf("%s: nothing to compare", what)
	}
}

package hashes_test

import (
	"strings"
	"testing"
)

// TestNestedDeep: a path has so many levels; what HSET puts deeper is shown as one name.
func TestNestedDeep(t *testing.T) {
	e := env(t)
	deep := "k" + strings.Repeat(".a", 128)
	e.Argv("keydb.nhset", deep, "v").Want(":1\r\n")
	e.Argv("keydb.nhget", deep).Want("$1\r\nv\r\n")
	e.Argv("keydb.nhset", deep+".a", "v").Want("-ERR path has too many levels\r\n")
	e.Argv("keydb.nhset", strings.Repeat("a.", 500_000)+"a", "v").Want("-ERR path has too many levels\r\n")
	const dots = 100_000
	e.Argv("hset", "h", strings.Repeat("a.", dots)+"a", "v").Want(":1\r\n")
	got := e.Argv("keydb.nhget", "json", "h").Raw()
	_, got, _ = strings.Cut(got, "\r\n")
	last := strings.Repeat("a.", dots-127) + "a"
	want := strings.Repeat(`{"a":`, 127) + `{"` + last + `":"v"}` + strings.Repeat("}", 127) + "\r\n"
	if got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

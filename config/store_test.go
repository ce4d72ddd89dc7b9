package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oracle returns the lines of a file of the shared reference, or skips the
// test where that is not at hand.
func oracle(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "shared", "reference", name))
	if err != nil {
		t.Skip("no shared reference here")
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Table() {
		for _, n := range append([]string{d.Name}, d.Aliases...) {
			if seen[n] {
				t.Errorf("directive %s stands twice in the table", n)
			}
			seen[n] = true
		}
	}
}

// deliberate are the defaults that differ from those of the servers.
var deliberate = map[string]string{
	"acl-pubsub-default": "resetchannels", "bind": "* -::*", "dir": ".", "io-threads": defaultThreads(),
	"syslog-ident": "heddle", "port": "6379", "unixsocketperm": "0",
	"maxmemory-samples": "5", "repl-diskless-sync": "yes", "tls-allowlist": "",
	"min-clients-per-thread": "50", "always-show-logo": "no", "crash-memcheck-enabled": "yes",
}

func TestDefaultsAreThoseOfTheServers(t *testing.T) {
	for _, file := range []string{"redis-7.2.6", "redis-7.0.15", "keydb-6.3.4"} {
		s := New(Dirs{})
		for _, line := range oracle(t, "oracle/config-get-"+file+".txt") {
			name, want, _ := strings.Cut(line, " ")
			got := s.Get(name)
			if len(got) != 1 {
				t.Errorf("%s: %s is not known", file, name)
				continue
			}
			if d, ok := deliberate[name]; ok {
				want = d
			}
			if got[0].Value != want {
				t.Errorf("%s: default of %s is %q, want %q", file, name, got[0].Value, want)
			}
		}
	}
}

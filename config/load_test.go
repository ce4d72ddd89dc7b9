package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func writeFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSplitArgs(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		words, ok := SplitArgs(line)
		got := "!"
		if ok {
			got = strings.Join(words, "|")
		}
		if got != want {
			t.Errorf("SplitArgs(%q) = %q, want %q", line, got, want)
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
}

func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		words, ok := SplitArgs("x " + Quote(want) + " y")
		if !ok || len(words) != 3 || words[1] != want {
			t.Fatalf("%q became %q", want, words)
		}
	})
}

// TestBadLines holds the reports to those that redis-server 7.0.15 gives.
func TestBadLines(t *testing.T) {
	f := func(text string, line int, shown, reason string) {
		t.Helper()
		path := writeFile(t, t.TempDir(), "x.conf", text)
		err := New(Dirs{}).Load(Source{File: path})
		var le *LineError
		if !errors.As(err, &le) || le.Line != line || le.Text != shown || le.Reason != reason || le.Where != "in file "+path {
			t.Errorf("%q: %v", text, err)
		}
	}
	f("port 1\nfoo bar\n", 2, "foo bar", "Bad directive or wrong number of arguments")
	f("port \"1\n", 1, `port "1`, "Unbalanced quotes in configuration line")
	f("\n\n  # c\n maxmemory 1zb \r\n", 4, "maxmemory 1zb", "argument must be a memory value")
	f("port 99999", 1, "port 99999", "argument must be between 0 and 65535 inclusive")
	f("port", 1, "port", "wrong number of arguments")
	f("port 1 2", 1, "port 1 2", "wrong number of arguments")
	f("daemonize maybe", 1, "daemonize maybe", "argument must be 'yes' or 'no'")
	f("maxclients 0", 1, "maxclients 0", "argument must be between 1 and 4294967295 inclusive")
	f("replicaof a b", 1, "replicaof a b", "Invalid master port")
	f("sentinel monitor a 1 2 3", 1, "sentinel monitor a 1 2 3", "sentinel directive while not in sentinel mode")
	f("client-output-buffer-limit foo 1 2 3", 1, "client-output-buffer-limit foo 1 2 3", "Invalid client class specified in buffer limit configuration.")
	f("rename-command a", 1, "rename-command a", "Bad directive or wrong number of arguments")
	f("include", 1, "include", "Bad directive or wrong number of arguments")
	f("loadmodule /x.so", 1, "loadmodule /x.so", "modules are not available in this server")
	f("cluster-enabled yes", 1, "cluster-enabled yes", "cluster mode is not available in this server")
	f("databases 2000000000", 1, "databases 2000000000", "argument must be between 1 and 65536 inclusive")
	f("tls-port 7", 1, "tls-port 7", "TLS is not available in this server")
	f("user joe on", 1, "user joe on", "ACL users are not available in this server, except a default user who may do everything")
	f("user default on #ab ~* &* +@all", 1, "user default on #ab ~* &* +@all", "the default user's password must be that of requirepass: ACL users are not available in this server")
	f("\nmulti-master yes\n", 2, "multi-master yes", "multi-master needs active-replica yes")
}

func TestLineErrorIsShownAsRedisShowsIt(t *testing.T) {
	c := ParseArgs([]string{"--port", "abc"})
	err := New(Dirs{}).Load(Source{Options: c.Options})
	want := "\n*** FATAL CONFIG FILE ERROR (Redis " + RedisVersion + ") ***\nReading the configuration file, at line 2\n" +
		">>> 'port \"abc\"'\nargument couldn't be parsed into an integer\n(on the command line)\n"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMissingFiles(t *testing.T) {
	err := New(Dirs{}).Load(Source{File: "/no/such.conf"})
	if err == nil || err.Error() != "Fatal error, can't open config file '/no/such.conf': No such file or directory" {
		t.Error(err)
	}
	path := writeFile(t, t.TempDir(), "x.conf", "include /no/such*.conf\nport 7\n")
	s := New(Dirs{})
	if err := s.Load(Source{File: path}); err != nil || s.Int("port") != 7 {
		t.Error(err, s.Int("port"))
	}
	path = writeFile(t, t.TempDir(), "loop.conf", "")
	writeFile(t, filepath.Dir(path), "loop.conf", "include "+path+"\n")
	if err := New(Dirs{}).Load(Source{File: path}); err == nil {
		t.Error("a file that includes itself was taken")
	}
}

func TestIncludesInOrder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "b.inc", "port 2\nmulti-master yes\n")
	writeFile(t, dir, "a.inc", "port 1\nreplicaof h1 1\n")
	path := writeFile(t, dir, "x.conf", "timeout 9\ninclude "+dir+"/*.inc\nreplicaof h2 2\nactive-replica yes\n")
	s := New(Dirs{})
	if err := s.Load(Source{File: path}); err != nil {
		t.Fatal(err)
	}
	if s.Int("port") != 2 || s.String("replicaof") != "h1 1 h2 2" {
		t.Error(s.Int("port"), s.String("replicaof"))
	}
	writeFile(t, dir, "b.inc", "port 2\nfoo\n")
	err := New(Dirs{}).Load(Source{File: path})
	var le *LineError
	if !errors.As(err, &le) || le.Where != "in file "+dir+"/b.inc" || le.Line != 2 {
		t.Error(err)
	}
}

func TestOnlyTheLastPrimaryWithoutMultiMaster(t *testing.T) {
	path := writeFile(t, t.TempDir(), "x.conf", "replicaof a 1\nslaveof b 2\n")
	s := New(Dirs{})
	if err := s.Load(Source{File: path}); err != nil || s.String("replicaof") != "b 2" {
		t.Error(err, s.String("replicaof"))
	}
}

// TestCommandLines are cases of Redis' own test suite.
func TestCommandLines(t *testing.T) {
	f := func(args string, name, want string) {
		t.Helper()
		c := ParseArgs(strings.Split(args, "|"))
		s := New(Dirs{})
		err := s.Load(Source{Options: c.Options})
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = s.String(name)
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s is %q, want %q", args, name, got, want)
		}
	}
	f("--port", "", ">>> 'port'\nwrong number of arguments")
	f("--port|6380|--loglevel", "", ">>> 'loglevel'\nwrong number of arguments")
	f("--port|6379|6380", "", `>>> 'port "6379" "6380"'`+"\nwrong number of arguments")
	f("--port|--loglevel|verbose", "", `'port "--loglevel" "verbose"'`+"\nwrong number of arguments")
	f("--port|--bla|--loglevel|verbose", "", `'port "--bla"'`+"\nargument couldn't be parsed into an integer")
	f("--logfile|--my--log--file|--loglevel|--bla", "", `'loglevel "--bla"'`+"\nargument(s) must be one of the following")
	f("--shutdown-on-sigint", "", "'shutdown-on-sigint'\nargument(s) must be one of the following")
	f("--shutdown-on-sigint|now force|--shutdown-on-sigterm", "", "'shutdown-on-sigterm'\nargument(s) must be one of the following")
	f("--replicaof|127.0.0.1|abc", "", `'replicaof "127.0.0.1" "abc"'`+"\nInvalid master port")
	f("--replicaof|--127.0.0.1|abc", "", `'replicaof "--127.0.0.1" "abc"'`+"\nInvalid master port")
	f("--replicaof|--127.0.0.1|--abc", "", `'replicaof "--127.0.0.1"'`+"\nwrong number of arguments")
	f("--maxmemory 700mb|--maxmemory-policy volatile-lru", "maxmemory", "734003200")
	f("--loglevel|verbose|--maxmemory '700mb'", "maxmemory", "734003200")
	f("--proc-title-template|--my--title--template|--loglevel|verbose", "proc-title-template", "--my--title--template")
	f("--proc-title-template --my--title--template|--loglevel verbose", "loglevel", "verbose")
	f("--save|--loglevel|verbose", "save", "")
	f("--loglevel|verbose|--save", "save", "")
	f("--save||--loglevel|verbose", "loglevel", "verbose")
	f("--proc-title-template|--save|--save||--loglevel|verbose", "proc-title-template", "--save")
	f("--shutdown-on-sigint|nosave|force|now|--shutdown-on-sigterm|nosave force", "shutdown-on-sigint", "nosave now force")
	f("--save|100|100", "save", "100 100")
	f("--foo|bar", "", `>>> 'foo "bar"'`+"\nBad directive or wrong number of arguments")
}

func TestCommandLineModes(t *testing.T) {
	f := func(args string, want CommandLine) {
		t.Helper()
		if got := ParseArgs(strings.Fields(args)); got != want {
			t.Errorf("%s: %+v", args, got)
		}
	}
	f("", CommandLine{})
	f("-v", CommandLine{Mode: ShowVersion})
	f("--version x", CommandLine{Mode: ShowVersion})
	f("-h", CommandLine{Mode: ShowHelp})
	f("--test-memory 5", CommandLine{Mode: TestMemory})
	f("--check-system", CommandLine{Mode: CheckSystem})
	f("x.conf --sentinel", CommandLine{Mode: Sentinel})
	f("x.conf", CommandLine{File: "x.conf"})
	f("-", CommandLine{Stdin: true})
	f("x.conf --port 1 -", CommandLine{File: "x.conf", Stdin: true, Options: `port "1" `})
}

func TestLaterSourcesWin(t *testing.T) {
	path := writeFile(t, t.TempDir(), "x.conf", "port 1\ntimeout 1\nhz 20\nsave 900 1")
	s := New(Dirs{})
	err := s.Load(Source{File: path, Stdin: strings.NewReader("port 2\ntimeout 2"), Options: "port 3\nsave 5 5"})
	if err != nil || s.Int("port") != 3 || s.Int("timeout") != 2 || s.Int("hz") != 20 || s.String("save") != "900 1 5 5" {
		t.Error(err, s.Get("port", "timeout", "hz", "save"))
	}
	err = s.Load(Source{File: path, Stdin: strings.NewReader("port 2"), Options: "port 3\nfoo 1"})
	var le *LineError
	if !errors.As(err, &le) || le.Where != "on the command line" {
		t.Error(err)
	}
}

func TestShippedFilesLoad(t *testing.T) {
	for _, name := range []string{"debian-redis-7.0.15", "redis-7.2.6", "keydb-6.3.4"} {
		text := strings.Join(oracle(t, "conf/"+name+".active.conf"), "\n")
		path := writeFile(t, t.TempDir(), "x.conf", text)
		if err := New(Dirs{}).Load(Source{File: path}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedisUserLineIsTaken(t *testing.T) {
	path := writeFile(t, t.TempDir(), "x.conf", "user default on nopass ~* &* +@all\n")
	if err := New(Dirs{}).Load(Source{File: path}); err != nil {
		t.Error(err)
	}
	// The hash is that of "foobar".
	path = writeFile(t, t.TempDir(), "y.conf", "user default on #c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2 ~* &* +@all\nrequirepass foobar\n")
	if err := New(Dirs{}).Load(Source{File: path}); err != nil {
		t.Error(err)
	}
}

// FuzzConfig feeds files: no crash, and what loads is shown, rewritten and
// loaded again as the same.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"port 1\n", "save 900 1\nsave \"\"\n", "bind 1 2\n# x\n\nfoo", "client-output-buffer-limit pubsub 1gb 2 3",
		"replicaof a 1\nactive-replica yes\nmulti-master yes\nreplicaof b 2", "requirepass \"\\x00\\\"\"", "maxmemory-clients 5%\nnotify-keyspace-events Kg$", "tls-allowlist \"a b\" '#c'", "shutdown-on-sigint save now\noom-score-adj-values 1 2 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToLower(text), "include") {
			return
		}
		s := New(Dirs{})
		if s.Load(Source{Stdin: strings.NewReader(text)}) != nil {
			return
		}
		for _, all := range []bool{false, true} {
			written := s.rewritten(text, all)
			again := New(Dirs{})
			if err := again.Load(Source{Stdin: strings.NewReader(written)}); err != nil {
				t.Fatalf("%v\n%s", err, written)
			}
			sameValues(t, s.Get("*"), again.Get("*"), written)
		}
	})
}

func sameValues(t testing.TB, want, got []Pair, file string) {
	t.Helper()
	for i, p := range got {
		if p != want[i] {
			t.Fatalf("%s is %q, was %q\n%s", p.Name, p.Value, want[i].Value, file)
		}
	}
}

func sameAfterRewrite(t testing.TB, s *Store, path string) {
	t.Helper()
	want := s.Get("*")
	if err := s.Rewrite(); err != nil {
		t.Fatal(err)
	}
	again := New(Dirs{})
	b, err := os.ReadFile(path)
	if err == nil {
		err = again.Load(Source{File: path})
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	sameValues(t, want, again.Get("*"), string(b))
}

package config

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"heddle/tests/testserver"
)

// With -rewrite, what a redis-server answers replaces the expected answers in
// testdata/set.txt.
var rewriteCases = flag.Bool("rewrite", false, "ask redis-server for the expected answers")

const setCases = "testdata/set.txt"

// deliberateSet are CONFIG SETs that this server answers otherwise than
// redis-server 7.0.15, with the reason.
var deliberateSet = map[string]string{
	"aof-disable-auto-gc": "hidden since 7.2, the values are the same",
	"activedefrag":        "compaction does not depend on the allocator that was linked",
	"loglevel":            "7.2 knows the level nothing",
	"bind":                "needs sockets",
	"maxclients":          "needs the limit of open files",
	"tls-port":            "needs TLS",
	"tls-cluster":         "needs TLS",
	"tls-replication":     "needs TLS",
	"maxmemory-clients\t18446744073709551615": "Redis takes it for a percentage",
}

// TestSetAsRedisDoes tries wrong and right values of every directive. Each case
// is a line: name, value, answer of CONFIG SET, value that CONFIG GET shows
// afterwards, separated by tabs.
func TestSetAsRedisDoes(t *testing.T) {
	if *rewriteCases {
		rewriteSetCases(t)
	}
	b, err := os.ReadFile(setCases)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		c := strings.Split(line, "\t")
		if deliberateSet[c[0]] != "" || deliberateSet[c[0]+"\t"+c[1]] != "" {
			continue
		}
		n++
		s := New(Dirs{Chdir: func(string) error { return nil }, Getwd: func() (string, error) { return "/", nil }})
		answer, after := ask(s, c[0], c[1])
		if answer != strings.Replace(c[2], "! ", failed(c[0]), 1) || answer == "OK" && after != c[3] {
			t.Errorf("CONFIG SET %s %q: %s, then %q\nwant %s, then %q", c[0], c[1], answer, after, c[2], c[3])
		}
	}
	if n < 2000 {
		t.Errorf("only %d cases", n)
	}
}

// failed is how refusals begin; the cases write "! " for it.
func failed(name string) string {
	return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - "
}

func ask(s *Store, name, val string) (answer, after string) {
	answer = "OK"
	if err := s.Set([]Pair{{name, val}}, SetOptions{Protected: true}); err != nil {
		answer = err.Error()
	}
	if got := s.Get(name); len(got) == 1 {
		after = got[0].Value
	}
	return answer, after
}

var triedValues = []string{"notanumber", "", "-9223372036854775808", "9223372036854775807", "18446744073709551615",
	"-5", "0", "1", "3", "01", "+1", "99999999999999", "1.5", "1gb", "3kb", "5%", "1 2", "yes", "NO", "maybe"}

var triedMore = map[string][]string{
	"hz":                                {"600"},
	"notify-keyspace-events":            {"KEA", "AKEmn", "g$lshzxetd", "ntKmE", "gKn", "Q"},
	"shutdown-on-sigint":                {"save nosave", "force now nosave", "now now", "default now", "default", " now"},
	"shutdown-on-sigterm":               {"NOW", "save"},
	"oom-score-adj-values":              {"1 2 a", "1 2 3000", "3 2 1", "1 2 3"},
	"oom-score-adj":                     {"relative", "absolute"},
	"client-output-buffer-limit":        {"foo 1 2 3", "normal a 2 3", "normal 1 2 -3", "replica 1mb 2 3 pubsub 1 1 1", "slave 10 2 3 slave 1 1 1", "master 1 1 1"},
	"latency-tracking-info-percentiles": {"50 101", "50.123 99 1", "99.99 0.1"},
	"save":                              {"60 10", "60 10 1 1", "-1 10", "0 10", "1 0", "1  5", "60 10 x"},
	"dbfilename":                        {"a/b", "x.rdb"},
	"cluster-announce-hostname":         {"a_b", strings.Repeat("a", 256), "host-1.example"},
	"proc-title-template":               {"{foo}", "{title} x", "{title", " "},
	"maxmemory":                         {"1kb", "1k", "1GB", "1m", "-1", "1.5gb", "1 gb", "1b"},
	"maxmemory-clients":                 {"-5%", "0%", "100%", "101%", "1x"},
	"maxmemory-policy":                  {"allkeys-lru", "ALLKEYS-LFU"},
	"replica-announce-ip":               {"a'b"},
	"sanitize-dump-payload":             {"clients"},
}

func rewriteSetCases(t *testing.T) {
	conn := startRedis(t)
	defer conn.Close()
	r := bufio.NewReader(conn)
	var out strings.Builder
	names := New(Dirs{}).names()
	for _, name := range names {
		if name == "port" || name == "dir" || name == "logfile" || name == "requirepass" || len(redisGet(t, conn, r, name)) == 0 {
			continue
		}
		old := redisGet(t, conn, r, name)[1]
		for _, v := range append(append([]string(nil), triedValues...), triedMore[name]...) {
			answer := redisDo(t, conn, r, "config", "set", name, v)[0]
			after := redisGet(t, conn, r, name)[1]
			fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", name, v, strings.Replace(answer, failed(name), "! ", 1), after)
			if answer == "OK" {
				redisDo(t, conn, r, "config", "set", name, old)
			}
		}
	}
	if err := os.WriteFile(setCases, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func redisGet(t *testing.T, c net.Conn, r *bufio.Reader, name string) []string {
	return redisDo(t, c, r, "config", "get", name)
}

func startRedis(t *testing.T) net.Conn {
	t.Helper()
	args := []string{"--enable-protected-configs", "yes", "--bind", "*", "-::*"} // the default of bind, since its values are tried
	s := testserver.Run(t, testserver.Redis(t), testserver.Options{Args: args})
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// redisDo sends a command and returns the reply's texts, flat.
func redisDo(t *testing.T, c net.Conn, r *bufio.Reader, args ...string) []string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	return redisRead(t, r)
}

func redisRead(t *testing.T, r *bufio.Reader) []string {
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '*':
		var out []string
		for range n {
			out = append(out, redisRead(t, r)...)
		}
		return out
	case '$':
		buf := make([]byte, n+2)
		for got := 0; got < len(buf); {
			k, err := r.Read(buf[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += k
		}
		return []string{string(buf[:n])}
	}
	return []string{line[1:]}
}

package cmdtest

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/db"
	"heddle/server/command"
)

var (
	oracleAddr = flag.String("oracle", "", "address of a redis-server to compare text cases with; it is flushed")
	rewrite    = flag.Bool("rewrite", false, "rewrite the replies in text cases by those of -oracle")
)

// Files runs the cases of text files. A file is a series of lines:
//
//	# a comment
//	> set k "a b"
//	OK
//	> lrange l 0 -1
//	1) "x"
//	2) "y"
//
// A line that begins with "> " is a command, and the lines up to the next
// command, comment, directive or blank line are its reply as redis-cli shows
// it. Directives change what follows:
//
//	@resp3, @resp2     the protocol version of the connection
//	@client name       the connection: a new one when the name is
//	@flush             all keys go
//	@advance ms        the clock moves on
//	@ours              up to the next blank line the case holds only for Heddle
//
// The command "@pushed n" stands for none: its reply are n messages that the
// connection was sent since its last reply.
//
// With -oracle ADDR the replies are compared with those of the redis-server
// there, and with -rewrite they are replaced by them: they never come from us.
func Files(t *testing.T, pattern string, families func() []command.Family) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s", pattern)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { runFile(t, path, families) })
	}
}

func runFile(t *testing.T, path string, families func() []command.Family) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *oracleAddr != "" {
		o := dialOracle(t, *oracleAddr)
		o.command("flushall")
		text = compareFile(t, path, text, o)
	}
	play(t, string(text), &ours{env: New(t, families()...), t: t}, func(at int, cmd, got, want string) {
		if got != want {
			t.Errorf("%s:%d: %s\ngot\n%s\nwant\n%s", path, at, cmd, got, want)
		}
	})
}

// compareFile checks the replies in the file against the oracle, or rewrites
// them by its.
func compareFile(t *testing.T, path string, text []byte, o *oracle) []byte {
	out := play(t, string(text), o, func(at int, cmd, got, want string) {
		if got != want && !*rewrite {
			t.Errorf("%s:%d: %s\nthe file says\n%s\nbut redis-server\n%s", path, at, cmd, want, got)
		}
	})
	if !*rewrite {
		return text
	}
	if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	return []byte(out)
}

// player runs the lines of a file.
type player interface {
	do(cmd string) string
	directive(name, arg string) error
	// skips reports whether cases marked @ours are passed over.
	skips() bool
}

// play runs a file and returns it with the replies that were got.
func play(t *testing.T, text string, p player, check func(at int, cmd, got, want string)) string {
	t.Helper()
	var out []string
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	oursOnly := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out = append(out, line)
		switch {
		case line == "":
			oursOnly = false
		case line == "@ours":
			oursOnly = true
		case strings.HasPrefix(line, "@"):
			name, arg, _ := strings.Cut(line[1:], " ")
			if err := p.directive(name, arg); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
		case strings.HasPrefix(line, "> "):
			want := answer(lines[i+1:])
			got := strings.Join(want, "\n")
			if !oursOnly || !p.skips() {
				got = p.do(line[2:])
				check(i+1, line[2:], got, strings.Join(want, "\n"))
			}
			if got != "" {
				out = append(out, got)
			}
			i += len(want)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// answer returns the lines up to the next that is not part of a reply.
func answer(lines []string) []string {
	for i, l := range lines {
		if l == "" || strings.HasPrefix(l, "> ") || l[0] == '#' || l[0] == '@' {
			return lines[:i]
		}
	}
	return lines
}

// ours plays a file on an Env.
type ours struct {
	t       testing.TB
	env     *Env
	clients map[string]*Client
	now     *Client
}

func (o *ours) skips() bool { return false }

func (o *ours) client() *Client {
	if o.now == nil {
		o.now = o.env.Client
		o.clients = map[string]*Client{"": o.now}
	}
	return o.now
}

func (o *ours) do(cmd string) string {
	if _, ok := pushed(cmd); ok {
		return o.client().Received().Text()
	}
	return o.client().Do(cmd).Text()
}

// pushed returns how many messages are to be awaited.
func pushed(cmd string) (n int, ok bool) {
	_, err := fmt.Sscanf(cmd, "@pushed %d", &n)
	return n, err == nil
}

func (o *ours) directive(name, arg string) error {
	c := o.client()
	switch name {
	case "resp3":
		c.RESP3()
	case "resp2":
		c.RESP2()
	case "client":
		if o.clients[arg] == nil {
			o.clients[arg] = o.env.NewClient()
		}
		o.now = o.clients[arg]
	case "flush":
		o.env.Keyspace.Whole(o.env.Now()).Flush(-1, false)
	case "advance":
		ms, err := strconv.ParseInt(arg, 10, 64)
		o.env.Advance(db.Millis(ms))
		return err
	default:
		return fmt.Errorf("unknown directive @%s", name)
	}
	return nil
}

// oracle plays a file on a redis-server.
type oracle struct {
	t       testing.TB
	addr    string
	clients map[string]*oracleConn
	now     *oracleConn
}

type oracleConn struct {
	net.Conn
	r *bufio.Reader
}

func dialOracle(t testing.TB, addr string) *oracle {
	o := &oracle{t: t, addr: addr, clients: map[string]*oracleConn{}}
	o.use("")
	t.Cleanup(func() {
		for _, c := range o.clients {
			_ = c.Close()
		}
	})
	return o
}

func (o *oracle) use(name string) {
	if o.clients[name] == nil {
		c, err := net.Dial("tcp", o.addr)
		if err != nil {
			o.t.Fatal(err)
		}
		o.clients[name] = &oracleConn{c, bufio.NewReader(c)}
	}
	o.now = o.clients[name]
}

func (o *oracle) skips() bool { return true }

func (o *oracle) do(cmd string) string {
	if n, ok := pushed(cmd); ok {
		return Format(o.read(n))
	}
	words, err := Words(cmd)
	if err != nil {
		o.t.Fatalf("%s: %v", cmd, err)
	}
	return Format(o.command(words...))
}

func (o *oracle) command(args ...string) string {
	o.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	_ = o.now.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := o.now.Write([]byte(b.String())); err != nil {
		o.t.Fatal(err)
	}
	return o.read(1)
}

// read returns the bytes of the next n replies.
func (o *oracle) read(n int) (all string) {
	o.t.Helper()
	for range n {
		raw, err := readReply(o.now.r)
		if err != nil {
			o.t.Fatal(err)
		}
		all += raw
	}
	return all
}

func (o *oracle) directive(name, arg string) error {
	switch name {
	case "resp3":
		o.command("hello", "3")
	case "resp2":
		o.command("hello", "2")
	case "client":
		o.use(arg)
	case "flush":
		o.command("flushall")
	case "advance":
		ms, err := strconv.Atoi(arg)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return err
	default:
		return fmt.Errorf("unknown directive @%s", name)
	}
	return nil
}

// readReply reads the bytes of one reply.
func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	parts := 0
	switch line[0] {
	case '$', '=', '!':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		for at := 0; at < len(body); {
			m, err := r.Read(body[at:])
			if err != nil {
				return "", err
			}
			at += m
		}
		return line + string(body), nil
	case '*', '~', '>':
		parts = n
	case '%':
		parts = 2 * n
	}
	for range parts {
		part, err := readReply(r)
		if err != nil {
			return "", err
		}
		line += part
	}
	return line, nil
}

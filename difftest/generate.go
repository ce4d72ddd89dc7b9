package difftest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Step is one thing done to both servers, over connection Conn of each.
type Step struct {
	Conn  int
	Batch int      // steps of the same batch are sent in one piece
	Argv  [][]byte // a command, or
	Raw   []byte   // bytes, sent as they are
	// Replies is how many replies to expect: usually 1, 0 after CLIENT REPLY
	// SKIP, negative to read until the servers close the connection.
	Replies int
	Closes  bool          // the connection is closed after the reply
	Match   Matcher       // how the replies are compared
	Wait    time.Duration // pause after the reply
	// ScanLoop stands for SCAN until the cursor is zero, with the arguments in
	// Argv behind the cursor; what counts is the set of keys.
	ScanLoop bool
	// Digest stands for a look at both servers' whole keyspaces.
	Digest bool
}

// String shows a step so that it can be read, and typed again.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] ", s.Conn)
	switch {
	case s.Raw != nil && s.Argv != nil:
		b.WriteString("inline ")
	case s.Raw != nil:
		fmt.Fprintf(&b, "bytes %s", shorten(s.Raw))
	}
	for i, a := range s.Argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shorten(a))
	}
	if s.ScanLoop {
		b.WriteString(" (until the cursor is 0)")
	}
	if s.Digest {
		b.WriteString("compare all keys")
	}
	if s.Wait > 0 {
		fmt.Fprintf(&b, " (then wait %v)", s.Wait)
	}
	return b.String()
}

// shorten quotes b, unless it is a plain word, and says how long it is where
// it is too long to show.
func shorten(b []byte) string {
	if len(b) > 120 {
		return fmt.Sprintf("%q...(%d bytes)", b[:60], len(b))
	}
	if len(b) > 0 && bytes.IndexFunc(b, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r == '\\' || r > '~' }) < 0 {
		return string(b)
	}
	return strconv.Quote(string(b))
}

// Options choose what a Generator makes.
type Options struct {
	Seed   int64
	Conns  int      // connections to spread commands over
	Keys   int      // how many ordinary keys there are
	Groups []string // command groups; none means all
	// Events has keyspace events compared, too. Then nothing is taken at random: to
	// make both servers alike again would be an event.
	Events bool
}

// Generator makes batches of random commands. The same options give the same
// batches.
type Generator struct {
	Options
	rng       *rand.Rand
	templates []*template
	total     int
	upTo      []int // the weights of all templates up to each
	batch     int
	multi     []bool // a connection is inside MULTI
	opening   [][]Step
	unsorted  bool // nothing is sorted in this era, see Fresh
}

// NewGenerator returns a generator; it fails when a group does not exist.
func NewGenerator(o Options) (*Generator, error) {
	g := &Generator{Options: o, rng: rand.New(rand.NewSource(o.Seed)), multi: make([]bool, o.Conns)}
	all := groups()
	if len(o.Groups) == 0 {
		g.Groups = GroupNames()
	}
	for _, name := range g.Groups {
		text, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("no command group %q; there are %s", name, strings.Join(GroupNames(), ", "))
		}
		g.templates = append(g.templates, parseTemplates(text)...)
	}
	for _, t := range g.templates {
		g.total += t.weight
		g.upTo = append(g.upTo, g.total)
	}
	return g, nil
}

// GroupNames lists the command groups.
func GroupNames() []string {
	return slices.Sorted(maps.Keys(groups()))
}

// Fresh says that the connections were opened anew and all keys are gone. What is
// made from then on begins with a choice of limits, mostly low ones, so that
// collections change their form all the time, and of protocol versions. In some eras
// nothing is sorted, in the others no argument holds a zero byte: redis-server compares
// by strcoll, to which what follows one does not exist, so chance orders such elements.
func (g *Generator) Fresh() {
	clear(g.multi)
	g.unsorted = !slices.Contains(g.Groups, "sort") || g.rng.Intn(3) == 0 && len(g.Groups) > 1
	g.opening = [][]Step{{{Argv: g.limits(), Replies: 1, Match: exact}}}
	for conn := range g.Conns {
		if g.rng.Intn(2) == 0 {
			g.opening = append(g.opening, []Step{{Conn: conn, Argv: words("HELLO", "3"), Replies: 1, Match: matchers()["hello"]}})
		}
	}
}

// limitChoices are values for the limits of encodings, the default first.
var limitChoices = []struct {
	name   string
	values []string
}{
	{"hash-max-listpack-entries", []string{"128", "4", "20", "512"}},
	{"hash-max-listpack-value", []string{"64", "8", "20"}},
	{"zset-max-listpack-entries", []string{"128", "4", "20"}},
	{"zset-max-listpack-value", []string{"64", "8", "20"}},
	{"set-max-intset-entries", []string{"512", "4", "20"}},
	{"list-max-listpack-size", []string{"-2", "-1", "3", "16", "128"}},
	{"list-compress-depth", []string{"0", "1", "2"}},
	{"hll-sparse-max-bytes", []string{"3000", "0", "100", "600"}},
	{"stream-node-max-bytes", []string{"4096", "100", "0"}},
	{"stream-node-max-entries", []string{"100", "3", "10", "0"}},
}

// defaultLimits is a CONFIG SET of what holds without one.
func defaultLimits() []string {
	argv := []string{"CONFIG", "SET"}
	for _, l := range limitChoices {
		argv = append(argv, l.name, l.values[0])
	}
	return argv
}

// limits makes a CONFIG SET of all limits.
func (g *Generator) limits() [][]byte {
	argv := words("CONFIG", "SET")
	defaults := g.rng.Intn(3) == 0
	for _, l := range limitChoices {
		v := pick(g.rng, l.values)
		if defaults {
			v = l.values[0]
		}
		argv = append(argv, []byte(l.name), []byte(v))
	}
	return argv
}

// Batch makes the next batch: commands for one connection, to be sent in one
// piece.
func (g *Generator) Batch() []Step {
	g.batch++
	if len(g.opening) > 0 {
		steps := g.opening[0]
		g.opening = g.opening[1:]
		return g.number(steps[0].Conn, steps)
	}
	conn := g.rng.Intn(g.Conns)
	if !g.multi[conn] && g.rng.Intn(40) == 0 {
		return g.number(conn, g.special())
	}
	n := 1
	switch g.rng.Intn(4) {
	case 0:
		n = 1 + g.rng.Intn(6)
	case 1:
		n = 1 + g.rng.Intn(60)
	case 2:
		n = 1 + g.rng.Intn(300)
	}
	var steps []Step
	for range n {
		s := g.command(conn)
		if len(s.Argv) > 0 && len(s.Argv[0]) >= 4 && bytes.EqualFold(s.Argv[0][:4], []byte("sort")) {
			steps = append(steps, clearErrno())
		}
		steps = append(steps, s)
		if s.Closes {
			g.multi[conn] = false
			break
		}
		if s.Match.check != nil {
			break
		}
	}
	return g.number(conn, steps)
}

func (g *Generator) number(conn int, steps []Step) []Step {
	for i := range steps {
		steps[i].Conn, steps[i].Batch = conn, g.batch
	}
	return steps
}

// Digest makes a step that compares the keyspaces.
func (g *Generator) Digest() Step {
	g.batch++
	return Step{Batch: g.batch, Digest: true, Replies: 1, Match: exact}
}

// template draws a template by weight.
func (g *Generator) template() *template {
	at := g.rng.Intn(g.total)
	i, _ := slices.BinarySearch(g.upTo, at+1)
	return g.templates[i]
}

// command makes one command.
func (g *Generator) command(conn int) Step {
	t := g.template()
	for t.match.check != nil && (g.multi[conn] || g.Events && t.match.Name == "taken") || g.unsorted && (t.name == "SORT" || t.name == "SORT_RO") {
		t = g.template()
	}
	s := Step{Argv: t.body.expand(g, nil), Match: t.match, Replies: 1, Closes: t.match.closes}
	if !t.fixed && g.rng.Intn(33) == 0 {
		s.Argv = g.garble(t, s.Argv)
	}
	if most, ok := extended[t.name]; ok && g.multi[conn] {
		s.Argv = s.Argv[:min(len(s.Argv), most)]
	}
	if !g.unsorted {
		for i, a := range s.Argv {
			s.Argv[i] = sortable(a)
		}
	}
	switch t.name {
	case "MULTI":
		g.multi[conn] = true
	case "EXEC", "DISCARD", "RESET":
		g.multi[conn] = false
	}
	if g.rng.Intn(40) == 0 {
		s.inline(g)
	}
	return s
}

// clearErrno is a step without effect, but for redis-server's errno: SORT takes an error
// that an earlier command left there for one of its own; see Differences.
func clearErrno() Step {
	return Step{Argv: words("GEOSEARCH", "none", "FROMLONLAT", "1", "1", "BYRADIUS", "1", "m"), Match: exact, Replies: 1}
}

// sortable is an argument that does no harm where something is sorted: see Fresh. A
// score of minus zero loses its sign in a listpack, which redis-server turns into a
// skiplist where it sorts; see Differences.
func sortable(arg []byte) []byte {
	if string(arg) == "-0" {
		return arg[1:]
	}
	return bytes.ReplaceAll(arg, []byte{0}, []byte{1})
}

// extended are the commands that take more arguments here than in Redis 7.0, with how
// many they take there: what one server queues in MULTI and the other refuses would
// decide over all of EXEC.
var extended = map[string]int{"TTL": 2, "PTTL": 2, "PERSIST": 2, "ZRANK": 3, "ZREVRANK": 3}

// garble spoils a command: an argument too few, too many, doubled, or replaced.
// Arguments of a timed command keep their places, lest a short time to live
// makes replies depend on when they are asked for.
func (g *Generator) garble(t *template, argv [][]byte) [][]byte {
	how := g.rng.Intn(5)
	if t.timed || len(argv) < 2 {
		how %= 2
	}
	i := 0
	if len(argv) > 1 {
		i = 1 + g.rng.Intn(len(argv)-1)
	}
	switch how {
	case 0:
		if len(argv) > 1 {
			return argv[:len(argv)-1]
		}
		return argv
	case 1:
		return append(argv, g.value("word"))
	case 2:
		return append(argv[:i+1:i+1], argv[i:]...)
	case 3:
		argv[i] = g.val()
	case 4:
		j := 1 + g.rng.Intn(len(argv)-1)
		argv[i], argv[j] = argv[j], argv[i]
	}
	return argv
}

// inline turns a command into a line of quoted words, if it is short.
func (s *Step) inline(g *Generator) {
	var line []byte
	for i, a := range s.Argv {
		if i > 0 {
			line = append(line, ' ')
		}
		switch {
		case len(a) > 200:
			return
		case len(a) > 0 && bytes.IndexFunc(a, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r >= 0x7f }) < 0:
			line = append(line, a...)
		case !bytes.ContainsAny(a, "'\\\r\n\x00") && g.rng.Intn(2) == 0:
			line = fmt.Appendf(line, "'%s'", a)
		default:
			line = append(line, '"')
			for _, c := range a {
				line = fmt.Appendf(line, "\\x%02x", c)
			}
			line = append(line, '"')
		}
	}
	s.Raw = append(line, pick(g.rng, []string{"\r\n", "\n", " \r\n"})...)
}

// special makes what is more than single commands.
func (g *Generator) special() []Step {
	switch g.rng.Intn(8) {
	case 0:
		return g.death()
	case 1: // no reply for one command
		s := g.quiet()
		return []Step{{Argv: words("CLIENT", "REPLY", "SKIP"), Match: exact}, s, {Argv: words("PING"), Replies: 1, Match: exact}}
	case 2: // none for several
		steps := []Step{{Argv: words("CLIENT", "REPLY", "OFF"), Match: exact}}
		for range 1 + g.rng.Intn(4) {
			steps = append(steps, g.quiet())
		}
		return append(steps, Step{Argv: words("CLIENT", "REPLY", "ON"), Replies: 1, Match: exact})
	case 3: // bytes that end the connection
		return []Step{{Raw: []byte(pick(g.rng, brokenStreams)), Replies: -1, Closes: true, Match: exact}}
	default:
		argv := words("SCAN")
		if g.rng.Intn(2) == 0 {
			argv = append(argv, []byte("MATCH"), g.value("pattern"))
		}
		if g.rng.Intn(2) == 0 {
			argv = append(argv, []byte("COUNT"), []byte(strconv.Itoa(1+g.rng.Intn(30))))
		}
		return []Step{{Argv: argv, ScanLoop: true, Match: exact, Replies: 1}}
	}
}

// death makes a key that dies, or is born dead, and is seen dead by a read,
// which removes it.
func (g *Generator) death() []Step {
	key := g.key()
	ms := []byte(strconv.Itoa(1 + g.rng.Intn(3)))
	die := pick(g.rng, [][][]byte{
		{[]byte("PEXPIRE"), key, ms},
		{[]byte("SET"), key, []byte("v"), []byte("PX"), ms},
		{[]byte("GETEX"), key, []byte("PX"), ms},
		{[]byte("PSETEX"), key, ms, []byte("v")},
		{[]byte("SET"), key, []byte("v"), []byte("PXAT"), ms},
		{[]byte("SET"), key, []byte("v"), []byte("GET"), []byte("EXAT"), ms},
		{[]byte("GETEX"), key, []byte("EXAT"), ms},
	})
	see := pick(g.rng, []string{"GET", "EXISTS", "TTL", "TYPE", "STRLEN", "PERSIST", "GETDEL", "INCR", "EXPIRETIME"})
	return []Step{
		{Argv: die, Replies: 1, Match: exact, Wait: 8 * time.Millisecond},
		{Argv: [][]byte{[]byte(see), key}, Replies: 1, Match: exact},
		{Argv: [][]byte{[]byte("EXISTS"), key}, Replies: 1, Match: exact},
	}
}

// quiet makes a command whose reply is not sent.
func (g *Generator) quiet() Step {
	return Step{Argv: [][]byte{[]byte("SET"), g.key(), g.val()}, Match: exact}
}

func words(list ...string) [][]byte {
	argv := make([][]byte, len(list))
	for i, w := range list {
		argv[i] = []byte(w)
	}
	return argv
}

// brokenStreams are bytes after which the server closes, with what it answers
// before.
var brokenStreams = []string{
	"*3000000000\r\n", "*abc\r\n", "*\r\n", "*1\r\nfoo\r\n", "*1\r\n*1\r\n", "*1\r\n$-1\r\n", "*1\r\n$abc\r\n", "*1\r\n$536870913\r\n",
	"*2\r\n$4\r\nECHO\r\n:1\r\n", "*0\r\n*-1\r\n\r\nPING\r\n*1\r\n$99999999999999999999\r\n",
	"foo 'bar\r\n", "get \"a\"b\r\n", "PING\r\n*1\r\n$4\r\nQUIT\r\nPING\r\n",
	"*3\r\n$3\r\nSET\r\n$3\r\nk:1\r\n$1\r\nx\r\n*3\r\n$3\r\nSET\r\n$3\r\nk:1\r\n+1\r\n",
	"MULTI\r\nSET k:1 lost\r\nQUIT\r\n",
}

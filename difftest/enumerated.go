package difftest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Enumerated says what Enumerate runs.
type Enumerated struct {
	Only  string // a command; empty takes all
	Every int    // each so-manieth case of each command, 1 for all
	Proto int    // 2 or 3
	Large bool   // values have the forms of large ones
	Most  int    // mismatches of one command that are reported
	Out   io.Writer
}

// Enumerate runs the commands of the data groups on both servers, not at random: each
// case that follows from the argument trees of the oracle's COMMAND DOCS (see
// enumeration), on a few keys of all types that are made anew where they may have
// changed, and behind it the digests of the keys. It returns the numbers of cases and of
// those that differ.
func Enumerate(oracle, ours string, c Enumerated) (cases, failed int, err error) {
	p, err := NewPair(oracle, ours, 1)
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	commands, err := enumerations(p.control[0], c.Only)
	if err != nil {
		return 0, 0, err
	}
	r := &enumerator{Enumerated: c, pair: p, matchers: matchers()}
	if err := r.start(); err != nil {
		return 0, 0, err
	}
	for _, e := range commands {
		e.enumerate()
		n, err := r.command(e)
		cases, failed = cases+r.ran, failed+n
		if err != nil {
			return cases, failed, fmt.Errorf("%v: %w", e.name, err)
		}
	}
	return cases, failed, nil
}

// leftOut are commands whose cases would end the connection, hold it up, tell of the server
// rather than of the keys, or are not here yet; by full name.
var leftOut = []string{"quit", "client|pause", "client|kill", "client|reply", "client|list", "client|info", "client|id",
	"client|tracking", "client|no-evict", "hello", "auth", "reset", "migrate", "dump", "restore", "wait", "object|freq",
	"object|idletime", "randomkey", "xinfo|help", "client|help", "object|help", "pubsub|help", "xgroup|help"}

// enumerations reads the argument trees of the oracle's commands.
func enumerations(oracle *Client, only string) (list []*enumeration, err error) {
	reply, err := oracle.Do("COMMAND", "DOCS")
	if err != nil {
		return nil, err
	}
	groups := []string{"list", "hash", "set", "sorted-set", "stream", "hyperloglog", "geo", "string", "bitmap", "generic", "pubsub", "connection"}
	for i := 0; i+1 < len(reply.Elems); i += 2 {
		name, doc := string(reply.Elems[i].Text), fields(reply.Elems[i+1])
		group := string(doc["group"].Text)
		if !slices.Contains(groups, group) || only != "" && name != only {
			continue
		}
		add := func(full string, doc map[string]Reply) {
			if !slices.Contains(leftOut, full) {
				list = append(list, &enumeration{name: strings.Split(full, "|"), group: group, args: parseArguments(doc["arguments"]), seen: map[string]bool{}})
			}
		}
		subs := doc["subcommands"].Elems
		if len(subs) == 0 {
			add(name, doc)
		}
		for k := 0; k+1 < len(subs); k += 2 {
			add(string(subs[k].Text), fields(subs[k+1]))
		}
	}
	slices.SortFunc(list, func(a, b *enumeration) int { return slices.Compare(a.name, b.name) })
	return list, nil
}

// enumerator runs cases.
type enumerator struct {
	Enumerated
	pair     *Pair
	matchers map[string]Matcher
	ran      int // cases of the last command
}

// seeds make a key of each type, and some of their forms.
var seeds = [][]string{
	{"FLUSHALL"}, {"SET", "s", "hello"}, {"SET", "n", "10"}, {"RPUSH", "l", "a", "b", "c", "a"}, {"HSET", "h", "f", "1", "g", "x"},
	{"SADD", "t", "1", "2", "3"}, {"ZADD", "z", "1", "a", "2", "b", "3", "c"}, {"XADD", "x", "1-1", "f", "v"}, {"XADD", "x", "2-1", "f", "v"},
	{"XGROUP", "CREATE", "x", "g", "0"}, {"XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "x", ">"}, {"PFADD", "p", "a", "b"},
	{"GEOADD", "e", "13.361389", "38.115556", "a", "15.087269", "37.502669", "b"}, {"SET", "v", "x", "EXAT", "99999999999"},
}

// digests shows the keys that cases change; TYPE says of new ones which they are.
var digests = []string{"DEBUG", "DIGEST-VALUE", "s", "n", "l", "h", "t", "z", "x", "p", "e", "v", "new"}

func (r *enumerator) start() error {
	limits := defaultLimits()
	if r.Large {
		for i := 3; i < len(limits); i += 2 {
			if strings.Contains(limits[i-1], "-entries") {
				limits[i] = "0"
			}
		}
	}
	for _, c := range r.pair.conns[0] {
		if reply, err := c.Do(limits...); err != nil || reply.Kind == '-' {
			return fmt.Errorf("%v: %q, %w", limits, reply.Raw, err)
		}
		if reply, err := c.Do("HELLO", fmt.Sprint(r.Proto)); err != nil || reply.Kind == '-' {
			return fmt.Errorf("HELLO: %q, %w", reply.Raw, err)
		}
	}
	return nil
}

// mark is what PING sends behind each case, whose replies end there.
const mark = "~mark~"

// pipelined is how many cases are sent at once.
const pipelined = 50

// command runs the cases of a command and returns how many differ.
func (r *enumerator) command(e *enumeration) (failed int, err error) {
	var cases [][]string
	for i, c := range e.cases {
		if i%r.Every == 0 {
			cases = append(cases, c)
		}
		if i%r.Every == 0 && i < 200 && e.group != "connection" {
			cases = append(cases, append([]string{"COMMAND", "GETKEYSANDFLAGS"}, c...))
		}
	}
	r.ran = len(cases)
	for len(cases) > 0 {
		n := min(pipelined, len(cases))
		bad, err := r.batch(e, cases[:n])
		if err != nil {
			return failed, err
		}
		for _, b := range bad {
			if failed++; failed <= r.Most {
				fmt.Fprintln(r.Out, b)
			}
		}
		cases = cases[n:]
	}
	return failed, nil
}

// batch runs some cases on both servers.
func (r *enumerator) batch(e *enumeration, cases [][]string) (bad []string, err error) {
	var out []byte
	for _, argv := range cases {
		for _, s := range seeds {
			out = Step{Argv: words(s...)}.append(out)
		}
		out = Step{Argv: words("PING", mark)}.append(out)
		out = Step{Argv: words(argv...)}.append(out)
		out = Step{Argv: words("PING", mark)}.append(out)
		if e.group == "pubsub" || e.group == "connection" {
			out = Step{Argv: words("RESET")}.append(out)
			out = Step{Argv: words("HELLO", fmt.Sprint(r.Proto))}.append(out)
		}
		out = Step{Argv: words(digests...)}.append(out)
		out = Step{Argv: words("PING", mark)}.append(out)
	}
	for _, c := range r.pair.conns[0] {
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		go c.conn.Write(out)
	}
	for _, argv := range cases {
		var said, after [2][]Reply
		for side, c := range r.pair.conns[0] {
			if _, err = readToMark(c); err == nil {
				said[side], err = readToMark(c)
			}
			if err == nil {
				after[side], err = readToMark(c)
			}
			if err != nil {
				return bad, fmt.Errorf("%q, side %d: %w", argv, side, err)
			}
		}
		if what := r.different(argv, said, after); what != "" {
			bad = append(bad, fmt.Sprintf("%q: %s\n  redis  %s\n  heddle %s", argv, what, show(said[0]), show(said[1])))
		}
	}
	return bad, nil
}

// readToMark reads the replies before that to the next PING.
func readToMark(c *Client) (list []Reply, err error) {
	for {
		reply, err := readReply(c.in)
		if err != nil || bytes.Contains(reply.Raw, []byte(mark)) && (reply.Kind == '$' || len(reply.Elems) == 2) {
			return list, err
		}
		list = append(list, reply)
	}
}

func show(list []Reply) string {
	var raw []byte
	for _, r := range list {
		raw = append(raw, r.Raw...)
	}
	return fmt.Sprintf("%.300q", raw)
}

// matcherOf are the rules by which replies to commands are compared that differ in
// their bytes.
var matcherOf = map[string]string{
	"ttl": "second", "pttl": "milliseconds", "expiretime": "second", "smembers": "unordered", "sunion": "unordered", "sinter": "unordered", "sdiff": "unordered",
	"hgetall": "pairs", "hkeys": "unordered", "hvals": "unordered", "keys": "unordered", "scan": "scanned", "sscan": "scanned", "hscan": "scanpairs", "zscan": "scanpairs",
	"srandmember": "shape", "hrandfield": "shape", "zrandmember": "shape", "spop": "shape", "xpending": "pending", "sort": "unordered", "sort_ro": "unordered",
}

// different says in what the servers differ after a case, "" if in nothing.
func (r *enumerator) different(argv []string, said, after [2][]Reply) string {
	s := Step{Argv: words(argv...)}
	if len(said[0]) != len(said[1]) {
		return "number of replies"
	}
	same := true
	for i, want := range said[0] {
		got := said[1][i]
		if !bytes.Equal(want.Raw, got.Raw) {
			same = false
			if m := r.matchers[matcherOf[strings.ToLower(argv[0])]]; !deliberate(s, want, got) && !newer(argv, want, got) && (m.same == nil || !m.same(want, got)) {
				return "reply"
			}
		}
	}
	want, got := after[0][len(after[0])-1:], after[1][len(after[1])-1:]
	if same && show(want) != show(got) && !chance(argv) {
		return fmt.Sprintf("digests\n  redis  %s\n  heddle %s", show(want), show(got))
	}
	return ""
}

// chance reports whether what a command does is a matter of chance or of the clock. A key
// whose time is over shows in Redis until it is looked for.
func chance(argv []string) bool {
	switch strings.ToLower(argv[0]) {
	case "spop", "set", "getex", "pexpire", "psetex", "xautoclaim", "xclaim":
		return true
	case "xadd":
		return autoID(argv)
	}
	return false
}

func autoID(argv []string) bool {
	return len(argv) > 2 && strings.Contains(strings.Join(argv, " "), "*")
}

// newer reports whether two replies differ in what the clock tells, in what Redis 7.2
// changed, or by KeyDB's members of TTL and its kin.
func newer(argv []string, want, got Reply) bool {
	name := strings.ToLower(argv[0])
	switch {
	case name == "command" && len(argv) > 2: // COMMAND GETKEYS
		inner := strings.ToLower(argv[2])
		return len(argv) == 3 || slices.Contains([]string{"ttl", "pttl", "persist", "zrank", "zrevrank"}, inner) &&
			string(want.Text) == "ERR Invalid number of arguments specified for command"
	case string(got.Text) == "ERR timeout is out of range":
		return string(want.Text) == "ERR timeout is negative" &&
			slices.ContainsFunc([]string{"inf", "1e400", "9223372036854775808"}, func(n string) bool { return slices.Contains(argv, n) })
	case name == "xadd":
		return autoID(argv) && want.Kind == '$' && len(want.Raw) == len(got.Raw)
	case strings.HasSuffix(name, "scan") && len(want.Elems) == 2 || name == "xautoclaim": // cursors are the server's own
		return want.Kind == '*' && got.Kind == '*'
	}
	return false
}

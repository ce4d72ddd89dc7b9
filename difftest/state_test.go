package difftest

import (
	"slices"
	"strings"
	"testing"
)

func pairOf(t *testing.T) *Pair {
	t.Helper()
	p, err := NewPair(oracle(t).Addr, oracle(t).Addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// on runs a command on one side.
func on(t *testing.T, c *Client, line string) Reply {
	t.Helper()
	reply, err := c.Do(strings.Fields(line)...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestDigestNamesKey(t *testing.T) {
	p := pairOf(t)
	digest := Step{Digest: true}
	for _, c := range p.control {
		on(t, c, "SELECT 3")
		on(t, c, "SADD same a b c")
		on(t, c, "RPUSH other a")
		on(t, c, "SELECT 0")
	}
	if m, err := p.compareDigests(digest); m != nil || err != nil {
		t.Fatalf("equal servers: %v, %v", m, err)
	}
	on(t, p.conns[0][1], "SELECT 3")
	on(t, p.conns[0][1], "RPUSH other b")
	m, err := p.compareDigests(digest)
	if err != nil || m == nil || !strings.Contains(m.What, `"other"`) || !strings.Contains(m.What, "type list") || !strings.Contains(m.What, "database 3") {
		t.Fatalf("found %+v, %v", m, err)
	}
}

// Replies of SPOP are compared by what they take, and both servers hold the same
// afterwards.
func TestTaken(t *testing.T) {
	p := pairOf(t)
	match := matchers()["taken"]
	both := func(line string) (replies [2]Reply) {
		for side, c := range p.conns[0] {
			replies[side] = on(t, c, line)
		}
		return replies
	}
	both("SADD s " + strings.Repeat("a b c d e f g h i j k l m n o p ", 1))
	for _, line := range []string{"SPOP s 5", "SPOP s", "SPOP s 0", "SPOP s 100", "SPOP s"} {
		r := both(line)
		if string(r[0].Raw) != string(r[1].Raw) && !taken(p, Step{Argv: words(strings.Fields(line)...), Match: match}, r[0], r[1]) {
			t.Errorf("%s: %q and %q are not taken for the same", line, r[0].Raw, r[1].Raw)
		}
		if m, err := p.compareDigests(Step{Digest: true}); m != nil || err != nil {
			t.Errorf("%s: the servers differ: %v, %v", line, m, err)
		}
	}
	both("SADD s a b c d e f g h")
	step := Step{Argv: words("SPOP", "s", "2"), Match: match}
	a, b := on(t, p.conns[0][0], "SPOP s 2"), on(t, p.conns[0][1], "SPOP s 3")
	if taken(p, step, a, b) {
		t.Error("one more was taken, and nobody saw it")
	}
}

func TestDrawn(t *testing.T) {
	p := pairOf(t)
	for _, c := range p.conns[0] {
		on(t, c, "SADD s a b c")
		on(t, c, "HSET h f 1 g 2")
		on(t, c, "ZADD z 1 m 2 n")
	}
	check := func(line, got string, same bool) {
		t.Helper()
		want, _ := parseReply([]byte(got))
		reply := want
		if drawn(p, Step{Argv: words(strings.Fields(line)...)}, want, reply) != same {
			t.Errorf("%s: %q: not %t", line, got, same)
		}
	}
	check("SRANDMEMBER s", "$1\r\na\r\n", true)
	check("SRANDMEMBER s", "$1\r\nx\r\n", false)
	check("SRANDMEMBER s 2", "*2\r\n$1\r\na\r\n$1\r\nc\r\n", true)
	check("SRANDMEMBER s 2", "*2\r\n$1\r\na\r\n$1\r\na\r\n", false)
	check("SRANDMEMBER s -2", "*2\r\n$1\r\na\r\n$1\r\na\r\n", true)
	check("HRANDFIELD h 2 WITHVALUES", "*4\r\n$1\r\nf\r\n$1\r\n1\r\n$1\r\ng\r\n$1\r\n2\r\n", true)
	check("HRANDFIELD h 2 WITHVALUES", "*2\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n*2\r\n$1\r\ng\r\n$1\r\n2\r\n", true)
	check("HRANDFIELD h 2 WITHVALUES", "*4\r\n$1\r\nf\r\n$1\r\n2\r\n$1\r\ng\r\n$1\r\n2\r\n", false)
	check("ZRANDMEMBER z -1 WITHSCORES", "*2\r\n$1\r\nm\r\n$1\r\n1\r\n", true)
	check("ZRANDMEMBER z -1 WITHSCORES", "*1\r\n*2\r\n$1\r\nm\r\n,1\r\n", true)
}

func TestEvents(t *testing.T) {
	p := pairOf(t)
	if err := p.Listen(); err != nil {
		t.Fatal(err)
	}
	step := func(line string) []Step {
		return []Step{{Argv: words(strings.Fields(line)...), Replies: 1, Match: exact}}
	}
	for _, line := range []string{"SET k v", "GET none", "DEL k", "PING"} {
		if m, err := p.Run(step(line)); m != nil || err != nil {
			t.Fatalf("%s: %v, %v", line, m, err)
		}
	}
	on(t, p.control[1], "CONFIG SET notify-keyspace-events KEg")
	m, err := p.Run(step("SET k v"))
	if err != nil || m == nil || !strings.Contains(m.What, "events") {
		t.Fatalf("%+v, %v", m, err)
	}
}

// TestEventsOfOracle holds that events depend neither on chance nor on time. Only SORT
// misses the keys of its patterns in the order in which a hash table has the members.
func TestEventsOfOracle(t *testing.T) {
	var out strings.Builder
	groups := slices.DeleteFunc(GroupNames(), func(name string) bool { return name == "sort" })
	result, err := Compare(oracle(t).Addr, oracle(t).Addr, Config{
		Options: Options{Seed: 7, Conns: 6, Keys: 24, Events: true, Groups: groups}, N: 10000, MaxFailures: 5, Out: &out})
	if err != nil || len(result.Failures) > 0 {
		t.Errorf("%v\n%s", err, &out)
	}
}

package all_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/db/digest"
	"heddle/server/command/cmdtest"
)

// dueMembers is how many members the collections of TestDueMembers have: many more than
// a command removes on its way.
const dueMembers = 900

// fillDue makes a hash h, a set s, and a sorted set z. Of some members the time comes in a
// second, of some in an hour; share percent of all are of the former.
func fillDue(e *cmdtest.Env, r *rand.Rand, share int) {
	soon, late := int64(e.Now())+1000, int64(e.Now())+3_600_000
	for i := range dueMembers {
		m := fmt.Sprint("m", i)
		e.Do("hset h " + m + " 7")
		e.Do("sadd s " + m)
		e.Do(fmt.Sprint("zadd z ", r.IntN(50), " ", m))
		for _, key := range []string{"h", "s", "z"} {
			at := soon
			if r.IntN(100) >= share {
				if at = late; r.IntN(2) == 0 {
					continue
				}
			}
			e.Do(fmt.Sprint("pexpirememberat ", key, " ", m, " ", at))
		}
	}
	for i := range 20 {
		e.Do(fmt.Sprint("sadd t m", i*30))
	}
}

// dueCommands are commands on them; M is a member, N a number. What they answer depends on
// nothing but what is there; where the order of a reply may vary it begins with "~".
var dueCommands = []string{
	"hget h M", "hset h M N", "hset h M N M N M N", "hdel h M M M", "hlen h", "hexists h M", "hincrby h M N", "hsetnx h M N", "hmget h M M M",
	"hpttl h fields 1 M", "hpexpire h N00 fields 2 M M", "hpersist h fields 1 M", "hgetdel h fields 1 M", "~hgetall h", "~hkeys h",
	"sadd s M", "sadd s M M M", "srem s M M M", "sismember s M", "scard s", "smismember s M M M", "smove s t M", "smove t s M", "~sinter s t", "~sdiff t s",
	"sunionstore u s t", "~smembers s", "pttl s M", "persist s M", "expiremember s M N", "sort s by nosort limit 0 0", "sintercard 2 s t",
	"zadd z N M", "zadd z N M N M N M", "zadd z nx N M", "zadd z xx ch N M", "zincrby z N M", "zrem z M M M", "zscore z M", "zmscore z M M M", "zcard z",
	"pttl z M", "persist z M", "expiremember z M N", "zrank z M", "zrange z 0 -1 withscores", "zrange z N N rev", "zcount z N +inf", "zpopmin z", "zpopmax z 3",
	"zremrangebyrank z 3 4", "zremrangebyscore z N N", "zrangestore v z N -1", "zunionstore v 2 z s", "zmpop 1 z max count 2", "bzpopmin z 1",
	"copy z w replace", "copy s w replace", "copy h w replace", "~smembers w", "exists h s z", "multi", "~exec",
}

// dueCommand draws one.
func dueCommand(r *rand.Rand) (cmd string, sorted bool) {
	words := strings.Fields(dueCommands[r.IntN(len(dueCommands))])
	for i, w := range words {
		switch {
		case w == "M":
			words[i] = fmt.Sprint("m", r.IntN(dueMembers+30))
		case w[0] == 'N':
			words[i] = fmt.Sprint(1+r.IntN(60), w[1:])
		}
	}
	cmd, sorted = strings.CutPrefix(strings.Join(words, " "), "~")
	return cmd, sorted
}

// lines sorts the lines of a reply.
func lines(reply string) string {
	l := strings.Split(reply, "\r\n")
	slices.Sort(l)
	return strings.Join(l, "\n")
}

// TestDueMembers runs the same commands where very many members are due and where they
// were removed at their time. The replies are the same, and so is, in the end, what is there
// and what the effects make of what there was.
func TestDueMembers(t *testing.T) {
	for round, share := range []int{30, 60, 95, 99, 100} {
		seed := rand.Uint64()
		t.Logf("seed %d, %d %% are due", seed, share)
		var envs [3]*cmdtest.Env
		for i := range envs {
			envs[i] = cmdtest.New(t, fuzzFamilies()...)
			fillDue(envs[i], rand.New(rand.NewPCG(seed, 0)), share)
			envs[i].Forget()
		}
		late, prompt, log := envs[0], envs[1], envs[2]
		late.Advance(2000)
		prompt.Advance(2000)
		prompt.Expire()
		r := rand.New(rand.NewPCG(seed, 1))
		for i := range 40 << (2 * (round % 3)) {
			cmd, sorted := dueCommand(r)
			got, want := late.Do(cmd).Raw(), prompt.Do(cmd).Raw()
			if sorted {
				got, want = lines(got), lines(want)
			}
			if got != want {
				t.Fatalf("%d: %s: %.300q, want %.300q", i, cmd, got, want)
			}
		}
		late.Do("discard")
		prompt.Do("discard")
		for _, line := range late.Effects() {
			if got := log.Do(line).Raw(); strings.HasPrefix(got, "-") {
				t.Errorf("%s: %s", line, got)
			}
		}
		late.Expire()
		log.Do("exec")
		log.Advance(2000)
		log.Expire()
		for _, e := range envs {
			if err := e.Keyspace.Check(); err != nil {
				t.Error(err)
			}
		}
		for i, e := range envs[:2] {
			sn, other := e.Keyspace.Snapshot(nil), log.Keyspace.Snapshot(nil)
			if digest.All(sn, e.Now()) != digest.All(other, e.Now()) {
				t.Errorf("env %d has other values than the effects make", i)
			}
			sn.Close()
			other.Close()
		}
	}
}

// TestDueSteps wants a command to remove no more than some of very many members that are
// due, whatever it does, and none of them where all are due: the key goes as one.
func TestDueSteps(t *testing.T) {
	const n, most = 5000, 66 // 64, one that the command is about, and the command
	for _, c := range []struct{ fill, cmd, want string }{
		{"hset h keep 1", "hget h m9", "$-1\r\n"},
		{"hset h keep 1", "hlen h", ":1\r\n"},
		{"hset h keep 1", "hset h m9 2", ":1\r\n"},
		{"hset h keep 1", "hgetall h", "*2\r\n$4\r\nkeep\r\n$1\r\n1\r\n"},
		{"hset h keep 1", "hdel h m9", ":0\r\n"},
		{"hset h keep 1", "hrandfield h", "$4\r\nkeep\r\n"},
		{"sadd s keep", "sismember s m9", ":0\r\n"},
		{"sadd s keep", "sadd s m9", ":1\r\n"},
		{"sadd s keep", "scard s", ":1\r\n"},
		{"sadd s keep", "srem s m9 keep", ":1\r\n"},
		{"sadd s keep", "spop s", "$4\r\nkeep\r\n"},
		{"zadd z 1 keep", "zscore z m9", "$-1\r\n"},
		{"zadd z 1 keep", "zadd z 2 m9", ":1\r\n"},
		{"zadd z 1 keep", "zincrby z 2 m9", "$1\r\n2\r\n"},
		{"zadd z 1 keep", "zcard z", ":1\r\n"},
		{"zadd z 1 keep", "zrank z keep", ":0\r\n"},
		{"", "hget h m9", "$-1\r\n"},
		{"", "hset h m9 1", ":1\r\n"},
		{"", "srem s m9", ":0\r\n"},
		{"", "zadd z 1 m9", ":1\r\n"},
		{"", "zrange z 0 -1", "*0\r\n"},
		{"", "exists h", ":0\r\n"},
		{"", "type s", "+none\r\n"},
		{"", "rename z y", "-ERR no such key\r\n"},
	} {
		e := cmdtest.New(t, fuzzFamilies()...)
		key := strings.Fields(c.cmd)[1]
		add := map[string]string{"h": "hset h m%d 7", "s": "sadd s m%d", "z": "zadd z 3 m%d"}[key]
		if c.fill != "" {
			e.Do(c.fill)
		}
		for i := range n {
			e.Do(fmt.Sprintf(add, i))
			e.Do(fmt.Sprintf("pexpirememberat %s m%d %d", key, i, e.Now()+1000))
		}
		e.Advance(2000)
		e.Forget()
		e.Do(c.cmd).Want(c.want)
		waits := strings.HasPrefix(c.cmd, "hrandfield") || c.cmd == "hgetall h" || c.cmd == "spop s" || strings.HasPrefix(c.cmd, "zrank")
		switch effects := e.Effects(); {
		case c.fill == "" && (len(effects) == 0 || effects[0] != "del "+key || len(effects) > 2):
			t.Errorf("%s, all of them due: %d effects, %.100q", c.cmd, len(effects), effects)
		case c.fill != "" && waits != (len(effects) >= n) || !waits && len(effects) > most+1:
			t.Errorf("%s: %d effects", c.cmd, len(effects))
		}
		if err := e.Keyspace.Check(); err != nil {
			t.Errorf("%s: %v", c.cmd, err)
		}
	}
}

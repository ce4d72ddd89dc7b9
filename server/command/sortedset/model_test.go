package sortedset_test

import (
	"strconv"
	"strings"
	"testing"

	"heddle/server/dispatch"
)

// TestEffects checks what reaches the oplog.
func TestEffects(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(want...)
	}
	f("zadd z 1 a 2 b", "zadd z 1 a 2 b")
	f("zadd z 1 a 2 b")
	f("zadd z nx 5 a")
	f("zadd z xx 5 c")
	f("zadd z incr 5 a", "zadd z incr 5 a")
	f("zadd z incr 0 a")
	f("zincrby z 1 a", "zincrby z 1 a")
	f("zrem z nokey")
	f("zrem z nokey a", "zrem z nokey a")
	f("zadd z 1 a 3 c 4 d 5 e 6 f 7 g 8 h 9 i", "zadd z 1 a 3 c 4 d 5 e 6 f 7 g 8 h 9 i")
	f("zpopmin z", "zpopmin z")
	f("zpopmax z 2", "zpopmax z 2")
	f("zpopmin nokey")
	f("zpopmin z 0")
	f("zmpop 2 nokey z min", "zpopmin z 1")
	f("zmpop 2 nokey z max count 1", "zpopmax z 1")
	f("bzpopmin nokey z 0", "zpopmin z")
	f("bzmpop 0 1 z max count 10", "zpopmax z 3")
	f("zadd z 1 a 3 c 4 d 5 e", "zadd z 1 a 3 c 4 d 5 e")
	f("zremrangebyrank z 0 0", "zremrangebyrank z 0 0")
	f("zremrangebyrank z 5 6")
	f("zremrangebyscore z 3 3", "zremrangebyscore z 3 3")
	f("zremrangebylex z - [d", "zremrangebylex z - [d")
	f("zunionstore d 2 z z weights 1.5 -inf", "zadd d -inf e")
	f("zunionstore d 1 z weights 0.1", "del d", "zadd d 0.5 e")
	f("zinterstore d 2 z nokey", "del d")
	f("zinterstore d 2 z nokey")
	f("zrangestore d z 0 -1", "zadd d 5 e")
	f("zdiffstore z 1 z", "del z", "zadd z 5 e")
	f("zrange d 0 -1")
}

func TestEvents(t *testing.T) {
	e := env(t)
	f := func(cmd string, want ...string) {
		t.Helper()
		e.Do(cmd)
		e.Events(want...)
	}
	f("zadd z 1 a 2 b", "new z", "zadd z")
	f("zadd z 1 a 2 b")
	f("zadd z xx 5 c")
	f("zadd z incr 5 a", "zincr z")
	f("zincrby z 1 a", "zincr z")
	f("zincrby z 0 a")
	f("zrem z nokey")
	f("zrem z a", "zrem z")
	f("zrem z b", "zrem z", "del z")
	f("zadd z 1 a 3 c 4 d 5 e 6 f 7 g 8 h 9 i", "new z", "zadd z")
	f("zpopmin z", "zpopmin z")
	f("zpopmax z 2", "zpopmax z")
	f("zmpop 1 z min", "zpopmin z")
	f("bzpopmax z 0", "zpopmax z")
	f("zremrangebyrank z 0 0", "zremrangebyrank z")
	f("zremrangebyrank z 5 6")
	f("zremrangebyscore z 5 5", "zremrangebyscore z")
	f("zrangestore d z 0 -1", "new d", "zrangestore d")
	f("zunionstore d 1 z", "zunionstore d")
	f("zinterstore d 1 z", "zinterstore d")
	f("zdiffstore d 2 z x", "keymiss x", "zdiffstore d")
	f("zdiffstore d 2 z z", "del d")
	f("zdiffstore d 2 z z")
	f("zremrangebylex z - +", "zremrangebylex z", "del z")
	f("zcard z", "keymiss z")
}

// TestBlocking lets clients wait for members.
func TestBlocking(t *testing.T) {
	e := env(t)
	a, b := e.NewClient(), e.NewClient()
	a.Do("bzpopmin x y 0").Want("")
	b.Do("bzmpop 0 2 y x max count 5").Want("")
	e.Do("zadd y 1 one 2 two 3 three").Want(":3\r\n")
	a.Received().Want("*3\r\n$1\r\ny\r\n$3\r\none\r\n$1\r\n1\r\n")
	b.Received().WantText("1) \"y\"\n2) 1) 1) \"three\"\n      2) \"3\"\n   2) 1) \"two\"\n      2) \"2\"")
	e.Propagated("zadd y 1 one 2 two 3 three", "zpopmin y", "zpopmax y 2")
	e.Events("new y", "zadd y", "zpopmin y", "zpopmax y", "del y")

	a.RESP3().Do("bzpopmax x 0.5").Want("")
	e.Do("set x v")
	a.Received().Want("")
	e.Advance(600)
	a.Received().Want("_\r\n")
	b.Do("bzmpop 0.5 1 y min").Want("")
	e.Advance(600)
	b.Received().Want("*-1\r\n")
	b.Do("bzpopmin x 0").WantText("(error) WRONGTYPE Operation against a key holding the wrong kind of value")
}

// TestStreams reads long ranges from a large set, which are made while they are sent.
func TestStreams(t *testing.T) {
	e := env(t)
	other := e.NewClient()
	const n = 5000
	args := []string{"zadd", "z"}
	var up, pairs strings.Builder
	for i := range n {
		m := "member:" + strconv.Itoa(i)
		args = append(args, strconv.Itoa(i), m)
		up.WriteString(bulk(m))
		pairs.WriteString("*2\r\n" + bulk(m) + "," + strconv.Itoa(i) + "\r\n")
	}
	e.Argv(args...).Want(":5000\r\n")
	f := func(want string, args ...string) {
		t.Helper()
		// What is changed before the reply has left must not change it.
		argv := make([][]byte, len(args))
		for i, a := range args {
			argv[i] = []byte(a)
		}
		e.Run([]dispatch.Pending{
			{Client: e.Client.Client, Argv: argv},
			{Client: other.Client, Argv: [][]byte{[]byte("zrem"), []byte("z"), []byte("member:10")}},
		})
		if got := e.Received().Raw(); got != want {
			t.Errorf("%q: got %d bytes, want %d", args, len(got), len(want))
		}
		other.Do("zadd z 10 member:10").Want(":1\r\n:1\r\n")
	}
	f("*5000\r\n"+up.String(), "zrange", "z", "0", "-1")
	e.RESP3()
	f("*5000\r\n"+pairs.String(), "zrangebyscore", "z", "-inf", "+inf", "withscores")
	f("*5000\r\n"+pairs.String(), "zunion", "1", "z", "withscores")
	e.RESP2()
	rev := e.Do("zrange z 0 -1 rev").Raw()
	if !strings.HasPrefix(rev, "*5000\r\n"+bulk("member:4999")+bulk("member:4998")) || !strings.HasSuffix(rev, bulk("member:1")+bulk("member:0")) {
		t.Error("the reverse range is wrong")
	}
	if got := strings.Count(e.Do("zrandmember z -3000 withscores").Raw(), "member:"); got != 3000 {
		t.Errorf("%d random members", got)
	}
	if got := strings.Count(e.Do("zrandmember z 2000").Raw(), "member:"); got != 2000 {
		t.Errorf("%d random members", got)
	}
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

// TestRandomMembers checks that members drawn are members, different ones where they
// must be, and that each is drawn some time.
func TestRandomMembers(t *testing.T) {
	for _, n := range []int{10, 300} {
		e := env(t)
		for i := range n {
			e.Argv("zadd", "z", strconv.Itoa(i), "m"+strconv.Itoa(i))
		}
		seen := map[string]bool{}
		for range 40 {
			for _, count := range []int{1, 3, 7, n / 2, n - 1} {
				words := strings.Fields(e.Do("zrandmember z " + strconv.Itoa(count)).Raw())
				drawn := map[string]bool{}
				for i := 2; i < len(words); i += 2 {
					drawn[words[i]], seen[words[i]] = true, true
				}
				if len(drawn) != count || words[0] != "*"+strconv.Itoa(count) {
					t.Fatalf("%d different of %d members: %v", len(drawn), count, words)
				}
			}
		}
		if len(seen) != n {
			t.Errorf("%d of %d members were ever drawn", len(seen), n)
		}
	}
}

package all_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"heddle/db"
	"heddle/db/digest"
	"heddle/server/command/cmdtest"
)

// changes are commands on collections; K is a key of their type, M a member, N a number.
var changes = map[string][]string{
	"hash": {"hset K M N", "hset K M N M N M N", "hdel K M", "hincrby K M N", "hexpire K 1 fields 1 M", "hgetdel K fields 1 M", "hsetex K px 5000 fields 1 M N", "hpersist K fields 1 M"},
	"set":  {"sadd K M", "sadd K N N N", "srem K M", "spop K", "spop K 3", "smove K set:0 M", "sinterstore K K set:1", "expiremember K M 1"},
	"zset": {"zadd K N M", "zincrby K N M", "zrem K M", "zpopmin K 2", "zremrangebyrank K 3 5", "zunionstore K 2 K zset:1 weights 1 2", "zrangestore K zset:1 0 -1", "expiremember K M 1"},
	"list": {"rpush K M N", "lpush K M N", "lpop K", "rpop K 2", "lset K N M", "linsert K before M N", "lrem K 1 M", "ltrim K 1 -2", "lmove K list:0 left right"},
	"stream": {"xadd K * M N", "xadd K maxlen 500 * M N M N", "xdel K 5-N", "xtrim K maxlen ~ 800", "xgroup create K g 0", "xreadgroup group g c count 5 streams K >",
		"xack K g 5-N", "xsetid K 2000000000000-0"},
	"string": {"set K N", "append K M", "setrange K N M", "incrby string:n N", "setbit K N 1", "pfadd hll M"},
	"all":    {"copy A B replace", "rename A B", "del A", "expire A 5", "persist A", "move A 1"},
}

// fill makes collections large enough for blocks to be shared and split.
func fill(e *cmdtest.Env) {
	for k := range 3 {
		for _, c := range []string{"hset hash:%d", "sadd set:%d", "zadd zset:%d", "rpush list:%d"} {
			var b strings.Builder
			fmt.Fprintf(&b, c, k)
			for i := range 500 << (2 * k) {
				if c[0] == 's' || c[0] == 'r' {
					fmt.Fprintf(&b, " m%d", i)
				} else {
					fmt.Fprintf(&b, " %d m%d", i, i)
				}
			}
			e.Do(b.String())
		}
		for i := range 300 << k {
			e.Do(fmt.Sprintf("xadd stream:%d 5-%d f v%d", k, i+1, i))
		}
	}
}

// change draws a command.
func change(r *rand.Rand) string {
	types := []string{"hash", "set", "zset", "list", "stream", "string", "all"}
	t := types[r.IntN(len(types))]
	words := strings.Fields(changes[t][r.IntN(len(changes[t]))])
	any := func() string { return fmt.Sprintf("%s:%d", types[r.IntN(5)], r.IntN(3)) }
	for i, w := range words {
		switch w {
		case "K":
			words[i] = fmt.Sprintf("%s:%d", t, r.IntN(3))
		case "M":
			words[i] = fmt.Sprintf("m%d", r.IntN(3000))
		case "N":
			words[i] = fmt.Sprint(r.IntN(900))
		case "5-N":
			words[i] = fmt.Sprintf("5-%d", r.IntN(900))
		case "A", "B":
			words[i] = any()
		}
	}
	return strings.Join(words, " ")
}

// TestSnapshotsStay changes collections of all types at random while others read
// snapshots of them: these show what was there when they began.
func TestSnapshotsStay(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	e := cmdtest.New(t, fuzzFamilies()...)
	for range 3 {
		e.Do("flushall")
		fill(e)
		var wg sync.WaitGroup
		for range 4 {
			sn, now := e.Keyspace.Snapshot(nil), e.Now()
			want := digest.All(sn, now)
			wg.Go(func() {
				defer sn.Close()
				for range 5 {
					if digest.All(sn, now) != want {
						t.Error("a snapshot has changed")
						return
					}
				}
			})
			for range 400 {
				e.Do(change(r))
			}
			e.Advance(db.Millis(r.IntN(1500)))
			e.Expire()
		}
		wg.Wait()
		if err := e.Keyspace.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

package generic_test

import (
	"fmt"
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	str "heddle/server/command/string"
)

func memberEnv(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, []command.Family{
		generic.Family(), hashes.Family(), sets.Family(), sortedset.Family(), str.Family(func() int64 { return 512 << 20 }), lists.Family(),
	}...)
}

// TestMembersExpire runs the commands about deadlines of members on each type, large
// and small.
func TestMembersExpire(t *testing.T) {
	for _, n := range []int{3, 1000} {
		for _, typ := range []struct{ add, has, gone, length, remove, expire, expired, persist string }{
			{"hset %s %s v", "hexists %s %s", "0", "hlen", "hdel", "hexpire", "hexpired", "hpersist"},
			{"sadd %s %s", "sismember %s %s", "0", "scard", "srem", "expiremember", "srem", "persistmember"},
			{"zadd %s 5 %s", "zscore %s %s", "", "zcard", "zrem", "expiremember", "zrem", "persistmember"},
		} {
			t.Run(fmt.Sprint(typ.length, n), func(t *testing.T) {
				e := memberEnv(t)
				for i := range n {
					e.Do(fmt.Sprintf(typ.add, "c", fmt.Sprint("m", i)))
				}
				e.Forget()
				f := func(cmd, want string) {
					t.Helper()
					e.Do(cmd).WantText(want)
				}
				has := func(member string, yes bool) {
					t.Helper()
					got := e.Do(fmt.Sprintf(typ.has, "c", member)).Text()
					if (got != "(integer) 0" && got != "(nil)") != yes {
						t.Fatalf("%s is there: %s", member, got)
					}
				}
				f("expiremember c m1 10", "(integer) 1")
				e.Propagated("pexpirememberat c m1 1700000010000")
				e.Events(typ.expire + " c")
				f("ttl c m1", "(integer) 10")
				f("pttl c m1", "(integer) 10000")
				f("ttl c", "(integer) -1")
				f("ttl c m2", "(integer) -1")
				f("ttl c x", "(integer) -2")
				f("expiremember c x 10", "(integer) 0")
				f("persist c m2", "(integer) 0")
				f("persist c x", "(integer) 0")
				e.Propagated()
				e.Events()
				f("persist c m1", "(integer) 1")
				e.Propagated("persist c m1")
				e.Events(typ.persist + " c")
				f("pttl c m1", "(integer) -1")
				f("expiremember c m1 500 MS", "(integer) 1")
				f("pttl c m1", "(integer) 500")
				f("expiremember c m1 2 s", "(integer) 1")
				f("pttl c m1", "(integer) 2000")
				f("pexpirememberat c m2 1700000003000", "(integer) 1")
				f("expirememberat c m0 1600000000", "(integer) 1")
				e.Propagated("pexpirememberat c m1 1700000000500", "pexpirememberat c m1 1700000002000",
					"pexpirememberat c m2 1700000003000", typ.remove+" c m0")
				e.Events(typ.expire+" c", typ.expire+" c", typ.expire+" c", typ.remove+" c")
				has("m0", false)
				f("copy c d", "(integer) 1")
				f("pttl d m1", "(integer) 2000")
				e.Advance(1999)
				has("m1", true)
				e.Advance(1)
				has("m1", false)
				has("m2", true)
				f(typ.length+" c", fmt.Sprintf("(integer) %d", n-2))
				f("ttl c m1", "(integer) -2")
				f("rename c e", "OK")
				f("pttl e m2", "(integer) 1000")
				e.Advance(1000)
				f(typ.length+" e", fmt.Sprintf("(integer) %d", n-3))
				f(typ.length+" d", fmt.Sprintf("(integer) %d", n-3))
			})
		}
	}
}

func TestMemberMistakes(t *testing.T) {
	e := memberEnv(t)
	e.Do("set str v")
	e.Do("rpush list a")
	e.Do("sadd c m")
	f := func(cmd, want string) {
		t.Helper()
		e.Do(cmd).WantText(want)
	}
	f("expiremember str m 10", "(error) ERR object type is unsupported")
	f("pexpirememberat list a 10", "(error) ERR object type is unsupported")
	f("persist str m", "(integer) 0")
	f("ttl str m", "(integer) -2")
	f("pttl nokey m", "(integer) -2")
	f("persist nokey m", "(integer) 0")
	f("expiremember nokey m 10", "(integer) 0")
	f("expiremember c m x", "(error) ERR value is not an integer or out of range")
	f("expiremember c m 1.5", "(error) ERR value is not an integer or out of range")
	f("expiremember c m 10 x", "(error) ERR Invalid unit arg")
	f("expiremember c m 10 s ms", "(error) ERR syntax error")
	f("expiremember c m 9223372036854775807", "(error) ERR invalid expire time in 'expiremember' command")
	f("expiremember c m 9223372036854775807 ms", "(error) ERR invalid expire time in 'expiremember' command")
	f("expirememberat c m 9223372036854775807", "(error) ERR invalid expire time in 'expirememberat' command")
	f("expirememberat c m 1 s", "(error) ERR wrong number of arguments for 'expirememberat' command")
	f("ttl c m x", "(error) ERR wrong number of arguments for 'ttl' command")
	f("pttl c m x", "(error) ERR wrong number of arguments for 'pttl' command")
	f("persist c m x", "(error) ERR wrong number of arguments for 'persist' command")
	f("ttl c m", "(integer) -1")
	f("expiremember c m -1", "(integer) 1")
	f("exists c", "(integer) 0")
}

// TestMembersExpireAlone checks that members go without anybody looking at them.
func TestMembersExpireAlone(t *testing.T) {
	for _, typ := range []struct{ add, remove, event string }{
		{"hset c m1 v m2 v", "hdel", "hexpired"}, {"sadd c m1 m2", "srem", "srem"}, {"zadd c 1 m1 2 m2", "zrem", "zrem"},
	} {
		e := memberEnv(t)
		e.Do(typ.add)
		e.Do("expiremember c m1 1")
		e.Do("expiremember c m2 2")
		e.Forget()
		e.Advance(999)
		e.Expire()
		e.Events()
		e.Advance(130) // deadlines are looked at eight times a second
		e.Expire()
		e.Events(typ.event + " c")
		e.Propagated(typ.remove + " c m1")
		e.Advance(1000)
		e.Expire()
		e.Events(typ.event+" c", "del c")
		e.Propagated(typ.remove + " c m2")
		if n := e.Keyspace.Whole(e.Now()).Len(0); n != 0 {
			t.Errorf("%d keys are left", n)
		}
	}
}

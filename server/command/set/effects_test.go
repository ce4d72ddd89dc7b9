package sets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command/cmdtest"
)

func TestEffects(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("sadd s a b a").Want(":2\r\n")
	e.Events("new s", "sadd s")
	e.Propagated("sadd s a b a")
	e.Do("sadd s a").Want(":0\r\n")
	e.Do("srem s x").Want(":0\r\n")
	e.Do("smove s t x").Want(":0\r\n")
	e.Events()
	e.Propagated()
	e.Do("smove s t a").Want(":1\r\n")
	e.Events("srem s", "new t", "sadd t")
	e.Propagated("srem s a", "sadd t a")
	e.Do("smove s t b").Want(":1\r\n")
	e.Events("srem s", "del s", "sadd t")
	e.Propagated("srem s b", "sadd t b")
	e.Do("sadd s a")
	e.Do("smove s t a").Want(":1\r\n")
	e.Propagated("sadd s a", "srem s a")
	e.Events("new s", "sadd s", "srem s", "del s")
	e.Do("srem t a b c").Want(":2\r\n")
	e.Events("srem t", "del t")
	e.Propagated("srem t a b c")
}

func TestEffectsOfPop(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("sadd s a")
	e.Do("spop s").Want("$1\r\na\r\n")
	e.Events("new s", "sadd s", "spop s", "del s")
	e.Propagated("sadd s a", "srem s a")
	e.Do("sadd s a b")
	e.Do("spop s 5")
	e.Do("spop s 5").Want("*0\r\n")
	e.Do("spop s").Want("$-1\r\n")
	e.Events("new s", "sadd s", "spop s", "del s")
	e.Propagated("sadd s a b", "del s")
	e.Do("sadd s 1 2 3")
	e.Do("expire s 100")
	popped := e.Do("spop s 2").Text()
	e.Events("new s", "sadd s", "expire s", "spop s")
	lines := strings.Split(strings.NewReplacer(`1) "`, "", `2) "`, "", `"`, "").Replace(popped), "\n")
	e.Propagated("sadd s 1 2 3", fmt.Sprintf("pexpireat s %d", e.Now()+100_000), "srem s "+strings.Join(lines, " "))
	e.Do("ttl s").Want(":100\r\n")
}

func TestEffectsOfStore(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("sadd a 1 2 3")
	e.Do("sadd b 3 4")
	e.Propagated("sadd a 1 2 3", "sadd b 3 4")
	e.Events("new a", "sadd a", "new b", "sadd b")
	e.Do("sinterstore d a b").Want(":1\r\n")
	e.Events("new d", "sinterstore d")
	e.Propagated("sadd d 3")
	e.Do("sunionstore d a b").Want(":4\r\n")
	e.Events("sunionstore d")
	e.Propagated("del d", "sadd d 1 2 3 4")
	e.Do("sdiffstore d a b").Want(":2\r\n")
	e.Events("sdiffstore d")
	e.Propagated("del d", "sadd d 1 2")
	e.Do("sdiffstore d a a").Want(":0\r\n")
	e.Events("del d")
	e.Propagated("del d")
	e.Do("sinterstore d a nokey").Want(":0\r\n")
	e.Events("keymiss nokey")
	e.Propagated()
}

// rebuilt applies effects to a second server and compares.
func rebuilt(t *testing.T, e *cmdtest.Env, commands []string) {
	t.Helper()
	other := cmdtest.New(t, families()...)
	for _, c := range commands {
		other.Do(c)
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		if got, want := members(other, key), members(e, key); !slices.Equal(got, want) {
			t.Errorf("%s is %d members by its effects, not %d", key, len(got), len(want))
		}
	}
}

func members(e *cmdtest.Env, key string) []string {
	lines := strings.Split(e.Do("smembers "+key).Text(), "\n")
	for i, l := range lines {
		_, lines[i], _ = strings.Cut(l, ") ")
	}
	slices.Sort(lines)
	return lines
}

// TestEffectsRebuild: a replica that runs the effects has the same sets, also where
// members were taken at random, many at a time.
func TestEffectsRebuild(t *testing.T) {
	for seed := range uint64(6) {
		e := cmdtest.New(t, families()...)
		rng := rand.New(rand.NewPCG(seed, 5))
		if seed%2 == 0 {
			e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.SetIntset, s.Limits.SetEntries = 10, 10 })
		}
		key := func() string { return string("abcd"[rng.IntN(4)]) }
		for range 120 {
			switch rng.IntN(8) {
			case 0, 1, 2:
				line := "sadd " + key()
				for range 1 + rng.IntN(400) {
					line += fmt.Sprintf(" %s%d", []string{"", "m"}[rng.IntN(2)], rng.IntN(3000))
				}
				e.Do(line)
			case 3:
				e.Do(fmt.Sprintf("spop %s %d", key(), rng.IntN(1500)))
			case 4:
				e.Do("spop " + key())
			case 5:
				e.Do(fmt.Sprintf("smove %s %s m%d", key(), key(), rng.IntN(3000)))
			default:
				op := []string{"sunionstore", "sinterstore", "sdiffstore"}[rng.IntN(3)]
				e.Do(fmt.Sprintf("%s %s %s %s", op, key(), key(), key()))
			}
		}
		rebuilt(t, e, e.Effects())
	}
}

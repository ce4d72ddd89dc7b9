package hashes_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	hashes "heddle/server/command/hash"
)

// newBench makes a packed hash and one in a table.
func newBench(t testing.TB) *cmdtest.Bench {
	t.Helper()
	b := cmdtest.NewBench(t, hashes.Family())
	for i := range 20 {
		b.Do(fmt.Sprintf("hset small field:%d value:%d", i, i))
	}
	b.Do("hset small n 1 x 1.5")
	for i := range 10000 {
		b.Do(fmt.Sprintf("hset large field:%d value:%d", i, i))
	}
	b.Do("hset large n 1 x 1.5")
	return b
}

func lines() []string {
	return []string{
		"hset K field:7 other", "hset K field:8 a field:9 b", "hget K field:3", "hget K nothing", "hmget K field:1 field:2 x",
		"hlen K", "hstrlen K field:1", "hexists K field:1", "hincrby K n 3", "hincrbyfloat K x 0.5", "hsetnx K field:1 a",
		"hdel K nothing", "hrandfield K", "hrandfield K -5 withvalues",
	}
}

func TestNoAllocs(t *testing.T) {
	b := newBench(t)
	for _, key := range []string{"small", "large", "nokey"} {
		for _, line := range lines() {
			line = strings.Replace(line, "K", key, 1)
			name := cmdtest.Argv(line)[0]
			if key == "nokey" && b.Table.Lookup(name).Write != nil && string(name) != "hdel" {
				continue
			}
			b.NoAllocs(t, line)
		}
	}
	b.NoAllocs(t, "hset fresh a 1 b 2|hdel fresh a b", "hgetall small")
}

func BenchmarkCommands(b *testing.B) {
	w := newBench(b)
	for _, key := range []string{"small", "large"} {
		for _, line := range append(lines(), "hgetall K") {
			words := strings.Fields(line)
			b.Run(strings.ReplaceAll(words[0]+"/"+key+"/"+strings.Join(words[2:], "_"), ":", ""), func(b *testing.B) {
				w.Loop(b, strings.Replace(line, "K", key, 1))
			})
		}
	}
}

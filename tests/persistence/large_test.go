package persistence

import (
	"fmt"
	"testing"
)

// TestLarge carries one large collection of each type there and back, of -big elements, or
// of a hundred thousand. Ten million need some 8 GB of memory and half an hour.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	n := *big
	if n == 0 {
		n = 100_000
	}
	f := func(kind string, fill func(m *maker, from, to int)) {
		t.Run(kind, func(t *testing.T) {
			first := oracle(t, t.TempDir())
			c := dial(t, first)
			for from := 0; from < n; from += 100_000 {
				m := &maker{}
				fill(m, from, min(n, from+100_000))
				c.All(m.list)
			}
			thereAndBack(t, first)
		})
	}
	collection := func(command string, element func(i int) []string) func(m *maker, from, to int) {
		return func(m *maker, from, to int) {
			m.each(command, "large", to-from, func(i int) []string { return element(from + i) })
		}
	}
	f("list", collection("RPUSH", func(i int) []string { return []string{fmt.Sprint("element:", i)} }))
	f("set", collection("SADD", func(i int) []string { return []string{fmt.Sprint("member:", i)} }))
	f("hash", collection("HSET", func(i int) []string { return []string{fmt.Sprint("field:", i), fmt.Sprint("value:", i)} }))
	f("zset", collection("ZADD", func(i int) []string { return []string{fmt.Sprint(i * 7919 % 1_000_003), fmt.Sprint("member:", i)} }))
	f("stream", func(m *maker, from, to int) {
		for i := from; i < to; i++ {
			m.add("XADD", "large", fmt.Sprintf("%d-0", i+1), "sensor", fmt.Sprint(i%100), "value", fmt.Sprint(i))
		}
	})
	f("keys", func(m *maker, from, to int) {
		for i := from; i < to; i++ {
			m.add("SET", fmt.Sprint("key:", i), fmt.Sprint("value:", i))
		}
	})
}

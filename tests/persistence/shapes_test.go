package persistence

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
)

// farAway is an instant in milliseconds, in the year 2100.
const farAway = 4102444800000

// maker makes commands that leave a key of every shape that files tell apart.
type maker struct {
	rng  *rand.Rand
	list [][]string
}

func (m *maker) add(argv ...string) { m.list = append(m.list, argv) }

// each adds a command that makes a collection of n elements, which element spells.
func (m *maker) each(command, key string, n int, element func(i int) []string) {
	for i := 0; i < n; {
		argv := []string{command, key}
		for ; i < n && len(argv) < 2000; i++ {
			argv = append(argv, element(i)...)
		}
		m.add(argv...)
	}
}

// noise is n bytes that do not compress.
func (m *maker) noise(n int) string {
	b := make([]byte, n)
	m.rng.Read(b)
	return string(b)
}

// edges are integers around the limits of what a file writes in 1, 2, 4 or 8 bytes, and
// words that look like integers.
var edges = strings.Fields(`0 1 -1 12 13 63 64 127 128 -128 -129 255 256 4095 4096 -4096 -4097 8191 8192 16383 16384 32767 32768 -32768 -32769
	65535 65536 8388607 8388608 -8388608 -8388609 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296
	9223372036854775807 -9223372036854775808 9223372036854775808 00 -0 +1 1.0 1e3`)

// lengths of strings at which their spelling in a file or in a packed collection changes.
var lengths = []int{0, 1, 4, 5, 20, 21, 43, 44, 45, 63, 64, 65, 127, 128, 253, 254, 255, 256, 4095, 4096, 8192, 16383, 16384, 65536, 70000}

// shapes lists the commands; large adds what is needed only once. Some keys have deadlines.
func shapes(seed int64, large bool) [][]string {
	m := &maker{rng: rand.New(rand.NewSource(seed))}
	m.strings()
	m.lists()
	m.sets()
	m.hashes()
	m.sortedSets()
	m.streams()
	if large {
		m.large()
	}
	for i, argv := range m.list {
		if i%3 == 0 && argv[0] != "XGROUP" {
			m.add("PEXPIREAT", argv[1], strconv.FormatInt(farAway+m.rng.Int63n(1<<40), 10))
		}
	}
	return m.list
}

func (m *maker) strings() {
	for _, e := range edges {
		m.add("SET", "int:"+e, e)
	}
	for _, n := range lengths {
		m.add("SET", fmt.Sprint("equal:", n), strings.Repeat("x", n))
		m.add("SET", fmt.Sprint("words:", n), strings.Repeat("word after word ", n/16+1)[:n])
		m.add("SET", fmt.Sprint("noise:", n), m.noise(n))
	}
	m.add("APPEND", "appended", "12")
	m.add("APPEND", "appended", "34")
	m.add("SETBIT", "bits", "100000", "1")
	m.add("SET", "", "the empty key")
	m.add("SET", m.noise(40), "a key of noise")
	m.add("SET", strings.Repeat("k", 20000), "a long key")
	m.each("PFADD", "hll:sparse", 40, func(i int) []string { return []string{fmt.Sprint(i)} })
	m.each("PFADD", "hll:dense", 5000, func(i int) []string { return []string{fmt.Sprint(i)} })
}

func (m *maker) lists() {
	m.add(append([]string{"RPUSH", "list:edges"}, edges...)...)
	m.add("RPUSH", "list:one", "only")
	for _, n := range lengths {
		m.add("RPUSH", "list:lengths", m.noise(n), strings.Repeat("y", n))
	}
	m.each("RPUSH", "list:nodes", 3000, func(i int) []string { return []string{fmt.Sprint("element:", i)} })
	m.add("RPUSH", "list:plain", "before", m.noise(9000), "between", strings.Repeat("z", 20000), "behind")
	m.add("LPUSH", "list:both", "b", "a")
	m.add("RPUSH", "list:both", "c")
}

func (m *maker) sets() {
	m.each("SADD", "set:16", 30, func(i int) []string { return []string{fmt.Sprint(i*7 - 100)} })
	m.each("SADD", "set:32", 30, func(i int) []string { return []string{fmt.Sprint(i*1000003 - 9)} })
	m.each("SADD", "set:64", 30, func(i int) []string { return []string{fmt.Sprint(int64(i-15) << 50)} })
	m.each("SADD", "set:512", 512, func(i int) []string { return []string{fmt.Sprint(i)} })
	m.each("SADD", "set:513", 513, func(i int) []string { return []string{fmt.Sprint(i)} })
	m.add(append([]string{"SADD", "set:edges"}, edges...)...)
	m.each("SADD", "set:small", 100, func(i int) []string { return []string{fmt.Sprint("m", i)} })
	m.each("SADD", "set:large", 1500, func(i int) []string { return []string{m.noise(1 + i%40)} })
	m.add("SADD", "set:long", m.noise(65), "short")
	m.add("SADD", "set:empty member", "")
}

func (m *maker) hashes() {
	m.each("HSET", "hash:small", 60, func(i int) []string { return []string{fmt.Sprint("f", i), fmt.Sprint(i * i)} })
	m.each("HSET", "hash:large", 1500, func(i int) []string { return []string{fmt.Sprint("f", i), m.noise(i % 70)} })
	m.add("HSET", "hash:long", "field", strings.Repeat("v", 65))
	m.add("HSET", "hash:empty", "", "", "a", "")
	for _, e := range edges {
		m.add("HSET", "hash:edges", e, e)
	}
	for _, n := range lengths {
		m.add("HSET", "hash:lengths", m.noise(n), strings.Repeat("y", n))
	}
}

func (m *maker) sortedSets() {
	scores := strings.Fields("0 -0 1 -1 inf -inf 0.1 -0.1 3.14159265358979 1e-300 5e-324 -5e-324 1.7976931348623157e308 9007199254740993 1e17 123456789 1e21 0.30000000000000004")
	for i, s := range scores {
		m.add("ZADD", "zset:small", s, fmt.Sprint("member", i))
		m.add("ZADD", "zset:large", s, fmt.Sprint("member", i))
		m.add("ZADD", "zset:edges", s, edges[i])
	}
	m.each("ZADD", "zset:large", 1500, func(i int) []string { return []string{fmt.Sprint(m.rng.NormFloat64()), m.noise(1 + i%30)} })
	m.add("ZADD", "zset:long", "1", m.noise(65))
	m.each("GEOADD", "zset:geo", 10, func(i int) []string {
		return []string{fmt.Sprint(i * 10), fmt.Sprint(i * 5), fmt.Sprint("place", i)}
	})
}

func (m *maker) streams() {
	id := func(i int) string { return fmt.Sprintf("%d-%d", 1000000+i/3*1000, i%3) }
	for i := range 250 {
		m.add("XADD", "stream:long", id(i), "temperature", fmt.Sprint(i), "place", m.noise(i%20))
	}
	for i := range 60 {
		m.add("XADD", "stream:mixed", id(1000+i), fmt.Sprint("field", i%4), fmt.Sprint(i), "same", "x")
	}
	for i := 0; i < 60; i += 4 {
		m.add("XDEL", "stream:mixed", id(1000+i))
	}
	m.add("XGROUP", "CREATE", "stream:long", "first", "0")
	m.add("XGROUP", "CREATE", "stream:long", "second", id(100), "ENTRIESREAD", "50")
	m.add("XGROUP", "CREATE", "stream:long", "idle", "$")
	m.add("XGROUP", "CREATECONSUMER", "stream:long", "first", "waiting")
	m.add("XREADGROUP", "GROUP", "first", "alice", "COUNT", "30", "STREAMS", "stream:long", ">")
	m.add("XREADGROUP", "GROUP", "first", "bob", "COUNT", "150", "STREAMS", "stream:long", ">")
	m.add("XREADGROUP", "GROUP", "second", "carol", "COUNT", "10", "STREAMS", "stream:long", ">")
	m.add("XACK", "stream:long", "first", id(1), id(2), id(40))
	m.add("XCLAIM", "stream:long", "first", "dave", "0", id(50), id(51), "RETRYCOUNT", "7", "TIME", "1600000000000")
	m.add("XDEL", "stream:long", id(10), id(60))
	m.add("XTRIM", "stream:long", "MAXLEN", "240")
	m.add("XGROUP", "CREATE", "stream:empty", "g", "$", "MKSTREAM")
	m.add("XADD", "stream:emptied", "5-5", "f", "v")
	m.add("XDEL", "stream:emptied", "5-5")
	m.add("XADD", "stream:set", "7-0", "f", "v")
	m.add("XSETID", "stream:set", "9-9", "ENTRIESADDED", "100", "MAXDELETEDID", "8-0")
}

// large makes collections that are spread over many blocks.
func (m *maker) large() {
	m.each("RPUSH", "large:list", 40000, func(i int) []string { return []string{fmt.Sprint("element:", i*i)} })
	m.each("SADD", "large:set", 40000, func(i int) []string { return []string{fmt.Sprint("member:", i)} })
	m.each("SADD", "large:numbers", 20000, func(i int) []string { return []string{fmt.Sprint(i * 3)} })
	m.each("HSET", "large:hash", 40000, func(i int) []string { return []string{fmt.Sprint("field:", i), fmt.Sprint("value:", i)} })
	m.each("ZADD", "large:zset", 40000, func(i int) []string { return []string{fmt.Sprint(i * 7919 % 10007), fmt.Sprint("member:", i)} })
	for i := range 5000 {
		m.add("XADD", "large:stream", fmt.Sprintf("%d-1", i+1), "sensor", fmt.Sprint(i%10), "value", fmt.Sprint(i))
	}
	m.add("SET", "large:string", strings.Repeat("large ", 1<<20))
	m.add("SET", "large:noise", m.noise(3<<20))
}

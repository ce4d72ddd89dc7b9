// Package large fills one collection of each type with as many elements as -big says, reads
// it, changes it, iterates over it while it changes, cuts a large part out of it, and unlinks
// it. It holds that nothing is missing or wrong, and reports what it takes and what another
// client notices meanwhile:
//
//	go test ./tests/large -big 10000000 -v -run TestLarge/set
package large

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/tests/testserver"
)

var (
	server = flag.String("server", "", "the server under test; empty: ours, built as it is shipped or, if the collections are small, with its invariants checked")
	big    = flag.Int("big", 0, "elements in each collection, such as 10000000, which takes up to some minutes and 2 GB for each type; 0 leaves them small")
	extra  = flag.String("args", "", "more arguments for the server")
)

// small is how many elements there are without -big.
const small = 30_000

// binary is the server under test.
var binary testserver.Binary

func TestMain(m *testing.M) {
	flag.Parse()
	binary.Main(m)
}

// kind is how a type of collection is filled and read. Elements are told by number.
type kind struct {
	name  string
	batch int                   // elements that one command adds
	add   func(i int) []string  // the words of an element
	give  func(i int) []string  // the command that adds elements from i on, without them
	read  func(i int) []string  // the command that reads one
	want  func(i int) string    // and its reply
	drop  func(i int) []string  // the command that removes one
	walk  func(w *walk)         // visits all
	cut   func(n int) []string  // the command that cuts about half of n elements out
	stays func(i, n int) bool   // whether an element is there afterwards; nil: that is up to chance
	count func() (cmd []string) // the command that counts
}

func words(s ...string) []string { return s }

func num(i int) string { return strconv.Itoa(i) }

var kinds = []kind{{
	name: "hash", batch: 50,
	add:   func(i int) []string { return words("field:"+num(i), "value:"+num(i)) },
	give:  func(int) []string { return words("HSET", "large") },
	read:  func(i int) []string { return words("HGET", "large", "field:"+num(i)) },
	want:  func(i int) string { return "value:" + num(i) },
	drop:  func(i int) []string { return words("HDEL", "large", "field:"+num(i)) },
	walk:  func(w *walk) { w.scan("HSCAN", "field:", 2) },
	count: func() []string { return words("HLEN", "large") },
}, {
	name: "set", batch: 50,
	add:   func(i int) []string { return words("member:" + num(i)) },
	give:  func(int) []string { return words("SADD", "large") },
	read:  func(i int) []string { return words("SISMEMBER", "large", "member:"+num(i)) },
	want:  func(int) string { return "1" },
	drop:  func(i int) []string { return words("SREM", "large", "member:"+num(i)) },
	walk:  func(w *walk) { w.scan("SSCAN", "member:", 1) },
	cut:   func(n int) []string { return words("SPOP", "large", num(n/2)) },
	count: func() []string { return words("SCARD", "large") },
}, {
	name: "zset", batch: 50,
	add:   func(i int) []string { return words(num(i), "member:"+num(i)) },
	give:  func(int) []string { return words("ZADD", "large") },
	read:  func(i int) []string { return words("ZSCORE", "large", "member:"+num(i)) },
	want:  func(i int) string { return num(i) },
	drop:  func(i int) []string { return words("ZREM", "large", "member:"+num(i)) },
	walk:  func(w *walk) { w.scan("ZSCAN", "member:", 2) },
	cut:   func(n int) []string { return words("ZREMRANGEBYSCORE", "large", num(n/4), num(n*3/4-1)) },
	stays: func(i, n int) bool { return i < n/4 || i >= n*3/4 },
	count: func() []string { return words("ZCARD", "large") },
}, {
	name: "list", batch: 50,
	add:   func(i int) []string { return words("element:" + num(i)) },
	give:  func(int) []string { return words("RPUSH", "large") },
	read:  func(i int) []string { return words("LINDEX", "large", num(i)) },
	want:  func(i int) string { return "element:" + num(i) },
	walk:  func(w *walk) { w.pieces() },
	cut:   func(n int) []string { return words("LTRIM", "large", num(n/4), num(n*3/4-1)) },
	count: func() []string { return words("LLEN", "large") },
}, {
	name: "stream", batch: 1,
	add:   func(i int) []string { return words("sensor", num(i%100), "value", num(i)) },
	give:  func(i int) []string { return words("XADD", "large", num(i+1)+"-0") },
	read:  func(i int) []string { return words("XRANGE", "large", num(i+1), num(i+1)) },
	want:  func(int) string { return "1" }, // the length of an array
	drop:  func(i int) []string { return words("XDEL", "large", num(i+1)+"-0") },
	walk:  func(w *walk) { w.entries() },
	cut:   func(n int) []string { return words("XTRIM", "large", "MAXLEN", num(n/2)) },
	stays: func(i, n int) bool { return i >= n/2 },
	count: func() []string { return words("XLEN", "large") },
}}

// TestLarge takes each type through its life.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	n := *big
	if n == 0 {
		n = small
	}
	for i := range kinds {
		t.Run(kinds[i].name, func(t *testing.T) { life(t, &kinds[i], n) })
	}
}

func life(t *testing.T, k *kind, n int) {
	mode := testserver.Checked
	if *big > 0 {
		mode = testserver.Shipped
	}
	path := binary.Path(t, *server, mode)
	args := testserver.Args(path, 1) // so that everything that takes long delays all others
	s := testserver.Run(t, path, testserver.Options{Args: append(args, strings.Fields(*extra)...)})
	c := dial(t, s)
	before, empty := c.used(), s.RSS()
	c.beside(s, fmt.Sprintf("insert %d", n), func() { k.fill(c, 0, n) })
	c.number(n, k.count()...)
	t.Logf("memory: %.1f bytes an element by INFO, %.1f by RSS", float64(c.used()-before)/float64(n), float64(s.RSS()-empty)/float64(n))
	c.beside(s, "read 20000", func() { k.probe(c, n) })
	w := &walk{client: c, k: k, n: n, seen: make([]bool, n)}
	c.beside(s, "iterate", func() { k.walk(w) })
	w.done()
	if k.cut != nil {
		k.cutOut(c, s, n, before)
	}
	c.beside(s, "UNLINK", func() { c.number(1, "UNLINK", "large") })
	limit := before + (c.used()-before)/10 + 4<<20
	for end := time.Now().Add(10 * time.Second); c.used() > limit; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are in use after all is gone, %d before it came", c.used(), before)
		}
	}
}

// fill adds elements.
func (k *kind) fill(c client, from, to int) {
	for from < to {
		var list [][]string
		for range 20 {
			if from == to {
				break
			}
			argv := k.give(from)
			for range min(k.batch, to-from) {
				argv = append(argv, k.add(from)...)
				from++
			}
			list = append(list, argv)
		}
		c.All(list)
	}
}

// probe reads elements here and there.
func (k *kind) probe(c client, n int) {
	for range 100 {
		var list [][]string
		var want []string
		for range 200 {
			i := rand.IntN(n)
			list, want = append(list, k.read(i)), append(want, k.want(i))
		}
		for j, r := range c.All(list) {
			if string(r.Text) != want[j] || k.name == "stream" && len(r.Elems) != 1 {
				c.T.Fatalf("%q: %.200q", list[j], r.Raw)
			}
		}
	}
}

// cutOut cuts half of the elements out, and looks that just those are gone.
func (k *kind) cutOut(c client, s *testserver.Server, n int, before int64) {
	argv := k.cut(n)
	full := c.used() - before
	gone := map[string]bool{}
	c.beside(s, strings.Join(argv, " "), func() {
		c.bulk(s, gone, argv...)
	})
	c.number(n-n/2, k.count()...)
	c.beside(s, "2 s behind it", func() {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			i := rand.IntN(n)
			stays := k.stays
			switch {
			case k.name == "set":
				stays = func(i, _ int) bool { return !gone["member:"+num(i)] }
			case k.name == "list":
				i = rand.IntN(n / 2)
				r := c.Do(k.read(i)...)
				if string(r.Text) != k.want(i+n/4) {
					c.T.Fatalf("element %d: %q", i, r.Raw)
				}
				continue
			}
			r := c.Do(k.read(i)...)
			if found := !r.Null && string(r.Text) != "0" && (len(r.Elems) > 0 || k.name != "stream") || i == 0 && k.name == "zset" && !r.Null; found != stays(i, n) {
				c.T.Fatalf("element %d: %.200q", i, r.Raw)
			}
		}
	})
	begin := time.Now()
	for c.used()-before > full*7/10+1<<20 {
		if time.Since(begin) > patience {
			c.T.Fatalf("%d bytes are in use after half is gone, of %d", c.used()-before, full)
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.T.Logf("%-34s %10v", "memory is back after another", time.Since(begin).Round(10*time.Millisecond))
}

// walk iterates over all.
type walk struct {
	client
	k    *kind
	n    int
	seen []bool
	new  int // elements that were added meanwhile
}

func (w *walk) see(i int) {
	if i < w.n {
		if w.seen[i] && w.k.name != "hash" && w.k.name != "set" && w.k.name != "zset" {
			w.T.Fatalf("element %d comes twice", i)
		}
		w.seen[i] = true
	}
}

// done demands that all were seen, and removes what was added.
func (w *walk) done() {
	w.T.Helper()
	if i := slices.Index(w.seen, false); i >= 0 {
		w.T.Fatalf("element %d of %d was not visited", i, w.n)
	}
	for i := range w.new {
		if w.k.drop != nil {
			w.Do(w.k.drop(w.n + i)...)
		}
	}
	w.number(w.n, w.k.count()...)
}

// scan visits the members by SCAN, while others come.
func (w *walk) scan(command, prefix string, step int) {
	for cursor := "0"; ; {
		r := w.Do(command, "large", cursor, "COUNT", "1000")
		for i := 0; i < len(r.Elems[1].Elems); i += step {
			m, _ := strings.CutPrefix(string(r.Elems[1].Elems[i].Text), prefix)
			x, err := strconv.Atoi(m)
			if err != nil {
				w.T.Fatalf("%s visits %q", command, m)
			}
			w.see(x)
		}
		if cursor = string(r.Elems[0].Text); cursor == "0" {
			return
		}
		if w.new < 2000 {
			w.k.fill(w.client, w.n+w.new, w.n+w.new+20)
			w.new += 20
		}
	}
}

// pieces visits the elements of a list by LRANGE.
func (w *walk) pieces() {
	for from := 0; from < w.n; from += 1000 {
		for j, e := range w.Do("LRANGE", "large", num(from), num(from+999)).Elems {
			if string(e.Text) != w.k.want(from+j) {
				w.T.Fatalf("element %d is %q", from+j, e.Text)
			}
			w.see(from + j)
		}
	}
}

// entries visits those of a stream by XRANGE.
func (w *walk) entries() {
	for from := 0; from < w.n; {
		list := w.Do("XRANGE", "large", num(from+1), "+", "COUNT", "1000").Elems
		for _, e := range list {
			if id := string(e.Elems[0].Text); id != num(from+1)+"-0" || string(e.Elems[1].Elems[3].Text) != num(from) {
				w.T.Fatalf("entry %d is %.200q", from, e.Raw)
			}
			w.see(from)
			from++
		}
		if len(list) == 0 {
			return
		}
	}
}

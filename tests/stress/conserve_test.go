package stress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/difftest"
)

const tokens = 40

// texts are the bulk strings of a reply, however deep.
func texts(r difftest.Reply) (all []string) {
	if r.Kind == '$' && !r.Null {
		return []string{string(r.Text)}
	}
	for _, e := range r.Elems {
		all = append(all, texts(e)...)
	}
	return all
}

// held are the tokens among the strings of a reply.
func held(r difftest.Reply) (list []string) {
	for _, s := range texts(r) {
		if strings.HasPrefix(s, "token") {
			list = append(list, s)
		}
	}
	return list
}

// count counts tokens in what a command finds for each key of a pattern, in two
// databases.
func (st *stress) count(pattern string, read func(c *client, key string) difftest.Reply) map[string]int {
	c := &client{run: st, name: "counter"}
	c.dial()
	defer c.Close()
	got := map[string]int{}
	for _, db := range []string{"0", "1"} {
		c.do("SELECT", db)
		keys, _ := c.do("KEYS", pattern)
		for _, k := range texts(keys) {
			for _, token := range held(read(c, k)) {
				got[token]++
			}
		}
	}
	return got
}

func (st *stress) checkTokens(got map[string]int) {
	if len(got) == tokens && !slices.ContainsFunc(slices.Collect(maps.Values(got)), func(n int) bool { return n != 1 }) {
		return
	}
	for i := range tokens {
		if name := fmt.Sprint("token", i); got[name] != 1 {
			st.t.Errorf("%s is there %d times", name, got[name])
		}
	}
}

// TestListsConserve moves tokens between lists in every way: all are there in the
// end, each once. Clients that move without holding anything are killed meanwhile.
func TestListsConserve(t *testing.T) {
	st := &stress{t: t, s: start(t, "--list-max-listpack-size", "4")}
	setup := &client{run: st, name: "setup"}
	setup.dial()
	for i := range tokens {
		setup.do("RPUSH", fmt.Sprint("l", i%5), fmt.Sprint("token", i))
	}
	setup.Close()
	st.run(func(c *client) {
		c.killable = strings.HasSuffix(c.name, "0") || strings.HasSuffix(c.name, "5")
		list := func() string { return fmt.Sprint("l", c.rng.Intn(5)) }
		side := func() string { return c.pick("LEFT", "RIGHT") }
		wait := "0.02"
		back := func(r difftest.Reply, _ bool) {
			if got := held(r); len(got) > 0 {
				c.do(append([]string{c.pick("RPUSH", "LPUSH"), list()}, got...)...)
			}
		}
		n := c.rng.Intn(17)
		if c.killable {
			n = c.rng.Intn(6) // nothing that takes
		}
		switch n {
		case 0:
			c.do("LMOVE", list(), list(), side(), side())
		case 1, 2:
			c.do("BLMOVE", list(), list(), side(), side(), wait)
		case 3:
			c.do("BRPOPLPUSH", list(), list(), wait)
		case 4:
			c.do("COPY", list(), "copy", "REPLACE")
		case 5:
			c.do("CLIENT", "UNBLOCK", fmt.Sprint(c.rng.Intn(100)))
		case 6, 7:
			back(c.do(c.pick("BLPOP", "BRPOP"), list(), list(), list(), wait))
		case 8:
			back(c.do("BLMPOP", wait, "3", list(), list(), list(), side(), "COUNT", "2"))
		case 9:
			back(c.do("LPOP", list(), "2"))
		case 10:
			back(c.do("LMPOP", "2", list(), list(), side()))
		case 11:
			c.do("MULTI")
			c.do("LPOP", list())
			c.do("LMOVE", list(), list(), side(), side())
			c.do("BRPOP", list(), "0")
			if r, ok := c.do("EXEC"); ok {
				back(r.Elems[0], true)
				back(r.Elems[2], true)
			}
		case 12:
			c.do("RENAMENX", list(), list())
		case 13:
			c.do("SWAPDB", "0", "1")
		case 14:
			c.do("MOVE", list(), c.pick("0", "1"))
		case 15:
			c.do("SELECT", c.pick("0", "1"))
		case 16:
			c.killMover()
		}
	})
	st.checkTokens(st.count("l*", func(c *client, key string) difftest.Reply {
		r, _ := c.do("LRANGE", key, "0", "-1")
		return r
	}))
	st.settled()
}

// killMover kills a blocked client that loses nothing by it.
func (c *client) killMover() {
	r, ok := c.do("CLIENT", "LIST")
	if !ok || c.rng.Intn(10) > 0 {
		return
	}
	for _, line := range strings.Split(string(r.Text), "\n") {
		var id int
		if !strings.Contains(line, " flags=b ") || !strings.Contains(line, "name=client0 ") && !strings.Contains(line, "name=client5 ") &&
			!strings.Contains(line, "name=client10 ") && !strings.Contains(line, "name=client15 ") {
			continue
		}
		if _, err := fmt.Sscanf(line, "id=%d", &id); err == nil {
			c.do("CLIENT", "KILL", "ID", fmt.Sprint(id))
			return
		}
	}
}

// TestSortedSetsConserve is the same for sorted sets.
func TestSortedSetsConserve(t *testing.T) {
	st := &stress{t: t, s: start(t, "--zset-max-listpack-entries", "4")}
	setup := &client{run: st, name: "setup"}
	setup.dial()
	for i := range tokens {
		setup.do("ZADD", fmt.Sprint("z", i%4), fmt.Sprint(i), fmt.Sprint("token", i))
	}
	setup.Close()
	st.run(func(c *client) {
		set := func() string { return fmt.Sprint("z", c.rng.Intn(4)) }
		wait := "0.02"
		back := func(r difftest.Reply, _ bool) {
			for _, token := range held(r) {
				c.do("ZADD", set(), fmt.Sprint(c.rng.Intn(100)), token)
			}
		}
		switch c.rng.Intn(9) {
		case 0, 1, 2:
			back(c.do(c.pick("BZPOPMIN", "BZPOPMAX"), set(), set(), set(), wait))
		case 3:
			back(c.do("BZMPOP", wait, "3", set(), set(), set(), c.pick("MIN", "MAX"), "COUNT", "3"))
		case 4:
			back(c.do(c.pick("ZPOPMIN", "ZPOPMAX"), set(), "2"))
		case 5:
			back(c.do("ZMPOP", "2", set(), set(), "MIN"))
		case 6:
			c.do("MULTI")
			c.do("ZPOPMIN", set())
			c.do("ZUNIONSTORE", "union", "2", set(), set())
			c.do("BZPOPMIN", set(), "0")
			back(c.do("EXEC"))
		case 7:
			c.do("SWAPDB", "0", "1")
		case 8:
			c.do("SELECT", c.pick("0", "1"))
		}
	})
	st.checkTokens(st.count("z*", func(c *client, key string) difftest.Reply {
		r, _ := c.do("ZRANGE", key, "0", "-1")
		return r
	}))
	st.settled()
}

// TestGroupsDeliverOnce adds entries to streams that consumers of a group wait for:
// each entry goes to one of them, once.
func TestGroupsDeliverOnce(t *testing.T) {
	st := &stress{t: t, s: start(t)}
	setup := &client{run: st, name: "setup"}
	setup.dial()
	for _, key := range []string{"x0", "x1"} {
		setup.do("XGROUP", "CREATE", key, "g", "$", "MKSTREAM")
	}
	var mu sync.Mutex
	got, added := map[string]int{}, map[string]bool{}
	note := func(r difftest.Reply, _ bool) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range held(r) {
			got[s]++
		}
	}
	read := func(c *client, more ...string) {
		note(c.do(append(append([]string{"XREADGROUP", "GROUP", "g", c.name, "COUNT", "2"}, more...), "NOACK", "STREAMS", "x0", "x1", ">", ">")...))
	}
	st.run(func(c *client) {
		if c.rng.Intn(3) > 0 {
			read(c, "BLOCK", "20")
			return
		}
		c.do("MULTI")
		for range 1 + c.rng.Intn(2) {
			token := fmt.Sprint("token", c.rng.Int63())
			mu.Lock()
			added[token] = true
			mu.Unlock()
			c.do("XADD", c.pick("x0", "x1"), "*", "f", token)
		}
		c.do("EXEC")
	})
	before := -1
	for before != len(got) && !t.Failed() {
		before = len(got)
		read(setup)
	}
	setup.Close()
	for token := range added {
		if got[token] != 1 {
			t.Fatalf("%s was delivered %d times", token, got[token])
		}
	}
	t.Logf("%d entries", len(added))
	st.settled()
}

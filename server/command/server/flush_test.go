package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
)

// TestFlushAside wants FLUSHDB and FLUSHALL to free many keys, or few that are large, without
// the locks, and to answer when all are freed; within EXEC at once.
func TestFlushAside(t *testing.T) {
	const many = 6000
	for _, c := range []struct {
		cmd   string
		n     int64
		large bool
		aside bool
	}{{"flushdb sync", many, false, true}, {"flushall", many, false, true}, {"flushall sync", many, false, true}, {"in exec", many, false, false},
		{"flushall", 8, true, true}, {"flushall", 8, false, false}} {
		n := c.n
		e := cmdtest.New(t, newWorld().families...)
		mset := strings.Builder{}
		mset.WriteString("mset")
		for i := range n {
			fmt.Fprintf(&mset, " key:%d value:%d", i, i)
		}
		e.Do(mset.String()).Want("+OK\r\n")
		if c.large {
			for i := range n {
				e.Do(fmt.Sprintf("setrange key:%d 5000000 x", i)).Want(":5000001\r\n")
			}
		}
		full := e.Keyspace.Used()
		if c.aside {
			e.Do(c.cmd).Want("+OK\r\n")
		} else {
			e.Do("multi")
			e.Do("flushdb sync")
			e.Do("exec").Want("*1\r\n+OK\r\n")
		}
		st := e.Keyspace.Stats()
		if freed := st.LazyFreed == n; freed != c.aside || st.LazyPending != 0 || (c.large || n == many) && e.Keyspace.Used() > full/4 {
			t.Errorf("%s: %d keys freed without the locks, %d to come, %d of %d bytes are left", c.cmd, st.LazyFreed, st.LazyPending, e.Keyspace.Used(), full)
		}
		e.Do("set k v").Want("+OK\r\n")
		e.Do(c.cmd)
	}
}

package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
)

// TestFlushAside wants FLUSHDB and FLUSHALL to free many keys without the locks, and to
// answer when all are freed; within EXEC at once.
func TestFlushAside(t *testing.T) {
	const n = 6000
	for _, c := range []struct {
		cmd   string
		aside bool
	}{{"flushdb sync", true}, {"flushall", true}, {"flushall sync", true}, {"in exec", false}} {
		e := cmdtest.New(t, newWorld().families...)
		mset := strings.Builder{}
		mset.WriteString("mset")
		for i := range n {
			fmt.Fprintf(&mset, " key:%d value:%d", i, i)
		}
		e.Do(mset.String()).Want("+OK\r\n")
		full := e.Keyspace.Used()
		if c.aside {
			e.Do(c.cmd).Want("+OK\r\n")
		} else {
			e.Do("multi")
			e.Do("flushdb sync")
			e.Do("exec").Want("*1\r\n+OK\r\n")
		}
		st := e.Keyspace.Stats()
		if freed := st.LazyFreed == n; freed != c.aside || st.LazyPending != 0 || e.Keyspace.Used() > full/4 {
			t.Errorf("%s: %d keys freed without the locks, %d to come, %d of %d bytes are left", c.cmd, st.LazyFreed, st.LazyPending, e.Keyspace.Used(), full)
		}
		e.Do("set k v").Want("+OK\r\n")
		e.Do(c.cmd)
	}
}

package persistence

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testserver"
)

const (
	writers = 6
	fillers = 5000 // keys in each of two databases
)

// load is clients that write numbers, each its own in order, some of them in transactions
// that also raise a counter which all share.
type load struct {
	t     *testing.T
	stop  atomic.Bool
	all   sync.WaitGroup
	sent  [writers]atomic.Int64
	acked [writers]atomic.Int64
}

// inTransaction says which numbers are written by a transaction.
func inTransaction(n int64) bool { return n%3 == 0 }

func startLoad(t *testing.T, s *testserver.Server) *load {
	l := &load{t: t}
	for i := range writers {
		l.all.Go(func() { l.write(s, i) })
	}
	return l
}

func (l *load) write(s *testserver.Server, i int) {
	c, err := difftest.Dial(s.Addr)
	if err != nil {
		l.t.Error(err)
		return
	}
	defer c.Close()
	c.Patience = patience
	for n := int64(1); !l.stop.Load(); n++ {
		number, key := strconv.FormatInt(n, 10), strconv.Itoa(i)
		commands := [][]string{{"RPUSH", "list:" + key, number}}
		if inTransaction(n) {
			commands = [][]string{{"MULTI"}, {"INCR", "shared"}, commands[0], {"SET", "last:" + key, number}, {"EXEC"}}
		}
		l.sent[i].Store(n)
		if err := c.Send(commands...); err != nil {
			l.t.Error(err)
			return
		}
		for range commands {
			if r, err := c.Receive(); err != nil || r.Kind == '-' {
				l.t.Errorf("writer %d, number %d: %s %v", i, n, r.Text, err)
				return
			}
		}
		l.acked[i].Store(n)
		time.Sleep(300 * time.Microsecond) // or the pacer holds the backups up for long
	}
}

// end stops the clients.
func (l *load) end() {
	l.stop.Store(true)
	l.all.Wait()
}

// numbers are what each client has got to.
func numbers(of *[writers]atomic.Int64) (list [writers]int64) {
	for i := range list {
		list[i] = of[i].Load()
	}
	return list
}

// holds demands that a server has all up to some number of each client, not below least
// nor above most, its transactions whole.
func holds(t *testing.T, c client, what string, least, most [writers]int64) {
	t.Helper()
	transactions := int64(0)
	for i := range writers {
		key := strconv.Itoa(i)
		list := c.Do("LRANGE", "list:"+key, "0", "-1").Elems
		for n, e := range list {
			if string(e.Text) != strconv.Itoa(n+1) {
				t.Fatalf("%s: client %d has %q at place %d", what, i, e.Text, n+1)
			}
		}
		n := int64(len(list))
		if n < least[i] || n > most[i] {
			t.Errorf("%s: client %d has %d, wanted are %d to %d", what, i, n, least[i], most[i])
		}
		last := ""
		if n >= 3 {
			last = strconv.FormatInt(n/3*3, 10)
		}
		if got := string(c.Do("GET", "last:"+key).Text); got != last {
			t.Errorf("%s: client %d has %d numbers, and its last transaction is %q", what, i, n, got)
		}
		transactions += n / 3
	}
	if got := string(c.Do("GET", "shared").Text); got != strconv.FormatInt(transactions, 10) {
		t.Errorf("%s: the counter is %s, there are %d transactions", what, got, transactions)
	}
}

// fill makes enough keys for loads and saves to take a while.
func fill(c client) {
	for db := range 2 {
		c.Do("SELECT", strconv.Itoa(9-9*db))
		commands := make([][]string, fillers)
		for i := range commands {
			commands[i] = []string{"SET", fmt.Sprint("filler:", i), strings.Repeat("f", i%200)}
		}
		c.All(commands)
	}
}

// TestBackupUnderLoad makes backups while clients write: each is a consistent cut, not
// older than the call.
func TestBackupUnderLoad(t *testing.T) {
	if testserver.IsRedis(*server) {
		t.Skip("SKIPPED: redis-server makes no backups")
	}
	us := ours(t, t.TempDir(), "--appendonly", "yes")
	c := dial(t, us)
	fill(c)
	l := startLoad(t, us)
	type cut struct{ least, most [writers]int64 }
	var cuts []cut
	for i := range 3 {
		time.Sleep(200 * time.Millisecond)
		if i == 1 {
			c.Do("BGREWRITEAOF") // which goes on meanwhile
		}
		least := numbers(&l.acked)
		start := time.Now()
		c.Do("HEDDLE.BACKUP", "copies/"+strconv.Itoa(i))
		t.Logf("backup %d took %v", i, time.Since(start))
		cuts = append(cuts, cut{least, numbers(&l.sent)})
	}
	l.end()
	c.Do("SELECT", "0")
	holds(t, c, "the server", numbers(&l.acked), numbers(&l.sent))
	for i, cut := range cuts {
		dir := filepath.Join(us.Dir(), "copies", strconv.Itoa(i))
		for _, on := range [][]string{{"yes"}, {"no"}, {"yes", "no"}}[i] {
			s := ours(t, dir, "--appendonly", on)
			b := dial(t, s)
			holds(t, b, fmt.Sprintf("backup %d, appendonly %s", i, on), cut.least, cut.most)
			if n := string(b.Do("DBSIZE").Text); i == 0 && n != strconv.Itoa(fillers+2*writers+1) {
				t.Errorf("the backup has %s keys", n)
			}
			s.Kill()
		}
	}
}

// TestReloadUnderLoad has the server load its data anew while clients write: nothing that
// was acknowledged is lost, nor done twice, now or after a start.
func TestReloadUnderLoad(t *testing.T) {
	if testserver.IsRedis(*server) {
		t.Skip("SKIPPED: it is our way of doing it that is tested")
	}
	args := []string{"--appendonly", "yes"}
	us := ours(t, t.TempDir(), args...)
	c := dial(t, us)
	fill(c)
	l := startLoad(t, us)
	for i := range 8 {
		time.Sleep(50 * time.Millisecond)
		if i%4 == 3 {
			c.Do("BGREWRITEAOF") // which goes on meanwhile
		}
		c.Do("DEBUG", []string{"RELOAD", "LOADAOF"}[i%2])
	}
	l.end()
	if !us.Alive() {
		t.Fatalf("the server ended\n%s", us.Log())
	}
	all := numbers(&l.acked)
	holds(t, c, "the server", all, all)
	c.settle()
	end(t, us)
	holds(t, dial(t, ours(t, us.Dir(), args...)), "after a start", all, all)
}

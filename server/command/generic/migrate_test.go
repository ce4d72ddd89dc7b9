package generic_test

import (
	"testing"
	"time"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

// movers hands jobs to the test and waits for its word.
type movers struct {
	jobs chan *generic.MoveJob
	done chan bool
}

func (m movers) Move(j *generic.MoveJob) {
	m.jobs <- j
	<-m.done
}

// moving is a server whose MIGRATE goes nowhere.
func moving(t *testing.T) (*cmdtest.Env, movers) {
	m := movers{make(chan *generic.MoveJob), make(chan bool)}
	limit := func() int64 { return 512 << 20 }
	return cmdtest.New(t, []command.Family{
		generic.FamilyWith(generic.Deps{Mover: m}), str.Family(limit), transactions.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}),
	}...), m
}

// next waits for the next job.
func (m movers) next(t *testing.T, e *cmdtest.Env) *generic.MoveJob {
	t.Helper()
	for range 1000 {
		select {
		case j := <-m.jobs:
			return j
		case <-time.After(time.Millisecond):
			e.Advance(0)
		}
	}
	t.Fatal("nothing is to be moved")
	return nil
}

// answer waits for the reply of a command that was away.
func answer(t *testing.T, e *cmdtest.Env) string {
	t.Helper()
	for range 1000 {
		if s := e.Received().Raw(); s != "" {
			return s
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no reply")
	return ""
}

// finish does all of a job.
func (m movers) finish(j *generic.MoveJob) {
	for i := range j.Keys {
		j.Keys[i].Done = true
	}
	m.done <- true
}

func names(j *generic.MoveJob) (s string) {
	for _, k := range j.Keys {
		s += string(k.Key)
		if k.Payload == nil {
			s += "-"
		}
		if k.Replace {
			s += "!"
		}
	}
	return s
}

// TestMigrateKeepsWrites writes to keys while they are on their way.
func TestMigrateKeepsWrites(t *testing.T) {
	e, m := moving(t)
	e.Do("mset a 1 b 2 c 3 d 4 e 5").OK()
	e.Do("expire e 100")
	e.Forget()
	if s := e.Do("migrate host 1 '' 3 500 auth2 me pw keys a b c d e nokey").Raw(); s != "" {
		t.Fatal(s)
	}
	j := m.next(t, e)
	if names(j) != "abcde" || j.Addr != "host" || j.Port != "1" || j.DB != 3 || j.Timeout != 500 || string(j.User) != "me" || string(j.Password) != "pw" || j.Keys[4].TTL != 100000 {
		t.Fatalf("%s: %+v", names(j), j)
	}
	other := e.NewClient()
	other.Do("set b new").OK()
	other.Do("del c")
	other.Do("set d other").OK()
	other.Do("set d 4").OK() // as it was
	other.Do("expire e 200")
	m.finish(j)
	if j = m.next(t, e); names(j) != "b!c-e!" {
		t.Fatal(names(j))
	}
	other.Do("set c back").OK()
	m.finish(j)
	if j = m.next(t, e); names(j) != "c!" {
		t.Fatal(names(j))
	}
	m.finish(j)
	if s := answer(t, e); s != "+OK\r\n" {
		t.Fatal(s)
	}
	e.Do("exists a b c d e").Want(":0\r\n")
	e.Propagated("set b new", "del c", "set d other", "set d 4", "pexpireat e 1700000200000", "del a", "del d", "set c back", "del b", "del e", "del c")
}

// TestMigrateFails looks at what stays when something goes wrong.
func TestMigrateFails(t *testing.T) {
	e, m := moving(t)
	f := func(cmd, want, left string, fn func(j *generic.MoveJob)) {
		t.Helper()
		e.Do("mset a 1 b 2").OK()
		e.Do(cmd)
		j := m.next(t, e)
		fn(j)
		m.done <- true
		if s := answer(t, e); s != want+"\r\n" {
			t.Errorf("%s: %q", cmd, s)
		}
		e.Do("mget a b").Want(left)
	}
	both, first, none := "*2\r\n$1\r\n1\r\n$1\r\n2\r\n", "*2\r\n$1\r\n1\r\n$-1\r\n", "*2\r\n$-1\r\n$-1\r\n"
	cmd := "migrate host 1 '' 0 0 keys a b"
	f(cmd, "-IOERR error or timeout connecting to the client", both, func(j *generic.MoveJob) { j.IOError = "connecting" })
	f(cmd, "-IOERR error or timeout reading to target instance", first, func(j *generic.MoveJob) { j.IOError, j.Keys[1].Done = "reading", true })
	f(cmd, "-ERR Target instance replied with error: BUSYKEY x", first, func(j *generic.MoveJob) { j.Refused, j.Keys[1].Done = "BUSYKEY x", true })
	f(cmd+" ", "+OK", none, func(j *generic.MoveJob) { j.Keys[0].Done, j.Keys[1].Done = true, true })
	f("migrate host 1 '' 0 0 copy keys a b", "+OK", both, func(j *generic.MoveJob) { j.Keys[0].Done, j.Keys[1].Done = true, true })
	e.Do("migrate host 1 nokey 0 0").Want("+NOKEY\r\n")
	e.Do("multi").OK()
	e.Do("migrate host 1 a 0 0")
	e.Do("exec").Want("*1\r\n-ERR This command waits for another server, which is not possible in a transaction\r\n")
	e.Do("exists a").Want(":1\r\n")
}

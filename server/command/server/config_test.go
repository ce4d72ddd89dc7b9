package admin_test

import (
	"errors"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	"heddle/server/dispatch"
)

// TestConfigSetAside has a CONFIG SET wait for a disk, while other clients go on, and those
// that set something, too, wait for their turn.
func TestConfigSetAside(t *testing.T) {
	w := newWorld()
	e := cmdtest.New(t, w.families...)
	begun, free := make(chan struct{}), make(chan struct{})
	var fail error
	w.config.Slow("appendonly")
	w.config.OnApply(func() error {
		if w.config.Held() || !w.config.Bool("appendonly") {
			return nil
		}
		begun <- struct{}{}
		<-free
		return fail
	}, "appendonly")
	e.Engine.Stats().Slowlog.SetThreshold(0)
	e.Engine.Stats().Slowlog.SetMaxLen(20)
	run := func(c *cmdtest.Client, line string) {
		t.Helper()
		words, err := cmdtest.Words(line)
		if err != nil {
			t.Fatal(err)
		}
		argv := make([][]byte, len(words))
		for i, word := range words {
			argv[i] = []byte(word)
		}
		e.Executor().RunBatch([]dispatch.Pending{{Client: c.Client, Argv: argv}})
	}
	for _, fail = range []error{errors.New("it is full"), nil} {
		setter, second, third := e.NewClient(), e.NewClient(), e.NewClient()
		run(setter, "config set maxmemory 5mb requirepass secret appendonly yes")
		<-begun
		if !setter.Blocked() {
			t.Fatal("its worker waits")
		}
		run(third, "config set maxmemory-samples 7")
		if !third.Blocked() {
			t.Error("two set at the same time")
		}
		run(second, "multi")
		run(second, "config set maxmemory-samples 8")
		run(second, "config rewrite")
		run(second, "set k 1")
		run(second, "exec")
		free <- struct{}{}
		want := "+OK\r\n"
		if fail != nil {
			want = "-ERR CONFIG SET failed (possibly related to argument 'appendonly') - it is full\r\n"
		}
		setter.Received().Want(want)
		third.Received().Want("+OK\r\n")
		const busy = "-ERR Another CONFIG SET or CONFIG REWRITE waits for the disk, for which a transaction cannot wait\r\n"
		second.Received().Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n" + busy + busy + "+OK\r\n")
		want = "*4\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n$11\r\nrequirepass\r\n$0\r\n\r\n"
		if fail == nil {
			want = "*4\r\n$9\r\nmaxmemory\r\n$7\r\n5242880\r\n$11\r\nrequirepass\r\n$6\r\nsecret\r\n"
		}
		e.Do("config get maxmemory requirepass").Want(want)
	}
	seen := false
	for _, entry := range e.Engine.Stats().Slowlog.Last(20) {
		line := strings.Join(entry.Args, " ")
		seen = seen || strings.Contains(line, "appendonly")
		if strings.Contains(line, "config set") && strings.Contains(line, "secret") {
			t.Errorf("the slow log shows %q", line)
		}
	}
	if !seen {
		t.Error("the slow log has nothing of it")
	}
	// In EXEC it is not waited for.
	e.Do("config set appendonly no").Want("+OK\r\n")
	e.Pipeline([]string{"multi"}, []string{"config", "set", "appendonly", "yes"}, []string{"exec"}).Want("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n")
}

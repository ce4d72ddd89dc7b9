package dispatch_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/dispatch"
)

func TestAside(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	e.Do("set k 1").OK()
	b.Do("aside word").Want("*2\r\n$4\r\nword\r\n:1\r\n")
	b.RESP3().Do("aside word").Want("%1\r\n$4\r\nword\r\n:1\r\n")
	if n := e.Engine.Clients().Blocked(); n != 0 || b.Blocked() {
		t.Errorf("%d clients blocked", n)
	}
	// What stands behind it in the pipeline waits for it, in order.
	batch := []dispatch.Pending{
		{Client: b.Client, Argv: [][]byte{[]byte("aside"), []byte("x")}},
		{Client: b.Client, Argv: [][]byte{[]byte("ping")}},
	}
	e.Run(batch)
	if !batch[0].Done || batch[1].Done {
		t.Errorf("done: %v, %v", batch[0].Done, batch[1].Done)
	}
	b.Received().Want("%1\r\n$1\r\nx\r\n:1\r\n")
	// In a transaction it runs in its place, under the transaction's locks.
	b.RESP2().Do("multi").OK()
	b.Do("set l 1").Want("+QUEUED\r\n")
	b.Do("aside y").Want("+QUEUED\r\n")
	b.Do("exec").Want("*2\r\n+OK\r\n*2\r\n$1\r\ny\r\n:2\r\n")
}

func TestAsidePanic(t *testing.T) {
	e := newEnv(t)
	if got := e.Do("aside fault").Raw(); !strings.HasPrefix(got, "-ERR internal") {
		t.Errorf("got %q", got)
	}
	if log := e.Log(); len(log) != 1 || !strings.Contains(log[0], "at fault") {
		t.Errorf("logged %q", log)
	}
	e.Do("ping").Want("+PONG\r\n")
}

// An error that a command answers aside, or in EXEC, counts as any other does.
func TestAsideErrorsCount(t *testing.T) {
	refuse := command.Family{Name: "refuse", Specs: []*command.Spec{{
		Name: "refuse", Arity: 1, Group: "test", Control: func(c *command.Call, _ command.Session) error {
			return c.Aside(func(w *resp.Writer) { w.Error("NOWAY no") })
		},
	}}}
	e := cmdtest.New(t, append(families(), refuse)...)
	e.Do("refuse").WantError("NOWAY no")
	e.Do("ping").Want("+PONG\r\n")
	e.Pipeline([]string{"multi"}, []string{"ping"}, []string{"refuse"}, []string{"exec"}).
		Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+PONG\r\n-NOWAY no\r\n")
	st := e.Engine.Stats()
	if n := st.Errors()["NOWAY"]; n != 2 {
		t.Errorf("%d errors", n)
	}
	for id, cmd := range st.Commands() {
		want := int64(0)
		if e.Engine.Table().All()[id].Name == "refuse" {
			want = 2
		}
		if cmd.Failed != want {
			t.Errorf("%s: %d failed", e.Engine.Table().All()[id].Name, cmd.Failed)
		}
	}
}

// The client goes away, or may not be unblocked, while its command is aside.
func TestAsideClientGone(t *testing.T) {
	e := newEnv(t)
	b := e.NewClient()
	p := []dispatch.Pending{{Client: b.Client, Argv: [][]byte{[]byte("aside"), []byte("x")}}}
	e.Executor().RunBatch(p)
	if !b.Blocked() || e.Engine.Clients().Unblock(b.ID(), true) {
		t.Error("it is not blocked, or can be unblocked")
	}
	b.Close()
	b.Received().Want("")
}

// Few commands run aside at a time; one whose client has left meanwhile does not
// run at all.
func TestAsideTurns(t *testing.T) {
	const clients = 12
	var running, most, ran atomic.Int32
	goOn := make(chan struct{})
	stall := command.Family{Name: "stall", Specs: []*command.Spec{{
		Name: "stall", Arity: 1, Group: "test", Control: func(c *command.Call, _ command.Session) error {
			return c.Aside(func(w *resp.Writer) {
				ran.Add(1)
				n := running.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				<-goOn
				running.Add(-1)
				w.OK()
			})
		},
	}}}
	e := cmdtest.New(t, stall)
	var all []*cmdtest.Client
	for range clients {
		c := e.NewClient()
		e.Executor().RunBatch([]dispatch.Pending{{Client: c.Client, Argv: [][]byte{[]byte("stall")}}})
		all = append(all, c)
	}
	for running.Load() < 4 {
		time.Sleep(time.Millisecond)
	}
	for _, c := range all[1:] {
		c.Close()
	}
	close(goOn)
	e.Engine.WaitAside()
	if most.Load() != 4 || ran.Load() > 5 {
		t.Errorf("%d commands ran, %d at a time", ran.Load(), most.Load())
	}
	all[0].Received().Want("+OK\r\n")
}

package dispatch

import (
	"fmt"
	"runtime/debug"

	"heddle/resp"
)

// A command that reads the whole keyspace in a snapshot holds no locks, but on
// its worker's thread it would keep all clients of that worker waiting. So it
// may go aside (command.Call.Aside): its client is parked, its function runs in
// a goroutine of its own with a writer of its own, and the reply is handed over
// on the client's goroutine when it is done.

// aside runs a command's function in a goroutine.
func (x *Executor) aside(p *Pending, c *Client, fn func(*resp.Writer)) {
	k := x.hold(p, c, forItself)
	k.began = x.start
	e := x.e
	e.asides.Add(1)
	go func() {
		defer e.asides.Done()
		e.asideTurns <- struct{}{}
		defer func() { <-e.asideTurns }()
		if k.gone.Load() {
			return // nobody waits for it any more
		}
		k.runAside(fn)
		k.post()
	}()
}

// asidesAtOnce is how many commands run aside at the same time; the others wait.
// Each has a snapshot open and collects a long reply.
const asidesAtOnce = 4

// Aside reports whether a command of the client runs aside: it will be answered,
// even if the client sends nothing more.
func (c *Client) Aside() bool { return c.parked != nil && c.parked.why == forItself }

// runAside writes the reply; a panic becomes an error reply.
func (k *parked) runAside(fn func(*resp.Writer)) {
	w := &k.reply
	defer func() {
		if r := recover(); r != nil {
			k.c.e.log(fmt.Sprintf("BUG: command %q of client %d: panic: %v\n%s", k.argv[0], k.c.id, r, debug.Stack()))
			w.Rewind(resp.Mark{})
			w.Error(errInternal)
		}
	}()
	fn(w)
}

// land hands over the reply of a command that went aside: on its client's
// goroutine, outside any batch. Its time is that from the start to now.
func (x *Executor) land(k *parked, c *Client) {
	c.unpark()
	x.call.Start(k.spec, k.argv, c.w)
	c.w.Take(&k.reply)
	c.oweAll()
	x.start = k.began
	x.after(c, k.spec, k.argv)
}

// WaitAside returns when no command is aside, as before the keyspace is closed.
func (e *Engine) WaitAside() { e.asides.Wait() }

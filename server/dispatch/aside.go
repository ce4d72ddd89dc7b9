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

// away runs a command's function in a goroutine, and the command again when it is done
// (command.Call.Away). It may wait for another server for long, so it takes no turn of
// those that read snapshots, and nobody waits for it at the end: it has nothing of the
// keyspace.
func (x *Executor) away(p *Pending, c *Client, fn func() any) {
	k := x.hold(p, c, forItself)
	k.again = true
	go func() {
		v := k.runAway(fn)
		if !k.gone.Load() {
			k.result = v
			k.post()
		}
	}()
}

// runAway calls fn; what a panic leaves is an error that is answered.
func (k *parked) runAway(fn func() any) (v any) {
	defer func() {
		if r := recover(); r != nil {
			k.c.e.log(fmt.Sprintf("BUG: command %q of client %d: panic: %v\n%s", k.argv[0], k.c.id, r, debug.Stack()))
			v = errInternal
		}
	}()
	return fn()
}

// back runs a command again whose function has returned.
func (x *Executor) back(k *parked, c *Client) {
	if x.returned == nil {
		x.returned = map[*Client]any{}
	}
	x.returned[c] = k.result
	k.result, k.again = nil, false
	c.unpark()
	batch := []Pending{{Client: c, Argv: k.argv, must: true}}
	x.prepare(batch)
	x.runFrom(batch, 0)
	x.letGo()
	if c.mode&modeBlocked == 0 {
		delete(x.returned, c) // no gate let it through
	}
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
	if k.again {
		x.back(k, c)
		return
	}
	c.unpark()
	x.call.Start(k.spec, k.argv, c.w)
	c.w.Take(&k.reply)
	c.oweAll()
	x.start = k.began
	x.after(c, k.spec, k.argv)
}

// WaitAside returns when no command is aside, as before the keyspace is closed.
func (e *Engine) WaitAside() { e.asides.Wait() }

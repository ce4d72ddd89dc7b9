package dispatch

import (
	"bytes"
	"fmt"
	"runtime/debug"

	"heddle/resp"
	"heddle/server/command"
)

// A command that reads the whole keyspace in a snapshot holds no locks, but on
// its worker's thread it would keep all clients of that worker waiting. So it
// may go aside (command.Call.Aside): its client is parked, its function runs in
// a goroutine of its own with a writer of its own, and the reply is handed over
// on the client's goroutine when it is done.

// aside runs a command's function in a goroutine.
func (x *Executor) aside(p *Pending, c *Client, fn func(*resp.Writer)) {
	k := x.hold(p, c, forItself)
	k.began, k.redacted = x.start, x.call.Redactions()
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
	go k.comeBack(func() any { return k.runAway(fn) })
}

// work is away for what needs a processor, and the engine, rather than patience. fn gets
// the command's arguments. Its time is that of the command.
func (x *Executor) work(p *Pending, c *Client, fn func(argv [][]byte) any) {
	k := x.holdBig(p, c)
	k.again, k.began = true, x.start
	e := x.e
	e.asides.Add(1)
	go func() {
		defer e.asides.Done()
		e.workTurns <- struct{}{}
		defer func() { <-e.workTurns }()
		k.comeBack(func() any {
			if k.gone.Load() {
				return nil
			}
			return k.runAway(func() any { return fn(k.argv) })
		})
	}()
}

// holdBig is hold for a command that runs aside, whose large argument is not copied.
func (x *Executor) holdBig(p *Pending, c *Client) *parked {
	if p.Big == nil {
		return x.hold(p, c, forItself)
	}
	big, text := p.Big, p.Argv[p.BigAt]
	p.Big, p.Argv[p.BigAt] = nil, nil
	k := x.hold(p, c, forItself)
	k.big, k.argv[p.BigAt], p.Argv[p.BigAt] = big, text, text
	k.size += int64(len(text))
	return k
}

// comeBack has the command run again with what fn returns. If its client is gone nobody
// wants that, nor the arguments.
func (k *parked) comeBack(fn func() any) {
	v := fn()
	k.mu.Lock()
	gone := k.gone.Load()
	k.result, k.landed = v, !gone
	k.mu.Unlock()
	if gone {
		k.drop()
		return
	}
	k.post()
}

// leave says that the client of a command that went aside is gone.
func (k *parked) leave() {
	k.mu.Lock()
	k.gone.Store(true)
	landed := k.landed
	k.mu.Unlock()
	if landed {
		k.drop() // it will not run again
	}
}

// drop gives up what a command that is away holds.
func (k *parked) drop() {
	releaseAhead(k.result)
	if k.result = nil; k.big != nil {
		k.big.Release()
		k.big = nil
	}
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
	k.result, k.again, k.landed = nil, false, false
	c.unpark()
	if c.multi != nil {
		c.multi.lent = false
	}
	batch := []Pending{{Client: c, Argv: k.argv, must: true}}
	x.prepare(batch)
	if k.began != 0 {
		x.start = k.began
	}
	x.runFrom(batch, 0)
	x.letGo()
	if _, made := x.returned[c].(command.Prepared); made || c.mode&modeBlocked == 0 {
		// No gate let it through. If it is postponed, what was made goes with the arguments.
		x.forget(c)
	}
	k.drop()
}

// takeReturned returns what a client's command has returned with, nil if it was not away.
func (x *Executor) takeReturned(c *Client) any {
	v := x.returned[c]
	delete(x.returned, c)
	return v
}

// forget gives up what a client's command has returned with and that was not run again.
func (x *Executor) forget(c *Client) {
	if len(x.returned) > 0 {
		releaseAhead(x.takeReturned(c))
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
	x.call.RedactAgain(k.redacted)
	x.noteError(k.reply.Bytes())
	c.w.Take(&k.reply)
	c.oweAll()
	x.start = k.began
	x.after(c, k.spec, k.argv)
}

// noteError counts the error that a function given to Aside has replied, if it has.
func (x *Executor) noteError(reply []byte) {
	if text, ok := bytes.CutPrefix(reply, []byte("-")); ok {
		text, _, _ = bytes.Cut(text, []byte("\r\n"))
		x.rec.Error(string(text))
		x.failed = true
	}
}

// WaitAside returns when no command is aside: who closes the keyspace calls it before.
func (e *Engine) WaitAside() { e.asides.Wait() }

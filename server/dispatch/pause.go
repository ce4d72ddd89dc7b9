package dispatch

import (
	"slices"
	"sync"
	"time"

	"heddle/db"
	"heddle/server/command"
)

// pause is CLIENT PAUSE: commands that come meanwhile are held.
type pause struct {
	mu     sync.Mutex
	on     bool
	writes bool  // only commands that may write are held
	until  int64 // by the monotonic clock
	stop   func()
	held   []*parked
	frozen bool // HoldAll: everything is held, whatever on says
}

// holds reports whether the command has to wait for the end of a pause.
func (x *Executor) holds(c *Client, s *command.Spec) bool {
	switch st := x.e.state.Load(); {
	case st&(statePauseAll|stateHeld) != 0:
		return true
	case st&statePauseWrites != 0:
		return x.writes(c, s) || s.Write != nil || s.Flags&command.MayReplicate != 0
	}
	return false
}

// postpone holds a command until the pause is over.
func (x *Executor) postpone(p *Pending, c *Client) {
	x.e.pause.join(x.hold(p, c, forPause))
}

// join adds a held command; if the pause is over already it goes on at once.
func (z *pause) join(k *parked) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if !z.on && !z.frozen {
		k.post()
	} else if !slices.Contains(z.held, k) {
		z.held = append(z.held, k)
	}
}

// leave forgets a held command.
func (z *pause) leave(k *parked) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if i := slices.Index(z.held, k); i >= 0 {
		z.held = slices.Delete(z.held, i, i+1)
	}
}

// Pause holds commands back. A pause that is under way is not shortened, nor
// does it let through more.
func (e *Engine) Pause(d db.Millis, writesOnly bool) {
	z := &e.pause
	z.mu.Lock()
	defer z.mu.Unlock()
	now := e.clock.Mono()
	until := now + int64(duration(d))
	if z.on {
		until, writesOnly = max(until, z.until), writesOnly && z.writes
		z.stop()
	}
	z.on, z.writes, z.until = true, writesOnly, until
	e.setState(statePauseWrites, writesOnly)
	e.setState(statePauseAll, !writesOnly)
	e.ks.Freeze(true)
	z.stop = e.clock.AfterFunc(time.Duration(until-now), func() { e.pauseOver(until) })
}

// pauseOver ends the pause when its time has come, unless it was prolonged.
func (e *Engine) pauseOver(until int64) {
	z := &e.pause
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.on && z.until == until {
		e.unpauseLocked()
	}
}

// Unpause lets all held commands go on.
func (e *Engine) Unpause() {
	e.pause.mu.Lock()
	defer e.pause.mu.Unlock()
	if e.pause.on {
		e.pause.stop()
		e.unpauseLocked()
	}
}

func (e *Engine) unpauseLocked() {
	z := &e.pause
	z.on = false
	e.setState(statePauseWrites|statePauseAll, false)
	e.letHeldGo()
}

// letHeldGo lets the held commands go on unless something holds them still.
func (e *Engine) letHeldGo() {
	z := &e.pause
	if z.on || z.frozen {
		return
	}
	e.ks.Freeze(false)
	for _, k := range z.held {
		k.post()
	}
	clear(z.held)
	z.held = z.held[:0]
}

// HoldAll holds back all commands of all clients, whatever they do, until LetGo:
// for what replaces the data as a whole, and for the last save of a server that
// stops. Commands that passed before may still run when it returns: the caller
// waits for every executor to finish its batch. Keys neither expire nor are
// evicted meanwhile. It is not to be called twice.
func (e *Engine) HoldAll() {
	z := &e.pause
	z.mu.Lock()
	defer z.mu.Unlock()
	z.frozen = true
	e.setState(stateHeld, true)
	e.ks.Freeze(true)
}

// LetGo ends HoldAll.
func (e *Engine) LetGo() {
	z := &e.pause
	z.mu.Lock()
	defer z.mu.Unlock()
	z.frozen = false
	e.setState(stateHeld, false)
	e.letHeldGo()
}

// Paused reports whether CLIENT PAUSE is in effect. Keys neither expire nor are
// evicted then.
func (e *Engine) Paused() bool { return e.state.Load()&(statePauseAll|statePauseWrites) != 0 }

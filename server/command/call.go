package command

import (
	"errors"
	"slices"
	"strconv"

	"heddle/db"
	"heddle/resp"
)

// Call is one execution of a command. The connection reuses it: a handler
// keeps nothing of it.
type Call struct {
	Spec  *Spec
	Args  Args
	Reply *resp.Writer

	// big, if set, is the memory in which argument bigAt already stands: the
	// connection read it straight from the network.
	big   *db.Big
	bigAt int

	effects  [][][]byte
	verbatim [1][][]byte
	scratch  []byte
	redacted uint64
	unlogged bool
	replaced bool
	silent   bool
	wait     db.Millis
	waiting  bool
	resumed  bool
	ready    []byte
	rewrites []Rewrite
	aside    func(*resp.Writer)
	away     func() any
	returned any
}

// Start prepares the call for a command. Dispatch calls it; handlers do not.
func (c *Call) Start(s *Spec, argv [][]byte, w *resp.Writer) {
	c.Spec, c.Reply = s, w
	c.Args.restart(argv)
	if s != nil && s.parent != nil {
		c.Args.Skip(1)
	}
	for _, e := range c.effects {
		clear(e) // they may hold large values of the command before
	}
	c.effects, c.scratch = c.effects[:0], c.scratch[:0]
	c.replaced, c.silent, c.waiting = false, false, false
	c.resumed, c.ready, c.rewrites = false, nil, c.rewrites[:0]
	c.redacted, c.big, c.returned = 0, nil, nil
}

// SetBig tells the handler that argument at stands in memory that may be
// adopted. The call owns the reference unless TakeBig hands it out.
func (c *Call) SetBig(at int, b *db.Big) { c.big, c.bigAt = b, at }

// TakeBig hands out the memory in which argument at of argv stands, with its
// reference; nil when it stands in the connection's buffer.
func (c *Call) TakeBig(at int) *db.Big {
	if c.big == nil || c.bigAt != at {
		return nil
	}
	b := c.big
	c.big = nil
	return b
}

// Big returns the memory that was neither taken nor given back yet.
func (c *Call) Big() *db.Big { return c.big }

// Redact hides argument i (of argv) from MONITOR and the slow log. Arguments
// from lastRedacted on are hidden together.
func (c *Call) Redact(i int) { c.redacted |= 1 << min(i, lastRedacted) }

// Redacted reports whether argument i is hidden.
func (c *Call) Redacted(i int) bool { return c.redacted&(1<<min(i, lastRedacted)) != 0 }

const lastRedacted = 63

// Redactions returns what Redact was told, in a form that RedactAgain takes, behind Start.
// Dispatch calls them; handlers do not.
func (c *Call) Redactions() uint64 { return c.redacted }

// RedactAgain is described at Redactions.
func (c *Call) RedactAgain(r uint64) { c.redacted = r }

// AnyRedacted reports whether any argument is hidden.
func (c *Call) AnyRedacted() bool { return c.redacted != 0 }

// ReplicateAs names the effect of the command where it differs from the
// command itself; called again it adds a further one. The slices are read
// before the handler's locks are given back and may be reused after that.
func (c *Call) ReplicateAs(argv ...[]byte) {
	c.replaced = true
	if c.unlogged {
		return
	}
	n := len(c.effects)
	if n == cap(c.effects) {
		c.effects = append(c.effects, nil)
	}
	c.effects = c.effects[:n+1]
	c.effects[n] = append(c.effects[n][:0], argv...)
}

// Digits returns n in decimal, Keep a copy of b, both valid until the next
// command: made for ReplicateAs, in memory that the call reuses.
func (c *Call) Digits(n int64) []byte {
	at := len(c.scratch)
	c.scratch = strconv.AppendInt(c.scratch, n, 10)
	return c.scratch[at:len(c.scratch):len(c.scratch)]
}

// Keep is described at Digits.
func (c *Call) Keep(b []byte) []byte {
	at := len(c.scratch)
	c.scratch = append(c.scratch, b...)
	return c.scratch[at:len(c.scratch):len(c.scratch)]
}

// Room returns n bytes of that memory, of any content.
func (c *Call) Room(n int) []byte {
	at := len(c.scratch)
	c.scratch = slices.Grow(c.scratch, n)[:at+n]
	return c.scratch[at : at+n : at+n]
}

// SetLogged says whether anybody will ask for Effects: if not, ReplicateAs has
// nothing to keep. It holds for all commands to come; at first it is true.
func (c *Call) SetLogged(yes bool) { c.unlogged = !yes }

// Logged reports whether anybody will ask for Effects. A command whose effects are
// many need not make them otherwise, but for one call of ReplicateAs.
func (c *Call) Logged() bool { return !c.unlogged }

// Replaced reports whether ReplicateAs was called.
func (c *Call) Replaced() bool { return c.replaced }

// ReplicateNothing says that the change need not reach the oplog.
func (c *Call) ReplicateNothing() { c.silent = true }

// Effects returns what goes to the oplog if the command changed something:
// what ReplicateAs named, else the command itself.
func (c *Call) Effects() [][][]byte {
	switch {
	case c.silent:
		return nil
	case c.replaced:
		return c.effects
	}
	c.verbatim[0] = c.Args.Argv()
	return c.verbatim[:]
}

// ErrParked is what Wait returns; it is no error reply.
var ErrParked = errors.New("command parked")

// Wait makes a command blocking: it is parked and run again when one of its
// keys is written, until timeout milliseconds have passed (0: for ever), counted
// from when it first ran. It waits for those of its keys that are flagged
// KeyAccess; see also Spec.Awaits. A handler ends with `return c.Wait(t)`, having
// changed and replied nothing. Inside EXEC nothing waits: there OnTimeout answers
// at once.
func (c *Call) Wait(timeout db.Millis) error {
	c.wait, c.waiting = timeout, true
	return ErrParked
}

// Rewrite is an argument that differs in the copy of a command that is parked.
type Rewrite struct {
	At  int
	Arg []byte
}

// Rewrite makes argument at (of argv) another one in the copy that is kept while
// the command waits, and that it runs with again: XREAD's $ becomes the last ID
// of now. To be called before Wait; arg is copied.
func (c *Call) Rewrite(at int, arg []byte) { c.rewrites = append(c.rewrites, Rewrite{at, c.Keep(arg)}) }

// Rewrites returns what Rewrite was told.
func (c *Call) Rewrites() []Rewrite { return c.rewrites }

// Resumed reports whether the command was parked and runs again. A key of the
// wrong type is no mistake then: the command skips it, and waits on when nothing
// else is left.
func (c *Call) Resumed() bool { return c.resumed }

// Ready is the key whose write made a parked command run again, nil when it is
// not resumed. One that takes from the first of several keys looks at this first:
// who waits for several keys is served from that which was written first.
func (c *Call) Ready() []byte { return c.ready }

// Resume says, behind Start, that the command was parked and that key was
// written. Dispatch calls it; handlers do not.
func (c *Call) Resume(key []byte) { c.resumed, c.ready = true, key }

// ErrAside is what Aside returns; it is no error reply.
var ErrAside = errors.New("command runs aside")

// Aside lets a Control command that reads much, and without locks (a snapshot),
// go on in a goroutine of its own, so that other clients of its thread do not
// wait. A handler ends with `return c.Aside(fn)`, having replied nothing; fn
// writes the reply. It must keep nothing of the call: its arguments are gone by
// then. Inside EXEC fn runs at once.
func (c *Call) Aside(fn func(*resp.Writer)) error {
	c.aside = fn
	return ErrAside
}

// TakeAside returns what was given to Aside. Dispatch calls it; handlers do not.
func (c *Call) TakeAside() func(*resp.Writer) {
	fn := c.aside
	c.aside = nil
	return fn
}

// ErrAway is what Away returns; it is no error reply.
var ErrAway = errors.New("command is away")

// Away lets a Write command leave its keys to wait for something slow, such as another
// server, without their locks: fn runs in a goroutine of its own, and then the command
// runs again, its keys locked anew, with what fn returned as Returned. Others may have
// changed the keys meanwhile. A handler ends with `return c.Away(fn)`, having replied
// nothing; what it changed so far is committed. fn must keep nothing of the call. Inside
// EXEC, whose locks cannot be left, the command fails instead.
func (c *Call) Away(fn func() any) error {
	c.away = fn
	return ErrAway
}

// TakeAway returns what was given to Away, and Return says what came of it, behind Start.
// Dispatch calls them; handlers do not.
func (c *Call) TakeAway() func() any {
	fn := c.away
	c.away = nil
	return fn
}

// Return is described at TakeAway.
func (c *Call) Return(v any) { c.returned = v }

// Returned is what the function given to Away has returned, nil when the command runs for
// the first time; and what Spec.Ahead has.
func (c *Call) Returned() any { return c.returned }

// Waiting returns the timeout given to Wait and whether Wait was called.
func (c *Call) Waiting() (db.Millis, bool) { return c.wait, c.waiting }

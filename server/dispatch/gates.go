package dispatch

import (
	"bytes"
	"strings"

	"heddle/resp"
	"heddle/server/command"
	"heddle/server/stats"
)

// Texts of dispatch's own.
const (
	errInternal   resp.Error = "ERR internal error"
	errNotInExec  resp.Error = "ERR This command waits for another server, which is not possible in a transaction"
	errNoMulti    resp.Error = "ERR Command not allowed inside a transaction"
	errNoReplicas resp.Error = "NOREPLICAS Not enough good replicas to write."
	errUnblocked  resp.Error = "UNBLOCKED client unblocked via CLIENT UNBLOCK"
	abortBecause             = "EXECABORT Transaction discarded because of: "
	unknownMaxLen            = 128 // bytes of a name or of arguments that an error repeats
)

// A gate lets a command pass ("") or refuses it.
type gate func(x *Executor, c *Client, p *Pending) resp.Error

// gates are asked in this order.
var gates = [...]gate{gateExists, gateArity, gateAuth, gateNoMulti, gateMemory, gateFault, gateReplicas, gateSubscriber, gateLoading}

// throughGates takes a command the long way: gates, pause, MULTI queue, run.
func (x *Executor) throughGates(p *Pending, c *Client) {
	for _, g := range gates {
		if text := g(x, c, p); text != "" {
			x.refuse(p, c, text)
			c.dropReply(x.mark)
			return
		}
	}
	switch {
	case x.holds(c, p.spec):
		x.postpone(p, c)
	case c.mode&modeMulti != 0 && p.spec.Flags&command.AtOnce == 0:
		x.queue(p, c)
		c.dropReply(x.mark)
	default:
		x.runLong(p, c)
	}
	if c.mode&modeSubscribed != 0 || len(c.late) > 0 {
		x.deliverOwn(c)
	}
}

// refuse answers a command that may not run.
func (x *Executor) refuse(p *Pending, c *Client, text resp.Error) {
	if c.mode&modeMulti != 0 {
		c.mode |= modeDirtyExec
	}
	if p.spec != nil {
		x.rec.Rejected(p.spec.ID())
		if p.spec == x.e.exec {
			c.discard()
			text = abortBecause + resp.Error(strings.TrimPrefix(string(text), "ERR "))
		}
	}
	x.rec.Error(string(text))
	c.w.Error(text)
	x.release(p)
}

// release gives back what came with a command that was not run.
func (x *Executor) release(p *Pending) {
	if p.Big != nil {
		p.Big.Release()
		p.Big = nil
	}
}

// gateExists finds the subcommand of a container.
func gateExists(x *Executor, _ *Client, p *Pending) resp.Error {
	s := p.spec
	if s == nil {
		return unknownCommand(p.Argv)
	}
	if len(s.Sub) == 0 || len(p.Argv) == 1 {
		return ""
	}
	sub := x.e.table.LookupSub(s, p.Argv[1])
	if sub == nil {
		p.spec = nil // what is refused counts for no command
		name := strings.ToUpper(string(cut(p.Argv[0], unknownMaxLen)))
		return resp.Error("ERR unknown subcommand '" + string(cut(p.Argv[1], unknownMaxLen)) + "'. Try " + name + " HELP.")
	}
	p.spec = sub
	return ""
}

func gateArity(x *Executor, _ *Client, p *Pending) resp.Error {
	if x.plans[p.spec.ID()].fits(len(p.Argv)) {
		return ""
	}
	return p.spec.ErrArity()
}

func gateAuth(_ *Executor, c *Client, p *Pending) resp.Error {
	if c.mode&modeUnauth == 0 || p.spec.Flags&command.NoAuth != 0 || c.Authenticated() {
		return ""
	}
	return resp.ErrNoAuth
}

func gateNoMulti(_ *Executor, c *Client, p *Pending) resp.Error {
	if c.mode&modeMulti != 0 && p.spec.Flags&command.NoMulti != 0 {
		return errNoMulti
	}
	return ""
}

// gateMemory evicts keys when there is too much, and when that does not help
// refuses what may need more: queueing for MULTI, too.
func gateMemory(x *Executor, c *Client, p *Pending) resp.Error {
	if !x.ks.Over() || x.evict() {
		return ""
	}
	s := p.spec
	denied := s.Flags&command.DenyOOM != 0
	if c.mode&modeMulti != 0 {
		denied = denied || s.Flags&command.AtOnce == 0 || s == x.e.exec && c.multi.flags&command.DenyOOM != 0
	}
	if denied {
		return resp.ErrOOM
	}
	return ""
}

// writes reports whether a command is one that writes, or EXEC of some.
func (x *Executor) writes(c *Client, s *command.Spec) bool {
	return s.IsWrite() || s == x.e.exec && c.mode&modeMulti != 0 && c.multi.write
}

// gateFault refuses what writes, and PING, while writes cannot be kept.
func gateFault(x *Executor, c *Client, p *Pending) resp.Error {
	if x.e.state.Load()&stateFault == 0 {
		return ""
	}
	if x.writes(c, p.spec) || p.spec == x.e.ping {
		return x.e.writeFault()
	}
	return ""
}

// gateReplicas refuses what writes while fewer replicas are there than writes
// want; there is no replication, so while any is wanted.
func gateReplicas(x *Executor, c *Client, p *Pending) resp.Error {
	if x.e.state.Load()&stateNoReplicas == 0 {
		return ""
	}
	if x.writes(c, p.spec) {
		return errNoReplicas
	}
	return ""
}

func gateLoading(x *Executor, _ *Client, p *Pending) resp.Error {
	if x.e.Loading() && p.spec.Flags&command.Loading == 0 {
		return resp.ErrLoading
	}
	return ""
}

// evictStep is how many keys a command evicts at most: when memory shrinks by
// much, many commands share the work, and cron does the rest.
const evictStep = 64

// evict removes keys to get down to maxmemory. It reports false when no key is
// left to remove.
func (x *Executor) evict() bool {
	before := x.e.clock.Mono()
	r := x.ks.Evict(x.now, evictStep)
	if took := x.e.clock.Mono() - before; r.Keys > 0 && x.e.stats.Latency.IsSpike(took) {
		x.e.stats.Latency.Add(stats.EventEviction, x.unix(), took)
	}
	return !r.Over || r.Keys == evictStep
}

// unknownCommand is the error for a name that no command has.
func unknownCommand(argv [][]byte) resp.Error {
	var args strings.Builder
	for _, a := range argv[1:] {
		if args.Len() >= unknownMaxLen {
			break
		}
		args.WriteByte('\'')
		args.Write(cut(a, unknownMaxLen-args.Len()+1))
		args.WriteString("' ")
	}
	return resp.Error("ERR unknown command '" + string(cut(argv[0], unknownMaxLen)) + "', with args beginning with: " + args.String())
}

// cut shortens b to n bytes; like a C string it ends at the first zero byte.
func cut(b []byte, n int) []byte {
	if len(b) > n {
		b = b[:n]
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

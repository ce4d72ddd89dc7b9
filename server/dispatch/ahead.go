package dispatch

import (
	"heddle/db"
	"heddle/server/command"
)

// What a command has to do that takes long and needs no key (command.Spec.Ahead) is done
// before its shards are locked. In EXEC, which locks the shards of all its commands at
// once, it is done for all of them first: each has its work done though one before it may
// fail, or a watched key have changed, for nobody knows that before the locks are there.
//
// Much of it would keep the other clients of the worker waiting. Then the command is away
// meanwhile (aside.go), EXEC as a whole; its client waits, and it runs again with what was
// made. Little of it is done by the worker, since to park and to come back takes some
// microseconds.
//
// What was made is given up by whoever is the last to see it: by dispatch behind the
// command that took it or did not, or when the client is gone.

// awayFrom is how many bytes of arguments are so much work that it is done away.
const awayFrom = 32 << 10

// workersAtOnce is how many commands do such work away at the same time; the others wait.
const workersAtOnce = 4

// readied is what was done ahead for a command of EXEC's queue: the at-th of it.
type readied struct {
	at int
	v  any // a command.Prepared, or an error
}

// readiness is what was done for a whole queue.
type readiness []readied

// Release gives up what no command has taken.
func (r readiness) Release() {
	for _, one := range r {
		releaseAhead(one.v)
	}
}

// releaseAhead gives up what the handler has not taken.
func releaseAhead(v any) {
	if v, ok := v.(command.Prepared); ok {
		v.Release()
	}
}

// ahead does the work of one call; what a panic leaves is an error that is answered.
func (e *Engine) ahead(s *command.Spec, argv [][]byte, c *Client, now db.Millis) (v any) {
	defer func() {
		if r := recover(); r != nil {
			v = e.panicText(r, argv, c)
		}
	}()
	return s.Ahead(argv, e.ks, now)
}

// runHeavy is runKeys for a command that has something to do first.
func (x *Executor) runHeavy(p *Pending, c *Client, s *command.Spec, weight int) {
	if weight >= awayFrom {
		e, now := x.e, x.now
		x.work(p, c, func(argv [][]byte) any { return e.ahead(s, argv, c, now) })
		return
	}
	v := x.e.ahead(s, p.Argv, c, x.now)
	defer releaseAhead(v)
	x.call.Return(v)
	x.runKeys(p, c, s)
}

// weigh returns how heavy the expanded queue is.
func (x *Executor) weigh() (weight int) {
	for i := range x.queued {
		if p := &x.queued[i]; p.spec.Heavy != nil {
			weight += p.spec.Heavy(p.Argv)
		}
	}
	return weight
}

// makeReady does what the commands of the expanded queue have to do first, or returns what
// does it away. The queue keeps its memory as long as the client is away.
func (x *Executor) makeReady(c *Client, weight int) (away func() any) {
	e, now := x.e, x.now
	type job struct {
		at   int
		spec *command.Spec
		argv [][]byte
	}
	var jobs []job
	for i := range x.queued {
		if p := &x.queued[i]; p.spec.Heavy != nil && p.spec.Heavy(p.Argv) > 0 {
			jobs = append(jobs, job{i, p.spec, append([][]byte(nil), p.Argv...)})
		}
	}
	work := func() any {
		var done readiness
		for _, j := range jobs {
			done = append(done, readied{j.at, e.ahead(j.spec, j.argv, c, now)})
		}
		return done
	}
	if weight >= awayFrom {
		c.multi.lent = true
		return work
	}
	x.readied = work().(readiness)
	return nil
}

// handOver gives a queued command what was done ahead for it, before its handler runs. They
// stand in the order of the queue, of which all may be heavy: so nobody looks for one.
func (x *Executor) handOver(p *Pending) {
	if len(x.readied) == 0 || &x.queued[x.readied[0].at] != p {
		return
	}
	x.call.Return(x.readied[0].v)
	x.readied = x.readied[1:]
}

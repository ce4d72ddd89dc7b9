package dispatch

import (
	"errors"
	"fmt"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// A Replayer runs the commands of an append-only file, by the same handlers as those of
// clients. It asks nobody: no gate of clients, memory, loading or faults holds. Nothing is
// propagated, counted or shown to monitors, and nobody who waits for a key is served.
// What would wait does as in EXEC. What is due stays until the file deletes it, since
// later commands of the file found it there (db.Tx.SetTimeless).
//
// Nobody else runs commands while a data set is loaded. So the whole keyspace is locked
// for some hundred commands at a time, which saves the locks of each, and the memory of
// keys some commands ahead is fetched, as for pipelines of clients.
//
// Commands about the server (SHUTDOWN, DEBUG, CONFIG) are not run but count as failed: no
// file has them unless somebody wrote them in, and with the keyspace locked they could do
// no good.

// replayLocked is how many commands run under one lock of the keyspace.
const replayLocked = 512

// replayBuffer is the memory for replies that nobody gets.
const replayBuffer = 4 << 10

// Replayer runs commands of one logical client. One goroutine uses it.
type Replayer struct {
	// Report is told of each command that answers an error; may be nil. It must not
	// keep the arguments.
	Report func(argv [][]byte, err error)

	x      *Executor
	c      *Client
	batch  []Pending
	failed int64
	done   int64
	queue  [][][]byte // since MULTI
}

// ReplayError says that a command cannot be run: the file is not one of this server's.
type ReplayError struct {
	At   int    // which of the commands given to Run
	Name string // as the file has it
	Text string // what is wrong, as the log tells it, without the file's name
}

// Error implements error.
func (e *ReplayError) Error() string { return e.Text }

// NewReplayer returns a Replayer at database 0. Close it.
func (e *Engine) NewReplayer() *Replayer {
	x := e.NewExecutor()
	x.quiet = true
	x.tx.SetTimeless(true)
	x.tx.SetAwaiter(nobody{})
	conn := &replayConn{}
	conn.w.Reset(make([]byte, 0, replayBuffer))
	c := &Client{w: &conn.w, x: x, conn: conn, e: e, mode: modeExec}
	c.shown.multi.Store(-1)
	return &Replayer{x: x, c: c}
}

// Close ends it. Commands behind a MULTI without EXEC are dropped.
func (r *Replayer) Close() {
	r.queue = nil
	r.x.Close()
}

// Failed returns how many commands answered an error, and Done how many ran at all.
func (r *Replayer) Failed() int64 { return r.failed }

// Done is described at Failed.
func (r *Replayer) Done() int64 { return r.done }

// InMulti reports whether commands behind a MULTI wait for its EXEC.
func (r *Replayer) InMulti() bool { return r.queue != nil }

// Reset goes back to where a new client starts, between two files: database 0, and
// commands behind a MULTI without EXEC are dropped.
func (r *Replayer) Reset() {
	r.queue = nil
	r.c.SetDB(0)
}

// Run runs n commands in order; argv returns the arguments of each, which are only read
// until Run returns. Commands between MULTI and EXEC run when EXEC comes. An error
// (*ReplayError) says that a command does not exist, has a wrong number of arguments, or
// that there is no memory for what it writes; those before it were run.
func (r *Replayer) Run(n int, argv func(i int) [][]byte) error {
	for at := 0; at < n; {
		k := min(replayLocked, n-at)
		if err := r.run(at, k, argv); err != nil {
			return err
		}
		at += k
	}
	return nil
}

// run runs k commands from the at-th on under one lock.
func (r *Replayer) run(at, k int, argv func(i int) [][]byte) error {
	x := r.x
	r.batch = r.batch[:0]
	for i := at; i < at+k; i++ {
		r.batch = append(r.batch, Pending{Client: r.c, Argv: argv(i)})
	}
	x.startTurn()
	x.prepare(r.batch)
	all := x.ks.AllShards()
	x.ks.Lock(all)
	defer x.ks.Unlock(all)
	for i := range r.batch {
		x.fetch(r.batch, 0, i)
		if err := r.take(&r.batch[i]); err != nil {
			err.At = at + i
			return err
		}
	}
	x.trim()
	return nil
}

// take runs a command, or keeps it for EXEC.
func (r *Replayer) take(p *Pending) *ReplayError {
	if err := r.check(p); err != nil {
		return err
	}
	switch p.spec.Name {
	case "watch", "unwatch": // nobody else is there
		return nil
	case "multi":
		if r.queue == nil {
			r.queue = [][][]byte{}
		}
		return nil
	case "exec", "discard":
		queue := r.queue
		r.queue = nil
		if p.spec.Name == "discard" {
			return nil
		}
		return r.exec(queue)
	}
	if r.queue != nil {
		r.queue = append(r.queue, clone(p.Argv))
		return nil
	}
	return r.one(p)
}

// exec runs what was queued.
func (r *Replayer) exec(queue [][][]byte) *ReplayError {
	keys := len(r.x.keys)
	for _, argv := range queue {
		p := Pending{Client: r.c, Argv: argv, count: -1}
		if err := r.check(&p); err != nil {
			return err
		}
		if err := r.one(&p); err != nil {
			return err
		}
	}
	r.x.keys = r.x.keys[:keys]
	return nil
}

// check finds the command.
func (r *Replayer) check(p *Pending) *ReplayError {
	if len(p.Argv) == 0 {
		return &ReplayError{Text: "Empty command"}
	}
	name := string(cut(p.Argv[0], unknownMaxLen))
	if p.spec == nil {
		p.spec = r.x.e.table.Lookup(p.Argv[0])
	}
	if p.spec == nil || gateExists(r.x, r.c, p) != "" {
		return &ReplayError{Name: name, Text: fmt.Sprintf("Unknown command '%s'", name)}
	}
	if gateArity(r.x, r.c, p) != "" {
		return &ReplayError{Name: name, Text: fmt.Sprintf("Wrong number of arguments for command '%s'", name)}
	}
	return nil
}

// one runs a command with the whole keyspace locked.
func (r *Replayer) one(p *Pending) (fault *ReplayError) {
	x, c, s := r.x, r.c, p.spec
	defer func() {
		if v := recover(); v != nil {
			x.begun = false
			x.tx.Abort()
			c.w.Rewind(resp.Mark{})
			fault = &ReplayError{Name: s.FullName(), Text: "Out of memory at command '" + s.FullName() + "'"}
			if v != db.ErrOutOfMemory {
				fault.Text = string(x.panicText(v, p.Argv, c)) + " at command '" + s.FullName() + "'"
			}
		}
	}()
	r.done++
	x.call.Start(s, p.Argv, c.w)
	x.call.SetLogged(false)
	x.begun = true
	x.tx.Begin(c.db, x.now, x.ks.AllShards(), s.Write != nil || s.Flags&command.Writes != 0)
	err := r.call(p)
	x.tx.End()
	x.begun = false
	c.mode = modeExec
	c.w.Rewind(resp.Mark{})
	switch {
	case err == nil, errors.Is(err, command.ErrAside), isParked(err):
	case errors.Is(err, db.ErrOutOfMemory):
		return &ReplayError{Name: s.FullName(), Text: "Out of memory at command '" + s.FullName() + "'"}
	default:
		r.failed++
		if r.Report != nil {
			r.Report(p.Argv, err)
		}
	}
	if cap(c.w.Bytes()) > keptArgs {
		c.w.Reset(make([]byte, 0, replayBuffer))
	}
	return nil
}

// errNotReplayed is for commands about the server.
var errNotReplayed = errors.New("not for files")

// call calls the handler.
func (r *Replayer) call(p *Pending) error {
	x, s := r.x, p.spec
	switch {
	case s.Write != nil:
		if p.count == 1 {
			x.prime(p, s)
		}
		return s.Write(&x.call, x.tx)
	case s.Read != nil:
		return s.Read(&x.call, x.tx)
	case s.Flags&(command.Admin|command.Pushes) != 0 && s.Flags&command.Writes == 0:
		return errNotReplayed
	}
	return s.Control(&x.call, r.c)
}

// nobody awaits no key.
type nobody struct{}

func (nobody) Ready(int, uint64, []byte) {}
func (nobody) Replaced(int, int)         {}

// replayConn is the connection of a Replayer's client: there is none.
type replayConn struct{ w resp.Writer }

func (c *replayConn) Writer() *resp.Writer { return &c.w }
func (c *replayConn) Kill()                {}
func (c *replayConn) Post(func())          {}
func (c *replayConn) RemoteAddr() string   { return "" }
func (c *replayConn) LocalAddr() string    { return "" }
func (c *replayConn) FD() int              { return -1 }
func (c *replayConn) Worker() int          { return -1 }
func (c *replayConn) Push(_ byte, _ []byte, f resp.Releaser) {
	if f != nil {
		f.Release()
	}
}
func (c *replayConn) Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64) { return }

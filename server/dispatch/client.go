package dispatch

import (
	"sync"
	"sync/atomic"

	"heddle/db"
	"heddle/db/invariants"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/pubsub"
)

// Client is the state of one connection. Its methods belong to the goroutine
// of its Executor, except where they say otherwise.
type Client struct {
	// What every command reads, together.
	w    *resp.Writer
	db   int
	mode mode
	x    *Executor
	conn Conn
	e    *Engine

	user     string // "" before authentication
	multi    *multiState
	watcher  db.Watcher
	watching bool

	parked *parked
	watch  *monitorQueue // what MONITOR shows; nil: it never said it
	names  int64         // bytes of long names

	sub  *pubsub.Subscriber // nil: it never subscribed
	late []byte             // messages that wait for the end of EXEC

	owed    oplog.Offset // see Owed
	id      int64
	created int64 // seconds
	shown   shown
}

// mode is the set of what makes a client different from one that just sends
// commands. None of it: the short way is open.
type mode uint32

const (
	modeMulti      mode = 1 << iota // MULTI was said
	modeUnauth                      // not authenticated (which matters only if there is a password)
	modeReplyOff                    // CLIENT REPLY OFF
	modeReplySkip                   // this command's reply is dropped
	modeSkipNext                    // the next one's will be
	modeClosing                     // closes once its replies are sent
	modeBlocked                     // parked or paused
	modeMonitor                     // MONITOR
	modeNoTouch                     // CLIENT NO-TOUCH
	modeNoEvict                     // CLIENT NO-EVICT
	modeExec                        // EXEC runs
	modeDirtyExec                   // a command was refused since MULTI
	modeGone                        // the connection is closed
	modeSubscribed                  // it has subscriptions
)

// special are the modes with which a command takes the way through all gates.
const special = modeMulti | modeUnauth | modeReplyOff | modeReplySkip | modeSkipNext | modeClosing | modeBlocked | modeNoTouch | modeGone | modeSubscribed

// shown is what other goroutines may see of a client. Its owner publishes it,
// at most once a turn.
type shown struct {
	cmd    atomic.Pointer[command.Spec]
	last   atomic.Int64 // seconds of the last command
	db     atomic.Int32
	proto  atomic.Int32
	subs   [3]atomic.Int32 // subscriptions, by pubsub.Kind
	subMem atomic.Int64    // bytes of those
	multi  atomic.Int32    // queued commands, -1 outside MULTI
	queue  atomic.Int64    // bytes of the MULTI queue
	mode   atomic.Uint32
	parked atomic.Pointer[parked]

	mu              sync.Mutex
	name, user      string
	libName, libVer string
}

// NewClient starts a session for a new connection, on the goroutine of x.
func (x *Executor) NewClient(conn Conn) *Client {
	c := &Client{w: conn.Writer(), x: x, conn: conn, e: x.e}
	c.shown.proto.Store(2)
	c.shown.multi.Store(-1)
	c.greet()
	c.created = x.e.clock.Wall() / 1e9
	c.shown.last.Store(c.created)
	x.e.clients.add(c)
	x.won()
	return c
}

// greet gives the client the rights of a new connection.
func (c *Client) greet() {
	c.mode |= modeUnauth
	c.setUser("default")
	if c.e.Settings().RequirePass == "" {
		c.mode &^= modeUnauth
	}
	c.showMode()
}

// Close ends the session when the connection is gone. Further calls do nothing.
func (c *Client) Close() {
	if c.mode&modeGone != 0 {
		return
	}
	c.mode |= modeGone
	c.e.clients.remove(c)
	c.x.lost()
	c.unpark()
	c.x.forget(c)
	c.discard()
	c.e.monitors.remove(c)
	c.unsubscribe()
}

// Movable reports whether the client may go to another executor: nothing of it is known
// to this one, or runs on its goroutine, beside the connection.
func (c *Client) Movable() bool {
	const tied = modeMulti | modeBlocked | modeMonitor | modeExec | modeGone | modeClosing | modeSubscribed
	return c.mode&tied == 0 && c.multi == nil && !c.watching && c.parked == nil && c.sub == nil && c.watch == nil
}

// Leave takes a Movable client from its executor, on the goroutine of that. Until Join
// nothing else may be done with it but what any goroutine may.
func (c *Client) Leave() {
	invariants.Assert(c.Movable(), "a client that is not movable leaves its executor")
	c.x.lost()
	c.x = nil
}

// Join gives the client to an executor, on the goroutine of that.
func (c *Client) Join(x *Executor) {
	c.x = x
	x.won()
}

// won and lost count the executor's clients.
func (x *Executor) won() {
	if x.clients++; x.clients == 1 {
		x.e.busy.Add(1)
	}
}

func (x *Executor) lost() {
	if x.clients--; x.clients == 0 {
		x.e.busy.Add(-1)
	}
}

// ID is the client's number, unique since the start. From any goroutine.
func (c *Client) ID() int64 { return c.id }

// Blocked reports whether the client waits: parked by a blocking command, or
// held back by CLIENT PAUSE. Its further commands must not be run until then.
func (c *Client) Blocked() bool { return c.mode&modeBlocked != 0 }

// Closing reports whether the connection is to be closed once the replies so
// far are sent.
func (c *Client) Closing() bool { return c.mode&modeClosing != 0 }

// Monitoring reports whether the client said MONITOR.
func (c *Client) Monitoring() bool { return c.mode&modeMonitor != 0 }

// Memory is about how many bytes the client makes the server keep: commands that
// are queued or wait, watched keys, long names.
func (c *Client) Memory() int64 {
	n := c.names
	if c.multi != nil {
		n += c.multi.bytes()
	}
	if c.parked != nil {
		n += c.parked.size
	}
	if c.watching {
		n += c.watcher.MemSize()
	}
	if c.sub != nil {
		n += c.sub.MemSize()
	}
	return n
}

// Authenticated reports whether the client may run commands that need a user.
func (c *Client) Authenticated() bool {
	return c.mode&modeUnauth == 0 || c.e.Settings().RequirePass == ""
}

// NoEvict reports whether maxmemory-clients spares the client.
func (c *Client) NoEvict() bool { return c.mode&modeNoEvict != 0 }

// Class tells the kinds of clients apart that client-output-buffer-limit knows.
type Class int

// The classes of clients.
const (
	ClassNormal Class = iota
	ClassReplica
	ClassPubSub
)

// Class is the client's class. A monitor counts as normal, as in Redis.
func (c *Client) Class() Class {
	if c.mode&modeSubscribed != 0 {
		return ClassPubSub
	}
	return ClassNormal
}

// ReplyOff reports whether the client wants no replies, as connections that
// answer protocol errors themselves need to know.
func (c *Client) ReplyOff() bool { return c.mode&(modeReplyOff|modeReplySkip) != 0 }

func (c *Client) showMode() { c.shown.mode.Store(uint32(c.mode)) }

func (c *Client) setUser(name string) {
	c.user = name
	c.shown.mu.Lock()
	c.shown.user = name
	c.shown.mu.Unlock()
}

// publish shows other goroutines which command the client ran last.
func (c *Client) publish(s *command.Spec) {
	c.shown.cmd.Store(s)
	c.shown.last.Store(c.x.unix())
	if uint32(c.mode) != c.shown.mode.Load() {
		c.showMode()
	}
	if c.multi != nil {
		c.shown.queue.Store(c.multi.bytes())
		c.shown.multi.Store(int32(len(c.multi.cmds)))
	} else if c.shown.multi.Load() != -1 {
		c.shown.queue.Store(0)
		c.shown.multi.Store(-1)
	}
}

// dropReply takes the reply since m back if the client does not want it.
func (c *Client) dropReply(m resp.Mark) {
	if c.mode&(modeReplyOff|modeReplySkip) != 0 {
		c.w.Rewind(m)
	}
	if c.mode&(modeReplySkip|modeSkipNext) != 0 {
		skip := c.mode&modeSkipNext != 0
		c.mode &^= modeReplySkip | modeSkipNext
		if skip {
			c.mode |= modeReplySkip
		}
	}
}

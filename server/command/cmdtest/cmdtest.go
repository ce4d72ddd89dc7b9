// Package cmdtest runs commands without a server: one shard, a clock that
// stands still, no sockets. What runs is the real dispatch, so a family is
// tested with all that surrounds it.
//
//	e := cmdtest.New(t, str.Family(limit))
//	e.Do("set k v").Want("+OK\r\n")
//	e.Do(`get "k"`).WantText(`"v"`)
//	e.Propagated("set k v")
//
// Files runs cases from text files, whose replies come from redis-server: see
// there.
package cmdtest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/dispatch"
)

// Start is the instant at which the clock of an Env stands first.
const Start db.Millis = 1_700_000_000_000

// Env is a server without sockets. It embeds its first Client.
type Env struct {
	*Client
	Engine   *dispatch.Engine
	Keyspace *db.Keyspace

	t      testing.TB
	clock  *Clock
	exec   *dispatch.Executor
	log    []string
	events []string
	oplog  effects
	mu     sync.Mutex // guards posted: commands that go aside post from elsewhere
	posted []func()
	ports  int
	closed bool
}

// Option changes how an Env is built.
type Option func(*dispatch.Options, *db.Options)

// WithPassword gives the default user a password.
func WithPassword(password string) Option {
	return func(o *dispatch.Options, _ *db.Options) { o.Settings.RequirePass = password }
}

// WithShards cuts the keyspace into n shards.
func WithShards(n int) Option {
	return func(_ *dispatch.Options, o *db.Options) { o.Shards = n }
}

// New builds a server that knows the commands of the families.
func New(t testing.TB, families ...command.Family) *Env {
	t.Helper()
	return NewWith(t, nil, families...)
}

// NewWith is New with options.
func NewWith(t testing.TB, opts []Option, families ...command.Family) *Env {
	t.Helper()
	table, err := command.NewTable(families...)
	if err != nil {
		t.Fatal(err)
	}
	e := &Env{t: t, clock: newClock(Start)}
	do := dispatch.Options{
		Table: table, Oplog: &e.oplog, Clock: e.clock, Event: e.event,
		Log: func(line string) { e.log = append(e.log, line) },
	}
	ko := db.Options{Shards: 1}
	for _, o := range opts {
		o(&do, &ko)
	}
	if e.Keyspace, err = db.Open(ko); err != nil {
		t.Fatal(err)
	}
	do.Keyspace = e.Keyspace
	e.Engine = dispatch.New(do)
	e.exec = e.Engine.NewExecutor()
	e.Client = e.NewClient()
	t.Cleanup(e.Close)
	return e
}

// Close checks the whole world once more and gives its memory back. The end of
// the test does that, too.
func (e *Env) Close() {
	if e.closed {
		return
	}
	e.closed = true
	for _, line := range e.log {
		e.t.Errorf("logged: %s", line)
	}
	e.exec.Close()
	if err := e.Keyspace.Check(); err != nil {
		e.t.Errorf("the keyspace is broken: %v", err)
	}
	e.Keyspace.Close()
}

// Log returns what was logged so far and forgets it; what is left at the end
// of the test fails it.
func (e *Env) Log() []string {
	log := e.log
	e.log = nil
	return log
}

// Now is the instant at which the clock stands.
func (e *Env) Now() db.Millis { return e.clock.now() }

// Advance moves the clock on and lets everything happen that is due.
func (e *Env) Advance(d db.Millis) {
	e.clock.advance(d)
	e.settle()
}

// Expire removes what has expired by now, as the server does a few times a second.
func (e *Env) Expire() {
	e.Keyspace.ExpireCycle(e.Now(), math.MaxInt)
	e.settle()
}

// settle runs what was posted to connections, and what is posted meanwhile.
func (e *Env) settle() {
	e.Engine.WaitAside()
	e.exec.Expire()
	for {
		e.mu.Lock()
		posted := e.posted
		e.posted = nil
		e.mu.Unlock()
		if len(posted) == 0 {
			return
		}
		for _, fn := range posted {
			fn()
		}
	}
}

func (e *Env) post(fn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.posted = append(e.posted, fn)
}

func (e *Env) event(_ int, _ db.Class, event string, key []byte) {
	e.events = append(e.events, event+" "+string(key))
}

// Events checks the keyspace events since the last call: event, space, key.
// Those that notify-keyspace-events has to ask for, new and keymiss, are among
// them.
func (e *Env) Events(want ...string) {
	e.t.Helper()
	if !slices.Equal(e.events, want) {
		e.t.Errorf("events %q, want %q", e.events, want)
	}
	e.events = nil
}

// Propagated checks the effects since the last call, each as words. A change
// of database shows as "select n".
func (e *Env) Propagated(want ...string) {
	e.t.Helper()
	if !slices.Equal(e.oplog.lines, want) {
		e.t.Errorf("propagated %q, want %q", e.oplog.lines, want)
	}
	e.oplog.lines = nil
}

// Effects returns the effects since the last call, as Propagated checks them.
func (e *Env) Effects() []string {
	lines := e.oplog.lines
	e.oplog.lines = nil
	return lines
}

// Groups is Propagated for groups: effects that stay together, joined by "; ".
func (e *Env) Groups(want ...string) {
	e.t.Helper()
	if !slices.Equal(e.oplog.groups, want) {
		e.t.Errorf("propagated groups %q, want %q", e.oplog.groups, want)
	}
	e.oplog.groups = nil
}

// TakeGroups returns the groups of effects so far, as Groups compares them, and forgets
// them.
func (e *Env) TakeGroups() []string {
	groups := e.oplog.groups
	e.oplog.groups = nil
	return groups
}

// Forget forgets the events and effects so far: of what only prepares a test.
func (e *Env) Forget() { e.events, e.oplog.lines, e.oplog.groups = nil, nil, nil }

// effects keeps effects as text.
type effects struct {
	db     int
	lines  []string
	groups []string
}

func (o *effects) Active() bool      { return true }
func (o *effects) Wake()             {}
func (o *effects) End() oplog.Offset { return oplog.Offset(len(o.groups)) }

func (o *effects) Append(_ int64, group []oplog.Effect) oplog.Offset {
	var lines []string
	for _, ef := range group {
		if ef.DB != o.db {
			o.db = ef.DB
			lines = append(lines, fmt.Sprintf("select %d", ef.DB))
		}
		lines = append(lines, joinWords(ef.Argv))
	}
	o.lines = append(o.lines, lines...)
	o.groups = append(o.groups, strings.Join(lines, "; "))
	return o.End()
}

// joinWords spells arguments so that Words reads them back, the name in lower
// case.
func joinWords(argv [][]byte) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = string(a)
		if i == 0 {
			words[i] = strings.ToLower(words[i])
		}
		if words[i] == "" || strings.ContainsFunc(words[i], func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r > '~' }) {
			words[i] = string(dispatch.AppendQuoted(nil, a))
		}
	}
	return strings.Join(words, " ")
}

// Client is a connection of an Env.
type Client struct {
	*dispatch.Client
	env  *Env
	conn *conn
}

// NewClient opens a further connection.
func (e *Env) NewClient() *Client {
	e.ports++
	c := &conn{env: e, port: 50000 + e.ports}
	return &Client{Client: e.exec.NewClient(c), env: e, conn: c}
}

// RESP3 and RESP2 switch the protocol version.
func (c *Client) RESP3() *Client { return c.proto(3) }

// RESP2 is the other direction.
func (c *Client) RESP2() *Client { return c.proto(2) }

func (c *Client) proto(v int) *Client {
	c.SetProto(v)
	return c
}

// Killed reports whether the connection was closed by CLIENT KILL.
func (c *Client) Killed() bool { return c.conn.killed }

// Do runs a command given as words, as redis-cli reads them.
func (c *Client) Do(line string) *Reply {
	c.env.t.Helper()
	words, err := Words(line)
	if err != nil {
		c.env.t.Fatalf("%s: %v", line, err)
	}
	return c.Argv(words...)
}

// Argv runs a command with exactly these arguments.
func (c *Client) Argv(args ...string) *Reply {
	c.env.t.Helper()
	return c.Pipeline(args)
}

// Pipeline runs several commands in one batch; the replies come as one.
func (c *Client) Pipeline(commands ...[]string) *Reply {
	c.env.t.Helper()
	batch := make([]dispatch.Pending, len(commands))
	for i, args := range commands {
		argv := make([][]byte, len(args))
		for j, a := range args {
			argv[j] = []byte(a)
		}
		batch[i] = dispatch.Pending{Client: c.Client, Argv: argv}
	}
	c.env.Run(batch)
	return &Reply{t: c.env.t, cmd: strings.Join(commands[0], " "), raw: c.conn.take()}
}

// Run runs a batch as a worker does; what was posted to connections runs behind
// it.
func (e *Env) Run(batch []dispatch.Pending) {
	e.exec.RunBatch(batch)
	e.settle()
}

// Executor is what runs the commands of all clients.
func (e *Env) Executor() *dispatch.Executor { return e.exec }

// Received returns what the connection was sent since the last reply: the
// answer of a command that had waited, lines of MONITOR.
func (c *Client) Received() *Reply {
	c.env.settle()
	return &Reply{t: c.env.t, cmd: "(received)", raw: c.conn.take()}
}

// conn is a connection without a socket.
type conn struct {
	env    *Env
	w      resp.Writer
	port   int
	killed bool
}

func (c *conn) Writer() *resp.Writer { return &c.w }
func (c *conn) Kill()                { c.killed = true }
func (c *conn) Post(fn func())       { c.env.post(fn) }
func (c *conn) Push(head byte, rest []byte, free resp.Releaser) {
	c.w.PushRaw(head, rest, free)
}
func (c *conn) RemoteAddr() string { return fmt.Sprintf("127.0.0.1:%d", c.port) }
func (c *conn) LocalAddr() string  { return "127.0.0.1:6379" }
func (c *conn) FD() int            { return c.port - 50000 + 7 }
func (c *conn) Worker() int        { return 0 }

func (c *conn) Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64) { return }

// take returns the replies with their external pieces and streams in place.
func (c *conn) take() string {
	text := c.w.Flatten(nil)
	c.w.Reset(nil)
	return string(text)
}

package server

import (
	"net/netip"
	"strconv"
	"sync/atomic"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/dispatch"
	"heddle/server/poll"
)

// conn is a connection. It belongs to its worker's goroutine, except for what
// is said to be for any goroutine.
type conn struct {
	w      atomic.Pointer[worker] // to which mail is sent, see move.go
	s      *Server
	client *dispatch.Client
	fd     int
	slot   uint32 // where the worker keeps it
	gen    uint32 // tells it from earlier ones of that slot
	state  state
	want   poll.Event // what the poller waits for

	out   resp.Writer // replies since the last flush
	queue outQueue    // replies that the peer did not take yet

	reader resp.Reader
	in     input // what was read and not executed

	// A large argument that is read into memory of its own, and how much of
	// it is there.
	big     *db.Big
	bigHave int

	batch batchPart

	// window is how much it may read in a turn into the buffer that it shares
	// with others: readMin, readMax while its reads fill that or its arguments
	// are large, 0 after some silence. grew: that it needed readMax since
	// housekeeping last looked.
	window int32
	grew   bool
	gate   oplog.Offset // what the replies that wait for the disk wait for
	share  int32        // commands it may run in the next turn; 0: as any

	lastRead int64 // when the peer or we last did something, in seconds
	softAt   int64 // since when the soft output limit is exceeded; 0: it is not
	mem      int64 // what was last reported to the worker
	lent     int64 // how much of that is memory of the keyspace

	inLine int // how often it stands in line with messages, its flag aside

	to  *worker // where it is to move; nil: nowhere
	why int64   // the trial for which it moved last, see balance.go
	ops int64   // commands, of late

	remote, local netip.AddrPort // invalid for a unix socket

	killed atomic.Bool // any goroutine sets it
	shown  shownBuffers
}

// batchPart is what a connection has in the batch that is being made.
type batchPart struct {
	input   []byte // where its commands came from
	parsed  int    // how much of it was understood
	first   int32  // its commands
	count   int32
	own     bool // input is conn.in, else the worker's shared buffer
	more    bool // the turn's share was reached
	problem error
}

// state is what keeps a connection from just being served.
type state uint16

const (
	stateBatch   state = 1 << iota // it has commands in the batch
	stateDirty                     // it is on the worker's list of those with replies
	stateAgain                     // it is on the list of those with commands left over
	statePaused                    // its peer takes no replies: nothing is executed
	stateEOF                       // the peer sends nothing more
	stateClosing                   // it is closed once its replies are sent
	stateLinger                    // all is sent; the rest of its input is awaited, to be dropped
	stateClosed
	statePosted // it is in line with messages to be sent
	stateGated  // its replies wait for the disk: nothing is executed
	stateOver   // more messages would exceed its output limit: it is closed
)

// shownBuffers is what any goroutine may see, published once a turn.
type shownBuffers struct {
	qbuf, qbufFree, argv, obl, oll, omem, total atomic.Int64
}

// Writer is where the client's replies go.
func (c *conn) Writer() *resp.Writer { return &c.out }

// Kill closes the connection at once. From any goroutine.
func (c *conn) Kill() {
	if !c.killed.Swap(true) {
		c.w.Load().mail.send(mail{conn: c})
	}
}

// Post has fn run on the worker. From any goroutine.
func (c *conn) Post(fn func()) { c.w.Load().mail.send(mail{conn: c, fn: fn}) }

// RemoteAddr is the peer. From any goroutine.
func (c *conn) RemoteAddr() string { return c.address(c.remote) }

// LocalAddr is our end. From any goroutine.
func (c *conn) LocalAddr() string { return c.address(c.local) }

func (c *conn) address(a netip.AddrPort) string {
	if !a.IsValid() {
		return c.s.unix + ":0"
	}
	return a.String()
}

// FD is the descriptor. From any goroutine.
func (c *conn) FD() int { return c.fd }

// Worker is the worker's number. From any goroutine.
func (c *conn) Worker() int { return c.w.Load().id }

// Buffers tells what memory the connection uses. The free room for input is
// what it may read before it needs memory of its own, and costs nothing. From
// any goroutine.
func (c *conn) Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64) {
	s := &c.shown
	return s.qbuf.Load(), s.qbufFree.Load(), s.argv.Load(), s.obl.Load(), s.oll.Load(), s.omem.Load(),
		connSize + s.total.Load()
}

// connSize is what a connection costs without buffers.
const connSize = 1536

// publish shows others the buffers, and tells the worker their size.
func (c *conn) publish() {
	qbuf, free := int64(c.in.len()), int64(c.in.room())+int64(c.window)
	var argv int64
	if c.big != nil {
		qbuf, argv = int64(c.bigHave), int64(c.big.Len())
	}
	total, queued := int64(len(c.in.b))+argv+c.queue.held, c.client.Memory()
	if total+queued == 0 && c.mem == 0 && c.shown.qbufFree.Load() == free {
		return
	}
	s := &c.shown
	set(&s.qbuf, qbuf)
	set(&s.qbufFree, free)
	set(&s.argv, argv)
	set(&s.oll, int64(c.queue.pieces()))
	set(&s.omem, c.queue.weight())
	set(&s.total, total)
	total += queued
	lent := argv + c.queue.lent
	w := c.w.Load()
	w.mem += total - c.mem
	w.lent += lent - c.lent
	c.mem, c.lent = total, lent
}

// set stores only what changed: an atomic store costs much more than a load.
func set(a *atomic.Int64, v int64) {
	if a.Load() != v {
		a.Store(v)
	}
}

// held reports whether the connection's commands must wait.
func (c *conn) held() bool { return c.state&(statePaused|stateGated) != 0 || c.client.Blocked() }

// owed reports whether the connection gets replies to what it sent before.
func (c *conn) owed() bool { return c.state&(stateAgain|statePaused) != 0 || c.client.Aside() }

// String describes the connection for the log.
func (c *conn) String() string {
	b := []byte("id=")
	b = strconv.AppendInt(b, c.client.ID(), 10)
	b = append(b, " addr="...)
	b = append(b, c.RemoteAddr()...)
	b = append(b, " laddr="...)
	b = append(b, c.LocalAddr()...)
	b = append(b, " fd="...)
	b = strconv.AppendInt(b, int64(c.fd), 10)
	b = append(b, " name="...)
	b = append(b, c.client.Name()...)
	b = append(b, " qbuf="...)
	b = strconv.AppendInt(b, int64(c.in.len()+c.bigHave), 10)
	b = append(b, " omem="...)
	b = strconv.AppendInt(b, c.queue.weight(), 10)
	return string(b)
}

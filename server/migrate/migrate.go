// Package migrate sends keys to other servers, for MIGRATE, over connections that it keeps
// for a while.
package migrate

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"heddle/server/command/generic"
)

const (
	// idleMax is how long a connection is kept that nobody uses, linksMax how many are.
	idleMax  = 10 * time.Second
	linksMax = 64
	// piece is how many bytes are to be written within one timeout.
	piece = 64 << 10
	// lineMax is the longest reply that is understood.
	lineMax = 64 << 10
)

// Mover is a generic.Mover. A connection is used by one job at a time; when the job is done
// it waits for the next to the same server.
type Mover struct {
	mu     sync.Mutex
	idle   []*link // the longest idle first
	closed bool
}

// New returns a Mover without connections.
func New() *Mover { return &Mover{} }

// link is a connection to a server.
type link struct {
	addr string
	conn net.Conn
	in   *bufio.Reader
	db   int64 // that is selected; -1: not known
	idle *time.Timer
}

// Close closes all connections that are idle, and those in use when their job is done.
func (m *Mover) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, l := range m.idle {
		l.idle.Stop()
		_ = l.conn.Close()
	}
	m.idle = nil
}

// Idle returns how many connections wait for a job.
func (m *Mover) Idle() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.idle)
}

// take returns a connection to a server, perhaps one that was used before.
func (m *Mover) take(addr string, timeout time.Duration) (*link, error) {
	m.mu.Lock()
	for i, l := range m.idle {
		if l.addr == addr {
			m.idle = append(m.idle[:i], m.idle[i+1:]...)
			m.mu.Unlock()
			l.idle.Stop()
			return l, nil
		}
	}
	m.mu.Unlock()
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	return &link{addr: addr, conn: conn, in: bufio.NewReaderSize(conn, lineMax), db: -1}, nil
}

// give keeps a connection for later.
func (m *Mover) give(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		_ = l.conn.Close()
		return
	}
	if len(m.idle) == linksMax {
		m.drop(0)
	}
	l.idle = time.AfterFunc(idleMax, func() { m.expire(l) })
	m.idle = append(m.idle, l)
}

// drop closes the idle connection at i.
func (m *Mover) drop(i int) {
	l := m.idle[i]
	m.idle = append(m.idle[:i], m.idle[i+1:]...)
	l.idle.Stop()
	_ = l.conn.Close()
}

// expire closes a connection if it is idle still.
func (m *Mover) expire(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.idle {
		if m.idle[i] == l {
			m.drop(i)
			return
		}
	}
}

// Move does a job. A connection that breaks before anything was done, as one does that the
// other side has closed meanwhile, is replaced once.
func (m *Mover) Move(j *generic.MoveJob) {
	timeout := time.Duration(j.Timeout) * time.Millisecond
	for try := 0; ; try++ {
		j.IOError = ""
		l, err := m.take(net.JoinHostPort(j.Addr, j.Port), timeout)
		if err != nil {
			j.IOError = dialError(err)
			return
		}
		t := transfer{l: l, j: j, timeout: timeout}
		err = t.run()
		if err == nil {
			m.give(l)
			return
		}
		_ = l.conn.Close()
		if try > 0 || t.done > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// dialError says what could not be done. As in Redis, a server that refuses the connection
// is one that cannot be written to.
func dialError(err error) string {
	var name *net.DNSError
	var e net.Error
	if errors.As(err, &name) || errors.As(err, &e) && e.Timeout() {
		return "connecting"
	}
	return "writing"
}

// transfer is a job on a connection.
type transfer struct {
	l       *link
	j       *generic.MoveJob
	timeout time.Duration
	out     []byte
	done    int // keys
}

// errRefused ends a transfer that the other server refused, but whose connection is in order.
var errRefused = errors.New("refused")

func (t *transfer) run() error {
	switch err := t.prepare(); {
	case errors.Is(err, errRefused):
		return nil
	case err != nil:
		return err
	}
	for i := range t.j.Keys {
		t.key(&t.j.Keys[i])
		if err := t.flush(piece); err != nil {
			return err
		}
	}
	if err := t.flush(0); err != nil {
		return err
	}
	for i := range t.j.Keys {
		ok, err := t.reply()
		if err != nil {
			return err
		}
		t.j.Keys[i].Done = ok
		t.done++
	}
	return nil
}

// prepare authenticates and selects the database.
func (t *transfer) prepare() error {
	if t.j.Password != nil {
		if t.j.User != nil {
			t.command([]byte("AUTH"), t.j.User, t.j.Password)
		} else {
			t.command([]byte("AUTH"), t.j.Password)
		}
		if err := t.ask(); err != nil {
			return err
		}
	}
	if t.l.db == t.j.DB {
		return nil
	}
	t.l.db = -1
	t.command([]byte("SELECT"), strconv.AppendInt(nil, t.j.DB, 10))
	if err := t.ask(); err != nil {
		return err
	}
	t.l.db = t.j.DB
	return nil
}

// ask sends what was written and waits for its reply.
func (t *transfer) ask() error {
	if err := t.flush(0); err != nil {
		return err
	}
	ok, err := t.reply()
	if err == nil && !ok {
		return errRefused
	}
	return err
}

// key writes the command that makes, or deletes, a key.
func (t *transfer) key(k *generic.MoveKey) {
	if k.Payload == nil {
		t.command([]byte("DEL"), k.Key)
		return
	}
	argv := [][]byte{[]byte("RESTORE"), k.Key, strconv.AppendInt(nil, int64(k.TTL), 10), k.Payload, []byte("REPLACE")}
	if !k.Replace {
		argv = argv[:4]
	}
	t.command(argv...)
}

func (t *transfer) command(argv ...[]byte) {
	t.out = fmt.Appendf(t.out, "*%d\r\n", len(argv))
	for _, a := range argv {
		t.out = fmt.Appendf(t.out, "$%d\r\n", len(a))
		t.out = append(append(t.out, a...), '\r', '\n')
	}
}

// flush sends what was written if it is more than least bytes.
func (t *transfer) flush(least int) error {
	if len(t.out) <= least {
		return nil
	}
	for b := t.out; len(b) > 0; {
		n := min(len(b), piece)
		err := t.l.conn.SetWriteDeadline(time.Now().Add(t.timeout))
		if err == nil {
			_, err = t.l.conn.Write(b[:n])
		}
		if err != nil {
			t.j.IOError = "writing"
			return err
		}
		b = b[n:]
	}
	t.out = t.out[:0]
	return nil
}

// reply reads a reply of one line; false for an error, of which the first is noted.
func (t *transfer) reply() (ok bool, err error) {
	err = t.l.conn.SetReadDeadline(time.Now().Add(t.timeout))
	var line []byte
	if err == nil {
		line, err = t.l.in.ReadSlice('\n')
	}
	if err != nil {
		t.j.IOError = "reading"
		return false, err
	}
	text := strings.TrimRight(string(line), "\r\n")
	if !strings.HasPrefix(text, "-") {
		return true, nil
	}
	if t.j.Refused == "" {
		t.j.Refused = text[1:]
	}
	return false, nil
}

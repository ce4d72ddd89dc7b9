package dispatch

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/server/command"
)

// monitors are the clients that said MONITOR.
type monitors struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*Client] // replaced, never changed
}

func (m *monitors) all() []*Client {
	if l := m.list.Load(); l != nil {
		return *l
	}
	return nil
}

func (m *monitors) add(c *Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := append(slices.Clone(m.all()), c)
	m.list.Store(&l)
	c.e.setState(stateMonitor, true)
}

func (m *monitors) remove(c *Client) {
	if !slices.Contains(m.all(), c) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := slices.DeleteFunc(slices.Clone(m.all()), func(o *Client) bool { return o == c })
	m.list.Store(&l)
	c.e.setState(stateMonitor, len(l) > 0)
}

// feed sends a command that ran to the monitors.
func (x *Executor) feed(c *Client, s *command.Spec, argv [][]byte) {
	if s.Flags&(command.SkipMonitor|command.Admin) != 0 {
		return
	}
	line := x.monitorLine(c, argv)
	for _, m := range x.e.monitors.all() {
		m.watch.add(m, line)
	}
}

// monitorBound is how many bytes may wait for a monitor's worker to fetch them. It
// is there before long, and then client-output-buffer-limit counts; but one that
// stands still (DEBUG SLEEP) would let them pile up without limit.
const monitorBound = 64 << 20

// monitorQueue is what a monitor is to be shown and its worker did not fetch yet.
// One mail is under way while there is any.
type monitorQueue struct {
	mu    sync.Mutex
	lines []byte
	spare []byte // the worker's
}

// add queues a line. A monitor that has too many is closed.
func (q *monitorQueue) add(m *Client, line []byte) {
	q.mu.Lock()
	first, over := len(q.lines) == 0, len(q.lines)+len(line) > monitorBound
	if !over {
		q.lines = append(q.lines, line...)
	}
	q.mu.Unlock()
	switch {
	case over:
		m.conn.Kill()
	case first:
		m.conn.Post(m.fetchLines)
	}
}

// fetchLines sends a monitor what was queued, on its goroutine.
func (c *Client) fetchLines() {
	q := c.watch
	q.mu.Lock()
	lines := q.lines
	q.lines = q.spare[:0]
	q.mu.Unlock()
	if c.mode&modeMonitor != 0 {
		c.x.heard = -1
		c.oweHeard()
		c.w.Raw(lines)
	}
	if q.spare = lines; cap(lines) > keptArgs {
		q.spare = nil
	}
}

// monitorLine is how MONITOR shows a command.
func (x *Executor) monitorLine(c *Client, argv [][]byte) []byte {
	wall := x.wallBase + x.start
	b := fmt.Appendf(nil, "+%d.%06d [%d %s]", wall/1e9, wall%1e9/1e3, c.db, monitorAddr(c.conn.RemoteAddr()))
	for _, a := range x.visible(argv) {
		b = append(b, ' ')
		b = AppendQuoted(b, a)
	}
	return append(b, '\r', '\n')
}

// monitorAddr shows a unix socket as MONITOR does.
func monitorAddr(addr string) string {
	if n := len(addr); n > 2 && addr[0] == '/' && addr[n-2:] == ":0" {
		return "unix:" + addr[:n-2]
	}
	return addr
}

// AppendQuoted appends s in double quotes, with escapes for what does not
// print, as redis-cli and the Redis log show it.
func AppendQuoted(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, ch := range s {
		switch {
		case ch == '\\' || ch == '"':
			dst = append(dst, '\\', ch)
		case ch == '\n':
			dst = append(dst, `\n`...)
		case ch == '\r':
			dst = append(dst, `\r`...)
		case ch == '\t':
			dst = append(dst, `\t`...)
		case ch == '\a':
			dst = append(dst, `\a`...)
		case ch == '\b':
			dst = append(dst, `\b`...)
		case ch < 0x20 || ch > 0x7e:
			dst = append(dst, '\\', 'x', hex[ch>>4], hex[ch&15])
		default:
			dst = append(dst, ch)
		}
	}
	return append(dst, '"')
}

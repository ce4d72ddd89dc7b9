package difftest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Populate runs so many random commands on one server, in one of its databases, and
// looks at no reply. What is left is a keyspace as only chance makes it: every type,
// limits of encodings that changed while collections grew, deadlines, remains of
// transactions. Commands that empty databases or swap them are left out, and what makes
// redis-server read another value from a file than it wrote: scores of minus zero, which
// lose their sign when a file is loaded, and another limit for sparse HyperLogLogs, which
// no file tells.
func Populate(addr string, db int, o Options, commands int) error {
	o.Groups = slices.DeleteFunc(GroupNames(), func(name string) bool { return name == "server" || name == "connection" })
	g, err := NewGenerator(o)
	if err != nil {
		return err
	}
	conns := make([]*Client, o.Conns)
	defer func() {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	g.Fresh()
	for done := 0; done < commands; {
		batch := g.Batch()
		done += len(batch)
		at := batch[0].Conn
		if conns[at] == nil {
			if conns[at], err = dialDB(addr, db); err != nil {
				return err
			}
		}
		closed, err := conns[at].play(batch)
		if err != nil {
			return err
		}
		if closed {
			conns[at].Close()
			conns[at] = nil
		}
	}
	return nil
}

func dialDB(addr string, db int) (*Client, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	if r, err := c.Do("SELECT", strconv.Itoa(db)); err != nil || r.Kind == '-' {
		c.Close()
		return nil, fmt.Errorf("SELECT %d: %s %w", db, r.Raw, err)
	}
	return c, nil
}

// tame makes a command harmless to Populate.
func tame(argv [][]byte) {
	for i, a := range argv {
		switch {
		case string(a) == "-0":
			argv[i] = a[1:]
		case string(a) == "hll-sparse-max-bytes" && i+1 < len(argv):
			argv[i+1] = []byte("3000")
		}
	}
}

// play sends a batch, step by step where steps wait, and reads all replies. It reports
// whether the server was to close the connection.
func (c *Client) play(batch []Step) (closed bool, err error) {
	for i := 0; i < len(batch); {
		end := i
		var out []byte
		for end < len(batch) && len(out) < writeAtOnce {
			s := batch[end]
			if s.ScanLoop || s.Digest {
				break
			}
			tame(s.Argv)
			out = s.append(out)
			if end++; s.Wait > 0 || s.Closes {
				break
			}
		}
		if end == i { // nothing to send
			i++
			continue
		}
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		if _, err := c.conn.Write(out); err != nil {
			return false, err
		}
		var raw []byte
		for _, s := range batch[i:end] {
			if s.Replies == 0 {
				continue
			}
			if raw, err = c.read(raw[:0], s); s.Closes && (err == nil || err == io.EOF) {
				return true, nil
			}
			if err != nil {
				return false, fmt.Errorf("%s: %w", s, err)
			}
			time.Sleep(s.Wait)
		}
		i = end
	}
	return false, nil
}

// Send sends commands in one piece and reads no reply; see Receive.
func (c *Client) Send(commands ...[]string) error {
	c.out = c.out[:0]
	for _, argv := range commands {
		c.out = Step{Argv: words(argv...)}.append(c.out)
	}
	c.conn.SetDeadline(time.Now().Add(c.patience()))
	_, err := c.conn.Write(c.out)
	return err
}

// Receive reads the next reply.
func (c *Client) Receive() (Reply, error) {
	c.conn.SetDeadline(time.Now().Add(c.patience()))
	return readReply(c.in)
}

func (c *Client) patience() time.Duration {
	if c.Patience > 0 {
		return c.Patience
	}
	return replyTimeout
}

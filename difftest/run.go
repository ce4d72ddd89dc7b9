package difftest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"sort"
	"strconv"
	"strings"
	"time"
)

// replyTimeout is how long a server may take over one reply.
const replyTimeout = 10 * time.Second

// Pair is the two servers and equal connections to each.
type Pair struct {
	addrs [2]string // the oracle's, ours
	conns [][2]*Client
	comps []comparison
}

// Client is a connection to a server. It is not safe for concurrent use.
type Client struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to a server.
func Dial(addr string) (*Client, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Client{c, bufio.NewReaderSize(c, 64<<10)}, nil
}

// Do runs a command.
func (c *Client) Do(argv ...string) (Reply, error) {
	c.conn.SetDeadline(time.Now().Add(replyTimeout))
	if _, err := c.conn.Write(Step{Argv: words(argv...)}.append(nil)); err != nil {
		return Reply{}, err
	}
	return readReply(c.in)
}

// Close closes the connection.
func (c *Client) Close() { c.conn.Close() }

// NewPair opens n connections to each server.
func NewPair(oracle, ours string, n int) (*Pair, error) {
	p := &Pair{addrs: [2]string{oracle, ours}, conns: make([][2]*Client, n), comps: make([]comparison, n)}
	for i := range n {
		if err := p.reopen(i); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *Pair) reopen(i int) error {
	p.comps[i] = comparison{}
	for side, addr := range p.addrs {
		if c := p.conns[i][side]; c != nil {
			c.conn.Close()
		}
		c, err := Dial(addr)
		if err != nil {
			p.conns[i][side] = nil
			return err
		}
		p.conns[i][side] = c
	}
	return nil
}

// Close closes all connections.
func (p *Pair) Close() {
	for _, pair := range p.conns {
		for _, c := range pair {
			if c != nil {
				c.conn.Close()
			}
		}
	}
}

// Reset empties both servers and opens all connections anew.
func (p *Pair) Reset() error {
	for i := range p.conns {
		if err := p.reopen(i); err != nil {
			return err
		}
	}
	for _, c := range p.conns[0] {
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		if _, err := io.WriteString(c.conn, "FLUSHALL\r\n"); err != nil {
			return err
		}
		if reply, err := readReply(c.in); err != nil || string(reply.Raw) != "+OK\r\n" {
			return fmt.Errorf("FLUSHALL: %q, %v", reply.Raw, err)
		}
	}
	return nil
}

// Mismatch is a step to which the two servers answered differently.
type Mismatch struct {
	Step      Step
	Want, Got Reply
	WantErr   error // what the oracle's connection said instead of a reply
	GotErr    error // what ours said
}

// Describe shows both answers.
func (m *Mismatch) Describe() string {
	show := func(r Reply, err error) string {
		text := fmt.Sprintf("%q", r.Raw)
		if len(text) > 1500 {
			text = text[:1500] + fmt.Sprintf("... (%d bytes)", len(r.Raw))
		}
		if err != nil {
			text += " " + err.Error()
		}
		return text
	}
	return fmt.Sprintf("command %s\nredis   %s\nheddle  %s", m.Step, show(m.Want, m.WantErr), show(m.Got, m.GotErr))
}

// Run sends a batch to both servers in one piece each, reads the replies and
// returns the first mismatch, nil if there is none.
func (p *Pair) Run(batch []Step) (*Mismatch, error) {
	if batch[0].ScanLoop {
		return p.scanLoop(batch[0]), nil
	}
	var out []byte
	for _, s := range batch {
		out = s.append(out)
		if s.Wait > 0 && len(batch) > 1 {
			return p.oneByOne(batch)
		}
	}
	conn := batch[0].Conn
	for _, c := range p.conns[conn] {
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		go c.conn.Write(out) // while we read, lest both sides wait
	}
	for _, s := range batch {
		if m := p.compare(s); m != nil {
			return m, nil
		}
		if s.Closes {
			return nil, p.reopen(conn)
		}
		time.Sleep(s.Wait)
	}
	return nil, nil
}

func (p *Pair) oneByOne(batch []Step) (*Mismatch, error) {
	for _, s := range batch {
		if m, err := p.Run([]Step{s}); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

func (s Step) append(out []byte) []byte {
	if s.Raw != nil {
		return append(out, s.Raw...)
	}
	out = fmt.Appendf(out, "*%d\r\n", len(s.Argv))
	for _, a := range s.Argv {
		out = fmt.Appendf(out, "$%d\r\n", len(a))
		out = append(append(out, a...), '\r', '\n')
	}
	return out
}

// compare reads the replies to s from both sides.
func (p *Pair) compare(s Step) *Mismatch {
	var replies [2]Reply
	var errs [2]error
	if s.Replies == 0 {
		return nil
	}
	for side, c := range p.conns[s.Conn] {
		if s.Replies < 0 {
			replies[side].Raw, errs[side] = io.ReadAll(c.in)
			continue
		}
		replies[side], errs[side] = readReply(c.in)
		if errs[side] == nil && s.Closes {
			var rest []byte
			rest, errs[side] = io.ReadAll(c.in)
			replies[side].Raw = append(replies[side].Raw, rest...)
		}
	}
	m := &Mismatch{s, replies[0], replies[1], errs[0], errs[1]}
	if errs[0] != nil || errs[1] != nil {
		if errs[0] == io.EOF && errs[1] == io.EOF && bytes.Equal(m.Want.Raw, m.Got.Raw) {
			return nil
		}
		return m
	}
	if s.Replies < 0 {
		if bytes.Equal(m.Want.Raw, m.Got.Raw) {
			return nil
		}
		return m
	}
	if p.comps[s.Conn].same(s, m.Want, m.Got) {
		return nil
	}
	return m
}

// scanLoop runs SCAN to its end on both sides and compares the sets of keys.
func (p *Pair) scanLoop(s Step) *Mismatch {
	var replies [2]Reply
	var errs [2]error
	for side, c := range p.conns[s.Conn] {
		replies[side], errs[side] = scanAll(c, s.Argv[1:])
	}
	if errs[0] == nil && errs[1] == nil && bytes.Equal(replies[0].Raw, replies[1].Raw) {
		return nil
	}
	return &Mismatch{s, replies[0], replies[1], errs[0], errs[1]}
}

// scanAll returns the keys that SCAN gives, in order, as one array.
func scanAll(c *Client, options [][]byte) (Reply, error) {
	seen := map[string]bool{}
	cursor := []byte("0")
	for range 100000 {
		argv := append([][]byte{[]byte("SCAN"), cursor}, options...)
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		if _, err := c.conn.Write(Step{Argv: argv}.append(nil)); err != nil {
			return Reply{}, err
		}
		reply, err := readReply(c.in)
		if err != nil || len(reply.Elems) != 2 {
			return reply, err
		}
		for _, e := range reply.Elems[1].Elems {
			seen[string(e.Text)] = true
		}
		if cursor = reply.Elems[0].Text; string(cursor) == "0" {
			return sortedKeys(seen), nil
		}
	}
	return Reply{}, fmt.Errorf("SCAN does not end")
}

func sortedKeys(set map[string]bool) Reply {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, strconv.Quote(k))
	}
	sort.Strings(keys)
	return Reply{Kind: '*', Raw: []byte(strings.Join(keys, " "))}
}

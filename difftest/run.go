package difftest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// replyTimeout is how long a server may take over one reply.
const replyTimeout = time.Minute

// Pair is the two servers and equal connections to each.
type Pair struct {
	addrs   [2]string // the oracle's, ours
	conns   [][2]*Client
	comps   []comparison
	control [2]*Client // looks at the servers between the steps
	events  *listeners // nil: keyspace events are not compared
	out     []byte
	raw     [2][]byte // the replies that are compared
}

// Client is a connection to a server. It is not safe for concurrent use.
type Client struct {
	// Patience is how long a reply may take; zero stands for ten seconds.
	Patience time.Duration

	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// Dial connects to a server.
func Dial(addr string) (*Client, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Client{conn: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// Do runs a command.
func (c *Client) Do(argv ...string) (Reply, error) {
	if err := c.Send(argv); err != nil {
		return Reply{}, err
	}
	return c.Receive()
}

// Close closes the connection.
func (c *Client) Close() { c.conn.Close() }

// NewPair opens n connections to each server.
func NewPair(oracle, ours string, n int) (*Pair, error) {
	p := &Pair{addrs: [2]string{oracle, ours}, conns: make([][2]*Client, n), comps: make([]comparison, n)}
	for side, addr := range p.addrs {
		c, err := Dial(addr)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.control[side] = c
	}
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
	all := append(p.conns, p.control)
	if p.events != nil {
		all = append(all, p.events.conns)
	}
	for _, pair := range all {
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
	for _, c := range p.control {
		for _, argv := range [][]string{{"FLUSHALL"}, defaultLimits()} {
			if reply, err := c.Do(argv...); err != nil || string(reply.Raw) != "+OK\r\n" {
				return fmt.Errorf("%v: %q, %v", argv, reply.Raw, err)
			}
		}
	}
	if p.events != nil {
		_, err := p.events.collect(p.control)
		return err
	}
	return nil
}

// Mismatch is a step to which the two servers answered differently.
type Mismatch struct {
	What      string // if it is not the replies that differ
	Key       string // that it is about, if it is known
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
	what := "command " + m.Step.String()
	if m.What != "" {
		what = m.What
	}
	return fmt.Sprintf("%s\nredis   %s\nheddle  %s", what, show(m.Want, m.WantErr), show(m.Got, m.GotErr))
}

// Run sends a batch to both servers in one piece each, reads the replies and
// returns the first mismatch, nil if there is none.
func (p *Pair) Run(batch []Step) (*Mismatch, error) {
	m, err := p.run(batch)
	if m == nil && err == nil && p.events != nil {
		return p.compareEvents(batch[len(batch)-1])
	}
	return m, err
}

// writeAtOnce is how many bytes a connection takes whatever the server does.
const writeAtOnce = 32 << 10

func (p *Pair) run(batch []Step) (*Mismatch, error) {
	switch {
	case batch[0].ScanLoop:
		return p.scanLoop(batch[0]), nil
	case batch[0].Digest:
		return p.compareDigests(batch[0])
	}
	p.out = p.out[:0]
	for _, s := range batch {
		p.out = s.append(p.out)
		if s.Wait > 0 && len(batch) > 1 {
			return p.oneByOne(batch)
		}
	}
	conn := batch[0].Conn
	for _, c := range p.conns[conn] {
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		if len(p.out) <= writeAtOnce {
			if _, err := c.conn.Write(p.out); err != nil {
				return nil, err
			}
			continue
		}
		out := slices.Clone(p.out)
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
		if m, err := p.run([]Step{s}); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

func (s Step) append(out []byte) []byte {
	if s.Raw != nil {
		return append(out, s.Raw...)
	}
	out = appendHeader(out, '*', len(s.Argv))
	for _, a := range s.Argv {
		out = appendHeader(out, '$', len(a))
		out = append(append(out, a...), '\r', '\n')
	}
	return out
}

func appendHeader(out []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(out, kind), int64(n), 10), '\r', '\n')
}

// compare reads the replies to s from both sides.
func (p *Pair) compare(s Step) *Mismatch {
	if s.Replies == 0 {
		return nil
	}
	var errs [2]error
	for side, c := range p.conns[s.Conn] {
		p.raw[side], errs[side] = c.read(p.raw[side][:0], s)
	}
	want, got := p.raw[0], p.raw[1]
	equal := bytes.Equal(want, got)
	comp := &p.comps[s.Conn]
	switch {
	case errs[0] != nil || errs[1] != nil:
		if equal && errs[0] == io.EOF && errs[1] == io.EOF {
			return nil
		}
	case s.Replies < 0:
		if equal {
			return nil
		}
	case equal:
		comp.note(s, want)
		return nil
	}
	m := &Mismatch{Step: s, Want: replyOf(want), Got: replyOf(got), WantErr: errs[0], GotErr: errs[1]}
	if errs[0] == nil && errs[1] == nil && s.Replies > 0 && (comp.same(s, m.Want, m.Got) || s.Match.check != nil && s.Match.check(p, s, m.Want, m.Got)) {
		return nil
	}
	return m
}

// read appends the reply to s, or all that comes, to dst.
func (c *Client) read(dst []byte, s Step) ([]byte, error) {
	var err error
	if s.Replies > 0 {
		if dst, err = appendReply(dst, c.in); err != nil || !s.Closes {
			return dst, err
		}
	}
	rest, err := io.ReadAll(c.in)
	return append(dst, rest...), err
}

// replyOf takes apart a copy of what was read, as far as that is a reply.
func replyOf(raw []byte) Reply {
	raw = slices.Clone(raw)
	if whole, err := appendReply(nil, bufio.NewReader(bytes.NewReader(raw))); err == nil && len(whole) == len(raw) {
		reply, _ := parseReply(raw)
		return reply
	}
	reply := Reply{Raw: raw}
	if len(raw) > 0 {
		reply.Kind = raw[0]
	}
	return reply
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
	return &Mismatch{Step: s, Want: replies[0], Got: replies[1], WantErr: errs[0], GotErr: errs[1]}
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

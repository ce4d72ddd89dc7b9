package rdb

import (
	"errors"
	"fmt"
	"io"

	"heddle/db"
)

// Check reads an RDB to its end and reports to report what it finds, in the lines of
// redis-check-rdb, with what is wrong at the end; that is also the error, an *Error or one of
// r. Every value is built and verified, one after the other, but not kept. now is the instant
// by which keys count as expired. Lines that cannot be written are lost. If r is an
// io.Seeker it stands behind the RDB at the end.
func Check(r io.Reader, name string, report io.Writer, now db.Millis) error {
	limits := db.DefaultLimits()
	c := checker{
		r: r, out: report, sum: NewChecksum(), doing: "start", typ: typeString, room: make([]byte, pieceSize),
		w: worker{l: &loader{o: &LoadOptions{}}, d: decoder{limits: &limits, now: now, keepDue: true}},
	}
	c.d = &c.w.d
	c.d.next = c.piece
	c.say(0, "Checking RDB file %s", name)
	c.header()
	for c.d.err == nil && c.entry() {
	}
	err := c.failure(name)
	if err != nil {
		c.explain(err)
	} else {
		c.say(c.d.offset(), `\o/ RDB looks OK! \o/`)
	}
	if seeker, ok := r.(io.Seeker); ok && err == nil {
		if _, err = seeker.Seek(int64(c.d.at-len(c.d.buf)), io.SeekCurrent); err != nil {
			c.explain(err)
		}
	}
	c.info("%d keys read", c.keys)
	c.info("%d expires", c.expires)
	c.info("%d already expired", c.expired)
	return err
}

// checker is a Check.
type checker struct {
	r    io.Reader
	out  io.Writer
	w    worker // its decoder, and what stands in front of and behind keys
	d    *decoder
	room []byte
	sum  Checksum
	upTo int   // up to where the checksum has the bytes of d.buf
	err  error // of r

	doing  string // as redis-check-rdb names it
	key    []byte
	hasKey bool
	typ    int // of the value at hand, -1: none
	aux    []byte

	version                int
	keys, expires, expired int64
}

// say writes a line with an offset, info one without.
func (c *checker) say(at int64, format string, args ...any) {
	fmt.Fprintf(c.out, "[offset %d] %s\n", at, fmt.Sprintf(format, args...))
}

func (c *checker) info(format string, args ...any) {
	fmt.Fprintf(c.out, "[info] %s\n", fmt.Sprintf(format, args...))
}

// piece gives the decoder the next bytes.
func (c *checker) piece() ([]byte, bool) {
	c.account()
	c.upTo = 0
	for range 100 {
		n, err := c.r.Read(c.room)
		if n > 0 {
			return c.room[:n], true
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.err = err
			}
			return nil, false
		}
	}
	c.err = io.ErrNoProgress
	return nil, false
}

// account takes what was read into the checksum.
func (c *checker) account() {
	c.sum.Add(c.d.buf[c.upTo:c.d.at])
	c.upTo = c.d.at
}

// failure returns what is wrong.
func (c *checker) failure(name string) error {
	switch {
	case c.err != nil:
		return c.err
	case c.d.err == nil:
		return nil
	}
	c.d.err.File = name
	if c.hasKey {
		c.d.err.Key = string(c.key)
	}
	return c.d.err
}

// explain reports what is wrong. What redis-check-rdb has words for is said in those.
func (c *checker) explain(err error) {
	at, msg := c.d.offset(), err.Error()
	var e *Error
	if errors.As(err, &e) {
		at, msg = e.Offset, e.Msg
		switch {
		case errors.Is(err, errEnd):
			msg = "Unexpected EOF reading RDB file"
		case errors.Is(err, ErrChecksum):
			msg = "RDB CRC error"
		}
	}
	fmt.Fprintln(c.out, "--- RDB ERROR DETECTED ---")
	c.say(at, "%s", msg)
	fmt.Fprintln(c.out, "[additional info] While doing:", c.doing)
	if c.hasKey {
		fmt.Fprintf(c.out, "[additional info] Reading key '%s'\n", c.key)
	}
	if c.typ >= 0 {
		fmt.Fprintf(c.out, "[additional info] Reading type %d (%s)\n", c.typ, typeName(c.typ))
	}
}

// typeName returns the name that redis-check-rdb has for a type.
func typeName(typ int) string {
	names := [...]string{
		"string", "list-linked", "set-hashtable", "zset-v1", "hash-hashtable", "zset-v2", "module-pre-release", "module-value",
		"", "hash-zipmap", "list-ziplist", "set-intset", "zset-ziplist", "hash-ziplist", "quicklist", "stream", "hash-listpack",
		"zset-listpack", "quicklist-v2", "stream-v2", "set-listpack", "stream-v3", "hash-hashtable-md-pre-release",
		"hash-listpack-md-pre-release", "hash-hashtable-md", "hash-listpack-md",
	}
	if typ < len(names) && names[typ] != "" {
		return names[typ]
	}
	return "unknown"
}

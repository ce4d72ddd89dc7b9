package rdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// cutter reads a file and cuts it into keys. Its buffer has what was read and not handed
// out: keys that are whole, the entry at hand, and what was read ahead.
type cutter struct {
	l      *loader
	r      io.Reader
	peeker peeker // r, if it is one: then nothing is read ahead
	exact  bool

	buf    []byte // up to its length bytes of the file
	base   int64  // of buf in the file
	from   int    // where the whole keys begin
	open   int    // where they end, and the entry at hand begins
	pos    int    // up to where the entry is looked at
	summed int    // up to where the checksum has the bytes
	sum    Checksum
	size   int64 // of the file, 0: not known

	stream *task // the entry at hand, if it is handed out in pieces
	db     int
	result Result
	err    error

	reserved uint64 // keys that room was made for

	told int64 // bytes told to LoadOptions.Read
}

// peeker is a reader that can be read exactly.
type peeker interface {
	Peek(n int) ([]byte, error)
	Discard(n int) (int, error)
	Buffered() int
}

func newCutter(r io.Reader, l *loader) *cutter {
	c := &cutter{l: l, r: r, exact: l.o.Exact, sum: NewChecksum(), size: l.o.Size, buf: l.piece()}
	c.peeker, _ = r.(peeker)
	if c.size == 0 {
		c.size = sizeOf(r)
	}
	l.waiting = make(chan struct{}, min(max(4, c.size/8/int64(l.o.piece)), readAhead/pieceSize))
	return c
}

// sizeOf returns how much there is to be read of a file, 0 if that is not known.
func sizeOf(r io.Reader) int64 {
	if b, ok := r.(interface{ Len() int }); ok {
		return int64(b.Len())
	}
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	size := info.Size()
	if s, ok := r.(io.Seeker); ok {
		at, err := s.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		size -= at
	}
	return size
}

// offset is up to where the file is looked at.
func (c *cutter) offset() int64 { return c.base + int64(c.pos) }

// fail notes a mistake; the first stays.
func (c *cutter) fail(at int64, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Offset: at, Msg: fmt.Sprintf(format, args...)}
	}
}

// wrap sets what is behind the mistake.
func (c *cutter) wrap(err error) {
	var e *Error
	if errors.As(c.err, &e) && e.Err == nil {
		e.Err = err
	}
}

// need makes n bytes, some dozens at most, stand behind pos; false at the end of the file.
func (c *cutter) need(n int, what string) bool {
	for c.err == nil && len(c.buf)-c.pos < n {
		c.read(n-(len(c.buf)-c.pos), what)
	}
	return c.err == nil
}

// read reads at least a byte, and no more than want where nothing may be read ahead.
func (c *cutter) read(want int, what string) {
	if len(c.buf) == cap(c.buf) && !c.turn() {
		return
	}
	room := c.buf[len(c.buf):cap(c.buf)]
	n, err := 0, error(nil)
	switch {
	case c.peeker != nil:
		n, err = c.peek(room, want)
	case c.exact:
		n, err = c.r.Read(room[:min(want, len(room))])
	default:
		n, err = c.r.Read(room)
	}
	c.buf = c.buf[:len(c.buf)+n]
	switch {
	case n > 0 || err == nil:
	case errors.Is(err, io.EOF):
		c.fail(c.base+int64(len(c.buf)), "expected %s, found the end of the file", what)
		c.wrap(errEnd)
	default:
		c.err = err
	}
}

// peek reads from what r has in its buffer, but no more than is wanted, since the rest may
// not be of the RDB.
func (c *cutter) peek(room []byte, want int) (int, error) {
	n := min(want, len(room), max(c.peeker.Buffered(), 1))
	b, err := c.peeker.Peek(n)
	if len(b) == 0 {
		return 0, err
	}
	n = copy(room, b)
	_, err = c.peeker.Discard(n)
	return n, err
}

// turn goes on with an empty piece: what is whole is handed out, and of an entry that fills
// a piece what was looked at.
func (c *cutter) turn() bool {
	if err := c.check(); err != nil {
		c.err = err
		return false
	}
	if c.stream == nil && c.open > c.from {
		c.hand(c.open)
		c.from, c.open = 0, 0
		return true
	}
	if c.from > 0 {
		c.move(c.from)
		c.from, c.open = 0, 0
		return true
	}
	piece, at := c.buf[:c.pos], c.base
	c.move(c.pos)
	c.open = 0
	if c.stream == nil {
		c.stream = &task{db: c.db, base: at, data: piece, more: make(chan []byte, cap(c.l.waiting))}
		c.l.tasks <- *c.stream
		return true
	}
	c.more(piece)
	return true
}

// more hands out a piece of the entry at hand.
func (c *cutter) more(piece []byte) {
	c.l.waiting <- struct{}{}
	c.stream.more <- piece
}

// check asks whether to go on.
func (c *cutter) check() error {
	if c.l.failed.Load() {
		return errStopped
	}
	if c.l.o.Stop != nil {
		return c.l.o.Stop()
	}
	return nil
}

// errStopped says that a worker found a mistake.
var errStopped = errors.New("rdb: stopped")

// move goes on with a new piece that begins with what stands at pos at.
func (c *cutter) move(at int) {
	c.account(at)
	next := append(c.l.piece(), c.buf[at:]...)
	c.base += int64(at)
	c.pos -= at
	c.summed -= at
	c.buf = next
}

// account takes the bytes before at into the checksum, and tells of them.
func (c *cutter) account(at int) {
	if !c.l.o.NoChecksum && at > c.summed {
		c.sum.Add(c.buf[c.summed:at])
	}
	c.summed = max(c.summed, at)
	if read := c.base + int64(at); c.l.o.Read != nil && read > c.told {
		c.l.o.Read.Add(read - c.told)
		c.told = read
	}
}

// hand hands the whole keys out, which end at an offset.
func (c *cutter) hand(end int) {
	t := task{db: c.db, base: c.base + int64(c.from), data: c.buf[c.from:end]}
	c.move(end)
	c.l.tasks <- t
}

// flush hands out the whole keys before the entry at hand.
func (c *cutter) flush() {
	if c.open > c.from {
		c.hand(c.open)
		c.from, c.open = 0, 0
	}
}

// pass goes on behind an entry that is no key.
func (c *cutter) pass() { c.from, c.open = c.pos, c.pos }

// key ends an entry that is a key.
func (c *cutter) key() {
	if c.stream != nil {
		piece := c.buf[c.from:c.pos]
		c.move(c.pos)
		if len(piece) > 0 && c.err == nil {
			c.more(piece)
		}
		c.endStream()
		c.from = 0
	}
	c.open = c.pos
}

func (c *cutter) endStream() {
	if c.stream != nil {
		close(c.stream.more)
		c.stream = nil
	}
}

// byte reads a byte.
func (c *cutter) byte(what string) byte {
	if c.pos >= len(c.buf) && !c.need(1, what) {
		return 0
	}
	c.pos++
	return c.buf[c.pos-1]
}

// form reads a length, or the form of a string.
func (c *cutter) form(what string) (n uint64, special bool) {
	if c.pos < len(c.buf) && c.buf[c.pos] < 1<<6 {
		c.pos++
		return uint64(c.buf[c.pos-1]), false
	}
	if !c.need(1, what) {
		return 0, false
	}
	size := lengthSize(c.buf[c.pos])
	if size == 0 {
		c.fail(c.offset(), "expected %s as a length, found byte 0x%02x", what, c.buf[c.pos])
		return 0, false
	}
	if !c.need(size, what) {
		return 0, false
	}
	n, special = decodeLength(c.buf[c.pos : c.pos+size])
	c.pos += size
	return n, special
}

// length reads a number.
func (c *cutter) length(what string) uint64 {
	at := c.offset()
	n, special := c.form(what)
	if special {
		c.fail(at, "expected %s as a length, found string form %d", what, n)
		return 0
	}
	return n
}

// skip passes n bytes.
func (c *cutter) skip(n uint64, what string) {
	if n <= uint64(len(c.buf)-c.pos) {
		c.pos += int(n)
		return
	}
	if c.size > 0 && c.err == nil && n > uint64(max(c.size-c.offset(), 0)) {
		c.fail(c.offset(), "expected %s of %d bytes, found %d up to the end of the file", what, n, max(c.size-c.offset(), 0))
		c.wrap(errEnd)
	}
	for n > 0 && c.err == nil {
		have := uint64(len(c.buf) - c.pos)
		if have == 0 {
			c.read(int(min(n, uint64(c.l.o.piece))), what)
			continue
		}
		have = min(have, n)
		c.pos += int(have)
		n -= have
	}
}

// string passes a string.
func (c *cutter) string(what string) {
	at := c.offset()
	n, special := c.form(what)
	switch {
	case c.err != nil:
	case !special:
		c.skip(n, what)
	case n == formLZF:
		n = c.length(what)
		c.length(what)
		c.skip(n, what)
	case integerSize(n) != 0:
		c.skip(uint64(integerSize(n)), what)
	default:
		c.fail(at, "expected %s, found string form %d", what, n)
	}
}

// text reads a string that is no part of a key. The entries before it were handed out.
func (c *cutter) text(what string) []byte {
	at := c.offset()
	n, special := c.form(what)
	switch {
	case c.err != nil:
		return nil
	case !special:
		return c.take(n, what)
	case n == formLZF:
		packed := c.length(what)
		plain := c.length(what)
		if c.err == nil && plain > lzfMaxSize(packed) {
			c.fail(at, "expected %s, found %d compressed bytes that are said to be %d", what, packed, plain)
			return nil
		}
		b := c.take(packed, what)
		if c.err != nil {
			return nil
		}
		b, err := decompress(nil, b, int(plain))
		if err != nil {
			c.fail(at, "expected %s, found broken LZF data", what)
		}
		return b
	case integerSize(n) != 0:
		b := c.take(uint64(integerSize(n)), what)
		if c.err != nil {
			return nil
		}
		return fmt.Append(nil, decodeInteger(n, b))
	}
	c.fail(at, "expected %s, found string form %d", what, n)
	return nil
}

// take reads n bytes. What it takes grows with what comes, not with what is said to.
func (c *cutter) take(n uint64, what string) (b []byte) {
	for n > 0 && c.err == nil {
		before := c.pos
		part := min(n, uint64(c.l.o.piece)/4)
		if have := len(c.buf) - c.pos; have > 0 {
			part = min(part, uint64(have))
		} else {
			c.pass()
			c.read(int(part), what)
			continue
		}
		c.pos += int(part)
		b = append(b, c.buf[before:c.pos]...)
		n -= part
	}
	return b
}

// giveBack sets r to where the RDB ends.
func (c *cutter) giveBack() error {
	ahead := len(c.buf) - c.pos
	s, ok := c.r.(io.Seeker)
	if ahead == 0 || !ok {
		return nil
	}
	_, err := s.Seek(int64(-ahead), io.SeekCurrent)
	return err
}

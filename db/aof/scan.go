package aof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Reading an AOF file. Commands are parsed where the bytes of the file were read to, and handed out in batches that
// own this memory: nothing is copied but the command cut off at the end of a batch. What stands between MULTI and
// EXEC comes in one batch, without these two, or not at all.
//
// Memory is a batch's size, or that of the largest command or group of the file; a length that the file cannot hold
// allocates nothing, it is the end of the file come early.

// Kind says how a file ends before its time.
type Kind int

// Kinds of ScanError.
const (
	// Truncated: the file ends within a command or a group. Also zero bytes up to the end of the file where
	// something else is to be: a file system that lost power knew the new length, not the bytes.
	Truncated Kind = iota
	// Format: bytes that no AOF has at this place.
	Format
)

// ScanError says what is wrong with a file.
type ScanError struct {
	File   string
	Offset int64 // where
	Valid  int64 // up to where the file is whole commands and groups
	Kind   Kind
	Multi  bool   // a group was open
	Msg    string // what was expected and what was found
}

// Error implements error.
func (e *ScanError) Error() string {
	return fmt.Sprintf("%s: offset %d: %s", e.File, e.Offset, e.Msg)
}

// LogLine is what Redis logs before it exits because of the error.
func (e *ScanError) LogLine() string {
	if e.Kind == Truncated {
		return "Unexpected end of file reading the append only file " + e.File + ". You can: 1) Make a backup of your AOF file, " +
			"then use ./redis-check-aof --fix <filename.manifest>. 2) Alternatively you can set the 'aof-load-truncated' " +
			"configuration option to yes and restart the server."
	}
	return "Bad file format reading the append only file " + e.File + ": make a backup of your AOF file, then use " +
		"./redis-check-aof --fix <filename.manifest>"
}

// Until is what a Scanner ends with at an annotation of a later time than asked for.
type Until struct {
	Offset int64 // of the annotation, or of the group that it stands in
	Time   int64 // its Unix time in seconds
}

// Error implements error.
func (e *Until) Error() string {
	return fmt.Sprintf("the annotation at offset %d has the later time %d", e.Offset, e.Time)
}

// Command is a command of a file.
type Command struct {
	Argv   [][]byte // at least one; memory of the batch
	Offset int64    // where it begins in the file
	Multi  bool     // it stood between MULTI and EXEC
}

// Batch is some commands in order, with their memory. It may be given to Next again.
type Batch struct {
	File     string
	Commands []Command
	End      int64 // offset behind the last command, and behind EXEC if it was in a group

	buf   []byte
	spans []span
	args  [][]byte
	found []found
}

// span is an argument within buf; found is a command: how many spans, where in buf.
type span struct{ from, to int }
type found struct {
	args, at int
	multi    bool
}

// ScanOptions says what is read.
type ScanOptions struct {
	Name   string // for messages
	Offset int64  // where in the file the reader stands: behind an RDB preamble
	Size   int64  // of the whole file; negative: not known
	Until  int64  // stop before the first annotation of a later Unix time in seconds; 0: do not
	Bytes  int    // about how much of the file is a batch; 0: 256 KB
}

// Scanner reads a file.
type Scanner struct {
	r    io.Reader
	o    ScanOptions
	base int64 // offset in the file of the first byte of rest
	rest []byte
	eof  bool
	err  error // what comes next
}

const defaultBatch = 256 << 10

// maxHead bounds header lines, maxNote annotations.
const (
	maxHead = 32
	maxNote = 1024
)

// NewScanner reads commands from r.
func NewScanner(r io.Reader, o ScanOptions) *Scanner {
	if o.Bytes <= 0 {
		o.Bytes = defaultBatch
	}
	return &Scanner{r: r, o: o, base: o.Offset}
}

// Next fills b with at least one command. At the end it returns io.EOF; *ScanError for a file that is cut off or
// broken, *Until if there are later times, or the reader's error. What is whole before comes first.
func (s *Scanner) Next(b *Batch) error {
	b.File, b.Commands, b.spans, b.found = s.o.Name, b.Commands[:0], b.spans[:0], b.found[:0]
	if s.err != nil {
		return s.err
	}
	want := s.o.Bytes
	if left := s.left(); left >= 0 {
		want = int(min(int64(want), left+1)) // one more, to see the end of the file
	}
	if cap(b.buf) < want || cap(b.buf) > 8*s.o.Bytes && len(s.rest) < s.o.Bytes {
		b.buf = make([]byte, 0, want)
	}
	b.buf = append(b.buf[:0], s.rest...)
	for {
		if err := s.fill(b); err != nil {
			s.err = err
			return err
		}
		p := parser{b: b.buf, until: s.o.Until, batch: b}
		whole, err := p.run()
		if err == nil && p.more && s.eof {
			err = errCut
		}
		if err == nil && p.more && !s.canHold(&p) {
			err = errCut
		}
		if err != nil {
			s.err = s.fault(&p, whole, err)
		} else if s.eof && whole == len(b.buf) {
			s.err = io.EOF
		}
		if p.cmds > 0 || s.err != nil {
			b.finish(&p, s.base)
			b.End = s.base + int64(whole)
			s.base += int64(whole)
			s.rest = append(s.rest[:0], b.buf[whole:]...)
			if len(b.Commands) > 0 {
				return nil
			}
			return s.err
		}
		// Annotations alone, or not one whole command: drop the former, make room.
		if whole > 0 {
			b.buf = append(b.buf[:0], b.buf[whole:]...)
			s.base += int64(whole)
		}
		b.grow(p.need-whole, s.left())
	}
}

// left is how many bytes the file may have behind those in buf; negative if nobody knows.
func (s *Scanner) left() int64 {
	if s.o.Size < 0 {
		return -1
	}
	return s.o.Size - s.base
}

// canHold reports whether the file is long enough for what the parser waits for.
func (s *Scanner) canHold(p *parser) bool { return s.o.Size < 0 || s.base+int64(p.need) <= s.o.Size }

// grow makes room for the whole of a command of which need bytes are known to follow, in steps that double, so that
// memory stays within twice of what was read, up to what the file has.
func (b *Batch) grow(need int, left int64) {
	if cap(b.buf) > len(b.buf) {
		return
	}
	size := 2 * cap(b.buf)
	if left >= 0 {
		size = max(size, need) // which the file has
		size = int(min(int64(size), left+1))
	}
	if size > cap(b.buf) {
		b.buf = append(make([]byte, 0, size), b.buf...)
	}
}

// fill reads until the buffer is full or the file at its end.
func (s *Scanner) fill(b *Batch) error {
	for !s.eof && len(b.buf) < cap(b.buf) {
		n, err := s.r.Read(b.buf[len(b.buf):cap(b.buf)])
		b.buf = b.buf[:len(b.buf)+n]
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			s.eof = true
		case err != nil:
			return err
		}
	}
	return nil
}

var errCut = errors.New("unexpected end of file")

// fault makes the error of a parser that stopped.
func (s *Scanner) fault(p *parser, whole int, err error) error {
	if u, ok := err.(*Until); ok {
		u.Offset += s.base
		return u
	}
	e := &ScanError{File: s.o.Name, Offset: s.base + int64(p.pos), Valid: s.base + int64(whole), Kind: Format, Multi: p.open, Msg: err.Error()}
	if err == errCut {
		e.Kind = Truncated
		e.Offset = s.base + int64(len(p.b))
		if e.Msg = "expected the rest of a command, found the end of the file"; p.at == len(p.b) {
			e.Msg = "expected EXEC, found the end of the file"
		}
		if p.sized {
			size := s.o.Size
			if s.eof {
				size = s.base + int64(len(p.b))
			}
			e.Offset = s.base + int64(p.pos)
			e.Msg = fmt.Sprintf("expected %d bytes, the file has %d more", p.need-p.pos, size-e.Offset)
		}
		return e
	}
	if s.zerosFrom(p.b[p.pos:]) {
		e.Kind = Truncated
		e.Msg += " and zero bytes only to the end of the file"
	}
	return e
}

// zerosFrom reports whether rest and all that the reader still has are zero bytes, and any at all.
func (s *Scanner) zerosFrom(rest []byte) bool {
	zeros := func(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
	if len(rest) == 0 || !zeros(rest) {
		return false
	}
	buf := make([]byte, 64<<10)
	for !s.eof {
		n, err := s.r.Read(buf)
		if !zeros(buf[:n]) {
			return false
		}
		if err != nil {
			s.eof = err == io.EOF
			return s.eof
		}
	}
	return true
}

// finish gives out the commands that are whole.
func (b *Batch) finish(p *parser, base int64) {
	n := 0
	for _, f := range b.found[:p.cmds] {
		n += f.args
	}
	if cap(b.args) < n {
		b.args = make([][]byte, 0, n+n/4)
	}
	b.args = b.args[:0]
	for _, sp := range b.spans[:n] {
		b.args = append(b.args, b.buf[sp.from:sp.to:sp.to])
	}
	at := 0
	for _, f := range b.found[:p.cmds] {
		b.Commands = append(b.Commands, Command{Argv: b.args[at : at+f.args : at+f.args], Offset: base + int64(f.at), Multi: f.multi})
		at += f.args
	}
}

// parser finds commands in bytes.
type parser struct {
	b     []byte
	batch *Batch
	until int64

	pos   int  // what is looked at
	at    int  // begin of the command of pos
	open  bool // within MULTI
	more  bool // the bytes end within a command or group
	sized bool // need is what an argument's size announced
	need  int  // the least length of b that holds the command or what was announced of it
	cmds  int  // whole commands in the batch, groups counted when they are
}

// run returns how many bytes are whole commands, groups and annotations. It stops at the end, setting more if
// something is not whole there, or at an error.
func (p *parser) run() (whole int, err error) {
	p.batch.spans, p.batch.found = p.batch.spans[:0], p.batch.found[:0]
	for p.pos < len(p.b) {
		p.at = p.pos
		if p.b[p.pos] == '#' {
			ok, err := p.note()
			if u, late := err.(*Until); late {
				u.Offset = int64(p.at)
				if p.open {
					u.Offset = int64(whole)
				}
			}
			if err != nil || !ok {
				return whole, err
			}
		} else {
			ok, err := p.command()
			if err != nil || !ok {
				return whole, err
			}
		}
		if !p.open {
			whole = p.pos
			p.cmds = len(p.batch.found)
		}
	}
	p.at, p.more = p.pos, p.open
	p.need = p.pos
	if p.open {
		p.need++
	}
	return whole, nil
}

// short says that the bytes end before n.
func (p *parser) short(n int) (bool, error) {
	p.more, p.need = true, n
	return false, nil
}

// note reads an annotation.
func (p *parser) note() (ok bool, err error) {
	line := p.b[p.pos:min(len(p.b), p.pos+maxNote)]
	end := bytes.IndexByte(line, '\n')
	if end < 0 {
		if len(line) == maxNote {
			return false, errors.New("expected an annotation of less than 1024 bytes, found a longer one")
		}
		return p.short(len(p.b) + 1)
	}
	if t, ok := timeOf(line[:end]); ok && p.until > 0 && t > p.until {
		return false, &Until{Time: t}
	}
	p.pos += end + 1
	return true, nil
}

// timeOf reads an annotation of the time, "#TS:1628217470\r".
func timeOf(line []byte) (int64, bool) {
	digits, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("#TS:"))
	if !ok {
		return 0, false
	}
	t, err := strconv.ParseInt(string(digits), 10, 64)
	return t, err == nil
}

// command reads one command.
func (p *parser) command() (ok bool, err error) {
	argc, ok, err := p.head('*')
	if err != nil || !ok {
		return false, err
	}
	if argc < 1 {
		p.pos = p.at
		return false, errors.New("expected at least one argument, found '*0'")
	}
	first := len(p.batch.spans)
	for i := int64(0); i < argc; i++ {
		size, ok, err := p.head('$')
		if err != nil || !ok {
			return false, err
		}
		// Compare before adding: a size may be anything.
		if size > int64(len(p.b)-p.pos-2) {
			if size > maxInt-int64(p.pos)-2 {
				size = maxInt - int64(p.pos) - 2
			}
			p.sized = true
			return p.short(p.pos + int(size) + 2)
		}
		end := p.pos + int(size)
		p.batch.spans = append(p.batch.spans, span{p.pos, end})
		p.pos = end
		if p.b[end] != '\r' || p.b[end+1] != '\n' {
			return false, fmt.Errorf("expected CR LF behind an argument of %d bytes, found %q", size, p.b[end:end+2])
		}
		p.pos += 2
	}
	p.take(first, int(argc))
	return true, nil
}

const maxInt = int64(^uint(0) >> 1)

// take adds the command that was read, or follows MULTI and EXEC. A MULTI within a group and an EXEC without one
// do nothing, as when Redis runs them.
func (p *parser) take(first, argc int) {
	name := p.batch.spans[first]
	switch word := p.b[name.from:name.to]; {
	case argc == 1 && len(word) == 5 && bytes.EqualFold(word, []byte("multi")):
		p.open = true
		p.batch.spans = p.batch.spans[:first]
	case argc == 1 && len(word) == 4 && bytes.EqualFold(word, []byte("exec")):
		p.open = false
		p.batch.spans = p.batch.spans[:first]
	default:
		p.batch.found = append(p.batch.found, found{args: argc, at: p.at, multi: p.open})
	}
}

// head reads a line of a kind and a number.
func (p *parser) head(kind byte) (n int64, ok bool, err error) {
	b := p.b[p.pos:]
	if len(b) == 0 {
		_, _ = p.short(p.pos + 1)
		return 0, false, nil
	}
	if b[0] != kind {
		return 0, false, fmt.Errorf("expected '%c', found %q", kind, b[:1])
	}
	i := 1
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && i < maxHead {
		d := int64(b[i] - '0')
		if n > (maxInt-d)/10 {
			return 0, false, fmt.Errorf("expected a number behind '%c', found one too large", kind)
		}
		n = n*10 + d
		i++
	}
	switch {
	case i == len(b) || i+1 == len(b) && b[i] == '\r':
		_, _ = p.short(len(p.b) + 1)
		return 0, false, nil
	case i == 1 || b[i] != '\r' || b[i+1] != '\n':
		p.pos += i
		return 0, false, fmt.Errorf("expected a number and CR LF behind '%c', found %q", kind, b[i:min(i+2, len(b))])
	}
	p.pos += i + 2
	return n, true, nil
}

package aof

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"heddle/disk"
)

// The work of redis-check-aof, with its output. It reads with a reader of its own: what it says about a mistake, and
// up to where it takes a file for good, is finer than what loading needs, and it must never give up memory for an
// argument, of which it looks at MULTI and EXEC alone.

// CheckOptions are what the check works with.
type CheckOptions struct {
	Program string  // its name in the line about usage
	FS      disk.FS // nil: the operating system's
	// RDB checks an RDB file, reports on it, and leaves r, which is also an io.Seeker, right behind its end.
	RDB func(r io.Reader, name string, report io.Writer) error
}

const checkUsage = "Usage: %s [--fix|--truncate-to-timestamp $timestamp] <file.manifest|file.aof>\n"

// CheckMain is redis-check-aof: args are those behind the program's name. It returns the exit status.
func CheckMain(args []string, stdin io.Reader, stdout io.Writer, o CheckOptions) int {
	if o.FS == nil {
		o.FS = disk.OS()
	}
	c := &checker{fs: o.FS, rdb: o.RDB, in: bufio.NewReader(stdin), out: stdout, line: 1}
	name := ""
	switch {
	case len(args) == 1:
		name = args[0]
	case len(args) == 2 && args[0] == "--fix":
		c.fix, name = true, args[1]
	case len(args) == 3 && args[0] == "--truncate-to-timestamp":
		t, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			c.say("Invalid timestamp, aborting...\n")
			return 1
		}
		c.until, name = t, args[2]
	default:
		c.say(checkUsage, o.Program)
		return 1
	}
	if !c.run(name) {
		return 1
	}
	return 0
}

type checker struct {
	fs    disk.FS
	rdb   func(r io.Reader, name string, report io.Writer) error
	in    *bufio.Reader
	out   io.Writer
	fix   bool
	until int64
	line  int // of all files together, as Redis counts
}

func (c *checker) say(format string, a ...any) { _, _ = fmt.Fprintf(c.out, format, a...) }

// run checks a manifest or a file by itself.
func (c *checker) run(name string) bool {
	f, err := disk.Open(c.fs, name)
	if err != nil {
		c.say("Cannot open file %s: %s\n", name, disk.Errno(err))
		return false
	}
	defer f.Close()
	head, err := bufio.NewReader(io.NewSectionReader(f, 0, maxManifest)).Peek(1)
	if err != nil && err != io.EOF {
		c.say("Cannot read file: %s\n", name)
		return false
	}
	if len(head) > 0 && isManifest(f) {
		return c.manifest(name)
	}
	c.say("Start checking Old-Style AOF\n")
	return c.file(checked{path: name, name: name, label: "AOF", last: true, preamble: true})
}

// isManifest reports whether the first line that is no comment begins with "file".
func isManifest(f io.ReaderAt) bool {
	r := bufio.NewReader(io.NewSectionReader(f, 0, maxManifest))
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 && line[0] != '#' {
			return bytes.HasPrefix(line, []byte("file"))
		}
		for err == bufio.ErrBufferFull {
			_, err = r.ReadSlice('\n')
		}
		if err != nil {
			return false
		}
	}
}

// manifest checks all files that a manifest names.
func (c *checker) manifest(name string) bool {
	c.say("Start checking Multi Part AOF\n")
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "./"
	}
	s := &Store{o: Options{FS: c.fs, Dir: dir}}
	text, err := s.read(name)
	var m *Manifest
	if err == nil {
		m, err = ParseManifest(text)
	}
	var bad *ManifestError
	if errors.As(err, &bad) {
		for _, line := range bad.Lines() {
			c.say("%s\n", line)
		}
		return false
	}
	if err != nil {
		c.say("Cannot read file: %s\n", base)
		return false
	}
	files := m.files()
	end := s.lastFull(files)
	for i, e := range files {
		f := checked{path: dir + e.Name, name: e.Name, label: "INCR AOF", last: i >= end}
		switch {
		case e.Type == Base:
			f.label, f.preamble, f.base = "BASE AOF", true, true
		case i == 0 || i == 1 && files[0].Type == Base:
			c.say("Start to check INCR files.\n")
		}
		if !c.file(f) {
			return false
		}
	}
	c.say("All AOF files and manifest are valid\n")
	return true
}

// checked is a file to check.
type checked struct {
	path, name, label string
	last              bool
	preamble          bool // may begin with an RDB file
	base              bool // of a manifest
}

// file checks one file, and repairs it if that is asked for.
func (c *checker) file(t checked) bool {
	f, err := disk.Open(c.fs, t.path)
	if err != nil {
		abort := ", aborting..."
		if t.base {
			abort = ""
		}
		c.say("Cannot open file %s: %s%s\n", t.path, disk.Errno(err), abort)
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		c.say("Cannot stat file: %s, aborting...\n", t.path)
		return false
	}
	if !info.Mode().IsRegular() {
		c.say("Cannot read file: %s\n", t.path)
		return false
	}
	size := info.Size()
	rdb, err := isRDB(f)
	if err != nil {
		c.say("Cannot read file: %s: %s\n", t.path, disk.Errno(err))
		return false
	}
	rdb = rdb && t.preamble
	if t.base {
		format := "RESP"
		if rdb {
			format = "RDB"
		}
		c.say("Start to check BASE AOF (%s format).\n", format)
	}
	if size == 0 {
		c.say("%s %s is empty\n", t.label, t.name)
		return true
	}
	begin := int64(0)
	if rdb {
		r := &counter{r: f, total: new(atomic.Int64)}
		if err := c.rdb(r, t.name, c.out); err != nil {
			c.say("RDB preamble of AOF file is not sane, aborting.\n")
			return false
		}
		c.say("RDB preamble is OK, proceeding with AOF tail...\n")
		begin = r.n
	}
	p := &checking{c: c, t: t, r: bufio.NewReaderSize(io.NewSectionReader(f, begin, size-begin), 64<<10), pos: begin, good: begin}
	if err := p.all(); err != nil {
		c.say("Cannot read file: %s: %s\n", t.path, disk.Errno(err))
		return false
	}
	return c.verdict(t, p, size)
}

// verdict says how a file is, and cuts it.
func (c *checker) verdict(t checked, p *checking, size int64) bool {
	if p.late {
		return c.cutToTime(t, p)
	}
	whole := p.good == size
	if whole && c.until != 0 {
		c.say("Truncate nothing in AOF %s to timestamp %d\n", t.name, c.until)
	} else {
		c.say("AOF analyzed: filename=%s, size=%d, ok_up_to=%d, ok_up_to_line=%d, diff=%d\n", t.name, size, p.good, c.line, size-p.good)
	}
	switch {
	case whole:
		c.say("%s %s is valid\n", t.label, t.name)
		return true
	case !c.fix:
		c.say("AOF %s is not valid. Use the --fix option to try fixing it.\n", t.name)
		return false
	case !t.last:
		c.say("Failed to truncate AOF %s because it is not the last file\n", t.name)
		return false
	}
	c.say("This will shrink the AOF %s from %d bytes, with %d bytes, to %d bytes\n", t.name, size, size-p.good, p.good)
	c.say("Continue? [y/N]: ")
	answer, _ := c.in.ReadString('\n')
	if answer == "" || answer[0]|0x20 != 'y' {
		c.say("Aborting...\n")
		return false
	}
	if err := c.cut(t.path, p.good); err != nil {
		c.say("Failed to truncate AOF %s: %s\n", t.name, disk.Errno(err))
		return false
	}
	c.say("Successfully truncated AOF %s\n", t.name)
	return true
}

// cutToTime cuts a file before the first annotation of a later time.
func (c *checker) cutToTime(t checked, p *checking) bool {
	switch {
	case p.good == 0:
		c.say("AOF %s has nothing before timestamp %d, aborting...\n", t.path, c.until)
		return false
	case !t.last:
		c.say("Failed to truncate AOF %s to timestamp %d to offset %d because it is not the last file.\n", t.path, c.until, p.good)
		c.say("If you insist, please delete all files after this file according to the manifest file and delete the " +
			"corresponding records in manifest file manually. Then re-run redis-check-aof.\n")
		return false
	}
	if err := c.cut(t.path, p.good); err != nil {
		c.say("Failed to truncate AOF %s to timestamp %d: %s\n", t.name, c.until, disk.Errno(err))
		return false
	}
	c.say("Successfully truncated AOF %s to timestamp %d\n", t.name, c.until)
	return true
}

func (c *checker) cut(path string, size int64) error {
	f, err := c.fs.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// checking is a file as it is read.
type checking struct {
	c     *checker
	t     checked
	r     *bufio.Reader
	pos   int64 // of the reader
	at    int64 // begin of what is read now
	good  int64 // up to here all is whole
	multi bool
	late  bool  // an annotation of a later time came
	fail  error // of the disk
}

// bad says what is wrong at the place that is read now.
func (p *checking) bad(format string, a ...any) bool {
	p.c.say("0x%16x: %s\n", p.at, fmt.Sprintf(format, a...))
	return false
}

// all reads up to the end or the first mistake; the error is of the disk.
func (p *checking) all() error {
	for {
		b, err := p.r.Peek(1)
		if err != nil {
			if p.note(err) && p.multi {
				p.bad("Reached EOF before reading EXEC for MULTI")
			}
			return p.fail
		}
		switch b[0] {
		case '#':
			if !p.annotation() {
				return p.fail
			}
		case '*':
			if !p.command() {
				return p.fail
			}
		default:
			p.c.say("AOF %s format error\n", p.t.name)
			return nil
		}
		if !p.multi {
			p.good = p.pos
		}
	}
}

// note keeps an error of the disk, and reports whether it is only the end.
func (p *checking) note(err error) bool {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	p.fail = err
	return false
}

// annotation skips a line, and looks at the time in it.
func (p *checking) annotation() bool {
	line, err := p.r.ReadSlice('\n')
	if t, ok := timeOf(line); ok && p.c.until != 0 && t > p.c.until {
		p.late = true
		return false
	}
	if len(line) >= maxNote {
		p.c.say("AOF %s format error\n", p.t.name)
		return false
	}
	p.pos += int64(len(line))
	return err == nil || p.note(err)
}

// command reads an array.
func (p *checking) command() bool {
	argc, ok := p.head('*')
	for i := int64(0); ok && i < argc; i++ {
		ok = p.argument(i)
	}
	return ok
}

// head reads a line of a kind and a number. Its faults are told but for the end of the file.
func (p *checking) head(kind byte) (int64, bool) {
	p.at = p.pos
	line, err := p.r.ReadSlice('\n')
	p.pos += int64(len(line))
	if err != nil && err != bufio.ErrBufferFull && !p.note(err) || len(line) == 0 {
		return 0, false
	}
	if line[0] != kind {
		return 0, p.bad("Expected prefix '%c', got: '%c'", kind, line[0])
	}
	n := leadingInt(string(line[1:min(len(line), 64)]))
	i := 1
	for i < len(line) && (line[i] >= '0' && line[i] <= '9' || i == 1 && line[i] == '-') {
		i++
	}
	rest := append(line[i:len(line):len(line)], 0, 0)[:2]
	if rest[0] != '\r' || rest[1] != '\n' {
		return 0, p.bad("Expected \\r\\n, got: %02x%02x", rest[0], rest[1])
	}
	p.c.line++
	return n, true
}

// argument reads one, and looks at the command's name.
func (p *checking) argument(i int64) bool {
	size, ok := p.head('$')
	if !ok {
		return false
	}
	if size < 0 || size > maxInt-2 {
		return p.bad("Expected to read string of %d bytes, which is not in the suitable range", size)
	}
	p.at = p.pos
	var word []byte
	if i == 0 && (size == 4 || size == 5) {
		word, _ = p.r.Peek(int(size))
		word = bytes.ToLower(word)
	}
	if !p.skip(size) {
		return false
	}
	p.c.line++
	switch string(word) {
	case "multi":
		if p.multi {
			return p.bad("Unexpected MULTI in AOF %s", p.t.name)
		}
		p.multi = true
	case "exec":
		if !p.multi {
			return p.bad("Unexpected EXEC in AOF %s", p.t.name)
		}
		p.multi = false
	}
	return true
}

// skip goes behind size bytes and the end of their line.
func (p *checking) skip(size int64) bool {
	left := size
	for left > 0 {
		n, err := p.r.Discard(int(min(left, 1<<30)))
		p.pos += int64(n)
		left -= int64(n)
		if err != nil {
			return p.note(err) && p.bad("Expected to read %d bytes, got %d bytes", size+2, size-left)
		}
	}
	end, err := p.r.Peek(2)
	if err != nil {
		return p.note(err) && p.bad("Expected to read %d bytes, got %d bytes", size+2, size+int64(len(end)))
	}
	if end[0] != '\r' || end[1] != '\n' {
		return p.bad("Expected \\r\\n, got: %02x%02x", end[0], end[1])
	}
	n, _ := p.r.Discard(2)
	p.pos += int64(n)
	return true
}

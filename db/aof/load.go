package aof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"heddle/disk"
)

// LoadOptions say how files are loaded.
type LoadOptions struct {
	// Truncated accepts a last file that is cut off (aof-load-truncated), and cuts it behind the last whole command
	// or group. Files that are empty do not count as following one.
	Truncated bool
	// Until stops before the first annotation of a later Unix time in seconds; 0: load all. Nothing is cut then.
	Until int64
	// RDB loads an RDB file from r, which is also an io.Seeker, and leaves it right behind its end; commands may
	// follow.
	RDB func(r io.Reader, name string) error
	// Apply runs commands, in the order of the files. The batch is its until it returns. An error ends the load; it is
	// returned as it is.
	Apply func(b *Batch) error
	// Begin is told of each file before anything of it is loaded: a fresh connection, database 0. May be nil.
	Begin func(name string)
	// Read counts bytes, if not nil.
	Read *atomic.Int64
	Now  func() time.Time
}

// Loaded says what was loaded.
type Loaded struct {
	Size     int64  // bytes of all files, after cutting
	Commands int64  // that were applied
	Cut      int64  // bytes that were cut off the last file
	Until    *Until // where the load ended, with LoadOptions.Until; nil: nothing is later
	File     string // where it ended
}

// errRead is an error of the operating system.
func errRead(name string, err error) error {
	return fmt.Errorf("Unrecoverable error reading the append only file %s: %s", name, disk.Errno(err))
}

// TotalSize is what Load will read, in bytes. A file that is missing is an error, in Redis' words.
func (s *Store) TotalSize() (int64, error) {
	total := int64(0)
	for _, e := range s.Files() {
		info, err := s.o.FS.Stat(s.Path(e))
		if err != nil {
			return 0, fmt.Errorf("Unable to obtain the AOF file %s length. stat: %s", e.Name, disk.Errno(err))
		}
		total += info.Size()
	}
	return total, nil
}

// Load reads all files in their order. Errors other than those of RDB and Apply are for the log as they are, those of
// type *ScanError by their LogLine; the server does not start then. Files are changed in one case only, see
// LoadOptions.Truncated.
func (s *Store) Load(o LoadOptions) (Loaded, error) {
	var l Loaded
	if _, err := s.TotalSize(); err != nil {
		return l, err
	}
	if o.Read == nil {
		o.Read = new(atomic.Int64)
	}
	files := s.Files()
	end := s.lastFull(files)
	for i, e := range files {
		begin := o.Now()
		size, err := s.loadFile(&l, e, o, i >= end)
		if err != nil {
			return l, err
		}
		l.Size += size
		if l.Until != nil {
			s.log("AOF loaded up to the time %d: stopped in file %s at offset %d", o.Until, e.Name, l.Until.Offset)
			return l, nil
		}
		if size == 0 && l.Cut == 0 {
			continue
		}
		kind := "incr"
		if e.Type == Base {
			kind = "base"
		}
		s.log("DB loaded from %s file %s: %.3f seconds", kind, e.Name, o.Now().Sub(begin).Seconds())
	}
	return l, nil
}

// lastFull is the number of the last file that is not empty, which is the last one that was written to. If it is torn
// nothing is missing between it and what follows. It need not be the last of all: where the disk took a manifest that
// names a new file but an error was all that came back, and the next manifest failed as well, the old file goes on.
func (s *Store) lastFull(files []Entry) int {
	for i := len(files) - 1; i > 0; i-- {
		if info, err := s.o.FS.Stat(s.Path(files[i])); err != nil || info.Size() > 0 {
			return i
		}
	}
	return 0
}

// loadFile loads a file and returns its size.
func (s *Store) loadFile(l *Loaded, e Entry, o LoadOptions, last bool) (int64, error) {
	f, err := disk.Open(s.o.FS, s.Path(e))
	if err != nil {
		return 0, fmt.Errorf("Fatal error: can't open the append log file %s for reading: %s", e.Name, disk.Errno(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, errRead(e.Name, err)
	}
	if info.Size() == 0 {
		return 0, nil
	}
	l.File = e.Name
	if o.Begin != nil {
		o.Begin(e.Name)
	}
	r := &counter{r: f, total: o.Read}
	preamble, err := isRDB(f)
	if err != nil {
		return 0, errRead(e.Name, err)
	}
	if preamble {
		if e.Type == Base {
			s.log("Reading RDB base file on AOF loading...")
		} else {
			s.log("Reading RDB preamble from AOF file...")
		}
		if err := o.RDB(r, e.Name); err != nil {
			return 0, err
		}
		if r.n < info.Size() {
			s.log("Reading the remaining AOF tail...")
		}
	}
	sc := NewScanner(r, ScanOptions{Name: e.Name, Offset: r.n, Size: info.Size(), Until: o.Until})
	err = apply(l, sc, o)
	var bad *ScanError
	switch {
	case err == nil:
		return info.Size(), nil
	case errors.As(err, &l.Until):
		return l.Until.Offset, nil
	case !errors.As(err, &bad) || bad.Kind != Truncated:
		return 0, err
	}
	return bad.Valid, s.truncated(l, e, bad, info.Size(), o.Truncated, last)
}

// counter counts what is read. It can seek, for a reader of RDB files that reads ahead.
type counter struct {
	r     io.ReadSeeker
	n     int64 // position
	total *atomic.Int64
}

// Seek implements io.Seeker.
func (c *counter) Seek(off int64, whence int) (int64, error) {
	n, err := c.r.Seek(off, whence)
	if err == nil {
		c.total.Add(n - c.n)
		c.n = n
	}
	return n, err
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.total.Add(int64(n))
	return n, err
}

// isRDB reports whether a file begins as an RDB file does.
func isRDB(f io.ReaderAt) (bool, error) {
	var head [5]byte
	n, err := f.ReadAt(head[:], 0)
	if err == io.EOF {
		err = nil
	}
	return bytes.Equal(head[:n], []byte("REDIS")), err
}

// truncated deals with a file that is cut off.
func (s *Store) truncated(l *Loaded, e Entry, bad *ScanError, size int64, accept, last bool) error {
	if bad.Multi {
		s.warn("Revert incomplete MULTI/EXEC transaction in AOF file %s", e.Name)
	}
	if !accept {
		return bad
	}
	s.warn("!!! Warning: short read while loading the AOF file %s!!!", e.Name)
	if !last {
		// Its end is missing while what follows is there: nothing that cutting would repair.
		return fmt.Errorf("Fatal error: the truncated file is not the last file: %v", bad)
	}
	s.warn("!!! Truncating the AOF %s at offset %d !!!", e.Name, bad.Valid)
	f, err := s.o.FS.OpenFile(s.Path(e), os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(f.Truncate(bad.Valid), f.Sync(), f.Close())
	}
	if err != nil {
		s.warn("Error truncating the AOF file %s: %s", e.Name, disk.Errno(err))
		return bad
	}
	l.Cut = size - bad.Valid
	s.warn("AOF %s loaded anyway because aof-load-truncated is enabled: %d bytes of an incomplete command are gone", e.Name, l.Cut)
	return nil
}

// apply parses in one goroutine and applies in another: two batches go round.
func apply(l *Loaded, sc *Scanner, o LoadOptions) error {
	type parsed struct {
		b   *Batch
		err error
	}
	full, empty := make(chan parsed, 2), make(chan *Batch, 3)
	for range cap(empty) {
		empty <- &Batch{}
	}
	go func() {
		defer close(full)
		for b := range empty {
			err := sc.Next(b)
			full <- parsed{b, err}
			if err != nil {
				return
			}
		}
	}()
	var err error
	for p := range full {
		if err != nil {
			continue // what was on its way
		}
		if err = p.err; err != nil {
			continue // the parser is gone
		}
		if err = o.Apply(p.b); err != nil {
			drain(empty)
			continue
		}
		l.Commands += int64(len(p.b.Commands))
		empty <- p.b
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// drain takes the free batches away from the parser, which ends then.
func drain(empty chan *Batch) {
	for {
		select {
		case <-empty:
		default:
			close(empty)
			return
		}
	}
}

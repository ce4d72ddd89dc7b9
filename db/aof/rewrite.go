package aof

import (
	"errors"
	"fmt"
	"os"

	"heddle/disk"
)

// Mode says how the AOF stands while it is rewritten.
type Mode int

// Modes of a rewrite.
const (
	// On: effects are written; those behind the snapshot go to a new incremental file.
	On Mode = iota
	// Off: no effects are written; the base alone is made anew.
	Off
	// Enabling: the AOF was switched on and counts from the end of this rewrite on. Until then effects behind the
	// snapshot gather in a temporary file.
	Enabling
)

// Rewrite is a rewrite under way. The steps of the owner:
//
//	rw, err := st.BeginRewrite(mode, rdb)  // creates the next incremental file; nothing names it yet
//	appender.SwitchAt(offset, rw.Switch)   // On: with the shards locked that the snapshot begins with; wait for it
//	...                                    // Enabling: start an Appender on rw.File() at that offset
//	...                                    // save the snapshot to rw.TempPath()
//	st.Finish(rw)                          // or st.Abort(rw)
type Rewrite struct {
	// Recovered, if not 0, becomes Manifest.Recovered with Finish.
	Recovered int64

	s        *Store
	mode     Mode
	rdb      bool
	entry    Entry     // the new incremental file
	file     disk.File // given away by Switch or File
	switched bool
	aborted  bool
}

// ErrRewriting is returned while another rewrite is under way.
var ErrRewriting = errors.New("Background append only file rewriting already in progress")

// ErrAborted is returned by Switch after Abort.
var ErrAborted = errors.New("the rewrite was aborted")

// BeginRewrite starts a rewrite; rdb says that the base will be an RDB file.
func (s *Store) BeginRewrite(mode Mode, rdb bool) (*Rewrite, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rw != nil {
		return nil, ErrRewriting
	}
	if err := s.makeFolder(); err != nil {
		return nil, err
	}
	// The disk may name files that an aborted rewrite left, and this one would write over them.
	if err := s.settle(); err != nil {
		return nil, err
	}
	rw := &Rewrite{s: s, mode: mode, rdb: rdb}
	var err error
	switch mode {
	case On:
		rw.entry = s.nextIncr(s.m)
		s.log("Creating AOF incr file %s on background rewrite", rw.entry.Name)
		rw.file, err = s.create(rw.entry.Name)
	case Enabling:
		s.log("Creating AOF incr file %s on background rewrite", s.tempIncr())
		rw.file, err = s.create(s.tempIncr())
	}
	if err != nil {
		return nil, err
	}
	s.rw = rw
	return rw, nil
}

// TempPath is where the base is to be written.
func (rw *Rewrite) TempPath() string { return rw.s.path(rw.s.tempBase()) }

// File returns the file that effects gather in with Enabling. Who takes it closes it.
func (rw *Rewrite) File() disk.File {
	f := rw.file
	rw.file = nil
	return f
}

// Switch makes the manifest name the new incremental file and returns it. The file before it is synced to its end.
// After an error it may be called again. It is what Appender.SwitchAt wants.
func (rw *Rewrite) Switch() (disk.File, error) {
	s := rw.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if rw.aborted {
		return nil, ErrAborted
	}
	m := s.m.clone()
	m.Incr = append(m.Incr, rw.entry)
	if err := s.persist(m); err != nil {
		return nil, err
	}
	rw.switched = true
	return rw.File(), nil
}

// Finish puts the base in its place: it is synced and renamed, then the manifest says that it replaces all that
// came before the snapshot, then what it replaces is deleted. After an error the rewrite is to be aborted.
func (s *Store) Finish(rw *Rewrite) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rw != rw {
		return ErrAborted
	}
	if rw.mode == On && !rw.switched {
		return errors.New("the incremental file of the rewrite is not begun")
	}
	if err := s.syncFile(s.tempBase()); err != nil {
		return err
	}
	m := s.m.clone()
	base := s.nextBase(m, rw.rdb)
	var incr []Entry
	switch rw.mode {
	case On:
		for i, e := range m.Incr {
			if e == rw.entry {
				incr = m.Incr[i:]
				m.Incr = m.Incr[:i]
			}
		}
	case Enabling:
		// What is synced of it so far is enough: it is the last file, and its Appender goes on syncing it.
		rw.entry = s.nextIncr(m)
		incr = []Entry{rw.entry}
	}
	to := m.replaced(base, incr)
	if rw.Recovered != 0 {
		to.Recovered = rw.Recovered
	}
	if err := s.install(rw, base, to); err != nil {
		return err
	}
	s.rw = nil
	// The rewrite is done; what could not be deleted is tried again by the next.
	if err := s.collect(); err != nil {
		s.warn("Can't remove the history files of the AOF: %s", disk.Errno(err))
	}
	return nil
}

// replaced returns the manifest after a rewrite: newest history first, as Redis has it.
func (m *Manifest) replaced(base Entry, incr []Entry) *Manifest {
	var history []Entry
	for _, e := range m.Incr {
		e.Type = History
		history = append(history, e)
	}
	if m.Base != nil {
		e := *m.Base
		e.Type = History
		history = append(history, e)
	}
	return &Manifest{Base: &base, History: append(history, m.History...), Incr: incr, Recovered: m.Recovered}
}

// install renames the new files and writes the manifest.
func (s *Store) install(rw *Rewrite, base Entry, m *Manifest) error {
	if err := s.o.FS.Rename(s.path(s.tempBase()), s.path(base.Name)); err != nil {
		s.warn("Error trying to rename the temporary AOF base file %s into %s: %s", s.tempBase(), base.Name, disk.Errno(err))
		return err
	}
	if rw.mode == Enabling {
		if err := s.o.FS.Rename(s.path(s.tempIncr()), s.path(rw.entry.Name)); err != nil {
			s.warn("Error trying to rename the temporary AOF incr file %s into %s: %s", s.tempIncr(), rw.entry.Name, disk.Errno(err))
			s.discard(base.Name)
			return err
		}
		s.log("Successfully renamed the temporary AOF incr file %s into %s", s.tempIncr(), rw.entry.Name)
	}
	s.log("Successfully renamed the temporary AOF base file %s into %s", s.tempBase(), base.Name)
	err := s.o.FS.SyncDir(s.Folder())
	if err == nil {
		err = s.persist(m)
	}
	if err == nil {
		return nil
	}
	// Which manifest the disk has must be known before anything goes.
	if s.settle() == nil {
		s.discard(base.Name)
		if rw.mode == Enabling {
			s.discard(rw.entry.Name)
		}
	}
	return fmt.Errorf("Failed to finish the rewrite of the AOF: %w", err)
}

// discard removes a file that no manifest names; a failure leaves it to be overwritten.
func (s *Store) discard(name string) {
	if err := s.o.FS.Remove(s.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.warn("Can't remove the file %s: %s", name, disk.Errno(err))
	}
}

// Abort ends a rewrite that did not come to its end: what is loaded is what was loaded before. If the switch to the
// new incremental file was done, that one stays in use.
func (s *Store) Abort(rw *Rewrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rw != rw {
		return
	}
	s.rw, rw.aborted = nil, true
	if f := rw.File(); f != nil {
		if err := f.Close(); err != nil {
			s.warn("Can't close the file %s: %s", f.Name(), disk.Errno(err))
		}
	}
	s.discard(s.tempBase())
	switch {
	case rw.mode == Enabling:
		s.log("Removing the temp incr aof file %s in the background", s.tempIncr())
		s.discard(s.tempIncr())
	case rw.mode == On && !rw.switched:
		// A failed switch may have written the name.
		if s.settle() == nil {
			s.discard(rw.entry.Name)
		}
	}
}

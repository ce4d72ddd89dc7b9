package aof

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"heddle/disk"
)

// Store looks after the files of an AOF, and keeps one promise: whenever the power fails, the manifest on the disk
// names files that exist, all of them but the last complete and synced. From this follows the order of steps:
//
//   - A file is created and its folder synced before a manifest names it.
//   - The manifest names a new incremental file only when the one before it is synced to its end (see Switch). Redis
//     names it first; then power loss may leave a torn file in the middle, which it refuses to load. If writing the
//     manifest fails the old file goes on, though the disk may name the new one, which stays empty then: Load takes
//     the last file that is not empty for the last one.
//   - A base is synced and has its name before a manifest names it, and files leave the disk only when no manifest
//     that may be found names them: if it failed to replace the manifest, it may be the old one or the new, and
//     nothing is deleted until a later write succeeded.
//
// Everything else, such as files that no manifest names, may be left behind, and is overwritten when its name comes
// up again.
type Store struct {
	o Options

	mu     sync.Mutex
	m      *Manifest   // as the last successful write, or the disk at Open, has it
	onDisk bool        // there is a manifest
	unsure bool        // a write of the manifest failed: the disk may have either
	keep   atomic.Bool // leave history files
	pins   int         // see Pin
	rw     *Rewrite    // under way
}

// Options are what a Store works with.
type Options struct {
	FS       disk.FS
	Dir      string                          // the server's working directory
	DirName  string                          // appenddirname
	FileName string                          // appendfilename
	Log      func(warning bool, text string) // lines as Redis words them; nil: none
	// KeepHistory leaves files in place that rewrites replaced (aof-disable-auto-gc).
	KeepHistory bool
}

// Names of files beside those that the manifest names.
const (
	manifestSuffix = ".manifest"
	tempPrefix     = "temp-"
	incrSuffix     = ".incr"
	baseSuffix     = ".base"
)

// Open reads the manifest if there is one. It changes nothing. Errors about its content are *ManifestError.
func Open(o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = func(bool, string) {}
	}
	s := &Store{o: o, m: &Manifest{}}
	s.keep.Store(o.KeepHistory)
	name := s.path(s.manifestName())
	text, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("Fatal error: can't open the AOF manifest file %s for reading: %s", s.manifestName(), disk.Errno(err))
	}
	m, err := ParseManifest(text)
	var bad *ManifestError
	if errors.As(err, &bad) {
		bad.File = name
	}
	if err != nil {
		return nil, err
	}
	s.m, s.onDisk = m, true
	return s, nil
}

// maxManifest bounds what is read as a manifest: some hundred thousand files.
const maxManifest = 64 << 20

func (s *Store) read(name string) ([]byte, error) {
	f, err := disk.Open(s.o.FS, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxManifest {
		return nil, &ManifestError{File: name, Msg: msgLong}
	}
	text := make([]byte, info.Size())
	n, err := f.ReadAt(text, 0)
	if n == len(text) {
		err = nil
	}
	return text[:n], err
}

// Folder is the path of the folder with the files.
func (s *Store) Folder() string { return filepath.Join(s.o.Dir, s.o.DirName) }

func (s *Store) path(name string) string      { return filepath.Join(s.Folder(), name) }
func (s *Store) manifestName() string         { return s.o.FileName + manifestSuffix }
func (s *Store) tempIncr() string             { return tempPrefix + s.o.FileName + incrSuffix }
func (s *Store) tempBase() string             { return tempPrefix + s.o.FileName + baseSuffix }
func (s *Store) log(format string, a ...any)  { s.o.Log(false, fmt.Sprintf(format, a...)) }
func (s *Store) warn(format string, a ...any) { s.o.Log(true, fmt.Sprintf(format, a...)) }

// Manifest returns a copy of the manifest.
func (s *Store) Manifest() *Manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m.clone()
}

// ManifestPath is the path of the manifest.
func (s *Store) ManifestPath() string { return s.path(s.manifestName()) }

// Any reports whether there are files to load.
func (s *Store) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.m.empty()
}

// MarkRecovered writes Manifest.Recovered, for files that stay as they are.
func (s *Store) MarkRecovered(until int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m.clone()
	m.Recovered = until
	return s.persist(m)
}

// Path returns the path of a file that the manifest names.
func (s *Store) Path(e Entry) string { return s.path(e.Name) }

// Files returns the files to load, in order.
func (s *Store) Files() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m.files()
}

func (m *Manifest) files() []Entry {
	var list []Entry
	if m.Base != nil {
		list = append(list, *m.Base)
	}
	return append(list, m.Incr...)
}

// Sizes returns the bytes of the base file and of all incremental ones, 0 for those that cannot be asked.
func (s *Store) Sizes() (base, incr int64) {
	for _, e := range s.Files() {
		info, err := s.o.FS.Stat(s.Path(e))
		switch {
		case err != nil:
		case e.Type == Base:
			base = info.Size()
		default:
			incr += info.Size()
		}
	}
	return base, incr
}

// SetKeepHistory changes Options.KeepHistory; what was kept is deleted by the next Clean or Finish.
func (s *Store) SetKeepHistory(keep bool) {
	s.keep.Store(keep) // without the mutex, under which the disk is waited for
}

// Upgrade takes over the single file of older servers, dir/appendfilename: it is moved into the folder and becomes
// the base of a new manifest. The manifest comes first, so that an upgrade cut short is known and goes on at the next
// start. It reports whether there was anything to do. Called before Load.
func (s *Store) Upgrade() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, moved := filepath.Join(s.o.Dir, s.o.FileName), s.path(s.o.FileName)
	info, err := s.o.FS.Stat(old)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if s.onDisk {
		m := s.m
		if m.Base == nil || m.Base.Name != s.o.FileName || m.Base.Seq != 1 || len(m.Incr) > 0 {
			return false, nil
		}
		if there, err := disk.Exists(s.o.FS, moved); there || err != nil {
			return false, err
		}
	} else {
		if err := s.makeFolder(); err != nil {
			return false, err
		}
		if err := s.persist(&Manifest{Base: &Entry{s.o.FileName, 1, Base}}); err != nil {
			return false, err
		}
	}
	if err := s.o.FS.Rename(old, moved); err != nil {
		return false, fmt.Errorf("Error trying to move the old AOF file %s into dir %s: %s", s.o.FileName, s.o.DirName, disk.Errno(err))
	}
	if err := errors.Join(s.o.FS.SyncDir(s.Folder()), s.o.FS.SyncDir(s.o.Dir)); err != nil {
		return false, err
	}
	s.log("Successfully migrated an old-style AOF file (%s) into the AOF directory (%s).", s.o.FileName, s.o.DirName)
	return true, nil
}

func (s *Store) makeFolder() error {
	if err := s.o.FS.MkdirAll(s.Folder(), 0o755); err != nil {
		return fmt.Errorf("Can't open or create append-only dir %s: %s", s.o.DirName, disk.Errno(err))
	}
	return s.o.FS.SyncDir(s.o.Dir)
}

// persist writes a manifest and makes it the present one. After an error the disk may have either.
func (s *Store) persist(m *Manifest) error {
	err := disk.Replace(s.o.FS, s.Folder(), s.manifestName(), func(f disk.File) error {
		_, err := f.Write(m.Append(nil))
		return err
	})
	if err != nil {
		s.unsure = true
		err = fmt.Errorf("Fail to write the AOF manifest file %s: %w", s.manifestName(), err)
		s.warn("Fail to write the AOF manifest file %s: %s", s.manifestName(), disk.Errno(err))
		return err
	}
	s.m, s.onDisk, s.unsure = m, true, false
	return nil
}

// settle makes sure that the disk has the present manifest.
func (s *Store) settle() error {
	switch {
	case !s.unsure:
		return nil
	case s.onDisk:
		return s.persist(s.m)
	}
	// There was none, and an empty one is an error to whoever reads it.
	err := s.o.FS.Remove(s.path(s.manifestName()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = s.o.FS.SyncDir(s.Folder())
	}
	if err != nil {
		s.warn("Can't remove the AOF manifest file %s: %s", s.manifestName(), disk.Errno(err))
		return err
	}
	s.unsure = false
	return nil
}

// create makes an empty file whose name survives, and whose emptiness does: there may be one of that name that could
// not be removed, and its bytes must not come back.
func (s *Store) create(name string) (disk.File, error) {
	f, err := s.o.FS.OpenFile(s.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		if err = errors.Join(f.Sync(), s.o.FS.SyncDir(s.Folder())); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		s.warn("Can't open the append-only file %s: %s", name, disk.Errno(err))
		return nil, fmt.Errorf("Can't open the append-only file %s: %w", name, err)
	}
	return f, nil
}

// next returns the entry of the next incremental file of m. A number whose name is in use, by a file of history that
// was kept, is passed over.
func (s *Store) nextIncr(m *Manifest) Entry {
	for seq := m.lastIncr() + 1; ; seq++ {
		e := Entry{s.o.FileName + "." + strconv.FormatInt(seq, 10) + ".incr.aof", seq, Incr}
		if !m.names(e.Name) {
			return e
		}
	}
}

// nextBase is the same for a base.
func (s *Store) nextBase(m *Manifest, rdb bool) Entry {
	seq := int64(1)
	if m.Base != nil {
		seq = m.Base.Seq + 1
	}
	suffix := ".base.aof"
	if rdb {
		suffix = ".base.rdb"
	}
	for ; ; seq++ {
		e := Entry{s.o.FileName + "." + strconv.FormatInt(seq, 10) + suffix, seq, Base}
		if !m.names(e.Name) {
			return e
		}
	}
}

// Prepare opens the file to append to at the start of a server with the AOF on, after Load, and returns its size.
// Without any files it first creates a base, which base writes (rdb says in which format); without an incremental
// file it creates one. All files are synced: they may have been written by a process that was killed.
func (s *Store) Prepare(base func(disk.File) error, rdb bool) (f disk.File, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = s.makeFolder(); err != nil {
		return nil, 0, err
	}
	m := s.m.clone()
	for _, e := range m.files() {
		if err = s.syncFile(e.Name); err != nil {
			return nil, 0, err
		}
	}
	if m.empty() {
		e := s.nextBase(m, rdb)
		s.log("Creating AOF base file %s on server start", e.Name)
		if err = disk.ReplaceVia(s.o.FS, s.path(s.tempBase()), s.path(e.Name), base); err != nil {
			return nil, 0, err
		}
		m.Base = &e
	}
	if len(m.Incr) > 0 {
		name := m.Incr[len(m.Incr)-1].Name
		s.log("Opening AOF incr file %s on server start", name)
		if f, err = s.o.FS.OpenFile(s.path(name), os.O_WRONLY, 0o644); err == nil {
			size, err = f.Seek(0, 2)
		}
		return f, size, err
	}
	e := s.nextIncr(m)
	s.log("Creating AOF incr file %s on server start", e.Name)
	if f, err = s.create(e.Name); err != nil {
		return nil, 0, err
	}
	m.Incr = append(m.Incr, e)
	if err = s.persist(m); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, 0, nil
}

func (s *Store) syncFile(name string) error {
	f, err := s.o.FS.OpenFile(s.path(name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Clean deletes what rewrites replaced, unless it is to be kept, and what was left of rewrites that did not end.
// Called at the start, and when history is not to be kept any more.
func (s *Store) Clean() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rw == nil {
		for _, name := range []string{s.tempIncr(), s.tempBase(), tempPrefix + s.manifestName()} {
			if err := s.o.FS.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.warn("Can't remove the file %s: %s", name, disk.Errno(err))
			}
		}
	}
	return s.collect()
}

// Pin has files stay that rewrites replace, until release is called: they are being loaded.
func (s *Store) Pin() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pins--
		if err := s.collect(); err != nil {
			s.warn("Can't remove the history files of the AOF: %s", disk.Errno(err))
		}
	}
}

// collect deletes the files of history and then their lines: a line without a file is no harm.
func (s *Store) collect() error {
	if s.keep.Load() || s.pins > 0 || len(s.m.History) == 0 {
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	m := s.m.clone()
	m.History = nil
	for _, e := range s.m.History {
		s.log("Removing the history file %s in the background", e.Name)
		if err := s.o.FS.Remove(s.path(e.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.warn("Can't remove the history file %s: %s", e.Name, disk.Errno(err))
			m.History = append(m.History, e)
		}
	}
	return s.persist(m)
}

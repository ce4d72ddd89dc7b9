// Package simdisk is a file system in memory that loses power: a test asks, before any operation of the code under
// test, what the disk would hold if the power failed now, opens that, and checks that nothing promised is missing. It
// also fails on demand: no space, errors of reading, writing and syncing, writes that stop short.
//
// The model is what POSIX leaves open, and ext4 and XFS do. A file's bytes and the names that lead to it are kept
// apart. Every write and truncation of a file is pending until Sync of that file. Power loss keeps the pending ones
// up to any of them, which may be torn within; or the length is there without the bytes, which then read as zeros.
// Every change of a name is pending until SyncDir of its folder. Changes of one folder reach the disk in order,
// as journals write them; those of different folders in any order; a rename is never seen half, not even
// between folders. Not in the model: later writes of one file that survive earlier ones, and bytes that rot.
package simdisk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"heddle/disk"
)

// Kind is what an operation does.
type Kind string

// Kinds. Only those from Write on change what power loss leaves; the others are told to Fail alone.
const (
	Open     Kind = "open" // also counted and told to Before if it creates or empties a file
	Read     Kind = "read"
	Stat     Kind = "stat"
	ReadDir  Kind = "readdir"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	SyncDir  Kind = "syncdir"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
	Link     Kind = "link"
	Lock     Kind = "lock" // told to Fail alone
)

// Op is one operation on the disk.
type Op struct {
	N    int // the number of this changing operation from 0 on; -1 for those that change nothing
	Kind Kind
	Name string // cleaned path
	Size int    // bytes of a Write
}

// Short makes a Write store only its first N bytes, then return Err; if Err is nil the write returns short with
// io.ErrShortWrite, as os.File does.
type Short struct {
	N   int
	Err error
}

func (s *Short) Error() string { return "short write" }

// ErrPowerOff is what every operation returns once the power is off.
var ErrPowerOff = errors.New("simdisk: the power is off")

// Disk is a simulated disk. All methods may be called by many goroutines; the functions given to Before and Fail
// run outside its lock, so they may block and may use the disk.
type Disk struct {
	mu     sync.Mutex
	root   *node
	names  []change // pending changes of names, in order
	count  int
	off    bool
	offAt  int
	before func(Op)
	fail   func(Op) error
	ticks  int64 // file times
	locks  map[string]string
}

// node is a file or a folder.
type node struct {
	dir     bool
	entries map[string]*node // of a folder: as they are
	durable map[string]*node // of a folder: as power loss finds them, but for pending changes that survive
	data    []byte           // of a file: as it is
	synced  []byte           // of a file: as power loss finds it
	pending []edit           // of a file: since the last Sync
	perm    fs.FileMode
	mtime   int64
}

// edit is a pending write or, with nil data, truncation.
type edit struct {
	off  int64
	data []byte
	cut  bool
}

// change is a pending change of names: of entry in dir, or of two at once for a rename.
type change struct {
	sets []set
}

type set struct {
	dir  *node
	name string
	to   *node // nil: removed
}

// New returns an empty disk with folder "/".
func New() *Disk { return &Disk{root: newDir(), offAt: -1} }

func newDir() *node {
	return &node{dir: true, perm: 0o755, entries: map[string]*node{}, durable: map[string]*node{}}
}

// Before sets a function that is called before each operation that changes or syncs anything, while it has not
// happened yet. It may call Crash and Clone. nil: none.
func (d *Disk) Before(f func(Op)) { d.mu.Lock(); defer d.mu.Unlock(); d.before = f }

// Fail sets a function that is asked for the error of each operation; the operation does nothing then. A *Short
// makes a write partial. nil: nothing fails.
func (d *Disk) Fail(f func(Op) error) { d.mu.Lock(); defer d.mu.Unlock(); d.fail = f }

// PowerOffAt makes the operation of number n and all after it fail with ErrPowerOff and do nothing. -1: never.
func (d *Disk) PowerOffAt(n int) { d.mu.Lock(); defer d.mu.Unlock(); d.offAt, d.off = n, false }

// Ops returns how many changing operations there were.
func (d *Disk) Ops() int { d.mu.Lock(); defer d.mu.Unlock(); return d.count }

// begin counts an operation, tells it and asks for its error.
func (d *Disk) begin(k Kind, name string, size int, changes bool) error {
	d.mu.Lock()
	op := Op{N: -1, Kind: k, Name: clean(name), Size: size}
	if changes {
		op.N = d.count
		d.count++
		d.off = d.off || d.offAt >= 0 && op.N >= d.offAt
	}
	off, before, fail := d.off, d.before, d.fail
	d.mu.Unlock()
	if off {
		return ErrPowerOff
	}
	if before != nil && changes {
		before(op)
	}
	if fail != nil {
		return fail(op)
	}
	return nil
}

func clean(name string) string { return path.Clean("/" + filepath.ToSlash(name)) }

func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// walk finds a node; nil if there is none.
func (d *Disk) walk(name string) *node {
	n := d.root
	for _, part := range strings.Split(clean(name), "/") {
		if part == "" {
			continue
		}
		if n = n.entries[part]; n == nil {
			return nil
		}
	}
	return n
}

// parent finds the folder of a name and the last part of it.
func (d *Disk) parent(name string) (*node, string, error) {
	dir, base := path.Split(clean(name))
	n := d.walk(dir)
	switch {
	case n == nil:
		return nil, "", syscall.ENOENT
	case !n.dir:
		return nil, "", syscall.ENOTDIR
	case base == "":
		return nil, "", syscall.EISDIR
	}
	return n, base, nil
}

func (d *Disk) apply(c change) {
	d.ticks++
	for _, s := range c.sets {
		if s.to == nil {
			delete(s.dir.entries, s.name)
		} else {
			s.dir.entries[s.name] = s.to
		}
		s.dir.mtime = d.ticks
	}
	d.names = append(d.names, c)
}

// OpenFile implements disk.FS.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	d.mu.Lock()
	n := d.walk(name)
	changes := n == nil && flag&os.O_CREATE != 0 || n != nil && flag&os.O_TRUNC != 0 && len(n.data) > 0
	d.mu.Unlock()
	if err := d.begin(Open, name, 0, changes); err != nil {
		return nil, wrap("open", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(name)
	if clean(name) == "/" {
		dir, base, err = nil, "", nil
	}
	if err != nil {
		return nil, wrap("open", name, err)
	}
	n = d.walk(name)
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, wrap("open", name, syscall.ENOENT)
	case n == nil:
		d.ticks++
		n = &node{perm: perm, mtime: d.ticks}
		d.apply(change{[]set{{dir, base, n}}})
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, wrap("open", name, syscall.EEXIST)
	case n.dir && flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, wrap("open", name, syscall.EISDIR)
	case flag&os.O_TRUNC != 0 && len(n.data) > 0:
		n.resize(0)
	}
	return &file{d: d, n: n, name: name, flag: flag}, nil
}

// Rename implements disk.FS.
func (d *Disk) Rename(from, to string) error {
	link := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: err} }
	if err := d.begin(Rename, to, 0, true); err != nil {
		return link(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.walk(from)
	if n == nil {
		return link(syscall.ENOENT)
	}
	src, a, err := d.parent(from)
	if err != nil {
		return link(err)
	}
	dst, b, err := d.parent(to)
	if err != nil {
		return link(err)
	}
	switch old := dst.entries[b]; {
	case old == n:
		return nil
	case old != nil && old.dir != n.dir, old != nil && old.dir && len(old.entries) > 0:
		return link(syscall.EEXIST)
	}
	d.apply(change{[]set{{src, a, nil}, {dst, b, n}}})
	return nil
}

// Link implements disk.FS.
func (d *Disk) Link(from, to string) error {
	link := func(err error) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: err} }
	if err := d.begin(Link, to, 0, true); err != nil {
		return link(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.walk(from)
	if n == nil {
		return link(syscall.ENOENT)
	}
	dst, b, err := d.parent(to)
	switch {
	case err != nil:
		return link(err)
	case n.dir:
		return link(syscall.EPERM)
	case dst.entries[b] != nil:
		return link(syscall.EEXIST)
	}
	d.apply(change{[]set{{dst, b, n}}})
	return nil
}

// Remove implements disk.FS.
func (d *Disk) Remove(name string) error {
	if err := d.begin(Remove, name, 0, true); err != nil {
		return wrap("remove", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, base, err := d.parent(name)
	if err != nil {
		return wrap("remove", name, err)
	}
	n := dir.entries[base]
	switch {
	case n == nil:
		return wrap("remove", name, syscall.ENOENT)
	case n.dir && len(n.entries) > 0:
		return wrap("remove", name, syscall.ENOTEMPTY)
	}
	d.apply(change{[]set{{dir, base, nil}}})
	return nil
}

// RemoveAll implements disk.FS.
func (d *Disk) RemoveAll(name string) error {
	d.mu.Lock()
	n := d.walk(name)
	var below []string
	if n != nil && n.dir {
		for e := range n.entries {
			below = append(below, e)
		}
	}
	d.mu.Unlock()
	if n == nil {
		return nil
	}
	slices.Sort(below)
	for _, e := range below {
		if err := d.RemoveAll(path.Join(name, e)); err != nil {
			return err
		}
	}
	return d.Remove(name)
}

// MkdirAll implements disk.FS.
func (d *Disk) MkdirAll(dir string, perm fs.FileMode) error {
	p := clean(dir)
	if p == "/" {
		return nil
	}
	d.mu.Lock()
	n := d.walk(p)
	d.mu.Unlock()
	if n != nil {
		if !n.dir {
			return wrap("mkdir", dir, syscall.ENOTDIR)
		}
		return nil
	}
	if err := d.MkdirAll(path.Dir(p), perm); err != nil {
		return err
	}
	if err := d.begin(Mkdir, p, 0, true); err != nil {
		return wrap("mkdir", dir, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	parent, base, err := d.parent(p)
	if err != nil {
		return wrap("mkdir", dir, err)
	}
	n = newDir()
	n.perm = perm
	d.apply(change{[]set{{parent, base, n}}})
	return nil
}

// ReadDir implements disk.FS.
func (d *Disk) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := d.begin(ReadDir, dir, 0, false); err != nil {
		return nil, wrap("open", dir, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.walk(dir)
	if n == nil {
		return nil, wrap("open", dir, syscall.ENOENT)
	}
	if !n.dir {
		return nil, wrap("readdirent", dir, syscall.ENOTDIR)
	}
	var list []fs.DirEntry
	for name, e := range n.entries {
		list = append(list, fs.FileInfoToDirEntry(e.info(name)))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Stat implements disk.FS.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	if err := d.begin(Stat, name, 0, false); err != nil {
		return nil, wrap("stat", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.walk(name)
	if n == nil {
		return nil, wrap("stat", name, syscall.ENOENT)
	}
	return n.info(path.Base(clean(name))), nil
}

// SyncDir implements disk.FS.
func (d *Disk) SyncDir(dir string) error {
	if err := d.begin(SyncDir, dir, 0, true); err != nil {
		return wrap("sync", dir, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.walk(dir)
	if n == nil {
		return wrap("open", dir, syscall.ENOENT)
	}
	kept := d.names[:0]
	for _, c := range d.names {
		if slices.ContainsFunc(c.sets, func(s set) bool { return s.dir == n }) {
			c.persist()
		} else {
			kept = append(kept, c)
		}
	}
	d.names = kept
	return nil
}

func (c change) persist() {
	for _, s := range c.sets {
		if s.to == nil {
			delete(s.dir.durable, s.name)
		} else {
			s.dir.durable[s.name] = s.to
		}
	}
}

// Lock implements disk.FS. Locks are those of the running system: they are no files, and a disk from Crash or Clone has
// none.
func (d *Disk) Lock(name, owner string) (io.Closer, error) {
	if err := d.begin(Lock, name, 0, false); err != nil {
		return nil, wrap("flock", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, _, err := d.parent(name); err != nil {
		return nil, wrap("open", name, err)
	}
	p := clean(name)
	if other, held := d.locks[p]; held {
		return nil, &disk.LockedError{Name: name, Owner: other}
	}
	if d.locks == nil {
		d.locks = map[string]string{}
	}
	d.locks[p] = owner
	return &lock{d: d, name: p}, nil
}

type lock struct {
	d    *Disk
	name string
	once sync.Once
}

// Close gives the lock up.
func (l *lock) Close() error {
	l.once.Do(func() {
		l.d.mu.Lock()
		defer l.d.mu.Unlock()
		delete(l.d.locks, l.name)
	})
	return nil
}

type info struct {
	name string
	n    node
}

func (n *node) info(name string) fs.FileInfo {
	return info{name, node{dir: n.dir, data: n.data, perm: n.perm, mtime: n.mtime}}
}
func (i info) Name() string { return i.name }
func (i info) Size() int64  { return int64(len(i.n.data)) }
func (i info) Mode() fs.FileMode {
	if i.n.dir {
		return i.n.perm | fs.ModeDir
	}
	return i.n.perm
}
func (i info) ModTime() time.Time { return time.Unix(i.n.mtime, 0) }
func (i info) IsDir() bool        { return i.n.dir }
func (i info) Sys() any           { return nil }

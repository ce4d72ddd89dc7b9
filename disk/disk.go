// Package disk is the file system as the server's files need it: an interface small enough for tests to put a
// simulated disk in its place, which loses power or fails at any step, and the one way in which whole files are
// replaced.
//
// What POSIX promises is less than what most think, and callers write to this contract:
//   - Write returns when the page cache has the bytes. They survive the process, not the power.
//   - File.Sync makes the bytes of a file survive, not its name. After an error of Sync the bytes since the last
//     success are in an unknown state, and a later success says nothing about them: they must be written again.
//   - FS.SyncDir makes what happened to the names in a folder survive: creations, renames, removals.
//   - Rename within a file system is atomic: whoever looks, also after power loss, finds the old or the new.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// FS is a file system. Names are paths as the operating system takes them; errors are those of package os
// (*fs.PathError, *os.LinkError) or wrap the same errno values. All methods may be called by many goroutines.
type FS interface {
	// OpenFile opens a file as os.OpenFile does, with its flags.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Rename moves a file over whatever has the new name, at once.
	Rename(from, to string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// RemoveAll deletes a file, or a folder with all in it; no error if there is none.
	RemoveAll(dir string) error
	// MkdirAll creates a folder and those above it; no error if it exists.
	MkdirAll(dir string, perm fs.FileMode) error
	// ReadDir lists a folder, sorted by name.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// Stat tells about a file, after following links.
	Stat(name string) (fs.FileInfo, error)
	// Link gives a file a second name.
	Link(from, to string) error
	// SyncDir makes creations, renames and removals in a folder survive power loss.
	SyncDir(dir string) error
	// Lock takes a lock that one user of the file system has at a time, be it this process or another: the file name,
	// which is made if need be and removed at the end. It does not wait: a *LockedError says that another has it, any
	// other error that this cannot be found out here. owner says who we are to those who come later. The lock is held
	// until it is closed, or the process ends, however it does.
	Lock(name, owner string) (io.Closer, error)
}

// LockedError says that another has a lock.
type LockedError struct {
	Name  string
	Owner string // what he said of himself; "": nothing
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.Owner == "" {
		return e.Name + " is locked by another"
	}
	return e.Name + " is locked by " + e.Owner
}

// File is an open file. As with os.File, Write and Truncate by one goroutine and Sync by another may overlap.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	// Name is the name it was opened by.
	Name() string
	Stat() (fs.FileInfo, error)
	// Sync makes the bytes survive power loss. See the package about its errors.
	Sync() error
	// Truncate cuts the file to size bytes, or adds zero bytes; the position stays.
	Truncate(size int64) error
	// StartSync begins to write n bytes from off to the disk without waiting for the end, so that a later Sync
	// finds little left to do. A hint: it promises nothing.
	StartSync(off, n int64) error
}

// OS is the file system of the operating system.
func OS() FS { return system{} }

type system struct{}

func (system) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (system) Rename(from, to string) error                { return os.Rename(from, to) }
func (system) Remove(name string) error                    { return os.Remove(name) }
func (system) RemoveAll(dir string) error                  { return os.RemoveAll(dir) }
func (system) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (system) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (system) Stat(name string) (fs.FileInfo, error)       { return os.Stat(name) }
func (system) Link(from, to string) error                  { return os.Link(from, to) }

// SyncDir takes it for success that a file system cannot sync folders: nothing better is to be had there.
func (system) SyncDir(dir string) error {
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EBADF) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

type file struct{ *os.File }

// Open opens a file for reading.
func Open(fsys FS, name string) (File, error) { return fsys.OpenFile(name, os.O_RDONLY, 0) }

// Exists reports whether there is something of that name. An error other than that there is none is returned.
func Exists(fsys FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Replace gives the file name in dir new content, so that at any instant, also after power loss, it has either all
// of the old content or all of the new: a temporary file beside it ("temp-" and the name) is written, synced, renamed
// over it, and the folder is synced. If anything fails the temporary file is removed and the old content stays,
// except for a failure to sync the folder at the end, when both are possible after power loss.
func Replace(fsys FS, dir, name string, write func(File) error) error {
	return ReplaceVia(fsys, filepath.Join(dir, "temp-"+name), filepath.Join(dir, name), write)
}

// ReplaceVia is Replace with the whole names of the temporary file and of the target, which are in one file system.
func ReplaceVia(fsys FS, temp, name string, write func(File) error) (err error) {
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if err != nil && open {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			// What matters is the first error; a leftover is overwritten by the next try.
			_ = fsys.Remove(temp)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	open = false
	if err = f.Close(); err != nil {
		return err
	}
	if err = fsys.Rename(temp, name); err != nil {
		return err
	}
	return SyncParent(fsys, name)
}

// SyncParent syncs the folder that a file is in.
func SyncParent(fsys FS, name string) error { return fsys.SyncDir(filepath.Dir(name)) }

// Errno is the text of the operating system's error inside err as C's strerror words it, "No space left on device",
// which is how Redis logs and answers it; without one it is err's own text.
func Errno(err error) string {
	var no syscall.Errno
	text := ""
	switch {
	case err == nil:
		return "Success"
	case errors.As(err, &no):
		text = no.Error()
	case errors.Is(err, io.ErrShortWrite):
		// A write that stops short without an error is what a full disk does.
		text = syscall.ENOSPC.Error()
	case errors.Is(err, fs.ErrNotExist):
		text = syscall.ENOENT.Error()
	default:
		return err.Error()
	}
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

package disk

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A lock is flock on a file of its own. The kernel gives it up with the process, so that nobody has to guess whether
// the owner of a file that is there still lives. Network file systems know it too, for files that are open for
// writing, unlike a lock of the folder itself; those that do not say ENOLCK or ENOTSUP.
//
// The file is removed while it is locked. Who opened it before has a lock of a file without a name then, so what was
// locked is compared with what has the name.
//
// Rejected: files that count as locks by being there, which outlive kill -9; fcntl's locks, which any other
// descriptor of the file gives up that the process closes.

// lockTries bounds how often a lock is taken whose file has been removed meanwhile.
const lockTries = 100

// maxOwner bounds what is read of an owner.
const maxOwner = 256

// Lock implements FS.
func (system) Lock(name, owner string) (io.Closer, error) {
	for range lockTries {
		f, err := openLock(name)
		if err != nil {
			return nil, err
		}
		err = flock(f)
		if errors.Is(err, unix.EWOULDBLOCK) {
			b := make([]byte, maxOwner)
			n, _ := f.ReadAt(b, 0)
			_ = f.Close()
			return nil, &LockedError{name, strings.TrimSpace(strings.ToValidUTF8(string(b[:n]), "?"))}
		}
		if err != nil {
			return nil, errors.Join(&os.PathError{Op: "flock", Path: name, Err: err}, f.Close())
		}
		if has(f, name) {
			// A hint to others, no more.
			if f.Truncate(0) == nil {
				_, _ = f.WriteAt([]byte(owner+"\n"), 0)
			}
			return &lock{f: f, name: name}, nil
		}
		_ = f.Close()
	}
	// Nobody is that quick: files have no numbers here that stay.
	return nil, &os.PathError{Op: "lock", Path: name, Err: unix.ENOTSUP}
}

// openLock opens the file of a lock, for reading alone if it is another user's.
func openLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		if r, e := os.Open(name); e == nil {
			return r, nil
		}
	}
	return f, err
}

func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EINTR {
			return err
		}
	}
}

// has reports whether f still is the file of that name.
func has(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

type lock struct {
	f    *os.File
	name string
	once sync.Once
}

// Close gives the lock up.
func (l *lock) Close() (err error) {
	l.once.Do(func() {
		if has(l.f, l.name) { // else the folder was moved, and another's file may be there
			_ = os.Remove(l.name) // one that stays does no harm
		}
		err = l.f.Close()
	})
	return err
}

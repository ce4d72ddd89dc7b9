package poll

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxVec is the most pieces one Writev takes.
const MaxVec = 64

// Read reads once from a non-blocking socket. n == 0 with errno 0 is the end.
func Read(fd int, b []byte) (n int, errno syscall.Errno) {
	if len(b) == 0 {
		return 0, unix.EAGAIN
	}
	for {
		r, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// Write sends once to a non-blocking socket, without SIGPIPE.
func Write(fd int, b []byte) (n int, errno syscall.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	for {
		r, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
			unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// Vec collects pieces for one Writev. The zero value is empty. It is reused,
// and must not outlive the pieces.
type Vec struct {
	iov [MaxVec]unix.Iovec
	n   int
	len int
	hdr unix.Msghdr
}

// Add adds a piece and reports whether there was room.
func (v *Vec) Add(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if v.n == MaxVec {
		return false
	}
	v.iov[v.n].Base = unsafe.SliceData(b)
	v.iov[v.n].SetLen(len(b))
	v.n++
	v.len += len(b)
	return true
}

// Len returns how many bytes the pieces have.
func (v *Vec) Len() int { return v.len }

// Reset empties the vector.
func (v *Vec) Reset() {
	clear(v.iov[:v.n])
	v.n, v.len = 0, 0
}

// Writev sends the pieces once to a non-blocking socket, without SIGPIPE.
func Writev(fd int, v *Vec) (n int, errno syscall.Errno) {
	if v.n == 0 {
		return 0, 0
	}
	v.hdr = unix.Msghdr{Iov: &v.iov[0]}
	v.hdr.SetIovlen(v.n)
	for {
		r, _, e := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.hdr)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, e
		}
		return int(r), 0
	}
}

// Waker wakes a Poller from any goroutine. It is an eventfd.
type Waker struct{ fd int }

// NewWaker opens a waker.
func NewWaker() (Waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	return Waker{fd}, err
}

// FD is what to register with the Poller, for In.
func (w Waker) FD() int { return w.fd }

// Wake makes the descriptor ready until Drain.
func (w Waker) Wake() {
	one := uint64(1)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(w.fd), uintptr(unsafe.Pointer(&one)), 8)
}

// Drain takes back what Wake did.
func (w Waker) Drain() {
	var n uint64
	_, _, _ = syscall.RawSyscall(unix.SYS_READ, uintptr(w.fd), uintptr(unsafe.Pointer(&n)), 8)
}

// Close closes the waker.
func (w Waker) Close() error { return unix.Close(w.fd) }

// Package poll waits for sockets to become ready and moves bytes through them
// with as little as Linux allows: epoll, and system calls that skip the Go
// scheduler where they cannot block.
//
// A non-blocking read or write takes a few microseconds and never waits, so it
// goes through RawSyscall: telling the scheduler about it costs more than it
// saves. Only a wait that may last goes through Syscall, so that the scheduler
// can hand the processor on and the collector can stop the world meanwhile.
package poll

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event says what happened to a registered descriptor.
type Event uint32

// What to wait for, and what may have happened. Hup and Error are reported
// whether asked for or not.
const (
	In    Event = unix.EPOLLIN
	Out   Event = unix.EPOLLOUT
	Hup   Event = unix.EPOLLHUP
	Error Event = unix.EPOLLERR
	RdHup Event = unix.EPOLLRDHUP
)

// eventsPerWait bounds what one Wait reports; the rest comes with the next.
const eventsPerWait = 512

// Poller is a level-triggered epoll instance. It belongs to one goroutine.
type Poller struct {
	fd     int
	events [eventsPerWait]unix.EpollEvent
}

// New opens a poller.
func New() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &Poller{fd: fd}, nil
}

// Close closes the poller, not what is registered with it.
func (p *Poller) Close() error { return unix.Close(p.fd) }

// Add registers fd; events about it carry token.
func (p *Poller) Add(fd int, want Event, token uint64) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, want, token)
}

// Modify changes what is waited for on fd.
func (p *Poller) Modify(fd int, want Event, token uint64) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, want, token)
}

// Remove forgets fd. Closing the last descriptor of a socket does so too.
func (p *Poller) Remove(fd int) error {
	return p.control(unix.EPOLL_CTL_DEL, fd, 0, 0)
}

func (p *Poller) control(op, fd int, want Event, token uint64) error {
	e := unix.EpollEvent{Events: uint32(want), Fd: int32(token), Pad: int32(token >> 32)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.fd), uintptr(op), uintptr(fd),
		uintptr(unsafe.Pointer(&e)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Poll reports how many events are ready now, without waiting.
func (p *Poller) Poll() int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events[0])), eventsPerWait, 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Wait waits until something is ready or timeout milliseconds have passed (-1:
// for ever) and reports how many events there are; 0 also when a signal came.
func (p *Poller) Wait(timeout int) int {
	n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events[0])), eventsPerWait, uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Event returns the i-th event of the last Poll or Wait.
func (p *Poller) Event(i int) (token uint64, what Event) {
	e := &p.events[i]
	return uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32, Event(e.Events)
}

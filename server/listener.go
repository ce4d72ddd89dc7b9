package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"heddle/server/poll"
)

// listener is a listening socket of a worker.
type listener struct {
	fd    int
	token uint64
	local bool // a unix socket
}

// listening is all the sockets that the server listens on, by worker.
type listening struct {
	tcp  [][]*listener
	unix *listener // the first worker's
	next uint64
}

// ErrUnix says that it is the unix socket that Listen could not open.
var ErrUnix = errors.New("unix socket")

// Listen opens the sockets of bind, port and unixsocket. Every address that
// fails is logged as Redis does.
func (s *Server) Listen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tcp, err := s.openTCP(s.mu.bind, s.mu.port)
	if err != nil {
		return err
	}
	s.mu.open.tcp = tcp
	if s.unix != "" {
		l, err := s.openUnix()
		if err != nil {
			closeAll(tcp)
			return fmt.Errorf("%w: %w", ErrUnix, err)
		}
		s.mu.open.unix = l
		s.workers[0].post(func() { s.workers[0].listen(l) })
	}
	s.register(tcp)
	return nil
}

// Listening returns how many addresses the server listens on.
func (s *Server) Listening() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	if len(s.mu.open.tcp) > 0 {
		n = len(s.mu.open.tcp[0])
	}
	if s.mu.open.unix != nil {
		n++
	}
	return n
}

// Addresses are where the server listens: IP addresses with their port, and the
// path of the unix socket.
func (s *Server) Addresses() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if len(s.mu.open.tcp) > 0 {
		for _, l := range s.mu.open.tcp[0] {
			if sa, err := unix.Getsockname(l.fd); err == nil {
				out = append(out, addrPort(sa).String())
			}
		}
	}
	if s.mu.open.unix != nil {
		out = append(out, s.unix)
	}
	return out
}

// Rebind listens on other addresses. When that fails, it listens on the former
// ones again and returns why.
func (s *Server) Rebind(bind []string, port int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unregister()
	tcp, err := s.openTCP(bind, port)
	if err == nil {
		s.mu.bind, s.mu.port = bind, port
	} else if tcp, _ = s.openTCP(s.mu.bind, s.mu.port); tcp == nil {
		err = fmt.Errorf("%w; and the former addresses cannot be listened on again", err)
	}
	s.mu.open.tcp = tcp
	s.register(tcp)
	return err
}

func (s *Server) register(tcp [][]*listener) {
	for i, list := range tcp {
		w := s.workers[i]
		for _, l := range list {
			w.post(func() { w.listen(l) })
		}
	}
}

// unregister closes the TCP listeners. Workers forget them by themselves; the
// sockets stop listening at once.
func (s *Server) unregister() {
	for i, list := range s.mu.open.tcp {
		w := s.workers[i]
		for _, l := range list {
			closeListener(w, l)
		}
	}
	s.mu.open.tcp = nil
}

// closeListener stops listening now, and has the worker close the descriptor.
func closeListener(w *worker, l *listener) {
	_ = unix.Shutdown(l.fd, unix.SHUT_RDWR)
	if !w.post(func() { w.unlisten(l) }) {
		_ = unix.Close(l.fd)
	}
}

func (s *Server) stopListening() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unregister()
	if l := s.mu.open.unix; l != nil {
		closeListener(s.workers[0], l)
		_ = os.Remove(s.unix)
		s.mu.open.unix = nil
	}
}

func closeAll(all [][]*listener) {
	for _, list := range all {
		for _, l := range list {
			_ = unix.Close(l.fd)
		}
	}
}

// openTCP opens a socket per address and worker.
func (s *Server) openTCP(bind []string, port int) ([][]*listener, error) {
	if port == 0 || len(bind) == 0 {
		return nil, nil
	}
	all := make([][]*listener, len(s.workers))
	for _, name := range bind {
		host, optional := strings.CutPrefix(name, "-")
		fds, err := s.openAddress(host, port)
		if err == nil {
			for i, fd := range fds {
				all[i] = append(all[i], s.newListener(fd, false))
			}
			continue
		}
		if mayLack(err, optional) {
			continue
		}
		s.logf(Warning, "Warning: Could not create server TCP listening socket %s:%d: %v", host, port, err)
		closeAll(all)
		return nil, err
	}
	return all, nil
}

func (s *Server) newListener(fd int, local bool) *listener {
	s.mu.open.next++
	return &listener{fd: fd, local: local, token: firstListener + s.mu.open.next}
}

// mayLack reports whether an address that cannot be bound is passed over: the
// system lacks its protocol, or it is optional and not there.
func mayLack(err error, optional bool) bool {
	for _, e := range []error{unix.ENOPROTOOPT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EPFNOSUPPORT, unix.EAFNOSUPPORT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return optional && errors.Is(err, unix.EADDRNOTAVAIL)
}

// opError is a system call that failed, worded as Redis does: "bind: Address
// already in use".
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.op + ": " + upperFirst(e.err.Error()) }
func (e *opError) Unwrap() error { return e.err }

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// openAddress opens a socket per worker on one address.
func (s *Server) openAddress(host string, port int) ([]int, error) {
	addr, err := resolve(host)
	if err != nil {
		return nil, err
	}
	ap := netip.AddrPortFrom(addr, uint16(port))
	n := len(s.workers)
	if n > 1 {
		// Sockets with SO_REUSEPORT share an address with those of any other
		// process, so first find out whether it is free.
		probe, err := listenOn(ap, false, s.backlog)
		if err != nil {
			return nil, err
		}
		_ = unix.Close(probe)
	}
	var fds []int
	for i := range n {
		fd, err := listenOn(ap, n > 1, s.backlog)
		if err != nil {
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
			return nil, err
		}
		if s.mark != 0 {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, int(s.mark)); err != nil {
				s.logf(Warning, "Unable to set socket mark to %d: %v", s.mark, err)
			}
		}
		if s.affinity > 0 && n > 1 {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU, s.affinity-1+i)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// resolve turns an address of bind into an IP: "*" and "::*" are all.
func resolve(host string) (netip.Addr, error) {
	switch host {
	case "*":
		return netip.IPv4Unspecified(), nil
	case "::*":
		return netip.IPv6Unspecified(), nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap(), nil
	}
	ips, err := net.LookupIP(host)
	if err != nil || len(ips) == 0 {
		return netip.Addr{}, errors.New("Name or service not known")
	}
	best := ips[0]
	for _, ip := range ips {
		if ip.To4() != nil {
			best = ip
			break
		}
	}
	a, _ := netip.AddrFromSlice(best)
	return a.Unmap(), nil
}

func listenOn(ap netip.AddrPort, share bool, backlog int) (fd int, err error) {
	family, sa := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: int(ap.Port()), Addr: as4(ap.Addr())})
	if ap.Addr().Is6() {
		family, sa = unix.AF_INET6, &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16(), ZoneId: zone(ap.Addr())}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, &opError{"socket", err}
	}
	fail := func(op string, err error) (int, error) {
		_ = unix.Close(fd)
		return -1, &opError{op, err}
	}
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return fail("setsockopt", err)
		}
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fail("setsockopt SO_REUSEADDR", err)
	}
	if share {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fail("setsockopt SO_REUSEPORT", err)
		}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return fail("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fail("listen", err)
	}
	return fd, nil
}

func as4(a netip.Addr) (b [4]byte) {
	if a.Is4() {
		b = a.As4()
	}
	return b
}

func zone(a netip.Addr) uint32 {
	if z := a.Zone(); z != "" {
		if i, err := net.InterfaceByName(z); err == nil {
			return uint32(i.Index)
		}
		n, _ := strconv.Atoi(z)
		return uint32(n)
	}
	return 0
}

// openUnix opens the unix socket, replacing one that a former process left.
func (s *Server) openUnix() (*listener, error) {
	fail := func(op string, err error) (*listener, error) {
		err = &opError{op, err}
		s.logf(Warning, "Failed opening Unix socket: %v", err)
		return nil, err
	}
	if err := unix.Unlink(s.unix); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fail("unlink", err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail("socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: s.unix}); err != nil {
		_ = unix.Close(fd)
		return fail("bind", err)
	}
	if perm := s.settings.Load().UnixPerm; perm != 0 {
		if err := os.Chmod(s.unix, os.FileMode(perm)); err != nil {
			s.logf(Warning, "Setting the permissions of the Unix socket: %v", err)
		}
	}
	if err := unix.Listen(fd, s.backlog); err != nil {
		_ = unix.Close(fd)
		return fail("listen", err)
	}
	return s.newListener(fd, true), nil
}

// SetUnixPerm changes the permissions of the unix socket.
func (s *Server) SetUnixPerm(perm uint32) error {
	s.Configure(func(x *Settings) { x.UnixPerm = perm })
	if s.unix == "" || perm == 0 {
		return nil
	}
	return os.Chmod(s.unix, os.FileMode(perm))
}

func (s *Server) logf(level Level, format string, args ...any) {
	if s.log != nil && s.logs(level) {
		s.log(level, fmt.Sprintf(format, args...))
	}
}

// listen takes a listener over.
func (w *worker) listen(l *listener) {
	if err := w.poller.Add(l.fd, poll.In, l.token); err != nil {
		w.log(Warning, "Registering a listening socket: %v", err)
		return
	}
	w.listeners = append(w.listeners, l)
}

// unlisten closes a listener.
func (w *worker) unlisten(l *listener) {
	for i, x := range w.listeners {
		if x == l {
			w.listeners = append(w.listeners[:i], w.listeners[i+1:]...)
			break
		}
	}
	_ = unix.Close(l.fd)
}

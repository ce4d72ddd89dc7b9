package server

import (
	"errors"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"

	"heddle/resp"
	"heddle/server/poll"
)

// acceptsPerTurn bounds how many connections a listener accepts in a turn.
const acceptsPerTurn = 200

// What a connection that is not wanted gets to read.
const (
	errMaxClients  = "-ERR max number of clients reached\r\n"
	errMaxFiles    = "-ERR max number of clients reached (no file descriptor left)\r\n"
	errDraining    = "-SHUTDOWN Server is shutting down\r\n"
	errProtectMode = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. " +
		"In this mode connections are only accepted from the loopback interface. " +
		"If you want to connect from external computers to Redis you may adopt one of the following solutions: " +
		"1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server is running, " +
		"however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. " +
		"2) Alternatively you can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the server. " +
		"3) If you started the server manually just for testing, restart it with the '--protected-mode no' option. " +
		"4) Setup a an authentication password for the default user. " +
		"NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside.\r\n"
)

// accept takes the connections that wait at a listener.
func (w *worker) accept(l *listener) {
	for range acceptsPerTurn {
		fd, sa, err := unix.Accept4(l.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			w.accepted(l, fd, sa)
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
			w.noFiles(l, err)
			return
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINVAL): // none left; no longer listening
			return
		default:
			w.acceptFailed(err, "")
			return
		}
	}
}

// accepted looks at a new connection: it is refused, served here, or passed on.
func (w *worker) accepted(l *listener, fd int, sa unix.Sockaddr) {
	w.rec.ConnectionsReceived++
	remote := addrPort(sa)
	if text := w.refusal(l, remote); text != "" {
		w.refuse(fd, text)
		return
	}
	w.s.clients.Add(1)
	to := w.s.choose(w, l.local)
	to.clients.Add(1)
	if to == w {
		w.welcome(fd, remote, l.local)
		return
	}
	local := l.local
	if !to.post(func() { to.welcome(fd, remote, local) }) {
		w.s.clients.Add(-1)
		to.clients.Add(-1)
		_ = unix.Close(fd)
	}
}

// refusal returns what to tell a connection that is not wanted, "" if it is.
func (w *worker) refusal(l *listener, remote netip.AddrPort) string {
	switch {
	case w.s.draining.Load():
		return errDraining
	case w.s.clients.Load() >= int64(w.room(l, remote)):
		return errMaxClients
	case w.set.ProtectedMode && !l.local && !loopback(remote.Addr()) && w.s.engine.Settings().RequirePass == "":
		return errProtectMode
	}
	return ""
}

// room is how many clients there may be for one more to come from remote.
func (w *worker) room(l *listener, remote netip.AddrPort) int {
	if l.local || w.set.Reserved == 0 || loopback(remote.Addr()) {
		return w.set.MaxClients
	}
	return w.set.MaxClients - w.set.Reserved
}

// loopback reports what protected mode takes for the same host: as in Redis not
// all of 127.0.0.0/8.
func loopback(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback()
}

// refuse tells a connection why it is closed, as far as that goes at once.
func (w *worker) refuse(fd int, text string) {
	w.rec.ConnectionsRejected++
	_, _ = poll.Write(fd, []byte(text))
	_ = unix.Close(fd)
}

// acceptFailed logs, at most once a second, that accepting did not work.
func (w *worker) acceptFailed(err error, advice string) {
	if w.now != w.acceptLog {
		w.acceptLog = w.now
		w.log(Warning, "Accepting client connection: accept: %s%s", upperFirst(err.Error()), advice)
	}
}

// noFiles gets rid of a connection for which there is no descriptor, by means
// of a spare one: left where it is, it would keep the listener ready for ever.
func (w *worker) noFiles(l *listener, err error) {
	w.acceptFailed(err, ": raise the limit of open files or lower maxclients")
	w.closeSpare()
	if fd, _, err := unix.Accept4(l.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err == nil {
		w.rec.ConnectionsReceived++
		w.refuse(fd, errMaxFiles)
	}
	w.openSpare()
}

// openSpare keeps a descriptor for noFiles.
func (w *worker) openSpare() {
	if fd, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0); err == nil {
		w.spareFD = fd
	}
}

func (w *worker) closeSpare() {
	if w.spareFD >= 0 {
		_ = unix.Close(w.spareFD)
		w.spareFD = -1
	}
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// welcome makes a socket a connection of this worker.
func (w *worker) welcome(fd int, remote netip.AddrPort, local bool) {
	if w.stopping {
		w.clients.Add(-1)
		w.s.clients.Add(-1)
		_ = unix.Close(fd)
		return
	}
	c := &conn{s: w.s, fd: fd, lastRead: w.now, remote: remote, want: poll.In}
	c.w.Store(w)
	if !local {
		w.tune(fd)
		if sa, err := unix.Getsockname(fd); err == nil {
			c.local = addrPort(sa)
		}
	}
	w.place(c)
	if err := w.poller.Add(fd, c.want, c.token()); err != nil {
		w.log(Warning, "Registering a connection: %v", err)
		w.slots[c.slot] = nil
		w.freeSlots = append(w.freeSlots, c.slot)
		w.clients.Add(-1)
		w.s.clients.Add(-1)
		w.refuse(fd, errMaxFiles)
		return
	}
	c.client = w.x.NewClient(c)
	w.served.Add(1)
	w.mem += connSize
	w.log(Verbose, "Accepted %s", c.RemoteAddr())
}

// place finds a slot for a connection.
func (w *worker) place(c *conn) {
	w.gen = (w.gen + 1) & (1<<31 - 1) // the top bit of a token marks listeners
	c.gen = w.gen
	if n := len(w.freeSlots); n > 0 {
		c.slot = w.freeSlots[n-1]
		w.freeSlots = w.freeSlots[:n-1]
		w.slots[c.slot] = c
		return
	}
	c.slot = uint32(len(w.slots))
	w.slots = append(w.slots, c)
}

// tune sets the options of a TCP socket.
func (w *worker) tune(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	seconds := w.set.KeepAlive
	if seconds <= 0 {
		return
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(seconds/3, 1))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
	if w.s.affinity > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU, w.s.affinity-1+w.id)
	}
}

// choose returns the worker for a new connection that w accepted. Workers are
// filled one after the other up to min-clients-per-thread, since few
// connections on one worker make larger batches than spread over all; from then
// on the one with the fewest gets it.
func (s *Server) choose(w *worker, local bool) *worker {
	set := s.settings.Load()
	if len(s.workers) == 1 || !set.Balance && !local {
		return w
	}
	best := s.workers[0]
	for _, x := range s.workers {
		n := x.clients.Load()
		if n < int64(set.MinClientsPerThread) {
			return x
		}
		if n < best.clients.Load() {
			best = x
		}
	}
	return best
}

// pin binds the worker's thread to its processor.
func (w *worker) pin() {
	if w.s.affinity <= 0 {
		return
	}
	cpu := w.s.affinity - 1 + w.id
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		w.log(Warning, "Binding worker %d to CPU %d of %d: %v", w.id, cpu, runtime.NumCPU(), err)
	}
}

// linger ends the sending side of a connection whose peer may still have bytes
// under way to us: closing it would make the system throw away what we sent.
// It reports whether the connection stays until the peer hangs up.
func (w *worker) linger(c *conn) bool {
	if n, err := unix.IoctlGetInt(c.fd, unix.TIOCINQ); c.in.len() == 0 && c.bigHave == 0 && (err != nil || n == 0) {
		return false
	}
	c.in.release(&w.bufs)
	c.reader = resp.Reader{}
	_ = unix.Shutdown(c.fd, unix.SHUT_WR)
	c.state |= stateLinger
	w.lingering++
	c.state &^= stateEOF
	w.interest(c)
	return true
}

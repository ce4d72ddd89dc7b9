package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"heddle/server/dispatch"
	"heddle/server/pace"
)

// Server is the workers and what they share.
type Server struct {
	engine   *dispatch.Engine
	pacer    *pace.Pacer
	restless bool
	balancer balancer
	workers  []*worker
	settings atomic.Pointer[Settings]
	log      func(Level, string)
	logs     func(Level) bool
	affinity int
	backlog  int
	mark     uint32
	unix     string

	clients   atomic.Int64 // connections
	clientMem atomic.Int64 // what their buffers use
	evicting  sync.Mutex   // held to close connections for maxmemory-clients
	drained   chan struct{}
	draining  atomic.Bool // soft shutdown: new connections are refused

	mu struct {
		sync.Mutex
		bind    []string
		port    int
		open    listening
		started bool
		stopped bool
	}
	running sync.WaitGroup
}

// New makes a server with its workers, which do not run yet. Close it if Run
// is not called.
func New(o Options) (*Server, error) {
	s := &Server{
		engine: o.Engine, pacer: o.Pacer, restless: o.Restless, log: o.Log, logs: o.Logs, affinity: o.Affinity,
		backlog: o.Backlog, mark: o.Mark, unix: o.Unix, drained: make(chan struct{}, 1),
	}
	if s.logs == nil {
		s.logs = func(Level) bool { return true }
	}
	if s.backlog == 0 {
		s.backlog = 511
	}
	s.mu.bind, s.mu.port = o.Bind, o.Port
	settings := o.Settings
	s.settings.Store(&settings)
	for id := range max(o.Workers, 1) {
		w, err := newWorker(s, id)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("worker %d: %w", id, err)
		}
		s.workers = append(s.workers, w)
	}
	return s, nil
}

// Configure changes settings: change gets a copy, which then replaces them.
func (s *Server) Configure(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.settings.Load()
	change(&next)
	s.settings.Store(&next)
	s.postAll(func(w *worker) {}) // sleeping workers take them over now
}

// Settings returns the present settings, not to be changed.
func (s *Server) Settings() *Settings { return s.settings.Load() }

// Workers returns how many workers there are.
func (s *Server) Workers() int { return len(s.workers) }

// Clients returns how many connections there are.
func (s *Server) Clients() int { return int(s.clients.Load()) }

// ClientMemory returns what the connections' buffers use, in bytes.
func (s *Server) ClientMemory() int64 { return s.clientMem.Load() }

// WorkerClients returns how many connections each worker has.
func (s *Server) WorkerClients() []int {
	n := make([]int, len(s.workers))
	for i, w := range s.workers {
		n[i] = int(w.clients.Load())
	}
	return n
}

// post has fn run on a worker.
func (w *worker) post(fn func()) bool { return w.mail.send(mail{fn: fn}) }

func (s *Server) postAll(fn func(*worker)) {
	for _, w := range s.workers {
		w.post(func() { fn(w) })
	}
}

// Settle returns when every worker has finished the batch that it was running
// when Settle was called: what was said to the engine before, all of them have
// heard by then. Not to be called on a worker.
func (s *Server) Settle() {
	var left sync.WaitGroup
	for _, w := range s.workers {
		left.Add(1)
		if !w.post(left.Done) {
			left.Done()
		}
	}
	left.Wait()
}

// Run serves until Shutdown is done. After Shutdown it returns at once.
func (s *Server) Run() error {
	s.mu.Lock()
	if s.mu.started || s.mu.stopped {
		again := s.mu.started
		s.mu.Unlock()
		if again {
			return errors.New("server: Run was called twice")
		}
		return nil
	}
	s.mu.started = true
	s.running.Add(len(s.workers))
	for _, w := range s.workers {
		go func() {
			defer s.running.Done()
			w.loop()
		}()
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// lingerTime bounds how long Shutdown waits for peers that were sent everything
// to hang up, so that nothing already acknowledged is lost.
const lingerTime = 200 * time.Millisecond

// Shutdown stops listening, sends the replies of what was executed, closes all
// connections and ends Run. Commands that were not begun are dropped. When ctx
// is done first (after five seconds if it has no deadline), unsent replies are
// dropped as well.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopListening()
	s.mu.Lock()
	started, again := s.mu.started, s.mu.stopped
	s.mu.stopped = true
	s.mu.Unlock()
	if !started {
		if !again {
			s.release()
		}
		return nil
	}
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(5 * time.Second)
	}
	s.postAll(func(w *worker) { w.stop(until) })
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.postAll(func(w *worker) { w.stop(time.Now()) })
		<-done
		return ctx.Err()
	}
}

// Close ends everything at once.
func (s *Server) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Shutdown(ctx)
}

// release gives up workers that never ran.
func (s *Server) release() {
	for _, w := range s.workers {
		for _, m := range w.mail.close() {
			if m.conn == nil {
				m.fn()
			}
		}
		w.x.Close()
		_ = w.poller.Close()
		w.closeSpare()
	}
}

// Drain begins a soft shutdown: new connections are refused. Drained receives
// when the last client has left.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.checkDrained()
}

// Undrain takes a soft shutdown back: connections are accepted again.
func (s *Server) Undrain() { s.draining.Store(false) }

// Draining reports whether a soft shutdown is under way.
func (s *Server) Draining() bool { return s.draining.Load() }

// Drained receives once no client is left after Drain.
func (s *Server) Drained() <-chan struct{} { return s.drained }

func (s *Server) checkDrained() {
	if s.draining.Load() && s.clients.Load() == 0 {
		select {
		case s.drained <- struct{}{}:
		default:
		}
	}
}

// stop makes the worker end: it finishes what it has to send until then.
func (w *worker) stop(until time.Time) {
	if w.stopping && !until.Before(w.stopAt) {
		return
	}
	first := !w.stopping
	w.stopping, w.stopAt, w.lingerAt = true, until, time.Now().Add(lingerTime)
	if !first {
		return
	}
	for _, c := range w.slots {
		if c == nil {
			continue
		}
		c.state |= stateClosing
		w.dirty(c)
	}
}

// over reports whether the worker's loop is done: no connection is left, or
// those left are waited for no longer.
func (w *worker) over() bool {
	if !w.stopping {
		return false
	}
	n, now := w.clients.Load(), time.Now()
	switch {
	case w.mail.count.Load() != 0:
		return false
	case n == 0, !now.Before(w.stopAt):
		return true
	}
	return n == int64(w.lingering) && !now.Before(w.lingerAt) && !w.underWay()
}

// underWay reports whether the system still holds replies that a peer has not
// received; closing its connection now would drop them.
func (w *worker) underWay() bool {
	for _, c := range w.slots {
		if c == nil {
			continue
		}
		if n, err := unix.IoctlGetInt(c.fd, unix.TIOCOUTQ); err == nil && n > 0 {
			return true
		}
	}
	return false
}

// end closes what is left and gives up everything.
func (w *worker) end() {
	for _, m := range w.mail.close() {
		if m.conn == nil {
			m.fn()
		}
	}
	for _, c := range w.slots {
		if c != nil {
			w.close(c)
		}
	}
	w.account()
	w.x.Close()
	_ = w.poller.Close()
	w.closeSpare()
}

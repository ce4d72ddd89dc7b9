package rdb

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// writer takes full buffers of several encoders and writes them, one after the other, on a
// goroutine of its own.
type writer struct {
	w        Output
	sum      Checksum
	checksum bool
	every    int64         // bytes after which a sync is begun
	bytes    *atomic.Int64 // counts what was written, may be nil

	turn sync.Mutex // to be held by who puts buffers, and from the first to the last of a large value
	full chan []byte
	free chan []byte // to be used again
	done chan struct{}
	err  atomic.Pointer[error]

	off    int64 // written; of the goroutine until done
	synced int64
}

// Buffers in the writer's hands and waiting to be used again.
const (
	fullMax = 4
	freeMax = 8
	// growMax is how large a buffer may grow while another encoder has the turn.
	growMax = 2 << 20
)

func newWriter(w Output, o *SaveOptions) *writer {
	out := &writer{w: w, sum: NewChecksum(), checksum: o.Checksum, every: o.SyncEvery, bytes: o.Bytes,
		full: make(chan []byte, fullMax), free: make(chan []byte, freeMax), done: make(chan struct{})}
	go out.run()
	return out
}

func (w *writer) run() {
	defer close(w.done)
	for b := range w.full {
		if w.failed() == nil {
			w.write(b)
		}
		if cap(b) <= 2*chunk {
			select {
			case w.free <- b[:0]:
			default:
			}
		}
	}
}

// write writes a buffer.
func (w *writer) write(b []byte) {
	if w.checksum {
		w.sum.Add(b)
	}
	for len(b) > 0 {
		n, err := w.w.Write(b)
		w.off += int64(n)
		if w.bytes != nil {
			w.bytes.Add(int64(n))
		}
		if err != nil {
			w.fail(err)
			return
		}
		b = b[n:]
	}
	if w.every > 0 && w.off-w.synced >= w.every {
		if w.w.StartSync(w.synced, w.off-w.synced) != nil {
			w.every = 0 // a hint that the file system does not take; Sync will tell of what is wrong
		}
		w.synced = w.off
	}
}

// fail notes the first error. From then on nothing is written.
func (w *writer) fail(err error) { w.err.CompareAndSwap(nil, &err) }

// failed returns the error that was noted.
func (w *writer) failed() error {
	if p := w.err.Load(); p != nil {
		return *p
	}
	return nil
}

// fresh returns an empty buffer.
func (w *writer) fresh() []byte {
	select {
	case b := <-w.free:
		return b
	default:
		return make([]byte, 0, chunk+chunk/8)
	}
}

// put writes a buffer whose turn it is.
func (w *writer) put(b []byte) { w.full <- b }

// end writes the end mark and the checksum, which needs all that is before it.
func (w *writer) end() {
	w.put(append(w.fresh(), opEOF))
	close(w.full)
	<-w.done
	w.full = nil
	if w.failed() != nil {
		return
	}
	var crc [8]byte
	if w.checksum {
		binary.LittleEndian.PutUint64(crc[:], w.sum.Sum())
	}
	w.checksum = false
	w.write(crc[:])
}

// close waits for what is under way, and returns the first error.
func (w *writer) close() error {
	if w.full != nil {
		close(w.full)
		<-w.done
	}
	return w.failed()
}

// source is an encoder's way to the writer.
type source struct {
	out   *writer
	stop  func() error
	turns bool // it has the turn
}

// part is called in the middle of a value: the turn is kept.
func (s *source) part(b []byte) ([]byte, bool) {
	if !s.turns {
		s.out.turn.Lock()
		s.turns = true
	}
	s.out.put(b)
	return s.out.fresh(), s.goOn()
}

// whole is called between values with what is written so far, and returns the buffer to go
// on with.
func (s *source) whole(b []byte) []byte {
	switch {
	case s.turns:
	case len(b) < chunk:
		return b
	case s.out.turn.TryLock():
	case len(b) < growMax:
		return b
	default:
		s.out.turn.Lock()
	}
	s.out.put(b)
	s.turns = false
	s.out.turn.Unlock()
	return s.out.fresh()
}

// last gives the last buffer away.
func (s *source) last(b []byte) {
	if !s.turns {
		s.out.turn.Lock()
		s.turns = true
	}
	s.out.put(b)
	s.release()
}

// release gives the turn back.
func (s *source) release() {
	if s.turns {
		s.turns = false
		s.out.turn.Unlock()
	}
}

// goOn asks whether to stop, and notes it as the writer's error; false to stop.
func (s *source) goOn() bool {
	if s.stop != nil {
		if err := s.stop(); err != nil {
			s.out.fail(err)
		}
	}
	return s.out.failed() == nil
}

package oplog

import (
	"errors"
	"fmt"
	"time"
)

// ErrClosed is what a closed reader's Next returns.
var ErrClosed = errors.New("oplog: the reader is closed")

// Reader has a position in the log, and keeps what is behind it from being
// forgotten until it is released. One goroutine uses it; Close is for any.
type Reader struct {
	l    *Log
	wake chan struct{}

	// Under the log's mutex:
	at     Offset // where Next goes on
	kept   Offset // what is before is not needed any more
	chunk  *chunk // that of at; nil: to be looked for
	asleep bool
	closed bool
	broken bool // Interrupt was called and no Next has returned since
}

// NewReader returns a reader that begins at an offset: End, or an earlier one that
// another reader still keeps. The first reader of a log must begin with all shards
// locked (see the package's description).
func (l *Log) NewReader(at Offset) (*Reader, error) {
	r := &Reader{l: l, wake: make(chan struct{}, 1), at: at, kept: at}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(at); err != nil {
		return nil, err
	}
	l.readers = append(l.readers, r)
	l.active.Add(1)
	return r, nil
}

// check says whether an offset is one of those that are kept.
func (l *Log) check(at Offset) error {
	first, end := l.end.Load(), l.end.Load()
	if l.first != nil {
		first = l.first.base
	}
	if at < first || at > end {
		return fmt.Errorf("oplog: offset %d is not there: the log has %d to %d", at, first, end)
	}
	return nil
}

// Next returns the groups that follow, up to most bytes of them but at least one
// group. If there is none it waits, for ever if patience is negative; after patience,
// or Interrupt, it returns an empty batch. When the reader is closed it returns
// ErrClosed, at once.
//
// The batch stays valid, and Seek may go back to it, until it is released.
func (r *Reader) Next(most int, patience time.Duration) (Batch, error) {
	var timer *time.Timer
	var late <-chan time.Time
	for {
		b, ok, err := r.take(most, patience != 0)
		if ok || err != nil || patience == 0 {
			return b, err
		}
		if patience > 0 && timer == nil {
			timer = time.NewTimer(patience)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-r.wake:
		case <-late:
			patience = 0
		}
	}
}

// take returns the next batch if there is one. If not, and the reader is to sleep, it
// is announced.
func (r *Reader) take(most int, sleep bool) (Batch, bool, error) {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	r.getUp()
	if r.closed {
		return Batch{}, false, ErrClosed
	}
	broken := r.broken
	r.broken = false
	if r.at == l.end.Load() {
		if broken {
			return Batch{from: r.at}, true, nil
		}
		if sleep {
			r.asleep = true
			l.asleep.Add(1)
		}
		return Batch{from: r.at}, false, nil
	}
	r.find()
	c := r.chunk
	from := int(r.at - c.base)
	n := whole(c.b[from:], most)
	b := Batch{b: c.b[from : from+n : from+n], from: r.at}
	r.at += Offset(n)
	return b, true, nil
}

// Interrupt makes a Next that waits, else the next one, return soon, with an empty
// batch if there is nothing. From any goroutine.
func (r *Reader) Interrupt() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.broken = true
	if r.asleep {
		r.rouse()
	}
}

// find goes to the chunk in which the position is, which is not at the end of all.
func (r *Reader) find() {
	if r.chunk == nil {
		r.chunk = r.l.first
	}
	for r.chunk.end() <= r.at {
		r.chunk = r.chunk.next
	}
}

// whole returns how many bytes the groups at the begin of b take that fit in most,
// and at least the first of them.
func whole(b []byte, most int) int {
	if len(b) <= most {
		return len(b)
	}
	fits := 0
	for at := 0; at < len(b); {
		h := readHeader(b[at:])
		at += headerSize + h.size
		if h.flags&flagLast == 0 {
			continue
		}
		if at > most && fits > 0 {
			break
		}
		if fits = at; at >= most {
			break
		}
	}
	return fits
}

// getUp takes the announcement back.
func (r *Reader) getUp() {
	if r.asleep {
		r.asleep = false
		r.l.asleep.Add(-1)
	}
}

// rouse wakes the reader, under the log's mutex.
func (r *Reader) rouse() {
	r.getUp()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// At returns the offset at which Next goes on.
func (r *Reader) At() Offset {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.at
}

// Release says that nothing before an offset is needed any more: neither batches that
// Next returned nor a way back. Offsets before what was released do nothing.
func (r *Reader) Release(upTo Offset) {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed || upTo <= r.kept {
		return
	}
	r.kept = min(upTo, r.at)
	l.trim()
}

// Seek makes Next go on at an earlier offset, where a group begins, that is not
// released.
func (r *Reader) Seek(at Offset) error {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	if at < r.kept || at > l.end.Load() {
		return fmt.Errorf("oplog: offset %d is not there: the reader keeps %d to %d", at, r.kept, l.end.Load())
	}
	r.at, r.chunk = at, nil
	return nil
}

// Close ends the reader: what only it kept is forgotten, batches are not valid any
// longer, and Next returns ErrClosed, also if it waits just now.
func (r *Reader) Close() {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed {
		return
	}
	r.closed, r.chunk = true, nil
	if r.asleep {
		r.rouse()
	}
	for i, other := range l.readers {
		if other == r {
			l.readers = append(l.readers[:i], l.readers[i+1:]...)
			break
		}
	}
	l.active.Add(-1)
	l.trim()
}

package rdb

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"heddle/db"
)

// A mistake in the code that reads or writes a file is no reason to take down a server that
// has data: what panics in one of the goroutines here ends the load or the save with an
// error, as a broken file or a full disk does. The keyspace panics with db.ErrOutOfMemory
// where it has no other way to say that; it is returned as it is.

// panicked makes an error of what recover returned.
func panicked(r any, at int64) error {
	if err, ok := r.(error); ok && errors.Is(err, db.ErrOutOfMemory) {
		return db.ErrOutOfMemory
	}
	return &Error{Offset: at, Msg: fmt.Sprintf("BUG: panic: %v\n%s", r, debug.Stack())}
}

// guarded runs a task and returns the worker for the next one: after a panic a new one.
// There is an error then, so that nothing more is decoded.
func (w *worker) guarded(t *task) (next *worker) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		at := w.d.offset()
		w.l.fail(panicked(r, at), at)
		if w.locked >= 0 {
			w.l.ks.UnlockShard(w.locked)
		}
		if t.more != nil {
			w.l.drain(t)
		}
		next = newWorker(w.l)
	}()
	w.run(t)
	return w
}

// guarded reads the file.
func (c *cutter) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r, c.offset())
		}
	}()
	return c.file()
}

// guarded encodes as encode does.
func (s *saver) guarded(database int, next *atomic.Int64) {
	defer func() {
		if r := recover(); r != nil {
			s.out.fail(panicked(r, 0))
		}
	}()
	s.encode(database, next)
}

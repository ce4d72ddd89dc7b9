package db

import (
	"sync"
	"sync/atomic"

	"heddle/db/table"
)

// lazyQueue holds tables that were flushed and are freed in the background.
type lazyQueue struct {
	mu      sync.Mutex
	work    []detached
	running bool
	idle    sync.WaitGroup
	pending atomic.Int64 // keys
	freed   atomic.Int64 // keys
}

// detached is a shard's share of a database that was flushed; or a note for whoever waits
// until those behind it in the queue are freed.
type detached struct {
	shard *shard
	db    *database
	freed chan struct{}
}

// busy reports whether anything is left to free. pending does not tell: a share
// without keys may still have indexes.
func (q *lazyQueue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// wait returns when nothing is left to free.
func (q *lazyQueue) wait() { q.idle.Wait() }

// push queues work and starts the goroutine that does it, unless it runs. What it returns
// is closed when the work is done.
func (q *lazyQueue) push(work []detached) (freed <-chan struct{}) {
	for _, w := range work {
		q.pending.Add(int64(w.db.table.Len()))
	}
	note := detached{freed: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.work = append(append(q.work, note), work...) // the last is the first
	if !q.running {
		q.running = true
		q.idle.Go(q.run)
	}
	return note.freed
}

func (q *lazyQueue) pop() (detached, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.work)
	if n == 0 {
		q.running = false
		return detached{}, false
	}
	w := q.work[n-1]
	q.work = q.work[:n-1]
	return w, true
}

func (q *lazyQueue) run() {
	for {
		w, ok := q.pop()
		if !ok {
			return
		}
		if w.freed != nil {
			close(w.freed)
			continue
		}
		for more := true; more; {
			w.shard.ks.lockShard(w.shard.id)
			var n int
			n, more = w.shard.free(w.db)
			w.shard.ks.unlockShard(w.shard.id)
			q.pending.Add(-int64(n))
			q.freed.Add(int64(n))
		}
	}
}

// free frees the keys of one more segment of a database that is not in use any
// more, and in the end the table itself; more says that keys are left.
func (s *shard) free(d *database) (n int, more bool) {
	d.cursor = d.table.WalkFrom(d.cursor, 1, func(slot table.Slot) {
		s.dropRecord(s.openRecord(d.table.Ref(slot)), d.table.Fresh(slot), false)
		n++
	})
	if d.cursor == 0 {
		s.freeIndexes(d)
	}
	return n, d.cursor != 0
}

// freeIndexes frees the expiry index and the table of a database without keys.
func (s *shard) freeIndexes(d *database) {
	d.wheel.drop()
	if d.old != nil {
		d.old.drop()
		d.old = nil
	}
	s.ks.untidy.Add(-int64(len(d.untidy)))
	d.untidy = nil
	d.table.Drop()
}

package persist

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"heddle/db"
)

// taskKind says what a task does.
type taskKind uint8

const (
	savingRDB taskKind = iota
	rewritingAOF
)

// task is work on a snapshot, in the background or in the foreground.
type task struct {
	kind  taskKind
	began time.Time
	total atomic.Int64 // keys of the snapshot
	keys  atomic.Int64 // of them written
	bytes atomic.Int64
	cow   atomic.Int64  // the most memory that snapshots alone needed meanwhile
	dead  atomic.Bool   // it was killed
	woken chan struct{} // closed when it is
	asked atomic.Int64  // calls of delay, where not all of them wait
	order int64         // of its snapshot among those of saves
}

// errKilled is how work ends that somebody killed.
var errKilled = errors.New("killed")

func newTask(kind taskKind, began time.Time) *task {
	return &task{kind: kind, began: began, woken: make(chan struct{})}
}

// kill makes the work end soon, without a trace.
func (t *task) kill() {
	if t.dead.CompareAndSwap(false, true) {
		close(t.woken)
	}
}

// stop is asked by who writes a file.
func (t *task) stop() error {
	if t.dead.Load() {
		return errKilled
	}
	return nil
}

// percent is how much of the work is done.
func (t *task) percent() float64 {
	total := t.total.Load()
	if total == 0 {
		return 0
	}
	return min(100*float64(t.keys.Load())/float64(total), 100)
}

// delayStep bounds how long a delay goes on that was switched off.
const delayStep = 20 * time.Millisecond

// delay waits for so many microseconds as the directive asks for, or, if that is
// negative, for one every so many calls. It ends when the directive changes or the work is
// killed.
func (t *task) delay(micros func() int64) {
	n := micros()
	if n < 0 && t.asked.Add(1)%-n == 0 {
		time.Sleep(time.Microsecond)
	}
	if n <= 0 {
		return
	}
	for end := time.Now().Add(time.Duration(n) * time.Microsecond); micros() == n; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		select {
		case <-t.woken:
			return
		case <-time.After(min(left, delayStep)):
		}
	}
}

// snapshot begins a snapshot; fn runs while all shards are locked, with the number of
// changes up to that instant. How long it took is what Redis calls the time of a fork.
func (k *Keeper) snapshot(fn func(dirty int64)) *db.Snapshot {
	k.whole.RLock()
	defer k.whole.RUnlock()
	start := time.Now()
	sn := k.o.Keyspace.Snapshot(func() { fn(k.o.Keyspace.Dirty(true)) })
	took := time.Since(start)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forks++
	k.begun = took
	return sn
}

// keysOf counts the keys of a snapshot.
func keysOf(sn *db.Snapshot, databases int) (n int64) {
	for i := range databases {
		n += int64(sn.Len(i))
	}
	return n
}

// describe says how far it is.
func (t *task) describe() string {
	return fmt.Sprintf("%.1f%%, %d of %d keys, %d MB", t.percent(), t.keys.Load(), t.total.Load(), t.bytes.Load()>>20)
}

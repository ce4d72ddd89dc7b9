package aof

import (
	"errors"
	"fmt"
	"io"
	"time"

	"heddle/disk"
)

// writer is what only the writer's goroutine touches.
type writer struct {
	a       *Appender
	f       formatter
	buf     []byte
	records []Record // taken from the source, not formatted
	gone    bool     // the source has no more
	next    int64    // offset of the first record that is neither written nor in buf
	size    int64    // where the file's position is
	asks    int64    // of the Appender, when the round began
	cut     bool     // what is behind the mark is to be cut off before anything is written
	back    mark     // the mark
	step    string
}

// Steps that can fail.
const (
	stepWrite = "write"
	stepSync  = "fsync"
	stepTurn  = "switch"
)

func (w *writer) init(a *Appender, at, size int64) {
	w.a, w.next, w.size = a, at, size
	w.buf = make([]byte, 0, writeSize+directSize+1<<10)
	w.f.reset()
}

// run is the writer.
func (w *writer) run() {
	a := w.a
	for {
		if err := w.round(); err != nil {
			w.failed(err)
		} else {
			w.worked()
		}
		if w.leave() {
			break
		}
		w.pause()
	}
	close(a.ended)
}

// round writes what there is, and does what is asked once it is due.
func (w *writer) round() error {
	w.asks = w.a.asks.Load()
	if err := w.repair(); err != nil {
		return err
	}
	for {
		off := w.turnOff()
		if off >= 0 && w.next >= off {
			if err := w.turnFile(); err != nil {
				return err
			}
			continue
		}
		if len(w.records) == 0 {
			w.fetch(0)
		}
		if len(w.records) == 0 {
			break
		}
		if err := w.take(off); err != nil {
			return err
		}
		if w.urgent() {
			break
		}
	}
	return w.settle()
}

// urgent reports whether what is written should be synced before more is taken: the clients of always wait.
func (w *writer) urgent() bool {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.policy == Always && a.written.size-a.synced.size > writeSize || a.syncErr != nil
}

// turnOff is the offset of the switch that is asked for; negative: none.
func (w *writer) turnOff() int64 {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	w.f.stamps = a.stamps
	if a.turn == nil {
		return -1
	}
	return a.turn.off
}

// fetch takes records from the source.
func (w *writer) fetch(wait time.Duration) {
	records, err := w.a.o.Source.Next(w.records[:0], wait)
	w.records, w.gone = records, err != nil
}

// take formats and writes records. If there is a switch it stops before the offset, and has the source go back.
func (w *writer) take(off int64) error {
	a := w.a
	a.mu.Lock()
	a.taken(a.o.Now())
	a.writing = true
	// A switch that was asked for since is for an offset that was the end then. What was taken may be beyond.
	if a.turn != nil {
		off = a.turn.off
	}
	a.mu.Unlock()
	err := w.format(w.records, off)
	w.records = w.records[:0]
	if err == nil {
		err = w.write()
	}
	a.mu.Lock()
	a.writing = false
	a.mu.Unlock()
	return err
}

func (w *writer) format(records []Record, off int64) error {
	for i := range records {
		r := &records[i]
		if off >= 0 && r.Start >= off {
			return w.a.o.Source.Rewind(off)
		}
		w.buf = w.f.before(w.buf, r)
		if len(r.RESP) >= directSize {
			if err := w.put(w.buf); err != nil {
				return err
			}
			w.buf = w.buf[:0]
			if err := w.put(r.RESP); err != nil {
				return err
			}
		} else {
			w.buf = append(w.buf, r.RESP...)
		}
		w.buf = w.f.after(w.buf, r)
		if r.Last {
			w.next = r.End
		}
		if len(w.buf) >= writeSize {
			// Only at the end of a group is the file whole.
			if !r.Last {
				if err := w.put(w.buf); err != nil {
					return err
				}
				w.buf = w.buf[:0]
			} else if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes bytes.
func (w *writer) put(b []byte) error {
	w.step = stepWrite
	if len(b) == 0 {
		return nil
	}
	if d := time.Duration(w.a.slow.Load()); d > 0 {
		<-w.a.o.After(d)
	}
	n, err := w.a.file.Write(b)
	w.size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil && n > 0 {
		return fmt.Errorf("Short write while writing to the AOF file: (nwritten=%d, expected=%d): %w", n, len(b), err)
	}
	return err
}

// write writes the buffer, which ends with a group.
func (w *writer) write() error {
	if err := w.put(w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.written.off == w.next {
		return nil
	}
	a.written = mark{w.next, w.size}
	a.stats.Writes++
	if !a.syncs() {
		// Nobody will ask the disk soon whether it has them: they are out of our hands.
		a.kept = a.written
		a.o.Source.Release(w.next)
	}
	a.publish()
	return nil
}

// settle syncs what has to be before the next wait, and answers who waits for it.
func (w *writer) settle() error {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	w.step = stepSync
	if err := a.syncErr; err != nil && !a.syncing {
		a.syncErr = nil
		return err
	}
	due := a.policy == Always && a.syncs() || a.fault != nil && a.syncs()
	for _, f := range a.flushes {
		due = due || a.written.off >= f.off || w.gone
	}
	if !due {
		return nil
	}
	if err := a.syncNow(); err != nil {
		return err
	}
	kept := a.flushes[:0]
	for _, f := range a.flushes {
		switch {
		case a.synced.off >= f.off:
			f.done <- nil
		case w.gone:
			f.done <- ErrClosed
		default:
			kept = append(kept, f)
		}
	}
	a.flushes = kept
	return nil
}

// turnFile goes on in another file.
func (w *writer) turnFile() error {
	a := w.a
	if err := w.write(); err != nil {
		return err
	}
	a.mu.Lock()
	w.step = stepSync
	t := a.turn
	err := a.syncNow()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	w.step = stepTurn
	f, err := t.open()
	if errors.Is(err, ErrAborted) {
		a.mu.Lock()
		a.dropTurn(t)
		a.mu.Unlock()
		t.tell(err)
		return nil
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	old := a.file
	a.file = f
	a.dropTurn(t)
	a.written.size, a.synced.size = 0, 0
	a.mu.Unlock()
	w.size = 0
	w.f.reset()
	if err := old.Close(); err != nil {
		// Everything in it is synced.
		a.o.Log(true, "Can't close the file "+old.Name()+": "+disk.Errno(err))
	}
	t.tell(nil)
	return nil
}

// dropTurn forgets a switch that is over, unless the next was asked for already; a.mu is held.
func (a *Appender) dropTurn(t *turn) {
	if a.turn == t {
		a.turn = nil
	}
}

// tell tells who waits for a switch how it stands, once.
func (t *turn) tell(err error) {
	select {
	case t.done <- err:
	default:
	}
}

// failed notes an error: the file will be cut to where it is whole, and the fault is told.
func (w *writer) failed(err error) {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.syncing {
		a.idle.Wait()
	}
	if a.syncErr != nil {
		w.step, a.syncErr = stepSync, nil
	}
	w.back = a.written
	if w.step == stepSync {
		// Where the oplog has forgotten more there is nothing to repair it with.
		if w.back = a.synced; w.back.off < a.kept.off {
			w.back = a.kept
		}
	}
	w.cut = true
	w.buf = w.buf[:0]
	now := a.o.Now()
	if a.fault == nil || now.Sub(a.told) >= logFaults {
		a.told = now
		text := faultText(w.step, err)
		if w.step == stepTurn {
			text = err.Error()
		}
		a.o.Log(true, text)
	}
	a.fault = err
	a.o.Fault(err)
	for _, f := range a.flushes {
		f.done <- err
	}
	a.flushes = nil
	if a.turn != nil {
		a.turn.tell(err)
	}
	a.late = false
	a.publish()
}

// repair cuts the file to its mark and goes back in the source.
func (w *writer) repair() error {
	if !w.cut {
		return nil
	}
	a := w.a
	w.step = stepWrite
	a.mu.Lock()
	f := a.file
	a.mu.Unlock()
	if err := f.Truncate(w.back.size); err != nil {
		return err
	}
	if _, err := f.Seek(w.back.size, io.SeekStart); err != nil {
		return err
	}
	if err := a.o.Source.Rewind(w.back.off); err != nil {
		return err
	}
	w.size, w.next, w.cut, w.records = w.back.size, w.back.off, false, w.records[:0]
	w.f.reset()
	a.mu.Lock()
	a.written = w.back
	a.mu.Unlock()
	return nil
}

// worked notes a round without an error, which ends a fault: settle synced all that there is.
func (w *writer) worked() {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fault == nil {
		return
	}
	a.fault = nil
	a.o.Log(true, "AOF write error looks solved, Redis can write again.")
	a.o.Fault(nil)
	a.publish()
}

// leave reports whether the writer is to end, and closes everything then.
func (w *writer) leave() bool {
	a := w.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.stop || len(a.flushes) > 0 {
		return false
	}
	for a.syncing {
		a.idle.Wait()
	}
	a.stopped = true
	close(a.jobs)
	if w.cut {
		// What was written in part would be found as the end of the file.
		if err := a.file.Truncate(w.back.size); err != nil {
			a.o.Log(true, "Could not remove short write from the append-only file.  Redis may refuse to load the AOF the next time it starts.  ftruncate: "+disk.Errno(err))
		}
	}
	if err := a.file.Close(); err != nil {
		a.o.Log(true, "Can't close the file "+a.file.Name()+": "+disk.Errno(err))
	}
	if a.turn != nil {
		a.turn.tell(ErrClosed)
	}
	a.o.Source.Close()
	a.publish()
	return true
}

// pause waits for something to do.
func (w *writer) pause() {
	a := w.a
	a.mu.Lock()
	fault, gather := a.fault != nil, a.policy != Always && !a.stop
	a.mu.Unlock()
	if fault {
		select {
		case <-a.o.After(retryAfter):
		case <-a.kick:
		}
		return
	}
	if gather {
		// Whoever appends need not wake us for a while; then it is a batch.
		select {
		case <-a.o.After(linger):
		case <-a.kick:
		}
	}
	w.await()
}

// await waits for records, unless something was asked for since the round began: its interrupt may have gone by.
func (w *writer) await() {
	if w.a.asks.Load() != w.asks {
		return
	}
	if w.fetch(-1); w.gone && len(w.records) == 0 {
		// The source was closed under us: nothing comes any more but Close.
		<-w.a.kick
	}
}

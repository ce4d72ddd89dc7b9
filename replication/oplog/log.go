// Package oplog is the one ordered log of effects: what commands did to the
// keyspace, in memory, for those who repeat it elsewhere, as a file or another
// server does.
//
// # The log
//
// Whoever changes the keyspace appends the effects while the shards of the changed
// keys are locked. So what is appended for a key stands in the order in which it
// happened, and the offset of an append gives every change its place. The log has a
// mutex of its own, held for one copy of the bytes. Effects are kept as the bytes
// that files and replicas want, made once however many read.
//
// # Memory
//
// Groups stand one behind the other in chunks of 256 KB and never cross from one to
// the next, so that readers get them as they lie there. A group larger than a
// quarter of a chunk gets one of its own, which is made before the mutex is taken.
// Each reader says up to where it needs the log no more; chunks behind the slowest
// are used again. What all chunks take is told to the owner (see Options.Account).
// Nobody is ever kept waiting because of a slow reader: its memory counts as used, so
// that maxmemory acts, and who reads has to see to it that commands slow down.
//
// A ring of fixed size was rejected: the log must hold what an AOF writer has not
// made durable for as long as a disk stands still. A list of Go slices, one an entry,
// was rejected for what the collector would have to look at.
//
// # Readers
//
// With no reader nothing is kept and offsets stand still. The first reader must begin
// at an instant when no command runs, with all shards locked; then it gets everything
// that is appended afterwards, whole.
//
// A reader that finds nothing sleeps. Append wakes nobody: a wake-up costs some
// microseconds, and shards are locked. Whoever appended calls Wake when he has given
// the shards back, once for a batch of commands.
package oplog

import (
	"sync"
	"sync/atomic"
)

const (
	// chunkSize is how large the memory of small groups is cut.
	chunkSize = 256 << 10
	// ownChunk is the size of a group from which on it gets a chunk of its own.
	ownChunk = chunkSize / 4
	// keptChunks is how many chunks are kept to be used again.
	keptChunks = 16
)

// Options are what a Log needs.
type Options struct {
	// Account is told by how many bytes the memory of the log grows or shrinks; may
	// be nil. It is called with the log's mutex held: an atomic addition.
	Account func(delta int64)
	// Site is the number of this site in stamps.
	Site uint8
}

// Log is the log. All methods are for any goroutine.
type Log struct {
	account func(int64)
	active  atomic.Int32 // readers
	asleep  atomic.Int32 // readers that wait to be woken
	end     atomic.Int64
	held    atomic.Int64 // bytes of all chunks, spare ones included

	mu      sync.Mutex
	stamp   Stamp // the last
	first   *chunk
	last    *chunk
	spare   *chunk // linked by next
	spares  int
	readers []*Reader
}

// chunk is a part of the log. Everything is guarded by the log's mutex, but bytes
// below len(b) that were there when somebody looked never change while it is kept.
type chunk struct {
	b    []byte
	base Offset // of b[0]
	next *chunk
}

func (c *chunk) end() Offset { return c.base + Offset(len(c.b)) }

// New returns an empty log.
func New(o Options) *Log {
	l := &Log{account: o.Account, stamp: Stamp(o.Site)}
	if l.account == nil {
		l.account = func(int64) {}
	}
	return l
}

// Active reports whether anybody reads. While a shard is locked it does not become
// true, but may become false.
func (l *Log) Active() bool { return l.active.Load() != 0 }

// End returns the offset behind the last entry.
func (l *Log) End() Offset { return l.end.Load() }

// Held returns how many bytes of memory the log has.
func (l *Log) Held() int64 { return l.held.Load() }

// Readers returns how many read.
func (l *Log) Readers() int { return int(l.active.Load()) }

// Append adds a group of effects that stay together: those of one command or of one
// EXEC; at is the Unix time in milliseconds. It keeps neither the effects nor their
// bytes. It returns the offset behind the group. The shards of the group's keys are
// locked. Wake is to be called afterwards. Without a reader nothing happens.
func (l *Log) Append(at int64, group []Effect) Offset {
	if l.active.Load() == 0 || len(group) == 0 {
		return l.end.Load()
	}
	size := groupSize(group)
	var own *chunk
	if size >= ownChunk {
		own = &chunk{b: appendGroup(make([]byte, 0, size), 0, group)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.readers) == 0 {
		return l.end.Load()
	}
	l.stamp = stampAfter(l.stamp, at)
	if own != nil {
		restamp(own.b, l.stamp)
		l.charge(int64(cap(own.b)))
		l.link(own)
	} else {
		c := l.last
		if c == nil || cap(c.b)-len(c.b) < size {
			c = l.link(l.newChunk())
		}
		c.b = appendGroup(c.b, l.stamp, group)
	}
	end := l.end.Load() + Offset(size)
	l.end.Store(end)
	return end
}

// link makes c the last chunk.
func (l *Log) link(c *chunk) *chunk {
	c.base, c.next = l.end.Load(), nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
	return c
}

// newChunk returns an empty chunk of the usual size.
func (l *Log) newChunk() *chunk {
	if c := l.spare; c != nil {
		l.spare, c.next = c.next, nil
		l.spares--
		return c
	}
	l.charge(chunkSize)
	return &chunk{b: make([]byte, 0, chunkSize)}
}

func (l *Log) charge(n int64) {
	l.held.Add(n)
	l.account(n)
}

// recycle takes back a chunk that nobody needs.
func (l *Log) recycle(c *chunk) {
	c.next = nil
	if cap(c.b) != chunkSize || l.spares >= keptChunks || len(l.readers) == 0 {
		l.charge(-int64(cap(c.b)))
		return
	}
	c.b, c.next = c.b[:0], l.spare
	l.spare = c
	l.spares++
}

// trim takes back the chunks that all readers have released. The last one of the usual
// size is kept while anybody reads: it is still being filled.
func (l *Log) trim() {
	least := l.end.Load()
	for _, r := range l.readers {
		least = min(least, r.kept)
	}
	for l.first != nil && l.first.end() <= least {
		c := l.first
		if c == l.last && len(l.readers) > 0 && cap(c.b) == chunkSize {
			break
		}
		if l.first = c.next; l.first == nil {
			l.last = nil
		}
		for _, r := range l.readers {
			if r.chunk == c {
				r.chunk = nil
			}
		}
		l.recycle(c)
	}
	if len(l.readers) == 0 {
		for c := l.spare; c != nil; c = c.next {
			l.charge(-int64(cap(c.b)))
		}
		l.spare, l.spares = nil, 0
	}
}

// Wake wakes the readers that wait for something to be appended. No shards need be
// locked, nor should be. When none waits it costs an atomic load.
func (l *Log) Wake() {
	if l.asleep.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.end.Load()
	for _, r := range l.readers {
		if r.asleep && r.at < end {
			r.rouse()
		}
	}
}

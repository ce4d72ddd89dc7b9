package dispatch

import (
	"sync/atomic"

	"heddle/db"
	"heddle/server/command"
)

// Who waits for a key stands in line in the order in which they came. A line
// belongs under the lock of its key's shard: a command that finds nothing joins
// the lines of its keys before it gives their locks back, and a writer finds the
// line while it holds the lock with which it wrote.
//
// A line knows how many of those in it could use a key of each type, so that a
// key that was emptied or has become something else costs one look, however many
// wait for it.

// waitKey is a key of a database.
type waitKey struct {
	db  int
	key string
}

// kinds is how many types of keys there are, that of none included.
const kinds = int(db.TypeStream) + 1

// wants says for which types of a key a parked command runs again, a bit each.
// That of db.TypeNone stands for a key that is gone.
type wants uint8

func (w wants) has(t db.Type) bool { return w>>t&1 != 0 }

const (
	wantsGone wants = 1 << db.TypeNone
	wantsAll  wants = 1<<kinds - 1
)

func wantsOf(s *command.Spec) wants {
	switch {
	case s.AwaitsGone:
		return wantsAll
	case s.Awaits == db.TypeNone:
		return wantsAll &^ wantsGone
	}
	return 1 << s.Awaits
}

// place is where a parked command stands in one line.
type place struct {
	k          *parked
	l          *line
	prev, next *place
	arg        []byte // the key, among the command's arguments
	hash       uint64
}

// line is those who wait for a key. It is never used again once it is empty: who
// kept it over a time without the lock finds that it is dead.
type line struct {
	key         waitKey
	hash        uint64
	first, last *place
	counts      [kinds]int32 // how many want a key of that type
	queued      *Executor    // who has it among its ready ones
	dead        bool
}

// waiters are all lines, and counters of those in them.
type waiters struct {
	ks      *db.Keyspace
	seq     atomic.Int64 // the last place in line that was given
	blocked atomic.Int64 // clients that wait for keys or are paused
	timed   atomic.Int64 // those of them with a timeout
	keys    atomic.Int64 // lines
	gone    atomic.Int64 // lines in which somebody wants to know when the key is gone

	// lines, by shard, each under its shard's lock.
	lines []map[waitKey]*line
}

func (w *waiters) open(ks *db.Keyspace) {
	w.ks, w.lines = ks, make([]map[waitKey]*line, ks.Shards())
	for i := range w.lines {
		w.lines[i] = map[waitKey]*line{}
	}
}

// find returns the line for a key, nil if nobody waits for it.
func (w *waiters) find(db int, hash uint64, key []byte) *line {
	return w.lines[w.ks.ShardOf(hash)][waitKey{db, string(key)}]
}

// current returns the line that l is now, after a time without the lock.
func (w *waiters) current(l *line) *line {
	if l.dead {
		return w.lines[w.ks.ShardOf(l.hash)][l.key]
	}
	return l
}

// join puts a command in the lines of its places, whose shards are locked.
func (w *waiters) join(k *parked) {
	k.seq = w.seq.Add(1)
	for i := range k.places {
		p := &k.places[i]
		p.k = k
		l := w.find(k.db, p.hash, p.arg)
		if l == nil {
			l = w.add(k.db, p)
		}
		p.l, p.prev = l, l.last
		if l.last == nil {
			l.first = p
		} else {
			l.last.next = p
		}
		l.last = p
		w.count(l, k.wants, 1)
	}
}

// add makes a line.
func (w *waiters) add(db int, p *place) *line {
	l := &line{key: waitKey{db, string(p.arg)}, hash: p.hash}
	shard := w.ks.ShardOf(p.hash)
	w.lines[shard][l.key] = l
	w.ks.AddAwaited(shard, 1)
	w.keys.Add(1)
	return l
}

// count counts n more, or fewer, that want what a place wants.
func (w *waiters) count(l *line, what wants, n int32) {
	had := l.counts[db.TypeNone] > 0
	for t := range l.counts {
		if what.has(db.Type(t)) {
			l.counts[t] += n
		}
	}
	if has := l.counts[db.TypeNone] > 0; has != had {
		w.gone.Add(int64(n))
	}
}

// remove takes a place out of its line, whose shard is locked.
func (w *waiters) remove(p *place) {
	l := p.l
	if p.prev == nil {
		l.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		l.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	w.count(l, p.k.wants, -1)
	if l.first == nil {
		l.dead = true
		shard := w.ks.ShardOf(l.hash)
		delete(w.lines[shard], l.key)
		w.ks.AddAwaited(shard, -1)
		w.keys.Add(-1)
	}
	p.l, p.prev, p.next = nil, nil, nil
}

// leave takes a command out of all lines; no shards are locked.
func (w *waiters) leave(k *parked) {
	for i := range k.places {
		p := &k.places[i]
		shard := w.ks.ShardOf(p.hash)
		w.ks.LockShard(shard)
		w.remove(p)
		w.ks.UnlockShard(shard)
	}
}

// after returns the first in line that came after place seq.
func (l *line) after(seq int64) *place {
	p := l.first
	for p != nil && p.k.seq <= seq {
		p = p.next
	}
	return p
}

// from returns the first from p on that wants a key of type t.
func (p *place) from(t db.Type) *place {
	for p != nil && !p.k.wants.has(t) {
		p = p.next
	}
	return p
}

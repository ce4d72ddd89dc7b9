package db

import "sync/atomic"

// A Watcher is a connection's side of WATCH: it becomes dirty when a key that
// it watches is changed. Only its connection calls Watch and Unwatch.
type Watcher struct {
	dirty    atomic.Bool
	deadline Millis // the first instant at which a watched key is expired; 0: none
	entries  []*watchEntry
	index    map[dbKey]bool // of entries, if there are many
	mem      int64
}

// Dirty reports whether a watched key was changed.
func (w *Watcher) Dirty() bool { return w.dirty.Load() }

// DirtyAt is Dirty, or true when a watched key expired after it was watched.
func (w *Watcher) DirtyAt(now Millis) bool {
	return w.dirty.Load() || w.deadline != 0 && now > w.deadline
}

// MemSize returns about how many bytes the watched keys use.
func (w *Watcher) MemSize() int64 { return w.mem }

// manyWatched is how many keys are looked through one by one at most.
const manyWatched = 32

// watches reports whether a key is watched already.
func (w *Watcher) watches(db int, key []byte) bool {
	if w.index != nil {
		return w.index[dbKey{db, string(key)}]
	}
	for _, e := range w.entries {
		if e.key.db == db && e.key.key == string(key) {
			return true
		}
	}
	return false
}

// add notes an entry of a key that was not watched.
func (w *Watcher) add(e *watchEntry) {
	w.entries = append(w.entries, e)
	w.mem += watchSize + int64(len(e.key.key))
	switch {
	case w.index != nil:
		w.index[e.key] = true
	case len(w.entries) > manyWatched:
		w.index = make(map[dbKey]bool, 2*manyWatched)
		for _, e := range w.entries {
			w.index[e.key] = true
		}
	}
}

// watchSize is what a watched key costs beside its bytes: its entry, and its
// places in the watcher's list and the shard's table.
const watchSize = 128

// watchEntry is one watched key of one watcher.
type watchEntry struct {
	watcher *Watcher
	shard   *shard
	key     dbKey
	// expired says that the key was there, but expired, when it was watched:
	// that it goes is no change then.
	expired bool
}

// dbKey is a key of a database.
type dbKey struct {
	db  int
	key string
}

// watchTable holds what is watched in a shard, and how many of its keys somebody
// waits for, under its lock.
type watchTable struct {
	used    bool // there is any
	entries map[dbKey][]*watchEntry
	awaited int
}

func (t *watchTable) update() { t.used = len(t.entries)+t.awaited > 0 }

// Watch makes w watch a key of a database from the instant now on.
func (ks *Keyspace) Watch(w *Watcher, db int, key []byte, now Millis) {
	if w.watches(db, key) {
		return
	}
	h := ks.Hash(key)
	s := ks.lockShard(ks.ShardOf(h))
	defer ks.unlockShard(s.id)
	e := &watchEntry{watcher: w, shard: s, key: dbKey{db, string(key)}}
	if at, ok := s.deadline(db, h, key); ok {
		e.expired = now > at
		if !e.expired && (w.deadline == 0 || at < w.deadline) {
			w.deadline = at
		}
	}
	w.add(e)
	t := &s.watched
	if t.entries == nil {
		t.entries = map[dbKey][]*watchEntry{}
	}
	t.entries[e.key] = append(t.entries[e.key], e)
	t.update()
}

// deadline returns when a key expires; false if it is not there or has no deadline.
func (s *shard) deadline(db int, hash uint64, key []byte) (Expiry, bool) {
	d := s.at(db).Load()
	if d == nil {
		return 0, false
	}
	slot, ok := d.table.Find(hash, key)
	if !ok {
		return 0, false
	}
	r := s.openRecord(d.table.Ref(slot))
	return r.expire(), r.flags()&flagExpire != 0
}

// Unwatch makes w watch nothing any more, and clean.
func (ks *Keyspace) Unwatch(w *Watcher) {
	for _, e := range w.entries {
		ks.lockShard(e.shard.id)
		e.shard.watched.drop(e)
		ks.unlockShard(e.shard.id)
	}
	w.entries, w.index, w.mem, w.deadline = nil, nil, 0, 0
	w.dirty.Store(false)
}

func (t *watchTable) drop(e *watchEntry) {
	l := t.entries[e.key]
	for i := range l {
		if l[i] == e {
			l[i] = l[len(l)-1]
			l[len(l)-1] = nil
			l = l[:len(l)-1]
			break
		}
	}
	if len(l) == 0 {
		delete(t.entries, e.key)
	} else {
		t.entries[e.key] = l
	}
	t.update()
}

// changed tells those who watch or await a key that it was changed, by a
// transaction or, if tx is nil, by the engine itself.
func (t *watchTable) changed(s *shard, tx *Tx, db int, key []byte) {
	if len(t.entries) > 0 {
		for _, e := range t.entries[dbKey{db, string(key)}] {
			if e.expired && !s.has(db, key) {
				e.expired = false // it was as good as gone before
				continue
			}
			e.watcher.dirty.Store(true)
		}
	}
	if t.awaited > 0 {
		if a := s.awaiter(tx); a != nil {
			a.Ready(db, s.ks.Hash(key), key)
		}
	}
}

// has reports whether a key is stored, expired or not.
func (s *shard) has(db int, key []byte) bool {
	d := s.at(db).Load()
	if d == nil {
		return false
	}
	_, ok := d.table.Find(s.ks.Hash(key), key)
	return ok
}

// replaced marks the watchers of a database whose content becomes that of
// another (-1: empty). It runs before the exchange.
func (t *watchTable) replaced(s *shard, tx *Tx, db, by int, now Millis) {
	for k, l := range t.entries {
		if k.db != db {
			continue
		}
		had, has, expired := s.has(db, []byte(k.key)), false, false
		if by >= 0 {
			has = s.has(by, []byte(k.key))
			at, timed := s.deadline(by, s.ks.Hash([]byte(k.key)), []byte(k.key))
			expired = timed && now > at
		}
		if had || has {
			for _, e := range l {
				e.replaced(had, has, expired)
			}
		}
	}
	if t.awaited > 0 {
		if a := s.awaiter(tx); a != nil {
			a.Replaced(db, s.id)
		}
	}
}

// replaced marks the watcher of a key whose database is exchanged: had and has
// say whether the key was there and will be, expired that it comes as expired.
// A key that was expired when watched and stays so, or goes, is no change, nor
// is an absent one that comes as expired.
func (e *watchEntry) replaced(had, has, expired bool) {
	switch {
	case e.expired && !has:
		e.expired = false
	case e.expired && expired:
	case !e.expired && !had && expired:
		e.expired = true
	default:
		e.watcher.dirty.Store(true)
	}
}

package db

import "heddle/db/table"

// whole implements Whole: over all shards, locking for itself, or, if held,
// under locks that the caller has.
type whole struct {
	ks   *Keyspace
	tx   *Tx // whose locks are held; nil if none are
	time Millis
}

// Whole returns the whole keyspace as of an instant; it locks for itself.
func (ks *Keyspace) Whole(now Millis) Whole { return &whole{ks: ks, time: now} }

// Whole returns the whole keyspace for a transaction that has all shards locked.
func (t *Tx) Whole() Whole { return &whole{ks: t.ks, tx: t.root} }

func (w *whole) now() Millis {
	if w.tx != nil {
		return w.tx.now
	}
	return w.time
}

// lock locks a shard unless that was done.
func (w *whole) lock(i int) *shard {
	if w.tx == nil {
		return w.ks.lockShard(i)
	}
	return &w.ks.shards[i]
}

func (w *whole) unlock(i int) {
	if w.tx == nil {
		w.ks.unlockShard(i)
	}
}

// lockAll locks all shards unless that was done.
func (w *whole) lockAll() {
	if w.tx == nil {
		w.ks.Lock(w.ks.AllShards())
	}
	w.forget()
}

// forget makes the transaction look up its key anew: tables change.
func (w *whole) forget() {
	if w.tx == nil {
		return
	}
	w.tx.cur.ok = false
	for _, o := range w.tx.others {
		if o != nil {
			o.cur.ok = false
		}
	}
}

func (w *whole) unlockAll() {
	if w.tx == nil {
		w.ks.Unlock(w.ks.AllShards())
	}
}

// sum adds something up over the shards' shares of a database.
func (w *whole) sum(db int, fn func(d *database)) {
	for i := range w.ks.shards {
		s := w.lock(i)
		if d := s.at(db).Load(); d != nil {
			fn(d)
		}
		w.unlock(i)
	}
}

// Databases returns the number of databases.
func (w *whole) Databases() int { return w.ks.databases }

// Used is Keyspace.Used.
func (w *whole) Used() int64 { return w.ks.Used() }

// Len counts the keys of a database.
func (w *whole) Len(db int) (n int64) {
	w.sum(db, func(d *database) { n += int64(d.table.Len()) })
	return n
}

// Expires counts the keys of a database that have a time to live.
func (w *whole) Expires(db int) (n int64) {
	w.sum(db, func(d *database) { n += d.expires })
	return n
}

// AvgTTL returns the mean time to live.
func (w *whole) AvgTTL(db int) Millis {
	var sum, n int64
	w.sum(db, func(d *database) {
		s, k := d.avgTTL(w.now())
		sum, n = sum+s, n+k
	})
	if n == 0 {
		return 0
	}
	return Millis(max(sum/n, 0))
}

// Scan visits keys from a cursor on. The cursor's lowest part is the shard,
// above it stands the table's own.
func (w *whole) Scan(db int, cursor uint64, count int, fn func(key []byte, t Type)) uint64 {
	w.forget()
	n := uint64(len(w.ks.shards))
	i, at := int(cursor%n), cursor/n
	for left := count; ; {
		at = w.scanShard(i, db, at, &left, fn)
		if at == 0 {
			if i++; i == int(n) {
				return 0
			}
		}
		if left <= 0 {
			return at*n + uint64(i)
		}
	}
}

// scanShard visits keys of one shard, and counts left down for each. Those whose
// time has come are removed, once the table is not being walked any more.
func (w *whole) scanShard(i, db int, at uint64, left *int, fn func(key []byte, t Type)) uint64 {
	s := w.lock(i)
	defer w.unlock(i)
	d := s.at(db).Load()
	if d == nil {
		return 0
	}
	var dead []uint64
	for {
		at = d.table.Scan(at, func(slot table.Slot) {
			*left--
			r := s.openRecord(d.table.Ref(slot))
			if r.expired(w.now()) {
				dead = append(dead, w.ks.Hash(r.key()))
				return
			}
			fn(r.key(), r.typ())
		})
		if !w.ks.frozen.Load() {
			for _, hash := range dead {
				s.fire(db, d, hash, w.now())
			}
		}
		dead = dead[:0]
		if at == 0 || *left <= 0 {
			return at
		}
	}
}

// Each visits every key as of one instant.
func (w *whole) Each(db int, fn func(key []byte, t Type) bool) {
	sn := w.snapshot()
	defer sn.close(w.tx != nil)
	r, now := w.reader(sn), w.now()
	defer r.End()
	r.All(db, func(it *Item) bool { return it.expired(now) || fn(it.Key, it.Type) })
}

// Items visits all keys and values as of one instant.
func (w *whole) Items(fn func(db int, it *Item) bool) {
	sn := w.snapshot()
	defer sn.close(w.tx != nil)
	r, now := w.reader(sn), w.now()
	defer r.End()
	r.Items(func(db int, it *Item) bool { return it.expired(now) || fn(db, it) })
}

// reader returns a reader that gives way to others unless they wait for its shards.
func (w *whole) reader(sn *Snapshot) *Reader {
	if w.tx == nil {
		return sn.Reader()
	}
	return sn.hasty()
}

func (w *whole) snapshot() *Snapshot {
	if w.tx == nil {
		return w.ks.Snapshot(nil)
	}
	return w.ks.snapshotLocked()
}

// expired reports whether the time of the key has come.
func (it *Item) expired(now Millis) bool { return it.Expire != NoExpiry && now > it.Expire }

// RandomKey appends a random key to dst.
func (w *whole) RandomKey(db int, dst []byte) ([]byte, bool) {
	const tries = 100
	w.forget()
	for range tries {
		total := w.Len(db)
		if total == 0 {
			return dst, false
		}
		n := int64(w.ks.random() % uint64(total))
		if key, ok := w.nth(db, n, dst); ok {
			return key, true
		}
	}
	return dst, false
}

// nth appends a random key of the shard that holds the nth key of a database.
// An expired one is not taken, but removed.
func (w *whole) nth(db int, n int64, dst []byte) (key []byte, ok bool) {
	for i := range w.ks.shards {
		s := w.lock(i)
		d := s.at(db).Load()
		var size int64
		if d != nil {
			size = int64(d.table.Len())
		}
		if n < size {
			key, ok = s.randomKey(db, d, w.now(), dst)
			w.unlock(i)
			return key, ok
		}
		n -= size
		w.unlock(i)
	}
	return dst, false
}

func (s *shard) randomKey(db int, d *database, now Millis, dst []byte) ([]byte, bool) {
	at, found := d.table.Random(s.ks.random)
	if !found {
		return dst, false
	}
	r := s.openRecord(d.table.Ref(at))
	if r.expired(now) {
		if at, found = d.table.Prepare(at); found && !s.ks.frozen.Load() {
			s.expire(db, d, at)
		}
		return dst, false
	}
	return append(dst, r.key()...), true
}

// Flush empties a database, or all if db is -1.
func (w *whole) Flush(db int, async bool) int64 {
	w.lockAll()
	work, n := w.detach(db)
	if !async {
		for _, d := range work {
			for more := true; more; {
				_, more = d.shard.free(d.db)
			}
		}
	}
	w.unlockAll()
	if async {
		w.ks.lazy.push(work)
	}
	w.changed(n)
	return n
}

// FlushLater is Flush whose caller may wait, without a lock, until all is freed.
func (w *whole) FlushLater(db int) (n int64, freed <-chan struct{}) {
	w.lockAll()
	work, n := w.detach(db)
	w.unlockAll()
	w.changed(n)
	return n, w.ks.lazy.push(work)
}

// changed counts changes.
func (w *whole) changed(n int64) {
	if w.tx != nil {
		w.tx.changes += n
	} else {
		w.ks.dirty(0, n)
	}
}

// detach takes databases out of use.
func (w *whole) detach(db int) (work []detached, keys int64) {
	for i := range w.ks.shards {
		s := &w.ks.shards[i]
		for j := range s.ks.databases {
			if db >= 0 && j != db {
				continue
			}
			if s.watched.used {
				s.watched.replaced(s, w.tx, j, -1, w.now())
			}
			d := s.at(j).Swap(nil)
			if d == nil {
				continue
			}
			keys += int64(d.table.Len())
			d.cursor = 0
			work = append(work, detached{shard: s, db: d})
		}
	}
	return work, keys
}

// Swap exchanges two databases.
func (w *whole) Swap(a, b int) {
	if a == b {
		return
	}
	w.lockAll()
	defer w.unlockAll()
	for i := range w.ks.shards {
		s := &w.ks.shards[i]
		if s.watched.used {
			s.watched.replaced(s, w.tx, a, b, w.now())
			s.watched.replaced(s, w.tx, b, a, w.now())
		}
		da, db := s.at(a).Load(), s.at(b).Load()
		s.at(a).Store(db)
		s.at(b).Store(da)
	}
	w.changed(1)
}

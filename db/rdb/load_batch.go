package rdb

import (
	"strconv"

	"heddle/db"
)

// Small keys are not stored one by one as they are decoded, but a thousand at a time, in the
// order of their shards: then a shard is locked once for many of them, the memory that it
// gives them is one piece that is in the cache, and what the table needs to find the place
// of one is fetched while others are stored.

const (
	batchKeys   = 1024     // keys that wait at most
	batchBytes  = 64 << 10 // bytes copied for them, about
	longestWait = 512      // bytes of a packed collection that waits
	atOnce      = 32       // keys that are stored while a shard is locked
	ahead       = 12       // keys whose places are being fetched
)

// batch is keys that were decoded and wait to be stored.
type batch struct {
	found []found
	room  []byte                // bytes that are theirs; others stay where the task has them
	order [batchKeys]*found     // by shard
	ends  [db.MaxShards + 1]int // of a shard's keys in order
}

// found is a key that was decoded.
type found struct {
	key    []byte
	hash   uint64
	v      Value
	at     db.Expiry
	access db.Access
	offset int64
}

// keep copies bytes to where they stay as long as the batch.
func (b *batch) keep(s []byte) []byte {
	b.room = append(b.room, s...)
	return b.room[len(b.room)-len(s) : len(b.room) : len(b.room)]
}

// mayWait reports whether a value is small enough to wait in a batch.
func (v *Value) mayWait() bool {
	if v.typ == db.TypeString {
		return v.big == nil
	}
	return v.coll.Packing != db.NotPacked && len(v.coll.Packed) <= longestWait
}

// enqueue stores a key a little later, at the end of the task at the latest.
func (w *worker) enqueue(f *found) {
	b := &w.batch
	if len(f.key) > 0 && len(w.key) > 0 && &f.key[0] == &w.key[0] {
		f.key = b.keep(f.key)
	}
	if f.v.coll.Packed != nil {
		f.v.coll.Packed = b.keep(f.v.coll.Packed)
	}
	b.found = append(b.found, *f)
	if len(b.found) == batchKeys || len(b.room) >= batchBytes {
		w.flush()
	}
}

// flush stores the keys that wait. Those of a shard are stored in the order of the file.
func (w *worker) flush() {
	b, ks := &w.batch, w.l.ks
	if len(b.found) == 0 {
		b.room = b.room[:0] // of keys that did not wait
		return
	}
	b.sort(ks)
	order := b.order[:len(b.found)]
	for _, f := range order[:min(ahead, len(order))] {
		ks.WillFind(w.db, f.hash)
	}
	for shard, from := 0, 0; from < len(order); {
		for b.ends[shard] <= from {
			shard++
		}
		end := min(b.ends[shard], from+atOnce)
		for _, f := range order[min(from+ahead, len(order)):min(end+ahead, len(order))] {
			ks.WillFind(w.db, f.hash)
		}
		w.storeAll(order[from:end]...)
		from = end
	}
	clear(b.found)
	b.found, b.room = b.found[:0], b.room[:0]
}

// sort sets order and ends.
func (b *batch) sort(ks *db.Keyspace) {
	clear(b.ends[:])
	for i := range b.found {
		b.ends[ks.ShardOf(b.found[i].hash)+1]++
	}
	for shard := range db.MaxShards {
		b.ends[shard+1] += b.ends[shard]
	}
	for i := range b.found { // what begins as the start of a shard's keys is moved to their end
		end := &b.ends[ks.ShardOf(b.found[i].hash)]
		b.order[*end] = &b.found[i]
		*end++
	}
}

// storeAll stores keys of one shard.
func (w *worker) storeAll(list ...*found) {
	ks := w.l.ks
	shard := ks.ShardOf(list[0].hash)
	var failed error
	var at int64
	ks.LockShard(shard)
	w.locked = shard
	w.tx.Begin(w.db, w.l.o.Now, db.LockSet(0).With(shard), true)
	for _, f := range list {
		if err := w.store(f); err == nil {
			w.n++
		} else if failed == nil {
			failed, at = err, f.offset
		}
	}
	w.tx.End()
	w.locked = -1
	ks.UnlockShard(shard)
	if failed != nil {
		w.l.fail(failed, at)
		return
	}
	if w.l.o.EachKey != nil {
		w.eachKey(list[0].offset)
	}
}

// store stores a key whose shard is locked.
func (w *worker) store(f *found) error {
	w.tx.Prime(f.key, f.hash)
	if !w.l.o.Replace && w.tx.Type(f.key) != db.TypeNone {
		f.v.Release()
		return &Error{
			Offset: f.offset, Key: string(f.key), Err: ErrDuplicate,
			Msg: "RDB has duplicated key in DB " + strconv.Itoa(w.db),
		}
	}
	if err := f.v.Put(w.tx, f.key, f.at); err != nil {
		return err
	}
	w.tx.SetAccess(f.key, f.access)
	return nil
}

// eachKey tells that a key is stored.
func (w *worker) eachKey(at int64) {
	w.report()
	w.l.o.EachKey()
	if w.l.o.Stop == nil {
		return
	}
	if err := w.l.o.Stop(); err != nil {
		w.l.fail(err, at)
	}
}

package db

import (
	"syscall"

	"golang.org/x/sys/unix"

	"heddle/db/arena"
	"heddle/db/table"
)

// A Snapshot is a consistent view of all databases as of one instant. It is
// read without any lock while writers go on: they replace what it needs
// instead of changing it, and keep what they replaced until Close.
type Snapshot struct {
	ks     *Keyspace
	epoch  uint64
	shards []frozen
}

// frozen is a shard as a snapshot sees it.
type frozen struct {
	views   []table.View // by database
	handles []handle
}

// Item is a key of a snapshot. What it points to is valid until Close.
type Item struct {
	Key    []byte
	Type   Type
	Expire Expiry
	Str    Str  // of TypeString
	Coll   Coll // of other types; not to be changed
}

// Snapshot begins a snapshot. fn, if not nil, runs while all shards are locked:
// what it notes belongs to the same instant.
func (ks *Keyspace) Snapshot(fn func()) *Snapshot {
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	if fn != nil {
		fn()
	}
	return ks.snapshotLocked()
}

// SnapshotLocked is Snapshot for a caller that has all shards locked.
func (ks *Keyspace) SnapshotLocked() *Snapshot { return ks.snapshotLocked() }

func (ks *Keyspace) snapshotLocked() *Snapshot {
	sn := &Snapshot{ks: ks, shards: make([]frozen, len(ks.shards))}
	for i := range ks.shards {
		s, f := &ks.shards[i], &sn.shards[i]
		sn.epoch = s.epochs.Begin()
		s.retired.opened(sn.epoch)
		f.views = make([]table.View, ks.databases)
		for db := range s.ks.databases {
			if d := s.at(db).Load(); d != nil {
				f.views[db] = d.table.Freeze()
			}
		}
		f.handles = s.handles.list[:len(s.handles.list):len(s.handles.list)]
	}
	return sn
}

// Len returns the number of keys in a database.
func (sn *Snapshot) Len(db int) int {
	n := 0
	for i := range sn.shards {
		n += sn.shards[i].views[db].Len()
	}
	return n
}

// breatheEvery is how many records Each visits before it offers the processor to
// threads that wait for one: some dozens of microseconds. A reader that used up
// its time slices kept workers waiting for milliseconds where there were not
// processors enough. (A low priority would do the same, but a thread that has
// it must not hold shards, as the begin and the end of a snapshot do.)
const breatheEvery = 512

// Each visits every key of a database, in no order, until fn returns false.
func (sn *Snapshot) Each(db int, fn func(it *Item) bool) {
	var it Item
	visited := 0
	for i := range sn.shards {
		f, more := &sn.shards[i], true
		f.views[db].Each(func(ref arena.Ref) bool {
			f.load(sn.ks.heap, ref, &it)
			more = fn(&it)
			if visited++; visited%breatheEvery == 0 {
				_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			}
			return more
		})
		if !more {
			return
		}
	}
}

// Items visits every key of all databases, one database after the other, until fn
// returns false. fn must not keep what it is given.
func (sn *Snapshot) Items(fn func(db int, it *Item) bool) {
	for db, more := 0, true; more && db < sn.ks.databases; db++ {
		sn.Each(db, func(it *Item) bool {
			more = fn(db, it)
			return more
		})
	}
}

// load fills an Item from a record.
func (f *frozen) load(h *arena.Heap, ref arena.Ref, it *Item) {
	r := openRecord(h, ref)
	*it = Item{Key: r.key(), Type: r.typ(), Expire: r.expire()}
	switch r.kind() {
	case kindInt:
		it.Str = Str{N: r.int(), IsInt: true}
	case kindBig:
		b := f.handles[r.handle()].big
		it.Str = Str{B: b.Bytes(), Big: b}
	case kindListpack, kindIntset, kindLoose:
		it.Coll = Coll{Type: r.typ(), Packing: packingOf(r.kind()), Packed: r.val()}
	case kindObject:
		it.Coll = Coll{Type: r.typ(), Object: f.handles[r.handle()].obj}
	default:
		it.Str = Str{B: r.val()}
	}
}

// freeBatch is how many retired records are freed under one lock.
const freeBatch = 64

// Close ends the snapshot and frees what was kept for it alone.
func (sn *Snapshot) Close() { sn.close(false) }

// close is Close; held says that the caller has all shards locked.
func (sn *Snapshot) close(held bool) {
	for i := range sn.shards {
		s := &sn.ks.shards[i]
		if held {
			s.closeSnapshot(sn.epoch)
			for s.freeRetired(freeBatch) {
			}
			continue
		}
		sn.ks.lockShard(i)
		s.closeSnapshot(sn.epoch)
		for s.freeRetired(freeBatch) {
			sn.ks.unlockShard(i)
			sn.ks.lockShard(i)
		}
		sn.ks.unlockShard(i)
	}
	sn.shards = nil
}

func (s *shard) closeSnapshot(epoch uint64) {
	s.epochs.End(epoch)
	s.retired.closed(epoch)
}

// retireList holds records that left the table while a snapshot may read them.
type retireList struct {
	open   []uint64 // epochs of open snapshots, ascending
	groups []retireGroup
}

// retireGroup is records retired while epoch was the newest: snapshots up to
// it may read them.
type retireGroup struct {
	epoch uint64
	refs  []arena.Ref
}

const retireGroupSize = 1024

func (l *retireList) opened(epoch uint64) { l.open = append(l.open, epoch) }

func (l *retireList) closed(epoch uint64) {
	for i, e := range l.open {
		if e == epoch {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

// add keeps a record that snapshots up to epoch may read.
func (l *retireList) add(epoch uint64, ref arena.Ref) {
	n := len(l.groups)
	if n == 0 || l.groups[n-1].epoch != epoch || len(l.groups[n-1].refs) == retireGroupSize {
		l.groups = append(l.groups, retireGroup{epoch: epoch, refs: make([]arena.Ref, 0, retireGroupSize/8)})
		n++
	}
	g := &l.groups[n-1]
	g.refs = append(g.refs, ref)
}

// take removes a record from a group that no open snapshot may read.
func (l *retireList) take() (ref arena.Ref, ok bool) {
	if len(l.groups) == 0 || len(l.open) > 0 && l.open[0] <= l.groups[0].epoch {
		return 0, false
	}
	g := &l.groups[0]
	n := len(g.refs)
	ref, g.refs = g.refs[n-1], g.refs[:n-1]
	if n == 1 {
		l.groups[0] = retireGroup{}
		if l.groups = l.groups[1:]; len(l.groups) == 0 {
			l.groups = nil
		}
	}
	return ref, true
}

// retire keeps a record that left the table for the snapshots that may read it.
func (s *shard) retire(rec *record) {
	s.retired.add(s.epochs.Current(), rec.ref)
	s.countRetired(rec, 1)
}

// countRetired counts the memory of a record that was retired (1), or is not any
// longer (-1). That of a Big counts while no live record holds it.
func (s *shard) countRetired(rec *record, sign int64) {
	n := sign * int64(s.ks.heap.Cap(rec.ref))
	switch rec.kind() {
	case kindBig:
		n += s.handles.big(rec.handle()).hold(-sign, sign)
	case kindObject:
		n += sign * s.handles.list[rec.handle()].size
	}
	s.ks.kept.Add(n)
}

// freeRetired frees up to limit records and reports whether there are more.
func (s *shard) freeRetired(limit int) bool {
	for ; limit > 0; limit-- {
		ref, ok := s.retired.take()
		if !ok {
			return false
		}
		rec := s.openRecord(ref)
		s.countRetired(&rec, -1)
		s.dropRecord(rec, true, false)
	}
	return true
}

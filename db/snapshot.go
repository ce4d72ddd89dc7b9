package db

import (
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
	expires []int64      // by database: keys with a deadline
	handles []handle
	timed   bool // there may be an object whose members have deadlines
	over    bool // it is read no more
}

// Item is a key of a snapshot. What it points to is valid until Close.
type Item struct {
	Key    []byte
	Type   Type
	Expire Expiry
	Str    Str    // of TypeString
	Coll   Coll   // of other types; not to be changed
	Clock  uint32 // the access clock, of now: see Settings.Access

	reader *Reader // who came to it, see Breathe
}

// Snapshot begins a snapshot. fn, if not nil, runs while all shards are locked:
// what it notes belongs to the same instant.
func (ks *Keyspace) Snapshot(fn func()) *Snapshot {
	sn := ks.newSnapshot()
	ks.Lock(ks.AllShards())
	defer ks.Unlock(ks.AllShards())
	if fn != nil {
		fn()
	}
	sn.begin()
	return sn
}

// snapshotLocked is Snapshot for a caller that has all shards locked.
func (ks *Keyspace) snapshotLocked() *Snapshot {
	sn := ks.newSnapshot()
	sn.begin()
	return sn
}

// newSnapshot makes the memory of a snapshot, which takes longer than to begin it.
func (ks *Keyspace) newSnapshot() *Snapshot {
	n := ks.databases
	sn := &Snapshot{ks: ks, shards: make([]frozen, len(ks.shards))}
	views, expires := make([]table.View, len(ks.shards)*n), make([]int64, len(ks.shards)*n)
	for i := range sn.shards {
		f := &sn.shards[i]
		f.views, f.expires = views[i*n:(i+1)*n], expires[i*n:(i+1)*n]
	}
	return sn
}

// begin freezes every table; all shards are locked.
func (sn *Snapshot) begin() {
	ks := sn.ks
	ks.heap.Expect()
	for i := range ks.shards {
		s, f := &ks.shards[i], &sn.shards[i]
		sn.epoch = s.epochs.Begin()
		s.retired.opened(sn.epoch)
		for db := range s.ks.databases {
			if d := s.at(db).Load(); d != nil {
				f.views[db], f.expires[db] = d.table.Freeze(), d.expires
			}
		}
		f.handles = s.handles.list[:len(s.handles.list):len(s.handles.list)]
		f.timed = s.handles.timed > 0
	}
}

// Len returns the number of keys in a database.
func (sn *Snapshot) Len(db int) int {
	n := 0
	for i := range sn.shards {
		n += sn.shards[i].views[db].Len()
	}
	return n
}

// Expires returns the number of keys with a deadline in a database.
func (sn *Snapshot) Expires(db int) (n int64) {
	for i := range sn.shards {
		n += sn.shards[i].expires[db]
	}
	return n
}

// Databases returns the number of databases.
func (sn *Snapshot) Databases() int { return sn.ks.databases }

// Settings returns the settings in force now.
func (sn *Snapshot) Settings() Settings { return sn.ks.Settings() }

// Timed reports whether there may be collections whose members have deadlines: false is
// certain.
func (sn *Snapshot) Timed() bool {
	for i := range sn.shards {
		if sn.shards[i].timed {
			return true
		}
	}
	return false
}

// Shards returns how many parts there are to read one by one.
func (sn *Snapshot) Shards() int { return len(sn.shards) }

// Each visits every key of a database, in no order, until fn returns false.
func (sn *Snapshot) Each(db int, fn func(it *Item) bool) {
	r := sn.Reader()
	defer r.End()
	r.All(db, fn)
}

// Items visits every key of all databases, one database after the other, until fn
// returns false. fn must not keep what it is given.
func (sn *Snapshot) Items(fn func(db int, it *Item) bool) {
	r := sn.Reader()
	defer r.End()
	r.Items(fn)
}

// Items is Snapshot.Items by this reader.
func (r *Reader) Items(fn func(db int, it *Item) bool) {
	for db, more := 0, true; more && db < r.sn.ks.databases; db++ {
		more = r.All(db, func(it *Item) bool { return fn(db, it) })
	}
}

// All visits every key of a database until fn returns false, and reports whether it
// never did.
func (r *Reader) All(db int, fn func(it *Item) bool) bool {
	for i := range r.sn.shards {
		if !r.Each(i, db, fn) {
			return false
		}
	}
	return true
}

// Each visits the keys of a database that are in one shard, until fn returns false, and
// reports whether it never did. fn must not keep what it is given.
func (r *Reader) Each(shard, db int, fn func(it *Item) bool) bool {
	it := new(Item)
	f := &r.sn.shards[shard]
	return f.views[db].Each(func(ref arena.Ref, clock uint32) bool {
		f.load(r.sn.ks.heap, ref, it)
		it.reader, it.Clock = r, clock
		more := fn(it)
		r.Breathe()
		return more
	})
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

// Item returns the key with its value.
func (t *Tx) Item(key []byte) (it Item, found bool) {
	if !t.lookup(key) {
		return it, false
	}
	c := &t.cur
	f := frozen{handles: c.s.handles.list}
	f.load(t.ks.heap, c.rec.ref, &it)
	it.Clock = c.d.table.Clock(c.slot)
	return it, true
}

const (
	// freeBatch is how many retired records are freed under one lock, freeSegments how
	// many segments.
	freeBatch    = 64
	freeSegments = 16
)

// Release says that nobody will read a shard any more, and frees what was kept in it for
// the snapshot alone. So a reader that goes from shard to shard, through with each, needs
// the less memory the further it is. It is called once for a shard, with none held.
func (r *Reader) Release(shard int) {
	r.sn.ended(shard, false)
	for r.sn.free(shard, false) {
		r.breatheFor(freeBatch)
	}
}

// Close ends the snapshot and frees what was kept for it alone.
func (sn *Snapshot) Close() { sn.close(false) }

// close is Close; held says that the caller has all shards locked. Else it goes round the
// shards and frees a little in each: whoever waits for one has it long before its next turn.
func (sn *Snapshot) close(held bool) {
	if sn.shards == nil {
		return // it is closed already
	}
	r := sn.Reader()
	defer r.End()
	left := make([]int, 0, len(sn.shards))
	for i := range sn.shards {
		if !sn.shards[i].over {
			sn.ended(i, held)
			left = append(left, i)
		}
	}
	sn.ks.heap.Relax()
	for len(left) > 0 {
		more := left[:0]
		for _, i := range left {
			if sn.free(i, held) {
				more = append(more, i)
			}
			if !held {
				r.breatheFor(freeBatch)
			}
		}
		left = more
	}
	sn.shards = nil
}

// ended notes in a shard that the snapshot is over.
func (sn *Snapshot) ended(i int, held bool) {
	sn.shards[i].over = true
	if held {
		sn.ks.shards[i].closeSnapshot(sn.epoch)
		return
	}
	defer sn.ks.unlockShard(i)
	sn.ks.lockShard(i).closeSnapshot(sn.epoch)
}

// free frees some of what a shard keeps for no snapshot any longer, and reports whether
// there is more. Large values are given back to the system outside of the lock.
func (sn *Snapshot) free(i int, held bool) bool {
	var bigs []*Big
	s := &sn.ks.shards[i]
	if !held {
		sn.touchRetired(i)
		sn.ks.lockShard(i)
	}
	more := s.epochs.Free(freeSegments)
	more = s.freeRetired(freeBatch, &bigs) || more
	if !held {
		sn.ks.unlockShard(i)
	}
	for _, b := range bigs {
		b.Release()
	}
	return more
}

// touchRetired reads what is to be freed next without the lock: that was unused for as
// long as the snapshot was open, and to wait for it from memory, or for a page of a virtual
// machine, held the shard for up to a millisecond.
func (sn *Snapshot) touchRetired(i int) {
	var list [freeBatch + freeSegments]arena.Ref
	s := sn.ks.lockShard(i)
	refs := s.epochs.Next(list[:0], freeSegments)
	refs = s.retired.next(refs, freeBatch)
	sn.ks.unlockShard(i)
	sum := uint64(0)
	for _, ref := range refs {
		sum += sn.ks.heap.Touch(ref)
	}
	touchedAll(sum)
}

// touchedAll takes what Touch returned, so that the loads are not dropped.
//
//go:noinline
func touchedAll(uint64) {}

func (s *shard) closeSnapshot(epoch uint64) {
	s.epochs.End(epoch)
	s.retired.closed(epoch)
}

package db

import "heddle/db/table"

// Compaction brings memory back after many deletes. Slabs that hold few blocks
// are marked by the arena; the blocks in them move elsewhere, a few under each
// lock, and the empty slabs go back to the system. What moves are records
// (found by walking the tables), chunks of the expiry index, and segments.
//
// compactor is how far a shard is. A shard with an open snapshot waits: what a
// snapshot sees cannot move.
type compactor struct {
	running bool
	db      int
	cursor  uint64
	phase   compactPhase
}

type compactPhase uint8

const (
	moveRecords compactPhase = iota
	moveTimers
	moveSegments
	phases
)

// Compact goes on with the compaction of the shards, in turn, looking at about
// budget records at most, and gives up to pages unused slabs back to the system.
// It reports whether there is more to do. One goroutine at a time may call it.
func (ks *Keyspace) Compact(budget, pages int) (more bool) {
	for range ks.shards {
		if budget <= 0 {
			break
		}
		s := ks.lockShard(ks.compacted)
		budget -= s.compactSome()
		ks.unlockShard(ks.compacted)
		ks.compacted = (ks.compacted + 1) % len(ks.shards)
	}
	for i := range ks.shards {
		s := ks.lockShard(i)
		more = more || s.compact.running
		ks.unlockShard(i)
	}
	return ks.heap.ReleasePages(pages) == pages && pages > 0 || more
}

// Age is arena.Heap.Age: Compact gives back what was not in use for an age.
func (ks *Keyspace) Age() { ks.heap.Age() }

// compactStep is how many segments are walked under one lock.
const compactStep = 1

// compactSome does one step and returns how many records it looked at.
func (s *shard) compactSome() int {
	c := &s.compact
	if s.epochs.Active() {
		return 0
	}
	if !c.running {
		if s.arena.Sparse() == 0 {
			s.arena.Trim()
			return 1
		}
		*c = compactor{running: true}
	}
	looked := 1
	if d := s.at(c.db).Load(); d != nil {
		looked += s.compactTable(d)
	}
	if c.cursor != 0 {
		return looked
	}
	if c.db++; c.db == s.ks.databases {
		c.db = 0
		if c.phase++; c.phase == phases {
			*c = compactor{}
			s.arena.Settle()
			s.arena.Trim()
		}
	}
	return looked
}

// compactTable does one step of the present phase in one table.
func (s *shard) compactTable(d *database) (looked int) {
	c := &s.compact
	switch c.phase {
	case moveRecords:
		c.cursor = d.table.WalkFrom(c.cursor, compactStep, func(slot table.Slot) {
			looked++
			s.moveRecord(d, slot)
		})
	case moveTimers:
		d.wheel.relocate()
		if d.old != nil {
			d.old.relocate()
		}
	case moveSegments:
		c.cursor = d.table.Relocate(c.cursor, compactStep)
	}
	return looked
}

// moveRecord moves a record out of a slab that is to be emptied.
func (s *shard) moveRecord(d *database, slot table.Slot) {
	ref := d.table.Ref(slot)
	if !s.arena.Evacuating(ref) {
		return
	}
	n := s.ks.heap.Cap(ref)
	to := s.arena.Alloc(n)
	if to == 0 {
		return
	}
	copy(s.ks.heap.Bytes(to, n), s.ks.heap.Bytes(ref, n))
	d.table.SetRef(slot, to)
	s.arena.Free(ref)
	s.counts.moved++
}

// Shrink merges segments that deletes left nearly empty.
func (ks *Keyspace) Shrink() {
	const segments = 4 // under one lock
	for i := range ks.shards {
		s := ks.lockShard(i)
		for db := range s.ks.databases {
			if d := s.at(db).Load(); d != nil {
				d.merged = d.table.Shrink(d.merged, segments)
			}
		}
		ks.unlockShard(i)
	}
}

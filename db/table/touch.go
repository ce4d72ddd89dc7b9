package table

import "heddle/db/arena"

// TouchSlot loads the home bucket of a hash. The Touch functions run without a lock,
// at any time: a pass of TouchSlot over many hashes, then one of TouchRecord, brings what
// Find will need into the cache, the misses of a pass overlapping. Add up what they return.
func (t *Table) TouchSlot(hash uint64) uint64 {
	d := t.dir.Load()
	if d == nil {
		return 0
	}
	e := d.at(hash)
	return t.heap.Touch(e.ref() + arena.Ref(e.home(hash)*bucketWords))
}

// TouchRecord loads the first words of the records in the home bucket of a hash that
// may have it. See TouchSlot.
func (t *Table) TouchRecord(hash uint64) uint64 {
	d := t.dir.Load()
	if d == nil {
		return 0
	}
	e := d.at(hash)
	at := e.ref() + arena.Ref(e.home(hash)*bucketWords)
	sum := uint64(0)
	for m := match(t.heap.Touch(at), pattern(hash)); m != 0; m &= m - 1 {
		sum += t.heap.Touch(refOf(t.heap.Touch(at + 1 + arena.Ref(slotOf(m)))))
	}
	return sum
}

// PrefetchSlot asks for the home bucket of a hash, PrefetchRecord for the first record
// in it that may have the hash. They need no lock and wait for nothing but the
// directory, and the bucket; so PrefetchRecord comes some time after PrefetchSlot, and
// Find some time after that.
func (t *Table) PrefetchSlot(hash uint64) {
	if d := t.dir.Load(); d != nil {
		e := d.at(hash)
		t.heap.Prefetch(e.ref() + arena.Ref(e.home(hash)*bucketWords))
	}
}

// PrefetchRecord is described at PrefetchSlot.
func (t *Table) PrefetchRecord(hash uint64) {
	d := t.dir.Load()
	if d == nil {
		return
	}
	e := d.at(hash)
	at := e.ref() + arena.Ref(e.home(hash)*bucketWords)
	if m := match(t.heap.Touch(at), pattern(hash)); m != 0 {
		t.heap.PrefetchRecord(refOf(t.heap.Touch(at + 1 + arena.Ref(slotOf(m)))))
	}
}

package db

import (
	"fmt"

	"heddle/db/arena"
	"heddle/db/table"
)

// Check verifies what must hold whenever no shard is locked, counting
// everything anew. It locks one shard at a time.
func (ks *Keyspace) Check() error {
	for i := range ks.shards {
		s := ks.lockShard(i)
		err := s.check()
		ks.unlockShard(i)
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}

func (s *shard) check() error {
	c := checker{s: s, handles: map[uint32]bool{}}
	for db := range s.ks.databases {
		d := s.at(db).Load()
		if d == nil {
			continue
		}
		if err := c.database(d); err != nil {
			return fmt.Errorf("database %d: %w", db, err)
		}
	}
	return c.finish()
}

// checker adds up what a shard holds.
type checker struct {
	s       *shard
	handles map[uint32]bool
	bytes   int64 // in records, chunks, segments
	timed   int64 // handles with a turn
	err     error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// database checks the records of a database against its table and its counts.
func (c *checker) database(d *database) error {
	timed := map[uint64]bool{}
	for _, w := range [...]*wheel{&d.wheel, d.old} {
		if w != nil {
			c.wheel(w, timed)
		}
	}
	var n int
	var expires, deadlines int64
	d.table.Walk(func(slot table.Slot) {
		n++
		r := c.record(d.table.Ref(slot))
		c.live(r)
		if got, ok := d.table.Find(c.s.ks.Hash(r.key()), r.key()); !ok || d.table.Ref(got) != r.ref {
			c.fail("key %q is in the table, but not found", r.key())
		}
		if at := r.expire(); at != NoExpiry {
			expires++
			deadlines += fromBase(at)
			if r.flags()&flagTimer != 0 && !timed[keyEntry(c.s.ks.Hash(r.key()))] {
				c.fail("key %q expires, but is not in the index", r.key())
			}
		}
		c.checkTimer(d, r, timed)
	})
	if n != d.table.Len() || expires != d.expires || deadlines != d.deadlines {
		c.fail("%d keys, %d with deadlines of %d; counted %d, %d, %d",
			d.table.Len(), d.expires, d.deadlines, n, expires, deadlines)
	}
	c.bytes += d.table.MemSize() - d.table.DirSize()
	return c.err
}

// wheel checks an expiry index and collects its entries.
func (c *checker) wheel(w *wheel, timed map[uint64]bool) {
	n := int64(0)
	w.each(func(hash uint64) { timed[hash], n = true, n+1 })
	if n != w.entries {
		c.fail("expiry index has %d entries, counted %d", n, w.entries)
	}
	c.bytes += w.memSize()
}

// record checks a record and counts its memory and its handle.
func (c *checker) record(ref arena.Ref) record {
	h := c.s.ks.heap
	r := openRecord(h, ref)
	if len(r.b) > h.Cap(ref) {
		c.fail("record of %d bytes in a block of %d", len(r.b), h.Cap(ref))
	}
	if c.s.ks.ShardOf(c.s.ks.Hash(r.key())) != c.s.id {
		c.fail("key %q is in the wrong shard", r.key())
	}
	if !h.IsLarge(ref) {
		c.bytes += int64(h.Cap(ref))
	}
	if r.kind().hasHandle() {
		if c.handles[r.handle()] {
			c.fail("handle %d serves two records", r.handle())
		}
		c.handles[r.handle()] = true
	}
	return r
}

// live checks what holds for a record that is in the table.
func (c *checker) live(r record) {
	switch k := r.kind(); {
	case k.packed():
		if n := len(r.val()); n < 2 || n > PackedMax || packedLen(r.val()) == 0 && r.typ() != TypeStream {
			c.fail("key %q: a packed %v of %d bytes", r.key(), r.typ(), n)
		}
	case k == kindObject:
		h := &c.s.handles.list[r.handle()]
		if n := h.obj.MemSize(); n != h.size {
			c.fail("key %q: a %v takes %d bytes, counted %d", r.key(), r.typ(), n, h.size)
		}
		if s := h.obj.shared(); s != nil && s.lease != h.lease {
			c.fail("key %q: a %v with a lease that is not its own", r.key(), r.typ())
		}
		if h.obj.Len() == 0 && r.typ() != TypeStream {
			c.fail("key %q: an empty %v", r.key(), r.typ())
		}
	}
}

// finish checks the sums. Memory is only known while no flushed table waits to
// be freed and no snapshot keeps segments.
func (c *checker) finish() error {
	s := c.s
	for _, g := range s.retired.groups {
		for _, ref := range g.refs {
			if r := c.record(ref); r.kind() == kindObject && s.handles.list[r.handle()].turn != 0 {
				c.timed++
			}
		}
	}
	if s.ks.lazy.busy() {
		return c.err
	}
	if n := len(s.handles.list) - len(s.handles.free); n != len(c.handles) {
		c.fail("%d handles in use, counted %d", n, len(c.handles))
	}
	if c.timed != s.handles.timed {
		c.fail("%d collections have a timer, counted %d", s.handles.timed, c.timed)
	}
	if !s.epochs.Active() && c.bytes != s.arena.Used() {
		c.fail("arena says %d bytes, counted %d", s.arena.Used(), c.bytes)
	}
	return c.err
}

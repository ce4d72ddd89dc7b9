package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"heddle/db/listpack"
)

// Check verifies what must always hold, counting everything anew.
func (s *Stream) Check() error {
	c := checker{s: s, prev: ID{}, node: node{}}
	for p := (place{}); s.blocks.has(p); p = s.blocks.next(p) {
		if err := c.block(p); err != nil {
			return fmt.Errorf("block %v: %w", s.blocks.at(p).key, err)
		}
	}
	if c.n > 0 {
		l := s.blocks.at(s.blocks.last())
		c.node.end = l.val.end(l.key)
	}
	switch {
	case c.n != s.blocks.n || c.length != s.length || c.bytes != s.bytes:
		return fmt.Errorf("%d blocks, %d entries, %d bytes; counted %d, %d, %d", s.blocks.n, s.length, s.bytes, c.n, c.length, c.bytes)
	case c.node != s.node:
		return fmt.Errorf("the last node is %+v, not %+v", c.node, s.node)
	case c.first != s.first:
		return fmt.Errorf("the first entry is %v, not %v", c.first, s.first)
	case s.last.Before(c.prev):
		return fmt.Errorf("the last ID is %v, but there is %v", s.last, c.prev)
	}
	if err := checkDirectory(&s.blocks, func(b *block) (int, bool) { return int(b.live), !b.part }); err != nil {
		return err
	}
	return s.checkGroups()
}

// checker goes through the blocks of a stream.
type checker struct {
	s      *Stream
	n      int
	length int
	bytes  int64
	prev   ID // of the last entry so far
	first  ID
	node   node // the one so far
	empty  bool // the block before has no entries
}

func (c *checker) block(p place) error {
	l := c.s.blocks.at(p)
	b := &l.val
	ids, err := checkBlock(b.data, l.key, int(b.start))
	switch {
	case err != nil:
		return err
	case len(ids) != int(b.live):
		return fmt.Errorf("%d entries, counted %d", b.live, len(ids))
	case c.n > 0 && !c.prev.Before(l.key):
		return fmt.Errorf("stands behind %v", c.prev)
	case b.part && (c.n == 0 || c.empty && len(ids) == 0):
		return errors.New("a part of a node that should not be there")
	case len(ids) > 0 && b.last.Before(ids[len(ids)-1]):
		return fmt.Errorf("the last entry %v is behind %v", ids[len(ids)-1], b.last)
	}
	if c.first.IsZero() && len(ids) > 0 {
		c.first = ids[0]
	}
	if !b.part {
		c.node = node{key: l.key}
	}
	c.node.live += int64(b.live)
	c.node.dead += int64(b.dead)
	c.node.size += int64(b.size)
	c.n, c.length, c.bytes = c.n+1, c.length+len(ids), c.bytes+int64(cap(b.data))
	c.prev, c.empty = b.last, len(ids) == 0
	return nil
}

var errBlock = errors.New("the bytes are no block")

// checkBlock looks whether data, which need not be trusted, is a block with that key
// whose entries begin at start, and returns the IDs of its entries.
func checkBlock(data []byte, key ID, start int) (ids []ID, err error) {
	names, at, ok := uvarint(data, 0)
	if !ok || names > uint64(len(data)) {
		return nil, errBlock
	}
	if at, ok = skipEntries(data, at, int(names)); !ok || at != start {
		return nil, errBlock
	}
	prev := before(key)
	for at < len(data) {
		id, own, next, ok := checkHead(data, at, prev)
		if !ok || len(ids) > 0 && !prev.Before(id) || id.Before(key) {
			return nil, errBlock
		}
		at = next
		n := names
		if own {
			if n, at, ok = uvarint(data, at); !ok || n > uint64(len(data)) {
				return nil, errBlock
			}
			n *= 2
		}
		if at, ok = skipEntries(data, at, int(n)); !ok {
			return nil, errBlock
		}
		ids = append(ids, id)
		prev = id
	}
	return ids, nil
}

// checkHead is readHead of bytes that need not be trusted.
func checkHead(data []byte, at int, prev ID) (id ID, own bool, next int, ok bool) {
	h := data[at]
	next, ok = at+1, true
	if h&headMore != 0 {
		_, next, ok = uvarint(data, next)
	}
	if ok && h&headSeq != 0 {
		_, _, ok = uvarint(data, next)
	}
	if !ok {
		return id, false, 0, false
	}
	id, own, next = readHead(data, at, prev)
	// Only one spelling is right: a number too large for what it is added to loses bits.
	return id, own, next, bytes.Equal(appendHead(nil, prev, id, own), data[at:next])
}

func uvarint(data []byte, at int) (u uint64, next int, ok bool) {
	u, n := binary.Uvarint(data[at:])
	return u, at + n, n > 0
}

// skipEntries skips n entries of package listpack.
func skipEntries(data []byte, at, n int) (next int, ok bool) {
	for ; n > 0; n-- {
		e, ok := listpack.CheckedAt(data, at)
		if !ok {
			return 0, false
		}
		at += len(e)
	}
	return at, true
}

// checkDirectory verifies the structure of a directory. count tells what a leaf counts
// for.
func checkDirectory[K comparable, L any](d *directory[K, L], count func(*L) (entries int, head bool)) error {
	n := 0
	for i, r := range d.list {
		if len(r.chunk.leaves) == 0 || len(r.chunk.leaves) > chunkMax {
			return fmt.Errorf("chunk %d has %d leaves", i, len(r.chunk.leaves))
		}
		if r.key != r.chunk.leaves[0].key {
			return fmt.Errorf("chunk %d begins at %v, not %v", i, r.chunk.leaves[0].key, r.key)
		}
		sum, heads := 0, 0
		for j := range r.chunk.leaves {
			entries, head := count(&r.chunk.leaves[j].val)
			if sum += entries; head {
				heads++
			}
		}
		if sum != r.chunk.sum || heads != r.chunk.heads {
			return fmt.Errorf("chunk %d counts %d entries in %d nodes, there are %d in %d", i, r.chunk.sum, r.chunk.heads, sum, heads)
		}
		n += len(r.chunk.leaves)
	}
	if n != d.n {
		return fmt.Errorf("%d leaves, counted %d", d.n, n)
	}
	return nil
}

func nothing[L any](*L) (int, bool) { return 0, false }

func (s *Stream) checkGroups() (err error) {
	if err := checkDirectory(&s.groups, nothing); err != nil {
		return err
	}
	named, pends := int64(0), int64(0)
	s.EachGroup(func(name string, g *Group) bool {
		named += groupSize + int64(len(name))
		pends += int64(g.Len())
		g.EachConsumer(func(c *Consumer) bool {
			named += consumerSize + 2*int64(len(c.Name))
			return true
		})
		if err = g.check(); err != nil {
			err = fmt.Errorf("group %q: %w", name, err)
		}
		return err == nil
	})
	if err == nil && (named != s.named || pends != s.pends) {
		err = fmt.Errorf("groups take %d bytes and have %d pending, counted %d and %d", s.named, s.pends, named, pends)
	}
	return err
}

func (g *Group) check() error {
	if g.names.n != g.consumers.n {
		return fmt.Errorf("%d names of %d consumers", g.names.n, g.consumers.n)
	}
	if err := g.pending.check(); err != nil {
		return err
	}
	held := 0
	var err error
	g.EachConsumer(func(c *Consumer) bool {
		if err = c.holds.check(); err != nil {
			return false
		}
		held += c.Len()
		it := c.HeldRange(ID{}, MaxID)
		for id, ok := it.Next(); ok; id, ok = it.Next() {
			if p := g.Pending(id); p == nil || g.NameOf(p) != c.Name {
				err = fmt.Errorf("consumer %q holds %v, which is not pending with it", c.Name, id)
			}
		}
		return err == nil
	})
	if err == nil && held != g.Len() {
		err = fmt.Errorf("%d pending, consumers hold %d", g.Len(), held)
	}
	return err
}

func (l *pages[T]) check() error {
	if err := checkDirectory(&l.dir, nothing); err != nil {
		return err
	}
	n := 0
	prev := ID{}
	for p := (place{}); l.dir.has(p); p = l.dir.next(p) {
		f := l.dir.at(p)
		if len(f.val) > pageMax || len(f.val) == 0 && l.dir.n > 1 {
			return fmt.Errorf("a page of %d", len(f.val))
		}
		for _, e := range f.val {
			if n > 0 && !prev.Before(e.key()) || e.key().Before(f.key) && p != (place{}) {
				return fmt.Errorf("%v stands behind %v in the page of %v", e.key(), prev, f.key)
			}
			prev = e.key()
			n++
		}
	}
	if n != l.n {
		return fmt.Errorf("%d entries, counted %d", l.n, n)
	}
	return nil
}

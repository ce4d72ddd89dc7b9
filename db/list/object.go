package list

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Object is a large list: a sequence of blocks of packed entries.
//
// The blocks at its two ends stand by themselves and those between them in a
// counted tree. So a push or a pop, which is what nearly all lists are for, is
// done in one block that is at hand, the front one growing downwards from the
// end of its buffer, and reaches the tree once in some hundred times, when a block
// is full or used up. Everything else (an index, a change in the middle) finds its
// block through the tree in logarithmic time and then walks in it.
//
// A pop at the end needs the offset of the last entry, which has no length
// behind it. The last few are remembered: pushes at the end add to them, and when
// they are used up the block is walked once and gives the next ones.
//
// A block that was filled, or changed in the middle, knows where its middle entry is:
// a walk to an index begins there or at the front. So a block can be of 6 KB, of which
// Go's heap takes least beside the bytes, and an index costs less than in 4 KB without.
//
// A clone shares all blocks and nodes and takes constant time: both lists get a
// new owner and copy a block or a node before they change it the first time.
// Whoever reads a clone needs no lock: nothing that is shared changes.
//
// Rejected: all blocks in the tree, where every push updates a count a level; an
// array of blocks (a ring), where an insertion in the middle and a clone move or
// copy the whole array; linked blocks as in Redis, where an index walks through
// all blocks before it and a clone is a copy.
//
// list-compress-depth has no effect. What compression would gain of numbers and
// short strings the packed spelling gains already.
type Object struct {
	owner *owner
	n     int   // elements
	bytes int   // of all entries
	mem   int64 // of all blocks
	// head is the first block. tail is the last, nil if there is but one; the
	// others are in the tree. Either may be empty.
	head, tail *block
	tree       tree
	// spare is a buffer of blockBytes that a block left, for the next.
	spare []byte
	// quick and redis are explained in name.go.
	quick bool
	redis int // bytes of all entries in Redis, unless quick
	ends  ends
	db.Shared
}

// secondBytes is what the second block of a list begins with; it grows as the first
// did. All others begin with blockBytes.
const secondBytes = 2 << 10

// objectSelf is the size of an Object.
const objectSelf = 384 + db.SharedSize

// newObject makes an Object of a packed list, which may be nil, with room at the
// front or the end.
func newObject(p []byte, front bool) *Object {
	o := &Object{owner: new(owner)}
	if p == nil {
		o.head = newBlock(o.owner, 2*packedBytes)
		o.mem = o.head.mem()
		return o
	}
	o.head = copyBlock(o.owner, p[listpack.Header:], listpack.Count(p), packedBytes)
	o.n, o.bytes, o.redis = int(o.head.n), o.head.size(), redisBytes(p)
	if front {
		o.head.move(o.head.buf, true)
	}
	o.mem = o.head.mem()
	return o
}

// Len returns the number of elements.
func (o *Object) Len() int { return o.n }

// MemSize returns the size of the list in bytes.
func (o *Object) MemSize() int64 {
	return objectSelf + o.mem + int64(o.tree.nodes)*nodeSelf + int64(len(o.spare))
}

// Clone returns a copy that shares everything, in constant time.
func (o *Object) Clone() db.Object { return o.clone() }

func (o *Object) clone() *Object {
	c := *o
	c.owner, c.spare = new(owner), nil
	o.owner = new(owner)
	return &c
}

// last returns the last block.
func (o *Object) last() *block {
	if o.tail != nil {
		return o.tail
	}
	return o.head
}

// at returns element i.
func (o *Object) at(i int) listpack.Entry {
	b, k := o.locate(i)
	if k == int(b.n)-1 && b == o.last() && o.ends.n > 0 {
		return listpack.At(b.buf[:b.end], o.ends.top())
	}
	return listpack.At(b.buf[:b.end], b.offset(k))
}

// locate returns the block that element i is in, and its index there.
func (o *Object) locate(i int) (*block, int) {
	switch {
	case i < int(o.head.n):
		return o.head, i
	case i < int(o.head.n)+o.tree.n:
		return o.tree.find(i - int(o.head.n))
	}
	return o.tail, i - int(o.head.n) - o.tree.n
}

// fresh makes a block with room for an entry of size bytes, out of the spare
// buffer if that will do.
func (o *Object) fresh(size int) *block {
	if size <= blockBytes && o.spare != nil {
		b := &block{owner: o.owner, buf: o.spare}
		o.spare = nil
		o.mem += b.mem()
		return b
	}
	room := blockBytes
	if o.tail == nil {
		room = secondBytes
	}
	b := newBlock(o.owner, max(size, room))
	o.mem += b.mem()
	return b
}

// discard gives up a block that left the list.
func (o *Object) discard(b *block) {
	o.mem -= b.mem()
	if b.owner == o.owner && len(b.buf) == blockBytes {
		o.spare = b.buf
	}
}

// added and removed count entries.
func (o *Object) added(v *listpack.Value) {
	o.n++
	o.bytes += v.Size()
	if !o.quick {
		o.redis += v.RedisSize()
	}
}

func (o *Object) removed(entries []byte, n int) {
	o.n -= n
	o.bytes -= len(entries)
	if o.quick {
		return
	}
	for len(entries) > 0 {
		e := listpack.At(entries, 0)
		o.redis -= e.RedisSize()
		entries = entries[len(e):]
	}
}

// ownHead and ownTail make the block at an end one that may change.
func (o *Object) ownHead() *block {
	if o.head.owner != o.owner {
		o.head = o.head.own(o.owner)
	}
	return o.head
}

func (o *Object) ownTail() *block {
	if o.tail == nil {
		return o.ownHead()
	}
	if o.tail.owner != o.owner {
		o.tail = o.tail.own(o.owner)
	}
	return o.tail
}

// push puts a value at the front or behind the end.
func (o *Object) push(front bool, v *listpack.Value) {
	size := v.Size()
	if front {
		if o.head.takes(size) {
			o.ownHead()
		}
		b := o.ready(o.head, size, true)
		b.pushFront(v)
		o.added(v)
		return
	}
	if o.last().takes(size) {
		o.ownTail()
	}
	b := o.ready(o.last(), size, false)
	o.ends.push(int(b.end))
	b.pushBack(v)
	o.added(v)
}

// ready returns the block at an end, which is b or, if that is full, a new one,
// with room for size bytes more.
func (o *Object) ready(b *block, size int, front bool) *block {
	mem, start := b.mem(), b.start
	ok := b.room(size, front)
	o.mem += b.mem() - mem
	if b.start != start && b == o.last() {
		o.ends.n = 0 // it moved
	}
	if ok {
		return b
	}
	empty := b.n == 0
	if b.owner == o.owner && b.mark == 0 {
		b.note()
	}
	b = o.fresh(size)
	if front {
		b.start, b.end = uint32(len(b.buf)), uint32(len(b.buf))
	}
	switch {
	case empty && front || empty && o.tail == nil:
		o.discard(o.head)
		o.head = b
	case empty:
		o.discard(o.tail)
		o.tail = b
	case front && o.tail == nil:
		o.head, o.tail = b, o.head
	case front:
		o.tree.pushLeft(o.owner, o.trim(o.head))
		o.head = b
	default:
		if o.tail != nil {
			o.tree.pushRight(o.owner, o.trim(o.tail))
		}
		o.tail, o.ends.n = b, 0
	}
	return b
}

// trim gives up room of a block that it will hardly need.
func (o *Object) trim(b *block) *block {
	t := b.trim(o.owner)
	if t == b {
		return b
	}
	o.discard(b)
	o.mem += t.mem()
	return t
}

// popFront and popBack remove the element at an end. A block that they empty
// stays where it is until the next pop: a list that breathes at the border of a
// block would take one out of the tree and put one in all the time.
func (o *Object) popFront() {
	if o.head.n == 0 {
		o.dropHead()
	}
	b := o.head
	e := listpack.At(b.buf[:b.end], int(b.start))
	o.removed(e, 1)
	if b.n == 1 && !o.keeps(b) {
		o.dropHead()
		return
	}
	size := len(e)
	o.ownHead().popFront(size)
	if o.tail == nil {
		o.ends.atMost(int(o.head.n))
	}
}

func (o *Object) popBack() {
	b := o.last()
	if b.n == 0 {
		o.dropTail()
		b = o.last()
	}
	at := o.ends.take(b)
	o.removed(b.buf[at:b.end], 1)
	if b.n == 1 && !o.keeps(b) {
		o.dropTail()
		return
	}
	o.ownTail().popBack(at)
}

// keeps reports whether a block that becomes empty at an end stays there.
func (o *Object) keeps(b *block) bool {
	return b.owner == o.owner && o.tail != nil && len(b.buf) <= blockBytes
}

// dropHead and dropTail give up the block at an end.
func (o *Object) dropHead() {
	old := o.head
	if o.head = o.tree.popLeft(o.owner); o.head == nil {
		o.head, o.tail = o.tail, nil
	}
	if o.head == nil {
		o.head = newBlock(o.owner, 64)
		o.mem += o.head.mem()
		o.ends.n = 0
	}
	o.discard(old)
}

func (o *Object) dropTail() {
	if o.tail == nil {
		o.dropHead()
		return
	}
	o.discard(o.tail)
	o.tail = o.tree.popRight(o.owner)
	o.ends.n = 0
}

// ends are the offsets of the last entries of the last block, without gaps; a
// ring that forgets the first of them.
type ends struct {
	at    [64]uint16
	first uint8
	n     uint8
}

func (r *ends) push(at int) {
	r.at[(r.first+r.n)%64] = uint16(at)
	if r.n < 64 {
		r.n++
	} else {
		r.first = (r.first + 1) % 64
	}
}

// top returns the offset of the last entry, n being positive.
func (r *ends) top() int { return int(r.at[(r.first+r.n-1)%64]) }

// take returns the offset of the last entry of b, the last block, and forgets it.
func (r *ends) take(b *block) int {
	if r.n == 0 {
		at, _ := b.near(int(b.n) - len(r.at))
		for ; at < int(b.end); at = listpack.Next(b.buf, at) {
			r.push(at)
		}
	}
	r.n--
	return int(r.at[(r.first+r.n)%64])
}

// atMost forgets entries when no more than n are left.
func (r *ends) atMost(n int) {
	if int(r.n) > n {
		r.first = (r.first + r.n - uint8(n)) % 64
		r.n = uint8(n)
	}
}

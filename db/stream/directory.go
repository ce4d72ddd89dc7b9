package stream

// A directory is an ordered sequence of leaves, each found by its key: the blocks of a
// stream, the pages of a list of pending entries, consumers by number, names. It has two
// levels: a list of chunks, and in each chunk up to chunkMax leaves. A stream of 10 million
// entries has some 100,000 blocks in 800 chunks.
//
// It is copied on write. Every chunk and every leaf knows its owner, and so does the list
// of chunks. Whoever is about to change one looks whether it is its own, and if not, puts
// a copy in its place. A clone takes over the list as it is, and both sides get a new
// owner, so that from then on neither owns anything that the other can see.
//
// The key of a leaf is a lower bound of what is in it; the first leaf takes what is smaller
// too. Keys never change while the leaf lives, so chunks need not tell the list of
// changes, but that the list knows the key of the first leaf of each chunk.
//
// Rejected: a B+tree of any height. Entries are appended at the end and go at the front, so
// the inner levels of a tree would be rebalanced for nothing; and what two levels cost, a
// copy of the list of chunks at the first change after a clone, is 24 bytes for every
// 12,000 entries. Rejected, too: a ring of blocks, for which entries deleted
// in the middle leave holes that all readers have to skip.
//
// Limits: the list of chunks is one slice; inserting a chunk in the middle moves those
// behind it. With a billion entries that is 2 MB.

// owner is a token: who holds the same one may change a node in place. Its size is not
// zero, so that different owners have different addresses.
type owner struct{ _ byte }

// chunkMax is how many leaves a chunk has at most: with the keys and headers of blocks it
// is about 12 KB then.
const chunkMax = 128

// directory is the sequence; the zero one is empty. Every method that changes it is told
// who the owner of the changes is.
type directory[K comparable, L any] struct {
	own  *owner // of list
	list []chunkRef[K, L]
	n    int // leaves
}

// chunkRef leads to a chunk and holds the key of its first leaf.
type chunkRef[K comparable, L any] struct {
	key   K
	chunk *chunk[K, L]
}

// chunk is a run of leaves.
type chunk[K comparable, L any] struct {
	own    *owner
	leaves []leaf[K, L]
	sum    int // entries in the leaves, as far as the user of the directory counts them
	heads  int // likewise: leaves that begin a node
}

// leaf is a value with its key.
type leaf[K comparable, L any] struct {
	key K
	own *owner // of what the value refers to
	val L
}

// place is where a leaf stands. The place behind the last leaf has c == len(list).
type place struct{ c, i int }

// end is the place behind the last leaf.
func (d *directory[K, L]) end() place { return place{len(d.list), 0} }

// last is the place of the last leaf; of an empty directory it is {-1, 0}.
func (d *directory[K, L]) last() place {
	c := len(d.list) - 1
	if c < 0 {
		return place{-1, 0}
	}
	return place{c, len(d.list[c].chunk.leaves) - 1}
}

// has reports whether there is a leaf at p.
func (d *directory[K, L]) has(p place) bool { return p.c >= 0 && p.c < len(d.list) }

// at returns the leaf at p, to be read.
func (d *directory[K, L]) at(p place) *leaf[K, L] { return &d.list[p.c].chunk.leaves[p.i] }

// next returns the place behind p.
func (d *directory[K, L]) next(p place) place {
	if p.i+1 < len(d.list[p.c].chunk.leaves) {
		return place{p.c, p.i + 1}
	}
	return place{p.c + 1, 0}
}

// prev returns the place in front of p; {-1, 0} if there is none.
func (d *directory[K, L]) prev(p place) place {
	if p.i > 0 {
		return place{p.c, p.i - 1}
	}
	if p.c == 0 {
		return place{-1, 0}
	}
	return place{p.c - 1, len(d.list[p.c-1].chunk.leaves) - 1}
}

// ownList makes the list of chunks o's.
func (d *directory[K, L]) ownList(o *owner) {
	if d.own != o {
		d.list = append(make([]chunkRef[K, L], 0, len(d.list)+1), d.list...)
		d.own = o
	}
}

// ownChunk makes chunk c o's, and the list with it.
func (d *directory[K, L]) ownChunk(o *owner, c int) *chunk[K, L] {
	k := d.list[c].chunk
	if k.own == o {
		return k
	}
	d.ownList(o)
	dup := *k
	dup.own = o
	dup.leaves = append(make([]leaf[K, L], 0, min(len(k.leaves)+1, chunkMax)), k.leaves...)
	d.list[c].chunk = &dup
	return &dup
}

// edit returns the leaf at p, to be changed; what its value refers to may still have
// another owner than o.
func (d *directory[K, L]) edit(o *owner, p place) *leaf[K, L] { return &d.ownChunk(o, p.c).leaves[p.i] }

// add counts entries and heads for the chunk at p, which is o's.
func (d *directory[K, L]) add(p place, entries, heads int) {
	k := d.list[p.c].chunk
	k.sum += entries
	k.heads += heads
}

// push appends a leaf and returns its place.
func (d *directory[K, L]) push(o *owner, key K, val L) place {
	d.n++
	c := len(d.list) - 1
	if c < 0 || len(d.list[c].chunk.leaves) >= chunkMax {
		d.ownList(o)
		k := &chunk[K, L]{own: o, leaves: []leaf[K, L]{{key, o, val}}}
		d.list = append(d.list, chunkRef[K, L]{key, k})
		return place{c + 1, 0}
	}
	k := d.ownChunk(o, c)
	k.leaves = append(k.leaves, leaf[K, L]{key, o, val})
	return place{c, len(k.leaves) - 1}
}

// insert puts a leaf in front of the one at p and returns its place; p may be the end.
// Counts of chunks are not kept when one is split: directories that use them only push.
func (d *directory[K, L]) insert(o *owner, p place, key K, val L) place {
	if p.c >= len(d.list) {
		return d.push(o, key, val)
	}
	k := d.ownChunk(o, p.c)
	if len(k.leaves) >= chunkMax {
		d.split(o, p.c)
		if half := len(k.leaves); p.i > half {
			p = place{p.c + 1, p.i - half}
			k = d.list[p.c].chunk
		}
	}
	d.n++
	k.leaves = append(k.leaves, leaf[K, L]{})
	copy(k.leaves[p.i+1:], k.leaves[p.i:])
	k.leaves[p.i] = leaf[K, L]{key, o, val}
	if p.i == 0 {
		d.ownList(o)
		d.list[p.c].key = key
	}
	return p
}

// split cuts chunk c, which is o's, in two.
func (d *directory[K, L]) split(o *owner, c int) {
	k := d.list[c].chunk
	half := len(k.leaves) / 2
	rest := &chunk[K, L]{own: o, leaves: append(make([]leaf[K, L], 0, chunkMax), k.leaves[half:]...)}
	clear(k.leaves[half:])
	k.leaves = k.leaves[:half]
	d.insertChunk(o, c+1, rest)
}

func (d *directory[K, L]) insertChunk(o *owner, c int, k *chunk[K, L]) {
	d.ownList(o)
	d.list = append(d.list, chunkRef[K, L]{})
	copy(d.list[c+1:], d.list[c:])
	d.list[c] = chunkRef[K, L]{k.leaves[0].key, k}
}

// remove takes the leaf at p out and returns the place of the one behind it. What the
// chunk counts must have been corrected before.
func (d *directory[K, L]) remove(o *owner, p place) place {
	d.n--
	k := d.ownChunk(o, p.c)
	n := len(k.leaves) - 1
	copy(k.leaves[p.i:], k.leaves[p.i+1:])
	k.leaves[n] = leaf[K, L]{}
	k.leaves = k.leaves[:n]
	switch {
	case n == 0:
		d.removeChunk(o, p.c)
		return place{p.c, 0}
	case p.i == 0:
		d.ownList(o)
		d.list[p.c].key = k.leaves[0].key
	}
	return d.merge(o, p)
}

// removeChunk takes a chunk out of the list.
func (d *directory[K, L]) removeChunk(o *owner, c int) {
	d.ownList(o)
	copy(d.list[c:], d.list[c+1:])
	d.list[len(d.list)-1] = chunkRef[K, L]{}
	d.list = d.list[:len(d.list)-1]
}

// dropChunk takes a whole chunk out, with its leaves.
func (d *directory[K, L]) dropChunk(o *owner, c int) {
	d.n -= len(d.list[c].chunk.leaves)
	d.removeChunk(o, c)
}

// dropFront takes the first n leaves out, which are in the first chunk and not all of
// it. What the chunk counts must have been corrected before.
func (d *directory[K, L]) dropFront(o *owner, n int) {
	k := d.ownChunk(o, 0)
	d.n -= n
	left := copy(k.leaves, k.leaves[n:])
	clear(k.leaves[left:])
	k.leaves = k.leaves[:left]
	d.ownList(o)
	d.list[0].key = k.leaves[0].key
	d.merge(o, place{})
}

// merge joins the chunk at p, from which a leaf was taken, with the next one if both
// together are small, and returns p, or the place behind the chunk's end.
func (d *directory[K, L]) merge(o *owner, p place) place {
	k := d.list[p.c].chunk
	if p.c+1 < len(d.list) {
		next := d.list[p.c+1].chunk
		if len(k.leaves)+len(next.leaves) <= chunkMax/2 {
			k.leaves = append(k.leaves, next.leaves...)
			k.sum += next.sum
			k.heads += next.heads
			d.removeChunk(o, p.c+1)
		}
	}
	if p.i == len(k.leaves) {
		return place{p.c + 1, 0}
	}
	return p
}

// findID returns the place of the last leaf whose key is not after id, of the first leaf
// when all are. The directory must not be empty.
func findID[L any](d *directory[ID, L], id ID) place {
	lo, hi := 0, len(d.list)-1 // the last chunk whose key is not after id
	for lo < hi {
		mid := int(uint(lo+hi+1) >> 1)
		if id.Before(d.list[mid].key) {
			hi = mid - 1
		} else {
			lo = mid
		}
	}
	c := lo
	leaves := d.list[c].chunk.leaves
	lo, hi = 0, len(leaves)-1
	for lo < hi {
		mid := int(uint(lo+hi+1) >> 1)
		if id.Before(leaves[mid].key) {
			hi = mid - 1
		} else {
			lo = mid
		}
	}
	return place{c, lo}
}

// findName returns the place of the leaf with that name, or where it would have to be
// inserted.
func findName[L any](d *directory[string, L], name string) (p place, found bool) {
	if len(d.list) == 0 {
		return place{}, false
	}
	lo, hi := 0, len(d.list)-1
	for lo < hi {
		mid := int(uint(lo+hi+1) >> 1)
		if name < d.list[mid].key {
			hi = mid - 1
		} else {
			lo = mid
		}
	}
	c := lo
	leaves := d.list[c].chunk.leaves
	lo, hi = 0, len(leaves) // the first leaf that is not before name
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if leaves[mid].key < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	p = place{c, lo}
	if lo == len(leaves) {
		return p, false
	}
	return p, leaves[lo].key == name
}

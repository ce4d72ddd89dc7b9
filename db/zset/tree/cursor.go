package tree

// Cursor stands at an entry and moves to its neighbours. It is valid until the tree
// is changed. The zero value stands nowhere.
type Cursor struct {
	t    *Tree
	leaf *leaf
	i, n int // index and number of entries in leaf
	rank int // of the first entry of leaf
}

// Seek returns a cursor at the entry of a rank; it is not valid if there is none.
func (t *Tree) Seek(rank int) Cursor {
	c := Cursor{t: t}
	c.seek(rank)
	return c
}

func (c *Cursor) seek(rank int) {
	if rank < 0 || rank >= c.t.n {
		c.leaf = nil
		return
	}
	c.rank = rank
	for n := c.t.root; ; {
		i := 0
		for rank >= n.counts[i] {
			rank -= n.counts[i]
			i++
		}
		if n.level == 0 {
			c.leaf = &n.kids[i].leaf
			c.i, c.n = rank, n.counts[i]
			c.rank -= rank
			return
		}
		n = n.kids[i].node
	}
}

// Valid reports whether the cursor stands at an entry.
func (c *Cursor) Valid() bool { return c.leaf != nil }

// Rank returns the rank of the entry.
func (c *Cursor) Rank() int { return c.rank + c.i }

// Score returns the score of the entry.
func (c *Cursor) Score() float64 { return c.leaf.score(c.i) }

// Member returns the member of the entry where it stands: to be read, not kept.
func (c *Cursor) Member() []byte { return c.leaf.member(c.i) }

// Next moves to the entry behind, Prev to that before.
func (c *Cursor) Next() {
	if c.i++; c.i == c.n {
		c.seek(c.rank + c.n)
	}
}

// Prev is described at Next.
func (c *Cursor) Prev() {
	if c.i--; c.i < 0 {
		c.seek(c.rank - 1)
	}
}

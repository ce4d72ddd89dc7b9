package simdisk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Survival says which of the pending changes power loss leaves.
type Survival int

// The two ends, and anything between.
const (
	Nothing    Survival = iota // only what was synced
	Everything                 // also all that was not
	Random                     // some of it, as the seed will
)

// Crash returns a disk as it is found after a power failure at this instant. d itself goes on as though nothing had
// happened. Functions given to Before and Fail do not go along.
func (d *Disk) Crash(s Survival, seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &crash{s: s, r: rand.New(rand.NewPCG(seed, 1)), files: map[*node]*node{}}
	// Work on copies of the durable names, keyed by folder.
	c.names = map[*node]map[string]*node{}
	blocked := map[*node]bool{}
	for _, ch := range d.names {
		keep := c.lucky()
		for _, s := range ch.sets {
			keep = keep && !blocked[s.dir]
		}
		for _, s := range ch.sets {
			if !keep {
				blocked[s.dir] = true
				continue
			}
			m := c.entries(s.dir)
			if s.to == nil {
				delete(m, s.name)
			} else {
				m[s.name] = s.to
			}
		}
	}
	return &Disk{root: c.copy(d.root), offAt: -1, ticks: d.ticks}
}

// Clone returns a disk as it is found after the process was killed: everything that was done is there, pending or not.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	nodes := map[*node]*node{}
	c := &Disk{root: clone(d.root, nodes), offAt: -1, ticks: d.ticks}
	for _, ch := range d.names {
		var sets []set
		for _, s := range ch.sets {
			to := s.to
			if to != nil {
				to = clone(to, nodes)
			}
			sets = append(sets, set{clone(s.dir, nodes), s.name, to})
		}
		c.names = append(c.names, change{sets})
	}
	return c
}

func clone(n *node, nodes map[*node]*node) *node {
	if c := nodes[n]; c != nil {
		return c
	}
	c := &node{dir: n.dir, perm: n.perm, mtime: n.mtime}
	nodes[n] = c
	if !n.dir {
		c.data, c.synced = append([]byte(nil), n.data...), append([]byte(nil), n.synced...)
		c.pending = append([]edit(nil), n.pending...)
		return c
	}
	c.entries, c.durable = map[string]*node{}, map[string]*node{}
	for name, e := range n.entries {
		c.entries[name] = clone(e, nodes)
	}
	for name, e := range n.durable {
		c.durable[name] = clone(e, nodes)
	}
	return c
}

type crash struct {
	s     Survival
	r     *rand.Rand
	names map[*node]map[string]*node
	files map[*node]*node
}

func (c *crash) lucky() bool {
	switch c.s {
	case Nothing:
		return false
	case Everything:
		return true
	}
	return c.r.IntN(4) > 0
}

func (c *crash) entries(dir *node) map[string]*node {
	m := c.names[dir]
	if m == nil {
		m = maps.Clone(dir.durable)
		c.names[dir] = m
	}
	return m
}

// copy builds what is found: everything in it is durable now.
func (c *crash) copy(n *node) *node {
	if done := c.files[n]; done != nil {
		return done
	}
	to := &node{dir: n.dir, perm: n.perm, mtime: n.mtime}
	c.files[n] = to
	if n.dir {
		to.entries, to.durable = map[string]*node{}, map[string]*node{}
		entries := c.entries(n)
		// In order of names, so that a seed means the same each time.
		for _, name := range sorted(entries) {
			e := c.copy(entries[name])
			to.entries[name], to.durable[name] = e, e
		}
		return to
	}
	data := append([]byte(nil), n.synced...)
	for i, e := range n.pending {
		if c.lucky() {
			data = e.apply(data)
			continue
		}
		if c.s == Random {
			data = c.tear(data, n.pending[i:])
		}
		break
	}
	to.data, to.synced = data, append([]byte(nil), data...)
	return to
}

func sorted(m map[string]*node) []string { return slices.Sorted(maps.Keys(m)) }

// tear returns data as the first of the lost edits may leave it.
func (c *crash) tear(data []byte, lost []edit) []byte {
	switch e := lost[0]; {
	case e.cut:
	case c.r.IntN(3) == 0: // a part of it
		e.data = e.data[:c.r.IntN(len(e.data)+1)]
		data = e.apply(data)
	case c.r.IntN(2) == 0: // the length of what was appended without the bytes
		for _, e := range lost {
			if end := e.off + int64(len(e.data)); !e.cut && end > int64(len(data)) {
				data = edit{off: end, cut: true}.apply(data)
			}
		}
	}
	return data
}

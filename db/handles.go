package db

import "sync/atomic"

// handle is what a record of kindBig or kindObject leads to.
type handle struct {
	big   *Big
	obj   Object
	lease *lease // of obj
	size  int64  // as counted in handles.total, and in the lease

	due  Millis // of an object: when a member may be due, 0 for never; see schedule
	turn int64  // the tick at which the entry for that comes up; 0 when there is none

	untidy bool // of an object: its key is among those that Tidy looks at
}

// handles are the values of a shard that live outside its records: a record
// holds the index. A frozen record's handle stays as it is until the snapshot
// is closed, so a snapshot may read the list as it was when it began.
type handles struct {
	list  []handle
	free  []uint32
	timed int64         // handles with a turn
	total *atomic.Int64 // bytes of all, of every shard, beside the arenas
	kept  *atomic.Int64 // bytes that only snapshots need, of every shard
}

func (h *handles) big(i uint32) *Big      { return h.list[i].big }
func (h *handles) object(i uint32) Object { return h.list[i].obj }

// add keeps a Big or an Object and returns its handle.
func (h *handles) add(v handle) uint32 {
	if v.obj != nil {
		v.lease = leaseOf(v.obj)
		h.count(&v, v.obj.MemSize())
	} else {
		h.kept.Add(v.big.hold(1, 0))
		h.count(&v, bigOverhead)
	}
	if n := len(h.free); n > 0 {
		i := h.free[n-1]
		h.free = h.free[:n-1]
		h.list[i] = v
		return i
	}
	h.list = append(h.list, v)
	return uint32(len(h.list) - 1)
}

// dup returns a handle of the same value that may change on its own. The old one, which
// only snapshots need from now on, counts nothing any more: the two objects share nearly
// all of their memory, and how much not, nobody knows.
func (h *handles) dup(i uint32) uint32 {
	v := h.list[i]
	if v.big != nil {
		v.big.Retain()
		return h.add(handle{big: v.big})
	}
	n := h.add(handle{obj: v.obj.Clone()})
	h.count(&h.list[i], 0)
	h.list[n].untidy = v.untidy
	h.setTimer(&h.list[n], v.due, v.turn)
	return n
}

// drop gives a handle back, and its value with it.
func (h *handles) drop(i uint32) {
	if b := h.take(i); b != nil {
		b.Release()
	}
}

// take gives a handle back and returns its Big, if it is one, which the caller releases.
func (h *handles) take(i uint32) *Big {
	v := &h.list[i]
	b := v.big
	if b != nil {
		h.kept.Add(b.hold(-1, 0))
	}
	h.count(v, 0)
	h.setTimer(v, 0, 0)
	*v = handle{}
	h.free = append(h.free, i)
	return b
}

// resize counts an object anew after it changed.
func (h *handles) resize(i uint32) {
	v := &h.list[i]
	h.count(v, v.obj.MemSize())
}

// count has the value of a handle count for size bytes.
func (h *handles) count(v *handle, size int64) {
	grown := size - v.size
	if grown == 0 {
		return
	}
	v.size = size
	h.total.Add(grown)
	if v.lease != nil {
		v.lease.stored.Add(grown)
	}
}

package db

import "sync/atomic"

// Whose memory a clone is. A clone of a large collection that a reply is made of, while its
// client reads, costs next to nothing as long as the collection is stored: they share all
// blocks but those that were changed since. When the key goes, the clone alone keeps the
// memory, and somebody has to answer for it: else a client that reads nothing holds as much
// as was ever deleted, and no limit sees it.
//
// So a collection and all its clones have a lease, which knows how many bytes of them are
// counted where they are stored (handles.total), and how many are pinned by readers. What a
// reader holds is what its clone has beyond the former: nothing while the key lives, all of
// it when it is gone, the rest when most members were removed. Readers of one collection
// share that by the sizes of their clones, so that the sum is what is there, and nothing is
// counted twice: not with what is stored, RENAME, COPY and snapshots included, for that is
// the handles' business, and not among readers. What was never stored has no lease, and
// its reader holds all of it.
//
// A reader asks from time to time, without any lock: all that it looks at is atomic, or does
// not change.
//
// Rejected: to count the clones of what is stored, and to hold all or nothing against a
// reader, which misses what is emptied in place (LTRIM), and counts a thousand readers of
// one set a thousand times; and to count references of blocks, which would cost every change.
//
// Limits: a clone is thought to share as much as it can. Where all blocks were replaced by
// others of the same size meanwhile, as in a queue that went round, neither what it has alone
// is counted, nor that clones of different times share nothing with each other.

// lease is shared by a collection and its clones.
type lease struct {
	stored atomic.Int64 // bytes of those behind handles, as counted in handles.total
	pinned atomic.Int64 // bytes of those that readers hold
}

// Shared is what an Object has in common with its clones. Each kind of Object embeds it,
// copies it to what Clone returns, and keeps it where all else in an Object is made anew. The
// zero value is that of an Object that was never stored.
type Shared struct{ lease *lease }

// sharedSize is what a lease takes.
const sharedSize = 16

// SharedSize is what Shared takes in MemSize, with what it refers to.
const SharedSize = 8 + sharedSize

func (s *Shared) shared() *Shared { return s }

// leaseOf returns the lease of an Object that is to be stored; it is made for the first.
func leaseOf(o Object) *lease {
	s := o.shared()
	if s.lease == nil {
		s.lease = new(lease)
	}
	return s.lease
}

// Pin is a reader's claim on a clone of a collection that outlives the command. The zero
// value is a claim on nothing.
type Pin struct {
	lease *lease // nil: what it holds is its own
	size  int64
}

// PinOf returns the claim on a clone that nobody changes any more. It ends with Release.
func PinOf(clone Object) Pin {
	p := Pin{lease: clone.shared().lease, size: clone.MemSize()}
	if p.lease != nil {
		p.lease.pinned.Add(p.size)
	}
	return p
}

// Held returns how many bytes of memory are in use only because of this claim, or its share
// of what is because of several. No lock is needed.
func (p *Pin) Held() int64 {
	if p.lease == nil {
		return p.size
	}
	alone := p.size - p.lease.stored.Load()
	if alone <= 0 {
		return 0
	}
	all := max(p.lease.pinned.Load(), p.size)
	return int64(float64(alone) * (float64(p.size) / float64(all)))
}

// Release ends the claim. It may be called more than once.
func (p *Pin) Release() {
	if p.lease != nil {
		p.lease.pinned.Add(-p.size)
	}
	*p = Pin{}
}

package db

import "heddle/db/arena"

// A record that leaves the table while a snapshot is open may be read by it still. So it is
// retired instead of freed: kept in a group of those that left under the same epoch, until
// no open snapshot is that old. They are freed a few at a time, since whoever frees them
// holds the shard.

// retireList holds records that left the table while a snapshot may read them.
type retireList struct {
	open   []uint64 // epochs of open snapshots, ascending
	groups []retireGroup
}

// retireGroup is records retired while epoch was the newest: snapshots up to
// it may read them.
type retireGroup struct {
	epoch uint64
	refs  []arena.Ref
}

const retireGroupSize = 1024

func (l *retireList) opened(epoch uint64) { l.open = append(l.open, epoch) }

func (l *retireList) closed(epoch uint64) {
	for i, e := range l.open {
		if e == epoch {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

// add keeps a record that snapshots up to epoch may read.
func (l *retireList) add(epoch uint64, ref arena.Ref) {
	n := len(l.groups)
	if n == 0 || l.groups[n-1].epoch != epoch || len(l.groups[n-1].refs) == retireGroupSize {
		l.groups = append(l.groups, retireGroup{epoch: epoch, refs: make([]arena.Ref, 0, retireGroupSize/8)})
		n++
	}
	g := &l.groups[n-1]
	g.refs = append(g.refs, ref)
}

// next appends up to limit of the records that take would return.
func (l *retireList) next(refs []arena.Ref, limit int) []arena.Ref {
	if len(l.groups) == 0 || len(l.open) > 0 && l.open[0] <= l.groups[0].epoch {
		return refs
	}
	g := l.groups[0].refs
	return append(refs, g[max(len(g)-limit, 0):]...)
}

// take removes a record from a group that no open snapshot may read.
func (l *retireList) take() (ref arena.Ref, ok bool) {
	if len(l.groups) == 0 || len(l.open) > 0 && l.open[0] <= l.groups[0].epoch {
		return 0, false
	}
	g := &l.groups[0]
	n := len(g.refs)
	ref, g.refs = g.refs[n-1], g.refs[:n-1]
	if n == 1 {
		l.groups[0] = retireGroup{}
		if l.groups = l.groups[1:]; len(l.groups) == 0 {
			l.groups = nil
		}
	}
	return ref, true
}

// retire keeps a record that left the table for the snapshots that may read it.
func (s *shard) retire(rec *record) {
	s.retired.add(s.epochs.Current(), rec.ref)
	s.countRetired(rec, 1)
}

// countRetired counts the memory of a record that was retired (1), or is not any
// longer (-1). That of a Big counts while no live record holds it.
func (s *shard) countRetired(rec *record, sign int64) {
	n := sign * int64(s.ks.heap.Cap(rec.ref))
	switch rec.kind() {
	case kindBig:
		n += s.handles.big(rec.handle()).hold(-sign, sign)
	case kindObject:
		n += sign * s.handles.list[rec.handle()].size
	}
	s.ks.kept.Add(n)
}

// freeRetired frees up to limit records and reports whether there are more. It adds to
// bigs the large values that the caller is to release.
func (s *shard) freeRetired(limit int, bigs *[]*Big) bool {
	for ; limit > 0; limit-- {
		ref, ok := s.retired.take()
		if !ok {
			return false
		}
		rec := s.openRecord(ref)
		s.countRetired(&rec, -1)
		if rec.kind().hasHandle() {
			if b := s.handles.take(rec.handle()); b != nil {
				*bigs = append(*bigs, b)
			}
		}
		s.arena.Free(ref)
	}
	return true
}

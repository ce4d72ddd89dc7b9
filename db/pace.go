package db

// A snapshot is read by a goroutine that has no end of work, beside workers that have to
// answer at once. Where there are not processors enough for both, it is the reader that
// has to wait. When it should only the outside can tell, so it asks: every few records,
// and within large ones, by Breathe.

// Pacer makes readers of snapshots give way. Safe for concurrent use.
type Pacer interface {
	// Begin is called on the goroutine that reads, which alone uses what it returns.
	Begin() Breather
}

// Breather is a goroutine that reads, as its Pacer knows it.
type Breather interface {
	// Breathe takes the time that the reader has to give way: none, if the machine has
	// nothing better to do. It is called every some microseconds, with no lock held.
	Breathe()
	// End says that the goroutine reads no longer.
	End()
}

// Pace gives the keyspace its Pacer, before there are readers. Without one they run at
// full speed.
func (ks *Keyspace) Pace(p Pacer) { ks.pacer = p }

const (
	// breatheEvery is how many steps, such as small records, are between two breaths.
	breatheEvery = 64
	// paceFrom is how many steps a reader may make before it is one that others notice:
	// some milliseconds. Walks of small keyspaces run on workers' own threads.
	paceFrom = 16 << 10
)

// Reader reads a snapshot on one goroutine; several may read the same snapshot. End it
// before the snapshot is closed.
type Reader struct {
	sn    *Snapshot
	pacer Pacer
	b     Breather
	steps int
}

// Reader begins a reader that gives way to others. It belongs to the calling goroutine,
// which must hold no shard while it reads.
func (sn *Snapshot) Reader() *Reader { return &Reader{sn: sn, pacer: sn.ks.pacer} }

// hasty is a Reader that gives way to nobody: its caller holds shards.
func (sn *Snapshot) hasty() *Reader { return &Reader{sn: sn} }

// Breathe says that a step was made, as long as to visit a small record: it gives way
// if others need the processor. Each calls it by itself, once a record; for a large one
// its function has to, once a part (see Item.Breathe).
func (r *Reader) Breathe() {
	if r.steps++; r.steps%breatheEvery == 0 {
		r.breathe()
	}
}

// breatheFor is Breathe of so many steps.
func (r *Reader) breatheFor(steps int) {
	r.steps += steps
	r.breathe()
}

func (r *Reader) breathe() {
	switch {
	case r.b != nil:
		r.b.Breathe()
	case r.pacer != nil && r.steps >= paceFrom:
		r.b = r.pacer.Begin()
	}
}

// End gives the reader up, on its goroutine. It may begin anew by being used.
func (r *Reader) End() {
	if r.b != nil {
		r.b.End()
		r.b = nil
	}
}

// Breathe is Reader.Breathe of the reader that came to the item. It does nothing for an
// item that comes from elsewhere.
func (it *Item) Breathe() {
	if it.reader != nil {
		it.reader.Breathe()
	}
}

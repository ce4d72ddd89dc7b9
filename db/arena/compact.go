package arena

// Sparse marks slabs as evacuating where a class has many more slabs than its
// blocks need, the emptiest first, and returns how many blocks are to be moved in
// all. Nothing is allocated in such a slab. The owner of the blocks walks over
// them and moves each for which Evacuating holds: Alloc, copy, Free. The slab of
// the last one goes back to the page heap. Marks of an earlier call that were not
// followed are taken back first.
func (a *Arena) Sparse() int {
	a.Settle()
	blocks := 0
	for c := range numClasses {
		blocks += a.sparseClass(c)
	}
	return blocks
}

// sparseClass marks slabs of one class: those without which the class' blocks
// would still leave a part of its slabs free, so that it does not shrink and
// grow in turn.
func (a *Arena) sparseClass(c int) int {
	count := uint32(classes[c].count)
	need := (a.live[c] + count - 1) / count
	if a.slabs[c] < need+need/4+2 {
		return 0
	}
	excess := a.slabs[c] - (need + need/8 + 1)
	blocks := 0
	for q := 0; q < quarters/2; q++ {
		for i := a.bins[c][q]; i != 0 && excess > 0; excess-- {
			s := a.h.slab(i)
			next := s.next
			a.unlist(i, c, q)
			s.bin = binEvacuating
			a.pending++
			blocks += int(s.used)
			i = next
		}
	}
	return blocks
}

// Evacuating reports whether block r should move.
func (a *Arena) Evacuating(r Ref) bool { return a.h.slabOf(r).bin == binEvacuating }

// Pending returns how many slabs are being evacuated.
func (a *Arena) Pending() int { return a.pending }

// Settle takes all marks back: the slabs are filled again.
func (a *Arena) Settle() {
	if a.pending == 0 {
		return
	}
	a.each(func(i uint32, s *slab) {
		if s.bin == binEvacuating {
			c := int(s.class)
			a.list(i, c, int(uint32(s.used)*classes[c].recip>>16))
		}
	})
	a.pending = 0
}

// Trim gives back the slabs that are being filled but hold nothing.
func (a *Arena) Trim() {
	for c, i := range a.current {
		if i != 0 && a.h.slab(i).used == 0 {
			a.current[c] = 0
			a.giveBack(i, c)
		}
	}
}

// Drop frees all small blocks at once and returns how many bytes they were. Large
// ones are the heap's and stay.
func (a *Arena) Drop() int64 {
	n := a.count.used
	a.each(func(i uint32, s *slab) { a.giveBack(i, int(s.class)) })
	*a = Arena{h: a.h, id: a.id, count: a.count, delta: a.delta}
	a.account(-n)
	return n
}

// Close is Drop for an arena that is not used again.
func (a *Arena) Close() {
	a.Drop()
	a.h.near.Add(a.delta)
	a.delta = 0
	a.h.mu.Lock()
	defer a.h.mu.Unlock()
	a.h.mu.arenas[a.id] = nil
}

// each calls fn for the arena's slabs. Only the arena gives its slabs back, so that
// they stay its own after the mutex is; slabs of others may change hands meanwhile.
func (a *Arena) each(fn func(i uint32, s *slab)) {
	for _, i := range a.owned() {
		fn(i, a.h.slab(i))
	}
}

// owned lists the arena's slabs.
func (a *Arena) owned() []uint32 {
	a.h.mu.Lock()
	defer a.h.mu.Unlock()
	var out []uint32
	for i := uint32(a.h.first / SlabSize); i < a.h.mu.next; i++ {
		if s := a.h.slab(i); s.owner == a.id && s.bin >= binQuarter && s.bin <= binEvacuating {
			out = append(out, i)
		}
	}
	return out
}

package db

import (
	"heddle/db/arena"
)

// A wheel says which keys of a table expire when. It is a hierarchical timing
// wheel of ticks of 128 ms: level 0 has a slot for each of the next 256 ticks,
// each further level has 64 slots that are as long as the whole level below.
// When time reaches a slot of a higher level, its entries are sorted into the
// levels below.
//
// An entry is the 64-bit hash of a key, 8 bytes, and no more: the deadline is
// read from the record when the entry is due. So a deadline that moves later
// needs no new entry (the old one comes due, finds the key alive and is put
// back where it belongs), and a key that is gone needs nothing: its entry finds
// no key and is dropped. A deadline that moves earlier gets a second entry.
// When entries that lead nowhere outnumber the others, the wheel is rebuilt
// from the table, a bit at a time.
//
// Rejected: Redis' sampling, which looks at living keys and leaves up to a
// quarter of dead ones; and a heap or tree, which costs 24 bytes a key and
// must be mended by each change of a deadline.
//
// Entries stand in chunks of arena memory, chained: a word with the next chunk
// and the number of entries, then the entries.
type wheel struct {
	heap    *arena.Heap
	arena   *arena.Arena
	tick    int64 // everything up to this tick is in due or gone
	entries int64 // in the slots and due
	slots   *[wheelSlots]wheelSlot
	level   [wheelLevels]int64 // entries in the slots of each level
	due     []arena.Ref        // chains whose time has come
}

// wheelSlot is the chain of chunks of a span of time.
type wheelSlot struct {
	head  arena.Ref
	count int64
}

const (
	tickShift   = 7 // a tick is 128 ms
	level0Bits  = 8
	levelBits   = 6
	wheelLevels = 5
	wheelSlots  = 1<<level0Bits + (wheelLevels-1)<<levelBits
	// maxDelta is how far ahead, in ticks, a slot can be: 17 years. What is
	// later comes due early and is put back.
	maxDelta = int64(1)<<(level0Bits+(wheelLevels-1)*levelBits) - 1<<(level0Bits+(wheelLevels-2)*levelBits)

	smallChunk = 64 // bytes of the first chunk of a chain
	largeChunk = 512
	countShift = 48
	nextMask   = 1<<countShift - 1
)

func (w *wheel) open(h *arena.Heap, a *arena.Arena) { w.heap, w.arena = h, a }

// fireTick is the first tick at which a deadline has passed.
func fireTick(at Millis) int64 { return int64(at)>>tickShift + 1 }

// levelShift returns how many bits of a tick lie below the slots of a level.
func levelShift(level int) uint {
	if level == 0 {
		return 0
	}
	return uint(level0Bits + (level-1)*levelBits)
}

// slotIndex returns the slot of a tick on a level.
func slotIndex(level int, tick int64) int {
	if level == 0 {
		return int(tick & (1<<level0Bits - 1))
	}
	return 1<<level0Bits + (level-1)<<levelBits + int(tick>>levelShift(level)&(1<<levelBits-1))
}

// add makes an entry for a key; false when memory is out.
func (w *wheel) add(hash uint64, at, now Millis) bool {
	if w.slots == nil {
		w.slots = new([wheelSlots]wheelSlot)
	}
	if w.entries == 0 {
		w.tick = int64(now) >> tickShift
	}
	tick := min(max(fireTick(at), w.tick+1), w.tick+maxDelta)
	level := 0
	for delta := tick - w.tick; level < wheelLevels-1 && delta >= 1<<levelShift(level+1); {
		level++
	}
	slot := &w.slots[slotIndex(level, tick)]
	if !w.push(slot, hash) {
		return false
	}
	slot.count++
	w.level[level]++
	w.entries++
	return true
}

// push adds a hash to a chain.
func (w *wheel) push(slot *wheelSlot, hash uint64) bool {
	size := smallChunk
	if slot.head != 0 {
		room := w.heap.Cap(slot.head) / 8
		c := w.heap.Words(slot.head, room)
		if n := int(c[0] >> countShift); n+1 < room {
			c[n+1] = hash
			c[0] += 1 << countShift
			return true
		}
		size = largeChunk
	}
	ref := w.arena.Alloc(size)
	if ref == 0 {
		return false
	}
	c := w.heap.Words(ref, 2)
	c[0] = uint64(slot.head) | 1<<countShift
	c[1] = hash
	slot.head = ref
	return true
}

// advance moves what comes due up to an instant to due.
func (w *wheel) advance(now Millis) {
	target := int64(now) >> tickShift
	for w.tick < target {
		low := 0
		for low < wheelLevels && w.level[low] == 0 {
			low++
		}
		if low == wheelLevels {
			w.tick = target
			return
		}
		// Nothing is in the levels below low: go to the next edge of its slots.
		edge := (w.tick>>levelShift(low) + 1) << levelShift(low)
		if edge > target {
			w.tick = target
			return
		}
		w.tick = edge
		w.turn()
	}
}

// turn takes the slots that begin at the present tick.
func (w *wheel) turn() {
	for level := 0; level < wheelLevels; level++ {
		if w.tick&(1<<levelShift(level)-1) != 0 {
			return
		}
		slot := &w.slots[slotIndex(level, w.tick)]
		if slot.head != 0 {
			w.due = append(w.due, slot.head)
			w.level[level] -= slot.count
			*slot = wheelSlot{}
		}
	}
}

// next takes an entry that is due.
func (w *wheel) next() (hash uint64, ok bool) {
	n := len(w.due)
	if n == 0 {
		return 0, false
	}
	head := w.due[n-1]
	c := w.heap.Words(head, w.heap.Cap(head)/8)
	count := c[0] >> countShift
	hash = c[count]
	c[0] -= 1 << countShift
	w.entries--
	if count > 1 {
		return hash, true
	}
	if next := arena.Ref(c[0] & nextMask); next != 0 {
		w.due[n-1] = next
	} else {
		w.due = w.due[:n-1]
	}
	w.arena.Free(head)
	return hash, true
}

// each calls fn for every entry.
func (w *wheel) each(fn func(hash uint64)) {
	w.chains(func(head *arena.Ref) {
		for ref := *head; ref != 0; {
			c := w.heap.Words(ref, w.heap.Cap(ref)/8)
			for _, hash := range c[1 : 1+c[0]>>countShift] {
				fn(hash)
			}
			ref = arena.Ref(c[0] & nextMask)
		}
	})
}

// chains calls fn for every chain.
func (w *wheel) chains(fn func(head *arena.Ref)) {
	if w.slots != nil {
		for i := range w.slots {
			fn(&w.slots[i].head)
		}
	}
	for i := range w.due {
		fn(&w.due[i])
	}
}

// drop frees all entries.
func (w *wheel) drop() {
	w.chains(func(head *arena.Ref) {
		for *head != 0 {
			next := arena.Ref(*w.heap.Word(*head) & nextMask)
			w.arena.Free(*head)
			*head = next
		}
	})
	*w = wheel{heap: w.heap, arena: w.arena, tick: w.tick}
}

// relocate moves chunks out of slabs that are being emptied.
func (w *wheel) relocate() {
	if w.entries == 0 {
		return
	}
	w.chains(func(head *arena.Ref) {
		var prev arena.Ref
		for ref := *head; ref != 0; ref = arena.Ref(*w.heap.Word(ref) & nextMask) {
			if w.arena.Evacuating(ref) {
				ref = w.moveChunk(head, prev, ref)
			}
			prev = ref
		}
	})
}

// moveChunk moves a chunk of a chain and returns where it is afterwards.
func (w *wheel) moveChunk(head *arena.Ref, prev, ref arena.Ref) arena.Ref {
	size := w.heap.Cap(ref)
	to := w.arena.Alloc(size)
	if to == 0 {
		return ref
	}
	copy(w.heap.Words(to, size/8), w.heap.Words(ref, size/8))
	if prev == 0 {
		*head = to
	} else {
		p := w.heap.Word(prev)
		*p = *p&^nextMask | uint64(to)
	}
	w.arena.Free(ref)
	return to
}

// maxHops bounds the search for a random entry in a long chain.
const maxHops = 32

// pick returns a random entry that is not due yet.
func (w *wheel) pick(rnd uint64) (hash uint64, ok bool) {
	var total int64
	for _, n := range w.level {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	n := int64(rnd>>1) % total
	for i := range w.slots {
		slot := &w.slots[i]
		if n >= slot.count {
			n -= slot.count
			continue
		}
		ref := slot.head
		for hop := 0; ; hop++ {
			c := w.heap.Words(ref, w.heap.Cap(ref)/8)
			count, next := int64(c[0]>>countShift), arena.Ref(c[0]&nextMask)
			if n < count || next == 0 || hop == maxHops {
				return c[1+n%count], true
			}
			n -= count
			ref = next
		}
	}
	return 0, false
}

package db

import (
	"heddle/db/arena"
)

// A wheel says which keys of a table expire when. It is a hierarchical timing
// wheel of ticks of 128 ms: level 0 has a slot for each of the next 64 ticks,
// each further level has 64 slots that are as long as the whole level below: 8
// seconds, 9 minutes, 9 hours, 25 days, 4 years. When time reaches a slot of a
// higher level, its entries are sorted into the levels below.
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
// and the number of entries, then the entries. A slot is a word: the first chunk
// and the number of entries in the chain. The slots of a level are allocated
// when it gets its first entry: many tables have few keys with a deadline.
type wheel struct {
	heap    *arena.Heap
	arena   *arena.Arena
	tick    int64                  // everything up to this tick is in due or gone
	entries int64                  // in the slots and due
	slots   [wheelLevels]arena.Ref // of each level
	level   [wheelLevels]int64     // entries in the slots of each level
	due     []arena.Ref            // chains whose time has come
}

const (
	tickShift   = 7 // a tick is 128 ms
	levelBits   = 6
	levelSlots  = 1 << levelBits
	wheelLevels = 6
	// maxDelta is how far ahead, in ticks, a slot can be: 270 years. What is
	// later comes due early and is put back.
	maxDelta = int64(levelSlots-1) << ((wheelLevels - 1) * levelBits)

	slotShift = 38 // of the count in a slot; the ref below is less than 1<<37
	slotMask  = 1<<slotShift - 1
	slotMax   = 1<<(64-slotShift) - 1

	smallChunk = 64 // bytes of the first chunk of a chain
	largeChunk = 512
	countShift = 48
	nextMask   = 1<<countShift - 1
)

func (w *wheel) open(h *arena.Heap, a *arena.Arena) { w.heap, w.arena = h, a }

// fireTick is the first tick at which a deadline has passed.
func fireTick(at Millis) int64 { return int64(at)>>tickShift + 1 }

// levelShift returns how many bits of a tick lie below the slots of a level.
func levelShift(level int) uint { return uint(level * levelBits) }

// slot returns the slot of a tick on a level that has slots.
func (w *wheel) slot(level int, tick int64) *uint64 {
	return &w.heap.Words(w.slots[level], levelSlots)[tick>>levelShift(level)&(levelSlots-1)]
}

// add makes an entry for a key; false when memory is out.
func (w *wheel) add(hash uint64, at, now Millis) bool { return w.enter(hash, at, now) != 0 }

// enter is add that returns at which tick the entry is taken up again, which is the
// begin of its slot and may be long before the deadline; 0 when memory is out.
func (w *wheel) enter(hash uint64, at, now Millis) (turn int64) {
	if w.entries == 0 {
		w.tick = int64(now) >> tickShift
	}
	tick := min(max(fireTick(at), w.tick+1), w.tick+maxDelta)
	level := 0
	for delta := tick - w.tick; level < wheelLevels-1 && delta >= 1<<levelShift(level+1); {
		level++
	}
	if w.slots[level] == 0 && !w.openLevel(level) {
		return 0
	}
	if !w.push(w.slot(level, tick), hash) {
		return 0
	}
	w.level[level]++
	w.entries++
	return tick >> levelShift(level) << levelShift(level)
}

// openLevel allocates the slots of a level.
func (w *wheel) openLevel(level int) bool {
	ref := w.arena.Alloc(levelSlots * 8)
	if ref == 0 {
		return false
	}
	clear(w.heap.Words(ref, levelSlots))
	w.slots[level] = ref
	return true
}

// push adds a hash to the chain of a slot.
func (w *wheel) push(slot *uint64, hash uint64) bool {
	head, count := arena.Ref(*slot&slotMask), *slot>>slotShift
	if count == slotMax {
		return false
	}
	size := smallChunk
	if head != 0 {
		room := w.heap.Cap(head) / 8
		c := w.heap.Words(head, room)
		if n := int(c[0] >> countShift); n+1 < room {
			c[n+1] = hash
			c[0] += 1 << countShift
			*slot += 1 << slotShift
			return true
		}
		size = largeChunk
	}
	ref := w.arena.Alloc(size)
	if ref == 0 {
		return false
	}
	c := w.heap.Words(ref, 2)
	c[0] = uint64(head) | 1<<countShift
	c[1] = hash
	*slot = uint64(ref) | (count+1)<<slotShift
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
		if w.slots[level] == 0 {
			continue
		}
		if slot := w.slot(level, w.tick); *slot != 0 {
			w.due = append(w.due, arena.Ref(*slot&slotMask))
			w.level[level] -= int64(*slot >> slotShift)
			*slot = 0
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

// chains calls fn for every chain; fn may change where it begins.
func (w *wheel) chains(fn func(head *arena.Ref)) {
	for _, ref := range w.slots {
		if ref == 0 {
			continue
		}
		slots := w.heap.Words(ref, levelSlots)
		for i, slot := range slots {
			head := arena.Ref(slot & slotMask)
			fn(&head)
			slots[i] = slot&^slotMask | uint64(head)
		}
	}
	for i := range w.due {
		fn(&w.due[i])
	}
}

// some calls fn for entries, due ones too, until it returns false; for limit of them at
// most.
func (w *wheel) some(limit int, fn func(hash uint64) bool) {
	w.chains(func(head *arena.Ref) {
		for ref := *head; ref != 0 && limit > 0; {
			c := w.heap.Words(ref, w.heap.Cap(ref)/8)
			for _, hash := range c[1 : 1+c[0]>>countShift] {
				if limit--; limit < 0 {
					return
				}
				if !fn(hash) {
					limit = 0
					return
				}
			}
			ref = arena.Ref(c[0] & nextMask)
		}
	})
}

// behind returns about how many entries have a deadline that has passed at an instant.
func (w *wheel) behind(now Millis) (n int64) {
	n = w.entries
	for level := range w.level {
		n -= w.level[level] // what is left is due
	}
	target := int64(now) >> tickShift
	for level := 0; level < wheelLevels && w.tick < target; level++ {
		if w.slots[level] == 0 {
			continue
		}
		size := int64(1) << levelShift(level)
		for i := range int64(levelSlots) {
			begin := (w.tick>>levelShift(level) + 1 + i) << levelShift(level)
			if begin > target {
				break
			}
			count := int64(*w.slot(level, begin) >> slotShift)
			n += count * min(target-begin+1, size) / size
		}
	}
	return n
}

// drop frees all entries, and the slots.
func (w *wheel) drop() {
	w.chains(func(head *arena.Ref) {
		for *head != 0 {
			next := arena.Ref(*w.heap.Word(*head) & nextMask)
			w.arena.Free(*head)
			*head = next
		}
	})
	for _, ref := range w.slots {
		if ref != 0 {
			w.arena.Free(ref)
		}
	}
	*w = wheel{heap: w.heap, arena: w.arena, tick: w.tick}
}

// memSize returns the bytes of slots and chunks.
func (w *wheel) memSize() (n int64) {
	for _, ref := range w.slots {
		if ref != 0 {
			n += int64(w.heap.Cap(ref))
		}
	}
	w.chains(func(head *arena.Ref) {
		for ref := *head; ref != 0; ref = arena.Ref(*w.heap.Word(ref) & nextMask) {
			n += int64(w.heap.Cap(ref))
		}
	})
	return n
}

// relocate moves slots and chunks out of slabs that are being emptied.
func (w *wheel) relocate() {
	for i, ref := range w.slots {
		if ref == 0 || !w.arena.Evacuating(ref) {
			continue
		}
		if to := w.arena.Alloc(levelSlots * 8); to != 0 {
			copy(w.heap.Words(to, levelSlots), w.heap.Words(ref, levelSlots))
			w.slots[i] = to
			w.arena.Free(ref)
		}
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
	level := 0
	for n >= w.level[level] {
		n -= w.level[level]
		level++
	}
	for _, slot := range w.heap.Words(w.slots[level], levelSlots) {
		if count := int64(slot >> slotShift); n >= count {
			n -= count
			continue
		}
		return w.nth(arena.Ref(slot&slotMask), n), true
	}
	return 0, false
}

// nth returns about the nth entry of a chain.
func (w *wheel) nth(ref arena.Ref, n int64) uint64 {
	for hop := 0; ; hop++ {
		c := w.heap.Words(ref, w.heap.Cap(ref)/8)
		count, next := int64(c[0]>>countShift), arena.Ref(c[0]&nextMask)
		if n < count || next == 0 || hop == maxHops {
			return c[1+n%count]
		}
		n -= count
		ref = next
	}
}

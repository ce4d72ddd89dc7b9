package dispatch

// The timeouts of blocked clients are an executor's own: a heap of deadlines,
// which only its goroutine touches. It looks at the first before it sleeps and
// after it woke. So thousands of clients that wait cost no timer and no goroutine
// each, and a wait that ends in time costs two steps in a small heap.

// timeouts is a heap of parked commands with the earliest deadline first. Each
// knows where it is.
type timeouts []*parked

// add adds a command with a deadline.
func (t *timeouts) add(k *parked) {
	*t = append(*t, k)
	t.up(len(*t)-1, k)
}

// remove takes a command out, if it is there.
func (t *timeouts) remove(k *parked) {
	if k.heapAt < 0 {
		return
	}
	i, last := k.heapAt, len(*t)-1
	moved := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	k.heapAt = -1
	if i == last {
		return
	}
	if !t.up(i, moved) {
		t.down(i, moved)
	}
}

// up puts k, whose place is i at most, above those with later deadlines, and
// reports whether it moved.
func (t timeouts) up(i int, k *parked) bool {
	from := i
	for i > 0 {
		above := (i - 1) / 2
		if t[above].deadline <= k.deadline {
			break
		}
		t.set(i, t[above])
		i = above
	}
	t.set(i, k)
	return i != from
}

// down puts k, whose place is i at least, below those with earlier deadlines.
func (t timeouts) down(i int, k *parked) {
	for {
		child := 2*i + 1
		if child >= len(t) {
			break
		}
		if r := child + 1; r < len(t) && t[r].deadline < t[child].deadline {
			child = r
		}
		if t[child].deadline >= k.deadline {
			break
		}
		t.set(i, t[child])
		i = child
	}
	t.set(i, k)
}

func (t timeouts) set(i int, k *parked) {
	t[i] = k
	k.heapAt = i
}

// Idle returns how many nanoseconds the executor's goroutine may sleep before it
// has to call Expire; negative: as long as it likes.
func (x *Executor) Idle() int64 {
	if len(x.timeouts) == 0 {
		return -1
	}
	return max(x.timeouts[0].deadline-x.e.clock.Mono(), 0)
}

// Expire ends the waits whose time is up. Their connections get it by mail.
func (x *Executor) Expire() {
	if len(x.timeouts) == 0 {
		return
	}
	now := x.e.clock.Mono()
	for len(x.timeouts) > 0 && x.timeouts[0].deadline <= now {
		k := x.timeouts[0]
		x.timeouts.remove(k)
		k.end(k.c, timedOut)
	}
}

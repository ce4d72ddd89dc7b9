package host

import (
	"time"

	"heddle/db"
	"heddle/server"
	admin "heddle/server/command/server"
	"heddle/server/stats"
)

// The pace of periodic work. Budgets are counts between looks at the clock.
const (
	expireBudget  = 4096
	evictBudget   = 256
	tidyBudget    = 512
	tidyRest      = time.Millisecond
	compactBudget = 2048
	compactPages  = 256 // slabs given back to the system at once
)

// memoryAge is for how long memory is unused, at least, before it is given back to the
// system; it may be twice as long.
const memoryAge = 5 * time.Second

// The share of time that a task may take, in percent of a period. Expired keys
// get the most, for they should be gone within a second, however many come due
// at once; a share is only used while there is a backlog.
const (
	expireShare  = 50
	evictShare   = 25
	tidyShare    = 75 // of which it rests for the most
	compactShare = 10
)

// addTasks gives cron its work, in this order at each tick.
func (h *Host) addTasks() {
	add := func(name string, every time.Duration, run func(now time.Time)) {
		h.Cron.Add(name, every, func(now time.Time) {
			if !h.paused.Load() {
				run(now)
			}
		})
	}
	h.Cron.Add("stats", 100*time.Millisecond, h.sample)
	add("clients", 0, h.housekeep)
	add("expire", 0, h.expireKeys)
	add("evict", 0, h.evictKeys)
	add("tidy", 0, h.tidy)
	add("compact", 100*time.Millisecond, h.compact)
	add("age", memoryAge, func(time.Time) { h.Keyspace.Age() })
	add("persist", 100*time.Millisecond, h.Keeper.Tick)
	add("balance", server.BalanceEvery, h.balancer())
	add("shrink", time.Second, func(time.Time) { h.Keyspace.Shrink() })
}

// period is the time from tick to tick.
func (h *Host) period() time.Duration { return time.Second / time.Duration(h.Cron.HZ()) }

func millis(t time.Time) db.Millis { return db.Millis(t.UnixMilli()) }

// within repeats step until it reports that nothing is left, or for a share of
// a period; then it reports that time was short.
func within(period time.Duration, share int, step func() (more bool)) (short bool) {
	until := time.Now().Add(period * time.Duration(share) / 100)
	for step() {
		if !time.Now().Before(until) {
			return true
		}
	}
	return false
}

// expireKeys removes keys whose time has come.
func (h *Host) expireKeys(now time.Time) {
	if h.Engine.Loading() {
		return // what is loaded may be about keys whose time has come
	}
	start := time.Now()
	if within(h.period(), expireShare, func() bool {
		defer h.Engine.WakeReaders()
		return h.Keyspace.ExpireCycle(millis(now), expireBudget) >= expireBudget
	}) {
		h.expireShort.Add(1)
	}
	h.spike(stats.EventExpire, time.Since(start))
}

// evictKeys brings memory below maxmemory also when no command comes that
// would have to, and accounts the time spent above it.
func (h *Host) evictKeys(now time.Time) {
	if h.Engine.Loading() {
		return
	}
	over := false
	start := time.Now()
	removed := 0
	within(h.period(), evictShare, func() bool {
		defer h.Engine.WakeReaders()
		r := h.Keyspace.Evict(millis(now), evictBudget)
		over = r.Over
		removed += r.Keys
		return r.Over && r.Keys == evictBudget
	})
	if removed > 0 {
		h.spike(stats.EventEviction, time.Since(start))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over.note(over, now)
}

// tidy has large collections do what they left behind. That is in one shard, as a rule: it
// rests between its turns, so that those who want the same have it.
func (h *Host) tidy(now time.Time) {
	within(h.period(), tidyShare, func() bool {
		if !h.Keyspace.Tidy(millis(now), tidyBudget) {
			return false
		}
		time.Sleep(tidyRest)
		return true
	})
}

// housekeep wakes the workers to look after their clients, if there are any: an
// idle server should cost next to nothing.
func (h *Host) housekeep(time.Time) {
	if h.Network.Clients() > 0 || h.Network.Draining() {
		h.Network.Housekeep(h.Cron.HZ())
	}
}

// compact empties sparse slabs and gives unused ones back to the system. When
// it finds nothing to do, it looks again a second later.
func (h *Host) compact(now time.Time) {
	if now.Before(h.compactAt) {
		return
	}
	more := false
	within(100*time.Millisecond, compactShare, func() bool {
		more = h.Keyspace.Compact(compactBudget, compactPages)
		return more
	})
	h.compacting.Store(more)
	if !more {
		h.compactAt = now.Add(time.Second)
	}
	h.spike(stats.EventDefrag, time.Since(now))
}

func (h *Host) spike(event string, took time.Duration) {
	if l := &h.Engine.Stats().Latency; l.IsSpike(int64(took)) {
		l.Add(event, time.Now().Unix(), int64(took))
	}
}

// overTime is how long memory has been above maxmemory.
type overTime struct {
	total time.Duration
	since time.Time // zero: it is not
}

func (o *overTime) note(over bool, now time.Time) {
	switch {
	case over && o.since.IsZero():
		o.since = now
	case !over && !o.since.IsZero():
		o.total += now.Sub(o.since)
		o.since = time.Time{}
	}
}

// times returns the time above in all and since it began last, in milliseconds.
func (o *overTime) times(now time.Time) (total, current int64) {
	if !o.since.IsZero() {
		current = now.Sub(o.since).Milliseconds()
	}
	return o.total.Milliseconds() + current, current
}

// sample measures what is shown as a rate or a peak.
func (h *Host) sample(now time.Time) {
	h.Engine.Stats().Sample(now.UnixMilli())
	h.notePeak()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peakKept = max(h.peakKept, h.Keyspace.Kept())
	h.locks.sample(now)
}

// notePeak returns the memory in use and the most that was.
func (h *Host) notePeak() (used, peak int64) {
	used = h.Keyspace.Used()
	for {
		peak = h.peak.Load()
		if used <= peak || h.peak.CompareAndSwap(peak, used) {
			return used, max(used, peak)
		}
	}
}

// taskFacts are the accounts of cron's tasks.
func (h *Host) taskFacts() []admin.TaskFacts {
	var out []admin.TaskFacts
	for _, s := range h.Cron.Stats() {
		out = append(out, admin.TaskFacts{Name: s.Name, Runs: s.Runs, Nanos: int64(s.Total)})
	}
	return out
}

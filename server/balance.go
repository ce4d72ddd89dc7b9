package server

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Which connections move. New ones fill one worker after the other (choose), since few
// connections on one worker make larger batches than spread over all: 50 unpipelined
// clients cost a quarter more processor time on two workers. But the few may have more to
// do than one thread can, pipelines for example, and some more than others. So cron
// has the balancer look at how busy each worker is. When one is busy nearly all the time,
// another is not, and the machine has a processor to spare, connections with about half of the
// difference in commands move over: as a trial, since what is lost in batches cannot be known
// before. If the workers then run more commands together, it stays like that; if not, those
// that moved go back, and the next trial is put off, each time twice as long. The rejected
// way was a formula for the gain: it depends on the kind of commands, on where the
// clients run, and on the machine.
//
// A worker with a single busy connection keeps it: it would be no quicker elsewhere.

const (
	// busyShare is the part of its time that a worker works when it may need relief.
	busyShare = 0.85
	// easyShare is how much less another must work to give it.
	easyShare = 0.4
	// spareCPUs is how many processors must have been idle.
	spareCPUs = 0.5
	// trialTime is how long a trial lasts. What moves does so in its first part.
	trialTime = 2 * time.Second
	// trialGain is by how much the commands must become more.
	trialGain = 1.05
	// firstPause is how long no trial follows a vain one, lastPause the most.
	firstPause = 10 * time.Second
	lastPause  = 10 * time.Minute
)

// load is what a worker did since the last look.
type load struct {
	busy float64 // share of its time
	ran  float64 // commands a second
}

// balancer decides. Its methods are called by cron.
type balancer struct {
	at     time.Time // of the last look
	totals []load    // as of then, in seconds and commands
	rate   float64   // commands a second of all, the mean of the last looks
	trials int64     // so far
	trial  trial
	pause  time.Duration
	resume time.Time // no trial begins before
}

// trial is connections that moved to see whether that is better.
type trial struct {
	on       bool
	from, to int
	began    time.Time
	rate     float64 // commands a second of all, before
}

// verdict is what is to be done.
type verdict struct {
	move, back bool // begin a trial, or take one back
	from, to   int
	id         int64
}

// Balance moves connections from workers that have too much to do to others. idle is how
// many processors of the machine had nothing to do since the last call. cron calls it
// every BalanceEvery.
func (s *Server) Balance(now time.Time, idle float64) {
	if len(s.workers) < 2 || !s.settings.Load().Balance {
		return
	}
	b := &s.balancer
	totals := make([]load, len(s.workers))
	for i, w := range s.workers {
		totals[i] = load{busy: time.Duration(w.busy.Load()).Seconds(), ran: float64(w.ran.Load())}
	}
	loads, ok := b.loads(now, totals)
	if !ok {
		return
	}
	v := b.decide(now, loads, idle)
	from, to := s.workers[v.from], s.workers[v.to]
	switch {
	case v.move:
		s.tell("Worker %d is busy for %.0f %% of its time, and %.1f processors are idle: some of its clients move to worker %d", v.from, 100*loads[v.from].busy, idle, v.to)
		share := (loads[v.from].busy - loads[v.to].busy) / loads[v.from].busy / 2
		from.post(func() { from.shed(to, share, v.id) })
	case v.back:
		s.tell("Clients that moved from worker %d to worker %d go back, since that made nothing quicker", v.from, v.to)
		from.takeBack(to, v.id)
	}
}

// takeBack ends a trial that was vain. For any goroutine. The other worker hears of it
// behind the last connection that moved there: one that came later would stay.
func (w *worker) takeBack(from *worker, trial int64) {
	w.post(func() {
		w.keep(trial)
		from.post(func() { from.giveBack(w, trial) })
	})
}

func (s *Server) tell(format string, args ...any) {
	if s.log != nil && s.logs(Verbose) {
		s.log(Verbose, fmt.Sprintf(format, args...))
	}
}

// BalanceEvery is how often Balance should be called.
const BalanceEvery = 500 * time.Millisecond

// loads returns what the workers did since the last call; false if it was too long ago,
// or there was none.
func (b *balancer) loads(now time.Time, totals []load) ([]load, bool) {
	span, before := now.Sub(b.at), b.totals
	b.at, b.totals = now, totals
	if len(before) != len(totals) || span <= 0 || span > 4*BalanceEvery {
		b.trial.on, b.rate = false, 0
		return nil, false
	}
	list := make([]load, len(totals))
	for i := range list {
		list[i] = load{(totals[i].busy - before[i].busy) / span.Seconds(), (totals[i].ran - before[i].ran) / span.Seconds()}
	}
	return list, true
}

// decide says what to do now.
func (b *balancer) decide(now time.Time, loads []load, idle float64) (v verdict) {
	most, least, ran := 0, 0, 0.0
	for i, l := range loads {
		ran += l.ran
		if l.busy > loads[most].busy {
			most = i
		}
		if l.busy < loads[least].busy {
			least = i
		}
	}
	b.rate = (b.rate + ran) / 2
	t := &b.trial
	switch {
	case t.on && now.Sub(t.began) < trialTime:
	case t.on:
		t.on = false
		if b.rate >= t.rate*trialGain {
			b.pause, b.resume = 0, now.Add(trialTime)
			break
		}
		b.pause = min(max(2*b.pause, firstPause), lastPause)
		b.resume = now.Add(b.pause)
		return verdict{back: true, from: t.from, to: t.to, id: b.trials}
	case now.Before(b.resume), loads[most].busy < busyShare, loads[most].busy-loads[least].busy < easyShare, idle < spareCPUs:
	default:
		b.trials++
		*t = trial{on: true, from: most, to: least, began: now, rate: b.rate}
		return verdict{move: true, from: most, to: least, id: b.trials}
	}
	return verdict{}
}

// shed chooses connections that run about a share of this worker's commands, to go to
// another. They go as soon as they have nothing under way.
func (w *worker) shed(to *worker, share float64, trial int64) {
	var list []*conn
	all := int64(0)
	for _, c := range w.slots {
		if c != nil && c.ops > 0 {
			list = append(list, c)
			all += c.ops
		}
	}
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(b.ops, a.ops) })
	goal, gone := int64(float64(all)*share), int64(0)
	for i, c := range list {
		if i == 0 && len(list) == 1 {
			return
		}
		// The busiest may stay: to move it would only move the trouble.
		if gone+c.ops > goal+goal/8 && (gone > 0 || i == 0) {
			continue
		}
		c.to, c.why = to, trial
		gone += c.ops
	}
}

// keep takes back what shed chose of those that did not go yet.
func (w *worker) keep(trial int64) {
	for _, c := range w.slots {
		if c != nil && c.why == trial {
			c.to = nil
		}
	}
}

// giveBack has those that came in a trial go back.
func (w *worker) giveBack(to *worker, trial int64) {
	for _, c := range w.slots {
		if c != nil && c.why == trial {
			c.to = to
		}
	}
}

// Moved is how many connections went from one worker to another so far.
func (s *Server) Moved() (n int64) {
	for _, w := range s.workers {
		n += w.moved.Load()
	}
	return n
}

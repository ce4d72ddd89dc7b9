package stats

import "sync"

// Rate names something that is measured per second.
type Rate int

// The rates.
const (
	RateCommands Rate = iota
	RateNetIn
	RateNetOut
	RateReplIn
	RateReplOut
	RateCycles
	rateCount
)

// rateSamples is how many samples of a tenth of a second a rate is the mean of.
const rateSamples = 16

// rates keep the last samples of what changes with time.
type rates struct {
	mu   sync.Mutex
	at   int64 // milliseconds, of the last sample
	last [rateCount]int64
	ring [rateCount][rateSamples]int64
	next int

	lastCycleNanos int64
	cycleMicros    [rateSamples]int64 // mean duration of a turn
}

func (r *rates) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.next, r.lastCycleNanos = 0, 0, 0
	r.last, r.ring = [rateCount]int64{}, [rateCount][rateSamples]int64{}
	r.cycleMicros = [rateSamples]int64{}
}

// Sample measures all rates. Cron calls it ten times a second with the time in
// milliseconds.
func (s *Stats) Sample(now int64) {
	c := s.Counters()
	values := [rateCount]int64{c.Commands, c.NetIn, c.NetOut, c.ReplIn, c.ReplOut, c.Cycles}
	r := &s.rates
	r.mu.Lock()
	defer r.mu.Unlock()
	if span := now - r.at; r.at != 0 && span > 0 {
		for i, v := range values {
			r.ring[i][r.next] = max(v-r.last[i], 0) * 1000 / span
		}
		r.cycleMicros[r.next] = 0
		if turns := c.Cycles - r.last[RateCycles]; turns > 0 {
			r.cycleMicros[r.next] = (c.CycleNanos - r.lastCycleNanos) / turns / 1000
		}
		r.next = (r.next + 1) % rateSamples
	}
	r.at, r.last, r.lastCycleNanos = now, values, c.CycleNanos
}

// PerSecond returns the mean of a rate over the last 1.6 seconds.
func (s *Stats) PerSecond(rate Rate) int64 {
	s.rates.mu.Lock()
	defer s.rates.mu.Unlock()
	return mean(s.rates.ring[rate][:])
}

// CycleMicros returns the mean duration of a turn over the last 1.6 seconds.
func (s *Stats) CycleMicros() int64 {
	s.rates.mu.Lock()
	defer s.rates.mu.Unlock()
	return mean(s.rates.cycleMicros[:])
}

func mean(samples []int64) int64 {
	var sum int64
	for _, v := range samples {
		sum += v
	}
	return sum / int64(len(samples))
}

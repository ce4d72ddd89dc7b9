package cmdtest

import (
	"slices"
	"sync/atomic"
	"time"

	"heddle/db"
)

// Clock is a dispatch.Clock that moves only when it is told to. Any goroutine may ask
// for the time; timers belong to the test's own.
type Clock struct {
	wall   atomic.Int64
	timers []*timer
}

type timer struct {
	at int64
	fn func()
}

func newClock(at db.Millis) *Clock {
	c := &Clock{}
	c.wall.Store(int64(at) * int64(time.Millisecond))
	return c
}

// Wall is the Unix time in nanoseconds.
func (c *Clock) Wall() int64 { return c.wall.Load() }

// Mono is the same time: it never goes back.
func (c *Clock) Mono() int64 { return c.wall.Load() }

// AfterFunc calls fn when the clock was moved on by d.
func (c *Clock) AfterFunc(d time.Duration, fn func()) (stop func()) {
	t := &timer{c.wall.Load() + int64(d), fn}
	c.timers = append(c.timers, t)
	return func() { c.timers = slices.DeleteFunc(c.timers, func(o *timer) bool { return o == t }) }
}

func (c *Clock) now() db.Millis { return db.Millis(c.wall.Load() / int64(time.Millisecond)) }

func (c *Clock) advance(d db.Millis) {
	wall := c.wall.Add(int64(d) * int64(time.Millisecond))
	for i := 0; i < len(c.timers); {
		if t := c.timers[i]; t.at <= wall {
			c.timers = slices.Delete(c.timers, i, i+1)
			t.fn()
			continue
		}
		i++
	}
}

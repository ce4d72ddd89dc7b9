package cmdtest

import (
	"slices"
	"time"

	"heddle/db"
)

// Clock is a dispatch.Clock that moves only when it is told to.
type Clock struct {
	wall   int64
	timers []*timer
}

type timer struct {
	at int64
	fn func()
}

func newClock(at db.Millis) *Clock { return &Clock{wall: int64(at) * int64(time.Millisecond)} }

// Wall is the Unix time in nanoseconds.
func (c *Clock) Wall() int64 { return c.wall }

// Mono is the same time: it never goes back.
func (c *Clock) Mono() int64 { return c.wall }

// AfterFunc calls fn when the clock was moved on by d.
func (c *Clock) AfterFunc(d time.Duration, fn func()) (stop func()) {
	t := &timer{c.wall + int64(d), fn}
	c.timers = append(c.timers, t)
	return func() { c.timers = slices.DeleteFunc(c.timers, func(o *timer) bool { return o == t }) }
}

func (c *Clock) now() db.Millis { return db.Millis(c.wall / int64(time.Millisecond)) }

func (c *Clock) advance(d db.Millis) {
	c.wall += int64(d) * int64(time.Millisecond)
	for i := 0; i < len(c.timers); {
		if t := c.timers[i]; t.at <= c.wall {
			c.timers = slices.Delete(c.timers, i, i+1)
			t.fn()
			continue
		}
		i++
	}
}

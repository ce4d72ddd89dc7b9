package cron

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func options(hz *atomic.Int64, clients int) Options {
	return Options{
		Hz:      func() int { return int(hz.Load()) },
		Dynamic: func() bool { return true },
		Clients: func() int { return clients },
	}
}

func TestTasksRunAtTheirRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hz := newHz(10)
		l := New(options(hz, 0))
		var each, second int
		l.Add("each", 0, func(time.Time) { each++ })
		l.Add("second", time.Second, func(time.Time) { second++; time.Sleep(3 * time.Millisecond) })
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { l.Run(ctx); close(done) }()
		time.Sleep(10*time.Second - time.Millisecond)
		hz.Store(50)
		time.Sleep(2 * time.Second)
		cancel()
		<-done
		if each != 100+100 || second != 12 {
			t.Errorf("%d and %d runs", each, second)
		}
		s := l.Stats()[1]
		if s.Runs != 12 || s.Total != 36*time.Millisecond || s.Max != 3*time.Millisecond || s.Last != s.Max || l.HZ() != 50 || l.Ticks() != 200 {
			t.Errorf("%+v at %d hz, %d ticks", s, l.HZ(), l.Ticks())
		}
	})
}

func TestSlowTaskDelaysButDoesNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hz := newHz(10)
		l := New(options(hz, 0))
		runs := 0
		l.Add("slow", 0, func(time.Time) { time.Sleep(250 * time.Millisecond) })
		l.Add("other", 100*time.Millisecond, func(time.Time) { runs++ })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+100*time.Millisecond)
		defer cancel()
		l.Run(ctx)
		if runs != 40 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestPanicIsToldAndTheLoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hz := newHz(10)
		opt := options(hz, 0)
		var told string
		opt.Panicked = func(task string, reason any, stack []byte) {
			told = task + " " + reason.(string)
			if !strings.Contains(string(stack), "cron_test.go") {
				t.Errorf("stack without the task: %s", stack)
			}
		}
		l := New(opt)
		l.Add("bad", 0, func(time.Time) { panic("oh") })
		after := 0
		l.Add("good", 0, func(time.Time) { after++ })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second-time.Millisecond)
		defer cancel()
		l.Run(ctx)
		if told != "bad oh" || after != 10 || l.Stats()[0].Panics != 10 || l.Stats()[0].Runs != 10 {
			t.Errorf("told %q, %d after, %+v", told, after, l.Stats()[0])
		}
	})
}

func TestRateFollowsClients(t *testing.T) {
	f := func(hz, clients, want int) {
		t.Helper()
		if got := New(options(newHz(int64(hz)), clients)).HZ(); got != want {
			t.Errorf("hz %d with %d clients gives %d, want %d", hz, clients, got, want)
		}
	}
	f(10, 0, 10)
	f(10, 2009, 10)
	f(10, 2010, 20)
	f(10, 10000, 80)
	f(10, 1<<30, 500)
	f(0, 0, 1)
	f(1000, 0, 500)
}

func newHz(n int64) *atomic.Int64 {
	var hz atomic.Int64
	hz.Store(n)
	return &hz
}

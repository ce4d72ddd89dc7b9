package server

import (
	"testing"
	"time"
)

func TestBalancerDecides(t *testing.T) {
	var b balancer
	now := time.Unix(1000, 0)
	f := func(passed time.Duration, want verdict, idle float64, loads ...load) {
		t.Helper()
		now = now.Add(passed)
		if got := b.decide(now, loads, idle); got != want {
			t.Errorf("%v of %v gives %+v, want %+v", passed, loads, got, want)
		}
	}
	none, half := verdict{}, BalanceEvery
	f(half, none, 1, load{0.5, 1000}, load{0, 0})
	f(half, none, 1, load{0.95, 1000}, load{0.7, 1000})
	f(half, none, 0.2, load{0.95, 1000}, load{0, 0})
	f(half, verdict{move: true, from: 2, to: 1, id: 1}, 1, load{0.5, 300}, load{0.1, 0}, load{0.99, 700})
	f(half, none, 1, load{0.5, 300}, load{0.1, 0}, load{0.99, 700})
	f(half, none, 1, load{0.5, 300}, load{0.7, 900}, load{0.99, 800})
	f(half, none, 1, load{0.5, 300}, load{0.7, 900}, load{0.99, 800})
	f(half, none, 1, load{0.5, 300}, load{0.7, 900}, load{0.99, 800}) // it was worth it
	if b.trial.on || b.pause != 0 {
		t.Errorf("after a trial that gained: %+v", b)
	}
	f(half, none, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800}) // not at once again
	f(trialTime, verdict{move: true, from: 2, to: 0, id: 2}, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800})
	for range 3 {
		f(half, none, 1, load{0.6, 300}, load{0.6, 900}, load{0.6, 800})
	}
	f(half, verdict{back: true, from: 2, to: 0, id: 2}, 1, load{0.6, 300}, load{0.6, 900}, load{0.6, 800})
	f(firstPause-time.Second, none, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800})
	f(2*time.Second, verdict{move: true, from: 2, to: 0, id: 3}, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800})
	f(trialTime, verdict{back: true, from: 2, to: 0, id: 3}, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800})
	f(firstPause+time.Second, none, 1, load{0.1, 300}, load{0.1, 900}, load{0.99, 800})
}

func TestBalancerLoads(t *testing.T) {
	var b balancer
	now := time.Unix(1000, 0)
	if _, ok := b.loads(now, []load{{1, 100}, {2, 200}}); ok {
		t.Error("the first look tells something")
	}
	l, ok := b.loads(now.Add(BalanceEvery), []load{{1.25, 200}, {2.5, 200}})
	if !ok || l[0] != (load{0.5, 200}) || l[1] != (load{1, 0}) {
		t.Errorf("%v, %v", l, ok)
	}
	b.trial.on = true
	if _, ok := b.loads(now.Add(time.Hour), []load{{1, 100}, {2, 200}}); ok || b.trial.on {
		t.Error("a look of long ago is compared with")
	}
}

// TestShed chooses among connections by what they run.
func TestShed(t *testing.T) {
	f := func(share float64, ops []int64, want ...int) {
		t.Helper()
		w, to := new(worker), new(worker)
		for _, n := range ops {
			w.slots = append(w.slots, &conn{ops: n}, nil)
		}
		w.shed(to, share, 7)
		var got []int
		for i, c := range w.slots {
			if c != nil && c.to != nil {
				got = append(got, i/2)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("of %v go %v, want %v", ops, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("of %v go %v, want %v", ops, got, want)
			}
		}
		w.giveBack(w, 7)
		w.keep(7)
		for _, c := range w.slots {
			if c != nil && c.to != nil {
				t.Error("a connection is still to move")
			}
		}
	}
	f(0.5, nil)
	f(0.5, []int64{100})
	f(0.5, []int64{100, 0})
	f(0.5, []int64{50, 50}, 0)
	f(0.5, []int64{60, 40}, 1)
	f(0.5, []int64{5, 90, 5}, 0, 2)
	f(0.5, []int64{10, 10, 10, 10}, 0, 1)
	f(0.25, []int64{10, 10, 10, 10}, 0)
}

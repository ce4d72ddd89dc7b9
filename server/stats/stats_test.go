package stats

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestRecorderPublishesOnFlush(t *testing.T) {
	s := New(3)
	r := s.NewRecorder()
	r.NetIn += 10
	r.Command(1, 2000, false)
	r.Command(1, 1000, true)
	if got := s.Counters(); got != (Counters{}) {
		t.Fatalf("seen before Flush: %+v", got)
	}
	r.Flush()
	r.Rejected(2)
	r.Error("WRONGTYPE Operation")
	r.Error("NOCODE")
	r.Flush()
	want := Counters{NetIn: 10, Commands: 2, CommandNanos: 3000, ErrorReplies: 2}
	if got := s.Counters(); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	cmds := s.Commands()
	if cmds[1] != (Command{Calls: 2, Nanos: 3000, Failed: 1}) || cmds[2] != (Command{Rejected: 1}) {
		t.Fatalf("commands: %+v", cmds)
	}
	if e := s.Errors(); len(e) != 2 || e["WRONGTYPE"] != 1 || e["NOCODE"] != 1 {
		t.Fatalf("errors: %v", e)
	}
	if h := s.Histogram(1); h == nil || h.Count() != 2 || s.Histogram(0) != nil {
		t.Fatal("histogram")
	}
	s.Reset()
	if s.Counters() != (Counters{}) || s.Histogram(1) != nil || len(s.Errors()) != 0 {
		t.Fatal("Reset left something")
	}
}

func TestErrorCodesAreBounded(t *testing.T) {
	s := New(1)
	r := s.NewRecorder()
	for i := range 1000 {
		r.Error(fmt.Sprintf("E%d x", i))
	}
	if e := s.Errors(); len(e) != errorCodes+1 || e[overflowCode] != 1000-errorCodes {
		t.Fatalf("%d codes, %d over", len(e), e[overflowCode])
	}
}

func TestConcurrentRecorders(t *testing.T) {
	s := New(2)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := s.NewRecorder()
			defer r.Close()
			for i := range 1000 {
				r.Command(i%2, int64(i), false)
				if i%10 == 0 {
					r.Flush()
				}
			}
		}()
	}
	for range 50 {
		s.Commands()
		s.Sample(int64(1))
	}
	wg.Wait()
	if c := s.Commands(); c[0].Calls != 2000 || c[1].Calls != 2000 || s.Histogram(0).Count() != 2000 {
		t.Fatalf("%+v", c)
	}
}

func TestRecorderDoesNotAllocate(t *testing.T) {
	s := New(1)
	r := s.NewRecorder()
	r.Command(0, 1, false)
	r.Flush()
	if n := testing.AllocsPerRun(1000, func() { r.Command(0, 700, false); r.Flush() }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(1, maxNanos).Draw(t, "v")
		c := classOf(v)
		if c < 0 || c >= histogramClasses || upper(c) < v || (c > 0 && upper(c-1) >= v) {
			t.Fatalf("%d in class %d of upper bound %d", v, c, upper(c))
		}
		if up := upper(c); float64(up-v) > float64(v)/100+1 {
			t.Fatalf("%d stands for %d", up, v)
		}
	})
	var h Histogram
	h.Add(10047)
	if got := h.Percentile(50); got != 10047 {
		t.Fatalf("p50 = %d", got)
	}
	h.Add(1 << 50)
	h.Add(-5)
	var got []string
	h.Below(1024, func(limit, n int64) { got = append(got, fmt.Sprint(limit, ":", n)) })
	if s := strings.Join(got, " "); s != "1031:1 16511:2 1073741823:3" {
		t.Fatal(s)
	}
}

func TestRates(t *testing.T) {
	s := New(1)
	r := s.NewRecorder()
	now := int64(1000)
	s.Sample(now)
	for range rateSamples {
		for range 5 {
			r.Command(0, 1, false)
		}
		r.Cycles += 2
		r.CycleNanos += 6000
		r.Flush()
		now += 100
		s.Sample(now)
	}
	if got := s.PerSecond(RateCommands); got != 50 {
		t.Fatalf("%d commands a second", got)
	}
	if got := s.CycleMicros(); got != 3 {
		t.Fatalf("%d us a turn", got)
	}
}

func TestSlowlog(t *testing.T) {
	s := New(1)
	s.Slowlog.SetThreshold(5)
	s.Slowlog.SetMaxLen(2)
	argv := make([][]byte, 33)
	for i := range argv {
		argv[i] = []byte("a")
	}
	argv[1] = bytes.Repeat([]byte("x"), 130)
	s.Slowlog.Add(1, 4999, argv, "addr", "name")
	for i := range 3 {
		s.Slowlog.Add(int64(i), 5000, argv, "addr", "name")
	}
	got := s.Slowlog.Last(-1)
	if len(got) != 2 || got[0].ID != 2 || got[0].Micros != 5 || s.Slowlog.Len() != 2 {
		t.Fatalf("%+v", got)
	}
	args := got[0].Args
	if len(args) != 32 || args[31] != "... (2 more arguments)" || !strings.HasSuffix(args[1], "x... (2 more bytes)") {
		t.Fatalf("%q", args)
	}
	s.Slowlog.SetThreshold(-1)
	s.Slowlog.Reset()
	s.Slowlog.Add(1, 1e12, argv, "", "")
	if s.Slowlog.Len() != 0 {
		t.Fatal("logged though disabled")
	}
}

func TestLatency(t *testing.T) {
	var l Latency
	l.Add(EventCommand, 1, 1e9)
	if len(l.Events()) != 0 {
		t.Fatal("monitored though off")
	}
	l.SetThreshold(10)
	for i := range int64(latencySamples + 5) {
		l.Add(EventCommand, i, 20e6)
		l.Add(EventCommand, i, 15e6)
	}
	l.Add(EventExpire, 1, 9e6)
	e, ok := l.Event(EventCommand)
	if !ok || e.Max != 20 || len(e.Samples) != latencySamples || e.Samples[0] != (LatencySample{5, 20}) {
		t.Fatalf("%+v", e)
	}
	if l.Reset("none", EventCommand) != 1 || l.Reset() != 0 {
		t.Fatal("Reset")
	}
}

func BenchmarkRecorder(b *testing.B) {
	s := New(1)
	r := s.NewRecorder()
	for b.Loop() {
		r.Command(0, 700, false)
	}
}

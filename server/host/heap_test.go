package host

import (
	"runtime/metrics"
	"testing"
	"time"
)

func TestSlack(t *testing.T) {
	f := func(live, allocated, free uint64, want bool) {
		t.Helper()
		if got := slack(live<<20, allocated<<20, free<<20); got != want {
			t.Errorf("%d MB live of %d, %d free: %v", live, allocated, free, got)
		}
	}
	f(3, 10, 40, false)
	f(3, 10, 70, true)
	f(3, 100, 0, true)
	f(1000, 1900, 100, false)
	f(1000, 1900, 300, true)
}

func TestTrimHeap(t *testing.T) {
	waste := make([]byte, 2*heapSlack)
	for i := range waste {
		waste[i] = 1
	}
	waste = nil
	_ = waste
	new(Host).trimHeap(time.Time{})
	s := heapSamples()
	metrics.Read(s)
	if slack(s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()) {
		t.Errorf("the heap keeps %d and %d bytes for %d", s[1].Value.Uint64(), s[2].Value.Uint64(), s[0].Value.Uint64())
	}
}

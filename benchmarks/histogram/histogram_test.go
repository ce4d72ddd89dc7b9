package histogram

import (
	"math/rand"
	"slices"
	"testing"
	"time"
)

func TestHistogram(t *testing.T) {
	var h, other Histogram
	var all []int
	rng := rand.New(rand.NewSource(1))
	for i := range 20000 {
		d := int(rng.ExpFloat64() * 1e6)
		all = append(all, d)
		if i%2 == 0 {
			h.Add(time.Duration(d), 1)
		} else {
			other.Add(time.Duration(d), 1)
		}
	}
	h.Merge(&other)
	slices.Sort(all)
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999} {
		want := float64(all[int(q*float64(len(all)))])
		got := float64(h.Quantile(q))
		if got > want || got < want*0.98-1 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if most := float64(all[len(all)-1]); float64(h.Quantile(1)) > most || float64(h.Quantile(1)) < most*0.98 {
		t.Errorf("the longest is %v, want %v", h.Quantile(1), most)
	}
	if new(Histogram).Quantile(1) != 0 {
		t.Error("an empty histogram has a quantile")
	}
	for _, v := range []uint64{0, 1, 63, 64, 65, 127, 128, 1 << 20, 1<<62 + 12345} {
		b := bucketOf(v)
		if lowest(b) > v || lowest(b+1) <= v {
			t.Errorf("%d is in the bucket from %d to %d", v, lowest(b), lowest(b+1))
		}
	}
}
